// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! sendfile and splice. The kernel moves bytes between files, pipes and its sockets; to and from an
//! rsocket they are copied here.
//!
//! # Safety
//! Buffers of this file, and the caller's offsets.
#![allow(unsafe_code)]

use super::carry::{Side, raise_sigpipe, side};
use crate::sys::errno::fail;
use crate::sys::{librdmacm, original};
use crate::table::counts::Direction;
use crate::table::descriptors::SOCKETS;
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::memory::try_vec;
use libc::{
    MSG_DONTWAIT, MSG_NOSIGNAL, MSG_PEEK, POLLOUT, SEEK_CUR, SEEK_SET, c_int, c_uint, off_t,
    pollfd, ssize_t,
};

/// The bytes of one step.
const CHUNK: usize = 64 << 10;
/// <fcntl.h>
const SPLICE_F_NONBLOCK: c_uint = 2;

/// Sends all bytes. If the socket does not block, waits for room.
fn send_all(socket: &Socket, rsocket: c_int, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: live bytes.
        let sent =
            unsafe { librdmacm::rsend(rsocket, bytes.as_ptr().cast(), bytes.len(), MSG_NOSIGNAL) };
        match usize::try_from(sent) {
            Ok(sent) => {
                socket.count(Direction::Out, true, sent as isize);
                bytes = bytes.get(sent..).unwrap_or_default();
            }
            Err(_) if Errno::last() == Errno::EAGAIN => {
                let mut fds = [pollfd { fd: rsocket, events: POLLOUT, revents: 0 }];
                let _ = librdmacm::poll(&mut fds, -1);
            }
            Err(_) => return Err(Errno::last()),
        }
    }
    Ok(())
}

/// sendfile(2) to an rsocket; None if `to` is not one.
///
/// # Safety
/// The caller's arguments of sendfile.
pub(crate) unsafe fn send_file(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: usize,
) -> Option<ssize_t> {
    let socket = SOCKETS.get(to)?;
    let rsocket = match side(&socket, to, Direction::Out, 0) {
        Side::Kernel => return None,
        Side::Rdma(rsocket) => rsocket,
        Side::Refused(error) => return Some(fail(error) as ssize_t),
    };
    // SAFETY: the caller's.
    let given = unsafe { offset.as_ref() }.copied();
    if given.is_some_and(|given| given < 0) {
        return Some(fail(Errno::EINVAL) as ssize_t);
    }
    // SAFETY: no pointers.
    let start = given.unwrap_or_else(|| unsafe { libc::lseek64(from, 0, SEEK_CUR) });
    let answer = copy_file(&socket, rsocket, from, start, count);
    let moved = *answer.as_ref().unwrap_or(&0);
    // SAFETY: the caller's; no pointers.
    unsafe {
        match offset.as_mut() {
            Some(offset) => *offset = start + moved as off_t,
            None if start >= 0 => {
                libc::lseek64(from, start + moved as off_t, SEEK_SET);
            }
            None => {}
        }
    }
    Some(match answer {
        Ok(moved) => moved as ssize_t,
        Err(error) => {
            let failed = fail(error) as ssize_t;
            raise_sigpipe(&socket);
            failed
        }
    })
}

/// Copies from a file at `start`; from a pipe or socket, which has no offsets, if `start` is
/// negative.
fn copy_file(
    socket: &Socket,
    rsocket: c_int,
    from: c_int,
    start: off_t,
    count: usize,
) -> Result<usize> {
    let mut buffer: Vec<u8> = try_vec(CHUNK.min(count))?;
    let waits = !socket.is_non_blocking();
    let mut done = 0;
    while done < count {
        let wanted = CHUNK.min(count - done);
        // SAFETY: room of that length.
        let read = unsafe {
            if start < 0 {
                original::read(from, buffer.as_mut_ptr().cast(), wanted)
            } else {
                libc::pread64(from, buffer.as_mut_ptr().cast(), wanted, start + done as off_t)
            }
        };
        let read = match usize::try_from(read) {
            Ok(0) => break,
            Ok(read) => read,
            Err(_) if done > 0 => break,
            Err(_) => return Err(Errno::last()),
        };
        // SAFETY: so many bytes were read.
        unsafe { buffer.set_len(read.min(wanted)) };
        let bytes = buffer.as_slice();
        let sent = if start < 0 || waits {
            send_all(socket, rsocket, bytes).map(|()| bytes.len())
        } else {
            // SAFETY: live bytes.
            let sent = unsafe {
                librdmacm::rsend(rsocket, bytes.as_ptr().cast(), bytes.len(), MSG_NOSIGNAL)
            };
            socket.count(Direction::Out, true, sent);
            usize::try_from(sent).map_err(|_| Errno::last())
        };
        match sent {
            Ok(sent) => done += sent,
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
        if sent != Ok(read) {
            break;
        }
    }
    Ok(done)
}

/// splice(2) from or to an rsocket; None if neither is one.
///
/// # Safety
/// The caller's arguments of splice.
pub(crate) unsafe fn splice(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    length: usize,
    flags: c_uint,
) -> Option<ssize_t> {
    let wanted = length.min(CHUNK);
    if let Some(socket) = SOCKETS.get(to).filter(|socket| socket.mode() == Mode::Rdma) {
        let rsocket = socket.rsocket()?;
        if let Some(error) = refusal(from, from_offset, to_offset) {
            return Some(fail(error) as ssize_t);
        }
        if (flags & SPLICE_F_NONBLOCK != 0 || socket.is_non_blocking())
            && librdmacm::readiness(rsocket, POLLOUT) & POLLOUT == 0
        {
            return Some(fail(Errno::EAGAIN) as ssize_t);
        }
        return Some(match copy_file(&socket, rsocket, from, -1, available(from, wanted)) {
            Ok(count) => count as ssize_t,
            Err(error) => fail(error) as ssize_t,
        });
    }
    let socket = SOCKETS.get(from).filter(|socket| socket.mode() == Mode::Rdma)?;
    let rsocket = socket.rsocket()?;
    if let Some(error) = refusal(to, to_offset, from_offset) {
        return Some(fail(error) as ssize_t);
    }
    let Ok(mut buffer) = try_vec::<u8>(wanted) else {
        return Some(fail(Errno::ENOMEM) as ssize_t);
    };
    let wait = if flags & SPLICE_F_NONBLOCK != 0 { MSG_DONTWAIT } else { 0 };
    // SAFETY: room of that length; what the pipe took is taken from the socket.
    unsafe {
        let seen = librdmacm::rrecv(rsocket, buffer.as_mut_ptr().cast(), wanted, MSG_PEEK | wait);
        if seen <= 0 {
            return Some(seen);
        }
        let moved = original::write(to, buffer.as_ptr().cast(), seen as usize);
        if moved > 0 {
            librdmacm::rrecv(rsocket, buffer.as_mut_ptr().cast(), moved as usize, MSG_DONTWAIT);
            socket.count(Direction::In, true, moved);
        }
        Some(moved)
    }
}

/// The error of a splice: one of its descriptors must be a pipe, and neither may have an offset.
fn refusal(pipe: c_int, of_pipe: *mut i64, of_socket: *mut i64) -> Option<Errno> {
    // SAFETY: integers, valid when zero; live room.
    let is_pipe = unsafe {
        let mut found: libc::stat = core::mem::zeroed();
        libc::fstat(pipe, &raw mut found) == 0 && found.st_mode & libc::S_IFMT == libc::S_IFIFO
    };
    if is_pipe && !of_pipe.is_null() {
        return Some(Errno::of(libc::ESPIPE));
    }
    (!is_pipe || !of_socket.is_null()).then_some(Errno::EINVAL)
}

/// No more than the pipe holds, so that one step does not wait for more.
fn available(pipe: c_int, wanted: usize) -> usize {
    let mut held: c_int = 0;
    // SAFETY: room for an integer.
    let asked = unsafe { original::ioctl(pipe, libc::FIONREAD, (&raw mut held).cast()) };
    match usize::try_from(held) {
        Ok(held) if asked == 0 && held > 0 => wanted.min(held),
        _ => wanted,
    }
}
