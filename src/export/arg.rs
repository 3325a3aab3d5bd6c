//! Arguments of C: null checks, and pointers made into what the core works with.
//!
//! # Safety
//! Each function repeats the word of the crate's safety chapter that its argument must fulfil.
#![allow(unsafe_code)]

use crate::conn::Parameters;
use crate::error::{Errno, Result};
use crate::types::{SocketAddress, rdma_conn_param};
use libc::{c_char, c_void, sockaddr};
use std::ffi::CStr;

/// A place for a result.
///
/// # Safety
/// NULL or writable.
pub(super) unsafe fn out<'a, T>(place: *mut T) -> Result<&'a mut T> {
    // SAFETY: by contract.
    unsafe { place.as_mut() }.ok_or(Errno::EINVAL)
}

/// An address that may be missing.
///
/// # Safety
/// NULL or a valid sockaddr.
pub(super) unsafe fn optional_address(address: *const sockaddr) -> Result<Option<SocketAddress>> {
    if address.is_null() {
        return Ok(None);
    }
    // SAFETY: by contract.
    unsafe { SocketAddress::read(address) }.map(Some)
}

/// A text that may be missing.
///
/// # Safety
/// NULL or a C string.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: by contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// Bytes of the caller; no bytes where either part is missing.
///
/// # Safety
/// NULL or readable for `length` bytes.
pub(super) unsafe fn bytes<'a>(start: *const c_void, length: u8) -> &'a [u8] {
    if start.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(start.cast(), usize::from(length)) }
}

/// Connection parameters that may be missing.
///
/// # Safety
/// NULL or valid, with private data of the stated length.
pub(super) unsafe fn parameters<'a>(given: *const rdma_conn_param) -> Option<Parameters<'a>> {
    // SAFETY: by contract.
    let given = unsafe { given.as_ref() }?;
    Some(Parameters {
        // SAFETY: by contract.
        private_data: unsafe { bytes(given.private_data, given.private_data_len) },
        responder_resources: given.responder_resources,
        initiator_depth: given.initiator_depth,
        flow_control: given.flow_control,
        retry_count: given.retry_count,
        rnr_retry_count: given.rnr_retry_count,
        srq: given.srq,
        qp_num: given.qp_num,
    })
}
