//! What the kernel moves by itself between files, pipes and sockets is copied here: sendfile, splice.
//!
//! # Safety
//! Buffers of our own, the caller's offsets.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::export::fail;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket};
use crate::stats::Way;
use crate::transfer::{Side, raise_for_pipe, side};
use libc::{
    MSG_DONTWAIT, MSG_NOSIGNAL, MSG_PEEK, POLLOUT, SEEK_CUR, SEEK_SET, c_int, c_uint, off_t,
    pollfd, ssize_t,
};

/// What one step takes.
const CHUNK: usize = 64 << 10;
/// splice(2)
const SPLICE_F_NONBLOCK: c_uint = 2;

/// Sends it all, waiting where the socket would not.
fn send_all(socket: &Socket, rsocket: c_int, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: live bytes.
        let sent =
            unsafe { rsockets::rsend(rsocket, bytes.as_ptr().cast(), bytes.len(), MSG_NOSIGNAL) };
        match usize::try_from(sent) {
            Ok(sent) => {
                socket.count(Way::Out, true, sent as isize);
                bytes = bytes.get(sent..).unwrap_or_default();
            }
            Err(_) if Errno::last() == Errno::EAGAIN => {
                let mut fds = [pollfd { fd: rsocket, events: POLLOUT, revents: 0 }];
                let _ = rsockets::poll(&mut fds, -1);
            }
            Err(_) => return Err(Errno::last()),
        }
    }
    Ok(())
}

/// sendfile(2) to an rsocket: None where it is none.
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
    let rsocket = match side(&socket, to, Way::Out, 0) {
        Side::Kernel => return None,
        Side::Rdma(rsocket) => rsocket,
        Side::Refused(error) => return Some(fail(error) as ssize_t),
    };
    // SAFETY: the caller's place.
    let given = unsafe { offset.as_ref() }.copied();
    if given.is_some_and(|given| given < 0) {
        return Some(fail(Errno::EINVAL) as ssize_t);
    }
    // SAFETY: no pointers.
    let start = given.unwrap_or_else(|| unsafe { libc::lseek64(from, 0, SEEK_CUR) });
    let answer = copy_file(&socket, rsocket, from, start, count);
    let moved = *answer.as_ref().unwrap_or(&0);
    // SAFETY: the caller's place; no pointers.
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
            raise_for_pipe(&socket);
            failed
        }
    })
}

/// Copies from a file at `start`, or from what has no places (`start` below zero) as it comes.
fn copy_file(
    socket: &Socket,
    rsocket: c_int,
    from: c_int,
    start: off_t,
    count: usize,
) -> Result<usize> {
    let mut room: Vec<u8> = Vec::with_capacity(CHUNK.min(count));
    let waits = !socket.is_non_blocking();
    let mut done = 0;
    while done < count {
        let wanted = room.capacity().min(CHUNK).min(count - done);
        // SAFETY: room of that length.
        let read = unsafe {
            if start < 0 {
                real::read(from, room.as_mut_ptr().cast(), wanted)
            } else {
                libc::pread64(from, room.as_mut_ptr().cast(), wanted, start + done as off_t)
            }
        };
        let read = match usize::try_from(read) {
            Ok(0) => break,
            Ok(read) => read,
            Err(_) if done > 0 => break,
            Err(_) => return Err(Errno::last()),
        };
        // SAFETY: so many bytes were read there.
        unsafe { room.set_len(read.min(wanted)) };
        let bytes = room.as_slice();
        let sent = if start < 0 || waits {
            send_all(socket, rsocket, bytes).map(|()| bytes.len())
        } else {
            // SAFETY: live bytes.
            let sent = unsafe {
                rsockets::rsend(rsocket, bytes.as_ptr().cast(), bytes.len(), MSG_NOSIGNAL)
            };
            socket.count(Way::Out, true, sent);
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

/// splice(2) from or to an rsocket, by copying: None where neither is one.
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
        if let Some(error) = refused(from, from_offset, to_offset) {
            return Some(fail(error) as ssize_t);
        }
        if (flags & SPLICE_F_NONBLOCK != 0 || socket.is_non_blocking())
            && rsockets::readiness(rsocket, POLLOUT) & POLLOUT == 0
        {
            return Some(fail(Errno::EAGAIN) as ssize_t);
        }
        return Some(match copy_file(&socket, rsocket, from, -1, wanted_now(from, wanted)) {
            Ok(count) => count as ssize_t,
            Err(error) => fail(error) as ssize_t,
        });
    }
    let socket = SOCKETS.get(from).filter(|socket| socket.mode() == Mode::Rdma)?;
    let rsocket = socket.rsocket()?;
    if let Some(error) = refused(to, to_offset, from_offset) {
        return Some(fail(error) as ssize_t);
    }
    let mut room = vec![0_u8; wanted];
    let wait = if flags & SPLICE_F_NONBLOCK != 0 { MSG_DONTWAIT } else { 0 };
    // SAFETY: room of that length; what the pipe took is taken from the socket.
    unsafe {
        let seen = rsockets::rrecv(rsocket, room.as_mut_ptr().cast(), wanted, MSG_PEEK | wait);
        if seen <= 0 {
            return Some(seen);
        }
        let moved = real::write(to, room.as_ptr().cast(), seen as usize);
        if moved > 0 {
            rsockets::rrecv(rsocket, room.as_mut_ptr().cast(), moved as usize, MSG_DONTWAIT);
            socket.count(Way::In, true, moved);
        }
        Some(moved)
    }
}

/// One side of a splice must be a pipe, and neither has places.
fn refused(pipe: c_int, of_pipe: *mut i64, of_socket: *mut i64) -> Option<Errno> {
    // SAFETY: integers, valid when zero; a live place.
    let is_pipe = unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        libc::fstat(pipe, &raw mut found) == 0 && found.st_mode & libc::S_IFMT == libc::S_IFIFO
    };
    if is_pipe && !of_pipe.is_null() {
        return Some(Errno::of(libc::ESPIPE));
    }
    (!is_pipe || !of_socket.is_null()).then_some(Errno::EINVAL)
}

/// No more than the pipe holds: one step never waits for a second piece.
fn wanted_now(pipe: c_int, wanted: usize) -> usize {
    let mut held: c_int = 0;
    // SAFETY: a place for an integer.
    let asked = unsafe { real::ioctl(pipe, libc::FIONREAD, (&raw mut held).cast()) };
    match usize::try_from(held) {
        Ok(held) if asked == 0 && held > 0 => wanted.min(held),
        _ => wanted,
    }
}
