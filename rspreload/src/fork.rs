//! Connections in a fork's child. RDMA cannot be used by a child, so what it touches is relayed: it asks
//! the process that has the connection, gets one end of a Unix stream socket, and puts that under its
//! own numbers. A child that touches nothing costs its parent a socket pair.
//!
//! A child that forks itself claims what it has not touched yet first, so that its own child inherits
//! ordinary descriptors.
//!
//! # Safety
//! Messages on sockets that are made here; dup3 onto numbers that the tables know.
#![allow(unsafe_code)]

use crate::ends;
use crate::error::{Errno, Result, quietly};
use crate::lock::Lock;
use crate::process;
use crate::real;
use crate::relay;
use crate::socket::{Mode, SOCKETS, Socket};
use crate::stats::Way;
use libc::{
    AF_UNIX, F_GETFD, FD_CLOEXEC, MSG_CMSG_CLOEXEC, MSG_NOSIGNAL, O_CLOEXEC, SCM_RIGHTS,
    SOCK_CLOEXEC, SOCK_SEQPACKET, SOCK_STREAM, SOL_SOCKET, c_int, iovec, msghdr,
};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// Connections over RDMA that this process has.
static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
/// The way to the parent, in a child.
static PARENT: AtomicI32 = AtomicI32::new(-1);
/// The pair that is made for the next child.
static PAIR: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];
static ASKING: Lock<()> = Lock::new(());

/// What a child says about one of its connections.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Word {
    /// It wants to use it.
    Claim = 1,
    /// It has closed it.
    Closed = 2,
}

pub(crate) type Message = [u64; 2];

pub(crate) fn connected() {
    CONNECTIONS.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn disconnected() {
    CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
}

/// Whether the connection is the parent's.
pub(crate) fn is_foreign(socket: &Socket) -> bool {
    socket.mode() == Mode::Rdma && socket.rsocket().is_none()
}

fn foreign_sockets() -> Vec<Arc<Socket>> {
    let all = (0..crate::descriptors::highest()).filter_map(|fd| SOCKETS.get(fd));
    all.filter(|socket| socket.is_stream() && is_foreign(socket)).collect()
}

pub(crate) extern "C" fn before() {
    quietly(|| {
        if PARENT.load(Ordering::Relaxed) >= 0 {
            for socket in foreign_sockets() {
                claim(&socket);
            }
        }
        if CONNECTIONS.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut pair = [-1; 2];
        // SAFETY: a place for two descriptors.
        unsafe {
            libc::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.as_mut_ptr());
        }
        for (place, fd) in PAIR.iter().zip(pair) {
            place.store(fd, Ordering::Relaxed);
        }
    });
}

pub(crate) extern "C" fn in_parent() {
    let (own, child) = take_pair();
    quietly(|| {
        close(child);
        if own >= 0 {
            relay::watch(own);
        }
    });
}

/// Async-signal-safe: other threads' locks may be held.
pub(crate) fn in_child() {
    let (parent, own) = take_pair();
    quietly(|| {
        close(parent);
        close(PARENT.swap(own, Ordering::Relaxed));
        ends::in_child();
    });
    CONNECTIONS.store(0, Ordering::Relaxed);
}

/// The program closes these numbers. One of them may be ours, which it does not know.
pub(crate) fn closed(first: c_int, last: c_int) {
    let parent = PARENT.load(Ordering::Relaxed);
    if parent >= 0 && (first..=last).contains(&parent) {
        PARENT.store(-1, Ordering::Relaxed);
    }
}

fn take_pair() -> (c_int, c_int) {
    (PAIR[0].swap(-1, Ordering::Relaxed), PAIR[1].swap(-1, Ordering::Relaxed))
}

pub(crate) fn close(fd: c_int) {
    if fd >= 0 {
        // SAFETY: ours.
        unsafe { real::close(fd) };
    }
}

/// A child closes a connection that it has never touched.
pub(crate) fn forget(socket: &Socket) {
    let _ = tell(Word::Closed, socket.number());
}

fn tell(word: Word, number: u64) -> Result<()> {
    let parent = PARENT.load(Ordering::Relaxed);
    if parent < 0 {
        return Err(Errno::ENOTCONN);
    }
    let message: Message = [word as u64, number];
    // SAFETY: live bytes.
    let sent =
        unsafe { real::send(parent, message.as_ptr().cast(), size_of::<Message>(), MSG_NOSIGNAL) };
    if sent < 0 { Err(Errno::last()) } else { Ok(()) }
}

/// Makes a connection of the parent's usable here, or broken.
pub(crate) fn claim(socket: &Socket) {
    claim_for(socket, Way::In);
}

/// For datagrams it matters which way: who reads takes them from its parent.
pub(crate) fn claim_for(socket: &Socket, way: Way) {
    if !is_foreign(socket) || !process::is_own_memory() {
        return;
    }
    if !socket.is_stream() {
        return crate::datagram::inherit(socket, way);
    }
    quietly(|| {
        let _asking = ASKING.lock();
        if !is_foreign(socket) {
            return;
        }
        let claimed = tell(Word::Claim, socket.number()).and_then(|()| receive_descriptor());
        match claimed.and_then(|unix| replace(socket, unix)) {
            Ok(()) => socket.set_mode(Mode::Relayed),
            Err(_) => {
                socket.state.lock().error = Some(Errno::ECONNRESET);
                socket.set_mode(Mode::Failed);
            }
        }
        socket.moved();
    });
}

/// Puts a descriptor under all numbers of the socket.
pub(crate) fn replace(socket: &Socket, unix: c_int) -> Result<()> {
    let fds = socket.state.lock().fds.clone();
    // SAFETY: no pointers; the numbers are the socket's.
    unsafe {
        if socket.is_non_blocking() {
            real::fcntl(unix, libc::F_SETFL, libc::O_NONBLOCK.into());
        }
        for fd in fds {
            let flags = real::fcntl(fd, F_GETFD, 0);
            real::dup3(unix, fd, if flags & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 });
        }
    }
    close(unix);
    Ok(())
}

const ROOM: usize = 64;

#[repr(C, align(8))]
struct Control([u8; ROOM]);

/// A message of one byte that may carry a descriptor.
fn with_message<R>(byte: &mut u8, control: &mut Control, call: impl FnOnce(&mut msghdr) -> R) -> R {
    let mut piece = iovec { iov_base: std::ptr::from_mut(byte).cast(), iov_len: 1 };
    // SAFETY: pointers and integers, valid when zero.
    let mut message: msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = ROOM;
    call(&mut message)
}

fn receive_descriptor() -> Result<c_int> {
    let (mut byte, mut control) = (0, Control([0; ROOM]));
    let parent = PARENT.load(Ordering::Relaxed);
    // SAFETY: live places; the header is read only where the kernel wrote one.
    with_message(&mut byte, &mut control, |message| unsafe {
        loop {
            let count = real::recvmsg(parent, message, MSG_CMSG_CLOEXEC);
            if count < 0 && Errno::last() == Errno::EINTR {
                continue;
            }
            let header = libc::CMSG_FIRSTHDR(message);
            if count <= 0 || header.is_null() || (*header).cmsg_type != SCM_RIGHTS {
                return Err(Errno::ECONNRESET);
            }
            return Ok(libc::CMSG_DATA(header).cast::<c_int>().read_unaligned());
        }
    })
}

/// Answers a claim: with a descriptor, or without one where the connection is gone.
pub(crate) fn send_descriptor(child: c_int, fd: Option<c_int>) -> Result<()> {
    let (mut byte, mut control) = (0, Control([0; ROOM]));
    // SAFETY: live places with room for one descriptor.
    with_message(&mut byte, &mut control, |message| unsafe {
        match fd {
            Some(fd) => {
                let size = size_of::<c_int>() as u32;
                message.msg_controllen = libc::CMSG_SPACE(size) as usize;
                let header = libc::CMSG_FIRSTHDR(message);
                (*header).cmsg_level = SOL_SOCKET;
                (*header).cmsg_type = SCM_RIGHTS;
                (*header).cmsg_len = libc::CMSG_LEN(size) as usize;
                libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(fd);
            }
            None => message.msg_controllen = 0,
        }
        match real::sendmsg(child, message, MSG_NOSIGNAL) {
            -1 => Err(Errno::last()),
            _ => Ok(()),
        }
    })
}

/// The two ends of a relayed connection.
pub(crate) fn stream_pair() -> Result<[c_int; 2]> {
    let mut pair = [-1; 2];
    // SAFETY: a place for two descriptors.
    match unsafe { libc::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.as_mut_ptr()) } {
        0 => Ok(pair),
        _ => Err(Errno::last()),
    }
}
