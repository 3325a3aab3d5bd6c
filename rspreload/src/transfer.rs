//! Moving bytes and datagrams, by the side that carries the socket.
//!
//! # Safety
//! The caller's buffers, and buffers of our own.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::connect;
use crate::error::{Errno, Result, quietly};
use crate::export::fail;
use crate::fork;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket, is_non_blocking};
use crate::stats::Way;
use libc::{
    MSG_DONTWAIT, MSG_NOSIGNAL, MSG_PEEK, POLLOUT, SEEK_CUR, SEEK_SET, c_int, c_uint, c_void,
    mmsghdr, msghdr, off_t, pollfd, sockaddr, socklen_t, ssize_t, timespec,
};
use std::sync::Arc;
use std::time::Instant;

/// What one step of a copy takes.
const CHUNK: usize = 64 << 10;
/// As much as FIONREAD is ever asked to count.
const UNREAD: usize = 256 << 10;
/// splice(2)
const SPLICE_F_NONBLOCK: c_uint = 2;

/// Who carries a call.
enum Side {
    Kernel,
    Rdma(c_int),
    Refused(Errno),
}

fn side(socket: &Arc<Socket>, fd: c_int, flags: c_int) -> Side {
    fork::claim(socket, fd);
    if socket.mode() == Mode::Connecting {
        quietly(|| connect::drive(socket, fd));
    }
    if socket.mode() == Mode::Connecting {
        if flags & MSG_DONTWAIT != 0 || is_non_blocking(fd) {
            return Side::Refused(Errno::EAGAIN);
        }
        if let Err(error) = connect::wait_until_settled(socket, fd) {
            return Side::Refused(error);
        }
    }
    match socket.mode() {
        Mode::Rdma => match socket.rsocket() {
            Some(rsocket) => Side::Rdma(rsocket),
            // Datagrams are the parent's.
            None => Side::Refused(Errno::EPERM),
        },
        Mode::Failed => match socket.state.lock().error.take() {
            Some(error) => Side::Refused(error),
            None => Side::Kernel,
        },
        _ => Side::Kernel,
    }
}

/// One call, counted.
pub(crate) fn transfer(
    fd: c_int,
    way: Way,
    flags: c_int,
    by_kernel: impl FnOnce() -> ssize_t,
    by_rdma: impl FnOnce(c_int, &Socket) -> ssize_t,
) -> ssize_t {
    let Some(socket) = SOCKETS.get(fd) else { return by_kernel() };
    let (rdma, result) = match side(&socket, fd, flags) {
        Side::Kernel => (socket.mode() == Mode::Relayed, by_kernel()),
        Side::Rdma(rsocket) => (true, by_rdma(rsocket, &socket)),
        Side::Refused(error) => return fail(error) as ssize_t,
    };
    if flags & MSG_PEEK == 0 || way == Way::Out {
        socket.count(way, rdma, result);
    }
    if socket.mode() == Mode::Rdma && result < 0 && way == Way::Out && flags & MSG_NOSIGNAL == 0 {
        raise_for_pipe(&socket);
    }
    result
}

/// rsockets raise no signal; a kernel socket does.
fn raise_for_pipe(socket: &Socket) {
    if socket.is_stream() && Errno::last() == Errno::EPIPE {
        // SAFETY: no pointers.
        quietly(|| unsafe { libc::raise(libc::SIGPIPE) });
    }
}

/// # Safety
/// The caller's arguments of recvfrom.
pub(crate) unsafe fn receive_from(
    fd: c_int,
    to: *mut c_void,
    length: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    transfer(
        fd,
        Way::In,
        flags,
        // SAFETY: the caller's.
        || unsafe { real::recvfrom(fd, to, length, flags, address, address_length) },
        |rsocket, socket| {
            if socket.is_stream() {
                // A stream tells no sender.
                if !address.is_null() && !address_length.is_null() {
                    // SAFETY: the caller's.
                    unsafe { *address_length = 0 };
                }
                // SAFETY: the caller's.
                return unsafe { rsockets::rrecv(rsocket, to, length, flags) };
            }
            let mut count = -1;
            // SAFETY: the caller's, and places that `asked` gives.
            unsafe {
                let from = Address::asked(|raw, room| {
                    count = rsockets::rrecvfrom(rsocket, to, length, flags, raw, room);
                    if count < 0 { -1 } else { 0 }
                });
                if let Some(from) = from {
                    from.in_family(socket.family).store(address, address_length);
                }
            }
            count
        },
    )
}

/// # Safety
/// The caller's arguments of sendto.
pub(crate) unsafe fn send_to(
    fd: c_int,
    from: *const c_void,
    length: usize,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's.
    let peer = unsafe { Address::read(address, address_length) };
    decide(fd, peer.as_ref());
    transfer(
        fd,
        Way::Out,
        flags,
        // SAFETY: the caller's.
        || unsafe { real::sendto(fd, from, length, flags, address, address_length) },
        |rsocket, socket| match &peer {
            Some(peer) if !socket.is_stream() => {
                // SAFETY: the caller's bytes, an address in C's form.
                crate::datagram::peer_of(socket, peer).with_raw(|raw, room| unsafe {
                    rsockets::rsendto(rsocket, from, length, flags, raw, room)
                })
            }
            // SAFETY: the caller's.
            _ => unsafe { rsockets::rsend(rsocket, from, length, flags) },
        },
    )
}

/// The first datagram's peer decides over its socket.
fn decide(fd: c_int, peer: Option<&Address>) {
    let Some(peer) = peer else { return };
    let Some(socket) = SOCKETS.get(fd) else { return };
    if !socket.is_stream() && socket.mode() == Mode::Open {
        crate::datagram::decide(&socket, fd, peer);
    }
}

/// # Safety
/// The caller's arguments of recvmsg.
pub(crate) unsafe fn receive_message(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    transfer(
        fd,
        Way::In,
        flags,
        // SAFETY: the caller's.
        || unsafe { real::recvmsg(fd, message, flags) },
        // SAFETY: the caller's.
        |rsocket, socket| unsafe {
            if flags & libc::MSG_ERRQUEUE != 0 {
                return fail(Errno::EAGAIN) as ssize_t;
            }
            if let Some(message) = message.as_mut() {
                message.msg_flags = 0;
            }
            let room = message.as_ref().map_or(0, |message| message.msg_namelen);
            let count = rsockets::rrecvmsg(rsocket, message, flags);
            if let (true, Some(message)) = (count >= 0, message.as_mut()) {
                message.msg_controllen = 0;
                if socket.is_stream() {
                    message.msg_namelen = 0;
                } else if let Some(from) =
                    Address::read(message.msg_name.cast(), message.msg_namelen)
                {
                    message.msg_namelen = room;
                    let length = &raw mut message.msg_namelen;
                    from.in_family(socket.family).store(message.msg_name.cast(), length);
                }
            }
            count
        },
    )
}

/// # Safety
/// The caller's arguments of sendmsg.
pub(crate) unsafe fn send_message(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's.
    let peer = unsafe {
        message
            .as_ref()
            .and_then(|message| Address::read(message.msg_name.cast(), message.msg_namelen))
    };
    decide(fd, peer.as_ref());
    transfer(
        fd,
        Way::Out,
        flags,
        // SAFETY: the caller's.
        || unsafe { real::sendmsg(fd, message, flags) },
        |rsocket, socket| match &peer {
            Some(peer) if !socket.is_stream() => {
                let peer = crate::datagram::peer_of(socket, peer);
                // SAFETY: the caller's header, with an address in C's form.
                peer.with_raw(|raw, room| unsafe {
                    let copy =
                        msghdr { msg_name: raw.cast_mut().cast(), msg_namelen: room, ..*message };
                    rsockets::rsendmsg(rsocket, &raw const copy, flags)
                })
            }
            // SAFETY: the caller's.
            _ => unsafe { rsockets::rsendmsg(rsocket, message, flags) },
        },
    )
}

fn is_by_rdma(fd: c_int) -> bool {
    SOCKETS.get(fd).is_some_and(|socket| matches!(socket.mode(), Mode::Rdma | Mode::Connecting))
}

/// # Safety
/// The caller's arguments of recvmmsg.
pub(crate) unsafe fn receive_messages(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    if !is_by_rdma(fd) {
        // SAFETY: the caller's.
        return unsafe { real::recvmmsg(fd, messages, count, flags, timeout) };
    }
    // SAFETY: the caller's.
    let limit = unsafe { timeout.as_ref() }.and_then(crate::wait::deadline_of);
    let mut flags = flags;
    let mut done = 0;
    while done < count {
        // SAFETY: one of the caller's `count` places.
        let received = unsafe {
            let place = messages.add(done as usize);
            let received = receive_message(fd, &raw mut (*place).msg_hdr, flags);
            if received >= 0 {
                (*place).msg_len = received as c_uint;
            }
            received
        };
        if received < 0 {
            return if done > 0 { done as c_int } else { -1 };
        }
        done += 1;
        if flags & libc::MSG_WAITFORONE != 0 {
            flags |= MSG_DONTWAIT;
        }
        if limit.is_some_and(|limit| Instant::now() >= limit) {
            break;
        }
    }
    done as c_int
}

/// # Safety
/// The caller's arguments of sendmmsg.
pub(crate) unsafe fn send_messages(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    if !is_by_rdma(fd) {
        // SAFETY: the caller's.
        if let Some(first) = unsafe { messages.as_ref() }.filter(|_| count > 0) {
            let header = &first.msg_hdr;
            // SAFETY: the caller's.
            let peer = unsafe { Address::read(header.msg_name.cast(), header.msg_namelen) };
            decide(fd, peer.as_ref());
        }
        if !is_by_rdma(fd) {
            // SAFETY: the caller's.
            return unsafe { real::sendmmsg(fd, messages, count, flags) };
        }
    }
    let mut done = 0;
    while done < count {
        // SAFETY: one of the caller's `count` places.
        let sent = unsafe {
            let place = messages.add(done as usize);
            let sent = send_message(fd, &raw const (*place).msg_hdr, flags);
            if sent >= 0 {
                (*place).msg_len = sent as c_uint;
            }
            sent
        };
        if sent < 0 {
            return if done > 0 { done as c_int } else { -1 };
        }
        done += 1;
    }
    done as c_int
}

/// Bytes that a read would find now.
pub(crate) fn unread(socket: &Socket) -> c_int {
    let Some(rsocket) = socket.rsocket() else { return 0 };
    let mut room: Vec<u8> = Vec::with_capacity(UNREAD);
    // SAFETY: room of that length.
    let count = quietly(|| unsafe {
        rsockets::rrecv(rsocket, room.as_mut_ptr().cast(), UNREAD, MSG_PEEK | MSG_DONTWAIT)
    });
    c_int::try_from(count).unwrap_or(0).max(0)
}

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
    let rsocket = match side(&socket, to, 0) {
        Side::Kernel => return None,
        Side::Rdma(rsocket) => rsocket,
        Side::Refused(error) => return Some(fail(error) as ssize_t),
    };
    // SAFETY: the caller's place.
    let given = unsafe { offset.as_ref() }.copied();
    // SAFETY: no pointers.
    let start = given.unwrap_or_else(|| unsafe { libc::lseek64(from, 0, SEEK_CUR) });
    let answer = copy_file(&socket, to, rsocket, from, start, count);
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
    to: c_int,
    rsocket: c_int,
    from: c_int,
    start: off_t,
    count: usize,
) -> Result<usize> {
    let mut room = vec![0_u8; CHUNK.min(count)];
    let waits = !is_non_blocking(to);
    let mut done = 0;
    while done < count {
        let wanted = room.len().min(count - done);
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
        let bytes = &room[..read.min(wanted)];
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
        if !from_offset.is_null() || !to_offset.is_null() {
            return Some(fail(Errno::of(libc::ESPIPE)) as ssize_t);
        }
        if (flags & SPLICE_F_NONBLOCK != 0 || is_non_blocking(to))
            && rsockets::readiness(rsocket, POLLOUT) & POLLOUT == 0
        {
            return Some(fail(Errno::EAGAIN) as ssize_t);
        }
        return Some(match copy_file(&socket, to, rsocket, from, -1, wanted_now(from, wanted)) {
            Ok(count) => count as ssize_t,
            Err(error) => fail(error) as ssize_t,
        });
    }
    let socket = SOCKETS.get(from).filter(|socket| socket.mode() == Mode::Rdma)?;
    let rsocket = socket.rsocket()?;
    if !from_offset.is_null() || !to_offset.is_null() {
        return Some(fail(Errno::of(libc::ESPIPE)) as ssize_t);
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
