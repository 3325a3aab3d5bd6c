// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Requests of a child to the ancestor that has its connections, and the descriptors that answer
//! them. Both go over a Unix socket that keeps message boundaries.
//!
//! # Safety
//! Messages and control data on the stack of the caller. A control header is read only if the
//! kernel wrote one.
#![allow(unsafe_code)]

use crate::sys::original;
use crate::table::socket::Socket;
use base::errno::{Errno, Result};
use core::mem::MaybeUninit;
use libc::{
    AF_UNIX, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_TRUNC, SCM_RIGHTS, SOCK_CLOEXEC,
    SOCK_SEQPACKET, SOCK_STREAM, SOL_SOCKET, c_int, iovec, msghdr,
};

/// What a child says about one of its inherited connections.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Request {
    /// It wants to use the connection.
    Claim = 1,
    /// It has closed the connection.
    Closed = 2,
    /// It forks, and its child needs a link of its own.
    Fork = 3,
}

impl Request {
    fn of(value: u64) -> Option<Request> {
        [Request::Claim, Request::Closed, Request::Fork]
            .into_iter()
            .find(|request| *request as u64 == value)
    }
}

/// A request and the number of the socket that it is about.
type Words = [u64; 2];

/// Sends a request that is not answered.
pub(super) fn send(link: c_int, request: Request, socket: u64) -> Result<()> {
    let words: Words = [request as u64, socket];
    // SAFETY: live bytes.
    let sent =
        unsafe { original::send(link, words.as_ptr().cast(), size_of::<Words>(), MSG_NOSIGNAL) };
    if sent < 0 { Err(Errno::last()) } else { Ok(()) }
}

/// Sends a request that is answered with a descriptor. Only one thread at a time may ask.
pub(super) fn ask(link: c_int, request: Request, socket: u64) -> Result<c_int> {
    send(link, request, socket)?;
    receive_descriptor(link)
}

/// Takes one request if there is one now; an error when the child has ended, or sends what is none.
pub(super) fn take(link: c_int) -> Result<Option<(Request, u64)>> {
    let mut words: Words = [0; 2];
    // A longer message counts with its whole length.
    let flags = MSG_DONTWAIT | MSG_TRUNC;
    // SAFETY: room of that length.
    let count =
        unsafe { original::recv(link, words.as_mut_ptr().cast(), size_of::<Words>(), flags) };
    match usize::try_from(count) {
        Ok(count) if count == size_of::<Words>() => {
            let [request, socket] = words;
            Request::of(request).map(|request| Some((request, socket))).ok_or(Errno::EPROTO)
        }
        Err(_) if Errno::last() == Errno::EAGAIN => Ok(None),
        _ => Err(Errno::ECONNRESET),
    }
}

const CONTROL_SIZE: usize = 64;

#[repr(C, align(8))]
struct Control([u8; CONTROL_SIZE]);

/// Calls with a message of one byte and room for control data.
fn with_message<R>(byte: &mut u8, control: &mut Control, call: impl FnOnce(&mut msghdr) -> R) -> R {
    let mut piece = iovec { iov_base: core::ptr::from_mut(byte).cast(), iov_len: 1 };
    // SAFETY: pointers and integers, valid when zero.
    let mut message: msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_SIZE;
    call(&mut message)
}

fn receive_descriptor(link: c_int) -> Result<c_int> {
    let (mut byte, mut control) = (0, Control([0; CONTROL_SIZE]));
    // SAFETY: a live message; the header is read only if the kernel wrote one.
    with_message(&mut byte, &mut control, |message| unsafe {
        loop {
            let count = original::recvmsg(link, message, MSG_CMSG_CLOEXEC);
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

/// Whether the child has not taken the answer to its last request. It asks one thing at a time.
pub(super) fn has_unread_answer(link: c_int) -> bool {
    let mut unread: c_int = 0;
    // SAFETY: room for an integer.
    let asked = unsafe { original::ioctl(link, libc::TIOCOUTQ, (&raw mut unread).cast()) };
    asked == 0 && unread > 0
}

/// Answers a request, without waiting; without a descriptor if the connection is gone.
pub(super) fn answer(link: c_int, fd: Option<c_int>) -> Result<()> {
    let (mut byte, mut control) = (0, Control([0; CONTROL_SIZE]));
    // SAFETY: a live message with room for one descriptor.
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
        match original::sendmsg(link, message, MSG_NOSIGNAL | MSG_DONTWAIT) {
            -1 => Err(Errno::last()),
            _ => Ok(()),
        }
    })
}

/// The two ends of a relayed connection: this process's, and the one that stands for the connection
/// and has its name.
pub(super) fn stream_pair(socket: &Socket) -> Result<[c_int; 2]> {
    let pair = pair(SOCK_STREAM)?;
    if let Some(name) = socket.connection_name() {
        // Without a name only the answers of getsockname and getpeername are lost.
        let _ = name.give(pair[1]);
    }
    Ok(pair)
}

/// The two ends of a link between processes.
pub(super) fn link_pair() -> Result<[c_int; 2]> {
    pair(SOCK_SEQPACKET)
}

fn pair(kind: c_int) -> Result<[c_int; 2]> {
    let mut pair = [-1; 2];
    // SAFETY: room for two descriptors.
    match unsafe { libc::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, pair.as_mut_ptr()) } {
        0 => Ok(pair),
        _ => Err(Errno::last()),
    }
}
