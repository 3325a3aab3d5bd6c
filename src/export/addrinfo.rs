//! `<rdma/rdma_cma.h>`: names and addresses.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::addrinfo::{self, Failure, Hints, Question};
use crate::error::{Errno, Result};
use crate::types::{rdma_addrinfo, rdma_cm_id};
use libc::{c_char, c_int};
use std::ffi::CStr;

/// # Safety
/// `hints` are NULL or valid.
unsafe fn question<'a>(
    node: Option<&'a CStr>,
    service: Option<&'a CStr>,
    hints: *const rdma_addrinfo,
) -> Result<Question<'a>> {
    let named = node.is_some() || service.is_some();
    // SAFETY: by contract.
    let hints = unsafe { hints.as_ref().map(|hints| Hints::read(hints, named)) }.transpose()?;
    Ok(Question { node, service, hints })
}

/// Translates names into what rdma_create_ep and rdma_resolve_addr take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
    res: *mut *mut rdma_addrinfo,
) -> c_int {
    // SAFETY: a place for the list, and C strings, or NULL.
    let (place, node, service) = unsafe { (arg::out(res), arg::text(node), arg::text(service)) };
    // SAFETY: NULL or valid hints.
    let question = unsafe { question(node, service, hints) };
    place
        .map_err(Failure::from)
        .and_then(|place| {
            *place = addrinfo::into_c(&addrinfo::lookup(&question?)?)?;
            Ok(())
        })
        .into_c()
}

/// Gives a list of rdma_getaddrinfo back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_freeaddrinfo(res: *mut rdma_addrinfo) {
    // SAFETY: NULL or a list of rdma_getaddrinfo, given back once.
    unsafe { addrinfo::free(res) };
}

/// Starts to translate names, the result comes as an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addrinfo(
    id: *mut rdma_cm_id,
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
) -> c_int {
    let _ = (id, node, service, hints);
    Err::<(), _>(Errno::ENOSYS).into_c()
}

/// Reads what rdma_resolve_addrinfo found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_query_addrinfo(
    id: *mut rdma_cm_id,
    info: *mut *mut rdma_addrinfo,
) -> c_int {
    let _ = (id, info);
    Err::<(), _>(Errno::ENOSYS).into_c()
}
