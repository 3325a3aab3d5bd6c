// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Arguments from C: checks pointers for NULL and converts them to the types of the core.
//!
//! # Safety
//! Each function names the term of the crate's safety chapter that its argument must satisfy.
#![allow(unsafe_code)]

use crate::cm::conn::Parameters;
use crate::rsocket::{Buffers, Socket};
use crate::types::{AF_IB, SocketAddress, rdma_conn_param};
use base::address::family_of;
use base::deadline::Timeout;
use base::errno::{Errno, Result};
use base::fail;
use core::ffi::CStr;
use core::time::Duration;
use libc::{c_char, c_int, c_void, iovec, sockaddr, socklen_t, timeval};

/// Memory for a result.
///
/// # Safety
/// NULL or writable.
pub(super) unsafe fn out<'a, T>(place: *mut T) -> Result<&'a mut T> {
    // SAFETY: by contract.
    unsafe { place.as_mut() }.ok_or_else(|| fail!(EINVAL, "the place for the result is NULL"))
}

/// An optional address.
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

/// An optional string.
///
/// # Safety
/// NULL or a C string.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: by contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// Bytes of the caller; empty if the pointer is NULL or the length 0.
///
/// # Safety
/// NULL or readable for `length` bytes.
pub(super) unsafe fn bytes<'a>(start: *const c_void, length: u8) -> &'a [u8] {
    if start.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { core::slice::from_raw_parts(start.cast(), usize::from(length)) }
}

/// Optional connection parameters.
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

/// The address of a socket call, at most as long as a sockaddr_storage, as in the kernel.
///
/// # Safety
/// NULL, or readable for `length` bytes.
pub(super) unsafe fn socket_address(
    address: *const sockaddr,
    length: socklen_t,
) -> Result<SocketAddress> {
    let length = length as usize;
    if length > size_of::<libc::sockaddr_storage>() {
        return Err(fail!(EINVAL, "{length} bytes are more than an address has"));
    }
    if address.is_null() && length > 0 {
        return Err(Errno::EFAULT);
    }
    // SAFETY: by contract.
    unsafe { SocketAddress::read_sized(address, length) }
}

/// The destination of a datagram; none for NULL, and of a stream, which has its peer. As UDP an IPv4
/// address may be written as one of no family.
///
/// # Safety
/// NULL, or readable for `length` bytes.
pub(super) unsafe fn destination(
    address: *const sockaddr,
    length: socklen_t,
    socket: &Socket,
) -> Result<Option<SocketAddress>> {
    let room = length as usize;
    if address.is_null() {
        return Ok(None);
    }
    if room > size_of::<libc::sockaddr_storage>() {
        return Err(fail!(EINVAL, "{room} bytes are more than an address has"));
    }
    if socket.as_stream().is_ok() {
        return Ok(None);
    }
    if room < size_of::<libc::sockaddr_in>() {
        return Err(fail!(EINVAL, "{room} bytes are less than an address has"));
    }
    // SAFETY: by contract.
    match unsafe { family_of(address, room) } {
        Some(libc::AF_UNSPEC) => {
            // SAFETY: so many bytes are readable.
            let written = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let host = written.sin_addr.s_addr.to_ne_bytes();
            let to = SocketAddress::of_host(libc::AF_INET, &host);
            Ok(to.map(|to| to.with_port(u16::from_be(written.sin_port))))
        }
        Some(libc::AF_INET | libc::AF_INET6 | AF_IB) => {
            // SAFETY: by contract.
            unsafe { SocketAddress::read_sized(address, room) }.map(Some)
        }
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// The buffers of readv and writev.
///
/// # Safety
/// `list` has `count` valid buffers.
pub(super) unsafe fn pieces<'a>(list: *const iovec, count: c_int) -> Result<Buffers<'a>> {
    let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    // SAFETY: by contract.
    let pieces = unsafe { Buffers::many(list, count) };
    // recvmsg and sendmsg fail with EMSGSIZE for too many buffers, readv and writev with EINVAL.
    pieces.map_err(|error| if error == Errno::EMSGSIZE { Errno::EINVAL } else { error })
}

/// The buffers of readv and writev, or why they cannot be had although their list can be read: EFAULT
/// of a buffer comes after what the socket has to say.
///
/// # Safety
/// As `pieces`.
pub(super) unsafe fn listed<'a>(list: *const iovec, count: c_int) -> Result<Result<Buffers<'a>>> {
    if list.is_null() && count > 0 {
        return Err(Errno::EFAULT);
    }
    // SAFETY: by contract.
    Ok(unsafe { pieces(list, count) })
}

/// An array, which may be empty.
///
/// # Safety
/// NULL or writable for `count` elements.
pub(super) unsafe fn array<'a, T>(start: *mut T, count: usize) -> Result<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    if start.is_null() {
        return Err(Errno::EFAULT);
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: by contract.
    Ok(unsafe { core::slice::from_raw_parts_mut(start, count) })
}

/// The timeout of select.
///
/// # Safety
/// NULL or readable.
pub(super) unsafe fn timeout(time: *const timeval) -> Result<Timeout> {
    // SAFETY: by contract.
    unsafe { time.as_ref() }.map_or(Ok(Timeout::NONE), Timeout::from_timeval)
}

/// Stores what is left of the timeout of select.
///
/// # Safety
/// NULL, or a valid time that is writable.
pub(super) unsafe fn store_left(time: *mut timeval, passed: Duration) {
    // SAFETY: by contract.
    let Some(time) = (unsafe { time.as_mut() }) else { return };
    let Ok(seconds) = u64::try_from(time.tv_sec) else { return };
    let left = Duration::from_secs(seconds)
        .saturating_add(Duration::from_micros(time.tv_usec as u64))
        .saturating_sub(passed);
    time.tv_sec = left.as_secs() as libc::time_t;
    time.tv_usec = left.subsec_micros().into();
}

/// The value of an option to set.
///
/// # Safety
/// NULL or readable for `length` bytes.
pub(super) unsafe fn option_bytes<'a>(start: *const c_void, length: socklen_t) -> Result<&'a [u8]> {
    if start.is_null() {
        return Err(Errno::EFAULT);
    }
    if length > c_int::MAX as socklen_t {
        return Err(fail!(EINVAL, "{length} is no length of an option's value"));
    }
    // SAFETY: by contract.
    Ok(unsafe { core::slice::from_raw_parts(start.cast(), length as usize) })
}

/// A buffer of the caller for a value, and the length to update.
pub(super) struct Place {
    start: *mut u8,
    length: *mut socklen_t,
    room: usize,
}

impl Place {
    /// # Safety
    /// `length` is NULL or valid, `start` NULL or writable for as many bytes.
    pub(super) unsafe fn new(start: *mut c_void, length: *mut socklen_t) -> Result<Place> {
        // SAFETY: by contract.
        let room = unsafe { length.as_ref() }.ok_or(Errno::EFAULT)?;
        if start.is_null() && *room > 0 {
            return Err(Errno::EFAULT);
        }
        let room = c_int::try_from(*room).map_err(|_| Errno::EINVAL)? as usize;
        Ok(Place { start: start.cast(), length, room })
    }

    /// Stores as many bytes as fit, and their number as the length.
    pub(super) fn store(&self, bytes: &[u8]) {
        let count = self.copy(bytes);
        // SAFETY: valid since `new`.
        unsafe { *self.length = count as socklen_t };
    }

    /// Stores an address, truncated to the buffer, and its whole length.
    fn store_name(&self, name: &SocketAddress) {
        self.copy(name.bytes());
        // SAFETY: valid since `new`.
        unsafe { *self.length = name.length() as socklen_t };
    }

    fn copy(&self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room);
        if count > 0 {
            // SAFETY: `room` bytes are writable, by the contract of `new`.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, count) };
        }
        count
    }
}

/// Stores an address, truncated to the buffer, and its whole length.
///
/// # Safety
/// As `Place::new`.
pub(super) unsafe fn store_name(
    name: &SocketAddress,
    start: *mut sockaddr,
    length: *mut socklen_t,
) -> Result<()> {
    // SAFETY: by contract.
    unsafe { Place::new(start.cast(), length) }?.store_name(name);
    Ok(())
}

/// Where a call that takes something out of a socket stores the address: checked before anything
/// is taken.
pub(super) struct AddressPlace(Option<Place>);

impl AddressPlace {
    /// The caller requests no address with NULL for `start`.
    ///
    /// # Safety
    /// As `Place::new`, but both may be NULL.
    pub(super) unsafe fn new(start: *mut sockaddr, length: *mut socklen_t) -> Result<AddressPlace> {
        if start.is_null() {
            return Ok(AddressPlace(None));
        }
        // SAFETY: by contract.
        unsafe { Place::new(start.cast(), length) }.map(|place| AddressPlace(Some(place)))
    }

    /// The length is 0 if the address is unknown.
    pub(super) fn store(&self, address: Option<&SocketAddress>) {
        match (&self.0, address) {
            (Some(place), Some(address)) => place.store_name(address),
            (Some(place), None) => place.store(&[]),
            (None, _) => {}
        }
    }
}

/// Whether an address is AF_UNSPEC, which dissolves a connection.
///
/// # Safety
/// NULL, or readable for `length` bytes.
pub(super) unsafe fn is_unspecified(address: *const sockaddr, length: socklen_t) -> bool {
    // SAFETY: by contract.
    let family = unsafe { family_of(address, length as usize) };
    family == Some(libc::AF_UNSPEC)
}
