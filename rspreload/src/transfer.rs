//! Moving bytes and datagrams, by the side that carries the socket.
//!
//! # Safety
//! The caller's buffers, and buffers of our own.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::connect;
use crate::counted::Counted;
use crate::descriptors;
use crate::detach::detach_rights;
use crate::error::{Errno, quietly};
use crate::export::fail;
use crate::fork;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket};
use crate::stats::Way;
use libc::{
    MSG_DONTWAIT, MSG_NOSIGNAL, MSG_PEEK, c_int, c_void, msghdr, sockaddr, socklen_t, ssize_t,
};

/// As much as FIONREAD is ever asked to count.
const UNREAD: usize = 256 << 10;

/// Who carries a call.
pub(crate) enum Side {
    Kernel,
    Rdma(c_int),
    Refused(Errno),
}

pub(crate) fn side(socket: &Counted<Socket>, fd: c_int, way: Way, flags: c_int) -> Side {
    fork::claim_for(socket, way);
    if way == Way::In {
        crate::datagram::expect(socket, fd);
    }
    if socket.mode() == Mode::Connecting {
        quietly(|| connect::drive(socket));
    }
    if socket.mode() == Mode::Connecting {
        if flags & MSG_DONTWAIT != 0 || socket.is_non_blocking() {
            return Side::Refused(Errno::EAGAIN);
        }
        if let Err(error) = connect::wait_until_settled(socket) {
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

/// The socket of a number: none for an ordinary descriptor.
#[inline]
pub(crate) fn known(fd: c_int) -> Option<Counted<Socket>> {
    if descriptors::is_unused() { None } else { SOCKETS.get(fd) }
}

/// One call, counted.
pub(crate) fn transfer(
    fd: c_int,
    way: Way,
    flags: c_int,
    by_kernel: impl FnOnce() -> ssize_t,
    by_rdma: impl FnOnce(c_int, &Socket) -> ssize_t,
) -> ssize_t {
    match known(fd) {
        None => by_kernel(),
        Some(socket) => carry(socket, fd, way, flags, by_kernel, by_rdma),
    }
}

/// Out of line: an ordinary descriptor's call is a few instructions without it.
#[inline(never)]
pub(crate) fn carry(
    socket: Counted<Socket>,
    fd: c_int,
    way: Way,
    flags: c_int,
    by_kernel: impl FnOnce() -> ssize_t,
    by_rdma: impl FnOnce(c_int, &Socket) -> ssize_t,
) -> ssize_t {
    let (rdma, result) = match side(&socket, fd, way, flags) {
        Side::Kernel => (socket.mode() == Mode::Relayed, by_kernel()),
        Side::Rdma(rsocket) => (true, by_rdma(rsocket, &socket)),
        Side::Refused(error) => return fail(error) as ssize_t,
    };
    if flags & MSG_PEEK == 0 || way == Way::Out {
        socket.count(way, rdma, result);
    }
    if socket.mode() == Mode::Rdma && result < 0 {
        in_words_of_tcp();
        if way == Way::Out && flags & MSG_NOSIGNAL == 0 {
            raise_for_pipe(&socket);
        }
    }
    result
}

/// However a connection was lost, for TCP it is a reset.
fn in_words_of_tcp() {
    if matches!(Errno::last(), Errno::EPROTO | Errno::EIO | Errno::ENODEV) {
        fail(Errno::ECONNRESET);
    }
}

/// rsockets raise no signal; a kernel socket does.
pub(crate) fn raise_for_pipe(socket: &Socket) {
    if socket.is_stream() && Errno::last() == Errno::EPIPE {
        // SAFETY: no pointers.
        quietly(|| unsafe { libc::raise(libc::SIGPIPE) });
    }
}

/// recv on an rsocket. Without room for a byte the kernel's call still waits for one.
///
/// # Safety
/// The caller's arguments of recv.
pub(crate) unsafe fn receive(
    rsocket: c_int,
    socket: &Socket,
    to: *mut c_void,
    length: usize,
    flags: c_int,
) -> ssize_t {
    if length > 0 || !socket.is_stream() {
        // SAFETY: the caller's.
        return unsafe { rsockets::rrecv(rsocket, to, length, flags) };
    }
    let mut byte = 0_u8;
    let place = (&raw mut byte).cast();
    // SAFETY: a place for one byte.
    let count = unsafe { rsockets::rrecv(rsocket, place, 1, flags | MSG_PEEK) };
    count.min(0)
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
                return unsafe { receive(rsocket, socket, to, length, flags) };
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
pub(crate) fn decide(fd: c_int, peer: Option<&Address>) {
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
    if !descriptors::is_unused() {
        // SAFETY: the caller's.
        unsafe { detach_rights(message) };
    }
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
