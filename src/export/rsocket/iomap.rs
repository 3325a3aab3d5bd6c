// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: memory that the peer writes directly.
#![allow(unsafe_code)]

use crate::export::ret::IntoC;
use crate::rsocket::Buffers;
use crate::rsocket::table::find;
use libc::{c_int, c_void, off_t};

/// Maps memory for the peer's riowrite.
///
/// {Arguments: rsocket}
/// - `buf`: the memory, which must stay mapped until riounmap.
/// - `len`: size of the memory in bytes, less than 4 GiB.
/// - `prot`: PROT_WRITE; PROT_NONE maps the memory without access.
/// - `flags`: 0.
/// - `offset`: offset with which the peer addresses the memory, or -1 to use the address of
///   `buf`.
///
/// # Description
///
/// The peer's riowrite writes to the memory without involving local software. The number of areas
/// that can be mapped for the peer is the peer's RDMA_IOMAPSIZE, which must be set before the
/// connection. The same memory can be mapped several times at the same offset, and must be
/// unmapped as many times.
///
/// # Return value
///
/// The offset; -1 with `errno` set on failure.
///
/// # Errors
///
/// - `EAGAIN`: the stream is being connected.
/// - `EINVAL`: an argument is invalid.
/// - `ENOMEM`: out of memory, or the peer accepts no more areas.
/// - `ENOTCONN`: the rsocket is not connected.
/// - `EOPNOTSUPP`: the rsocket is a datagram rsocket.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// riounmap(3), riowrite(3), rsetsockopt(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riomap(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    offset: off_t,
) -> off_t {
    let mapped = find(socket).and_then(|socket| {
        // SAFETY: memory that stays until riounmap, by the contract of this function.
        unsafe { socket.as_stream()?.map(buf, len, prot, flags, offset) }
    });
    mapped.map(|offset| offset as isize).into_c() as off_t
}

/// Unmaps memory for the peer's riowrite.
///
/// {Arguments: rsocket}
/// - `buf`: memory that was mapped with riomap.
/// - `len`: size of the memory in bytes, or 0 for any size.
///
/// # Description
///
/// The peer can no longer write to the memory.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: the memory is not mapped.
/// - `EOPNOTSUPP`: the rsocket is a datagram rsocket.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// riomap(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riounmap(socket: c_int, buf: *mut c_void, len: usize) -> c_int {
    find(socket).and_then(|socket| socket.as_stream()?.unmap(buf, len)).into_c()
}

/// Writes to memory that the peer mapped.
///
/// {Arguments: rsocket}
/// - `buf`: the data.
/// - `count`: number of bytes to write.
/// - `offset`: destination: an offset of the peer's riomap, or a position inside that area.
/// - `flags`: MSG_DONTWAIT, or 0.
///
/// # Description
///
/// The peer is not notified. Data that is sent afterwards arrives after the written data.
///
/// # Return value
///
/// The number of bytes accepted, which may be less than requested; -1 as a size_t with `errno`
/// set on failure.
///
/// # Errors
///
/// - `EFAULT`: `buf` is NULL, or the peer mapped no memory at `offset`.
/// - `EOPNOTSUPP`: the rsocket is a datagram rsocket.
///
/// {Errors: write}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// riomap(3), rsend(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riowrite(
    socket: c_int,
    buf: *const c_void,
    count: usize,
    offset: off_t,
    flags: c_int,
) -> usize {
    // SAFETY: readable for `count` bytes, by the C contract.
    let buffers = unsafe { Buffers::one(buf.cast_mut(), count) };
    let written = find(socket)
        .and_then(|socket| socket.as_stream()?.write_directly(&mut buffers?, offset, flags));
    written.map(|count| count as isize).into_c() as usize
}
