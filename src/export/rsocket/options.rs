// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: names, options and file status flags.
#![allow(unsafe_code)]

use crate::export::arg;
use crate::export::ret::IntoC;
use crate::rsocket::table::find;
use libc::{c_int, c_long, c_void, sockaddr, socklen_t};

/// Returns the peer's address of an rsocket.
///
/// {Arguments: returned address}
///
/// # Description
///
/// Like getpeername(2). An address that is longer than the buffer is truncated.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `ENOTCONN`: the rsocket is not connected.
///
/// {Errors: returned address}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rgetsockname(3), rconnect(3), getpeername(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetpeername(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let stored = find(socket).and_then(|socket| socket.peer_name()).and_then(|name| {
        // SAFETY: places for an address and its length, or NULL.
        unsafe { arg::store_name(&name, addr, addrlen) }
    });
    stored.into_c()
}

/// Returns the local address of an rsocket.
///
/// {Arguments: returned address}
///
/// # Description
///
/// Like getsockname(2). An address that is longer than the buffer is truncated.
///
/// {Return value: zero}
///
/// {Errors: returned address}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rgetpeername(3), rbind(3), getsockname(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockname(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let stored = find(socket).and_then(|socket| socket.local_name()).and_then(|name| {
        // SAFETY: places for an address and its length, or NULL.
        unsafe { arg::store_name(&name, addr, addrlen) }
    });
    stored.into_c()
}

/// Sets an option of an rsocket.
///
/// {Arguments: option}
/// - `optval`: the value. Only read during the call.
/// - `optlen`: size of the value in bytes.
///
/// # Description
///
/// Like setsockopt(2); rsocket(7) lists the options. Options of SOL_RDMA must be set before the
/// connection.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EFAULT`: `optval` is NULL.
/// - `EINVAL`: the size or the value is invalid, or the option can no longer be set.
/// - `ENOPROTOOPT`: the level or the option is not supported.
/// - `EOPNOTSUPP`: RDMA_IOMAPSIZE on a datagram rsocket.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rgetsockopt(3), setsockopt(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *const c_void,
    optlen: socklen_t,
) -> c_int {
    let set = find(socket).and_then(|socket| {
        // SAFETY: readable for `optlen` bytes, by the C contract.
        let bytes = unsafe { arg::option_bytes(optval, optlen) }?;
        socket.set_option(level, optname, bytes)
    });
    set.into_c()
}

/// Returns an option of an rsocket.
///
/// {Arguments: option}
/// - `optval`: buffer for the value.
/// - `optlen`: size of `optval` in bytes; set to the size of the value.
///
/// # Description
///
/// Like getsockopt(2); rsocket(7) lists the options.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EFAULT`: `optval` or `optlen` is NULL.
/// - `EINVAL`: the size of `optval` exceeds INT_MAX.
/// - `ENOPROTOOPT`: the level or the option is not supported.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsetsockopt(3), getsockopt(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: *mut socklen_t,
) -> c_int {
    let stored = find(socket).and_then(|socket| {
        // SAFETY: a length and as many writable bytes, by the C contract.
        let place = unsafe { arg::Place::new(optval, optlen) }?;
        place.store(&socket.option(level, optname)?);
        Ok(())
    });
    stored.into_c()
}

/// Returns or sets flags of an rsocket.
///
/// {Arguments: rsocket}
/// - `cmd`: F_GETFL, F_SETFL, F_GETFD, F_SETFD or another command of fcntl(2), but F_DUPFD and
///   F_DUPFD_CLOEXEC.
/// - `arg`: the command's argument.
///
/// # Description
///
/// Like fcntl(2). O_NONBLOCK belongs to the rsocket; all else is the descriptor's.
///
/// # Return value
///
/// That of fcntl(2); -1 with `errno` set on failure.
///
/// # Errors
///
/// - `EINVAL`: the command or the argument is not supported.
///
/// {Errors: rsocket}
///
/// # Notes
///
/// The third argument is read as one word; the header declares it as variable, like that of
/// fcntl.
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsocket(3), fcntl(2), rsocket(7)
// Stable Rust cannot define a function with variable arguments. A C caller passes the one optional
// argument in the third integer register on x86-64 (System V) and AArch64 (AAPCS64), which is where a
// fixed third argument is read from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rfcntl(socket: c_int, cmd: c_int, arg: c_long) -> c_int {
    find(socket).and_then(|socket| socket.control(cmd, arg)).into_c()
}
