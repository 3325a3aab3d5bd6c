// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! One connection to the daemon for one question.
//!
//! Connections are not kept. On a connection of its own a question gets its own reply, not that of
//! an earlier one that timed out, needs no lock, and is not shared with a child of fork. Connecting
//! takes some microseconds, the question itself often a round trip through the fabric.
//!
//! # Safety
//! System calls with buffers of this stack; descriptors are owned.
#![allow(unsafe_code)]

use super::message::{MAX_MESSAGE, announced_length};
use base::address::RawAddress;
use base::deadline::{Deadline, wait_ready};
use base::errno::{Errno, Result};
use base::fd::OwnedFd;
use core::ffi::CStr;
use core::time::Duration;
use libc::{c_int, sockaddr_in, sockaddr_un, socklen_t};

/// Where the daemon listens on TCP, its port.
const PORT_FILE: &CStr = c"/run/ibacm.port";
const SOCKET: &[u8] = b"/run/ibacm.sock";

/// Between attempts while the queue of the Unix socket is full, which cannot be polled for.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// A connected socket that does not block.
pub(super) struct Connection(OwnedFd);

impl Connection {
    pub(super) fn open(deadline: Deadline) -> Result<Connection> {
        match tcp_port() {
            Some(port) => {
                connect(&loopback(port).into(), deadline).or_else(|_| connect_unix(deadline))
            }
            None => connect_unix(deadline),
        }
    }

    /// Sends the question and receives one message; its length.
    pub(super) fn exchange(
        &self,
        question: &[u8],
        reply: &mut [u8; MAX_MESSAGE],
        deadline: Deadline,
    ) -> Result<usize> {
        let mut left = question;
        while !left.is_empty() {
            left = &left[self.send(left, deadline)?..];
        }
        let mut received = 0;
        loop {
            match announced_length(&reply[..received]) {
                Some(length) if received >= length => return Ok(received),
                // The header is there, but no message that fits.
                None if received >= 16 => return Err(Errno::EBADMSG),
                _ => received += self.receive(&mut reply[received..], deadline)?,
            }
        }
    }

    fn send(&self, bytes: &[u8], deadline: Deadline) -> Result<usize> {
        self.transfer(libc::POLLOUT, deadline, |fd| {
            // SAFETY: a live buffer. The daemon may be gone, which must not raise a signal.
            unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) }
        })
    }

    fn receive(&self, bytes: &mut [u8], deadline: Deadline) -> Result<usize> {
        self.transfer(libc::POLLIN, deadline, |fd| {
            // SAFETY: a live buffer.
            unsafe { libc::recv(fd, bytes.as_mut_ptr().cast(), bytes.len(), 0) }
        })
    }

    /// Repeats a call until it transfers bytes; ECONNRESET at the end of the stream.
    fn transfer(
        &self,
        event: libc::c_short,
        deadline: Deadline,
        mut call: impl FnMut(c_int) -> isize,
    ) -> Result<usize> {
        let fd = self.0.as_raw_fd();
        loop {
            match usize::try_from(call(fd)) {
                Ok(0) => return Err(Errno::ECONNRESET),
                Ok(count) => return Ok(count),
                Err(_) => match Errno::last() {
                    Errno::EINTR => {}
                    Errno::EAGAIN => wait(fd, event, deadline)?,
                    error => return Err(error),
                },
            }
        }
    }
}

/// Not ended by signals: a signal must not make a connection go without its route.
fn wait(fd: c_int, event: libc::c_short, deadline: Deadline) -> Result<()> {
    loop {
        match wait_ready(fd, event, deadline) {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

/// The port in the port file, unless it is zero, or of a file that somebody else may have written: what
/// listens there would choose our paths.
fn tcp_port() -> Option<u16> {
    let mut text = [0; 16];
    let file = OwnedFd::open(PORT_FILE, libc::O_RDONLY | libc::O_NONBLOCK).ok()?;
    if !is_trusted(&file.status().ok()?) {
        return None;
    }
    let length = file.read(&mut text).ok()?;
    parse_port(&text[..length])
}

/// Of root or this user, and not to be written by others.
fn is_trusted(file: &libc::stat) -> bool {
    // SAFETY: no arguments.
    let own = unsafe { libc::geteuid() };
    (file.st_uid == 0 || file.st_uid == own)
        && file.st_mode & libc::S_IFMT == libc::S_IFREG
        && file.st_mode & libc::S_IWOTH == 0
}

fn parse_port(text: &[u8]) -> Option<u16> {
    let text = core::str::from_utf8(text).ok()?.trim_start();
    let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
    digits.parse().ok().filter(|port| *port != 0)
}

fn loopback(port: u16) -> sockaddr_in {
    sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: libc::INADDR_LOOPBACK.to_be() },
        sin_zero: [0; 8],
    }
}

fn connect_unix(deadline: Deadline) -> Result<Connection> {
    let mut address = sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    for (to, from) in address.sun_path.iter_mut().zip(SOCKET) {
        *to = *from as libc::c_char;
    }
    connect(&address.into(), deadline)
}

fn connect(address: &RawAddress, deadline: Deadline) -> Result<Connection> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(address.family(), kind, 0) };
    let socket = Connection(OwnedFd::made(fd)?);
    loop {
        let length = address.length() as socklen_t;
        // SAFETY: an address of the given length.
        if unsafe { libc::connect(fd, address.as_ptr(), length) } == 0 {
            return Ok(socket);
        }
        match Errno::last() {
            Errno::EISCONN => return Ok(socket),
            // EALREADY after a signal.
            Errno::EINPROGRESS | Errno::EALREADY => {
                wait(fd, libc::POLLOUT, deadline)?;
            }
            Errno::EINTR => {}
            Errno::EAGAIN if !deadline.has_passed() => base::time::sleep(QUEUE_PAUSE),
            error => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse_port;

    #[test]
    fn port_file_is_read_like_a_number() {
        for (text, port) in [
            ("6125\n", Some(6125)),
            (" 1", Some(1)),
            ("65535", Some(65535)),
            ("6125 old", Some(6125)),
            ("0", None),
            ("65536", None),
            ("", None),
            ("-1", None),
            ("none", None),
        ] {
            assert_eq!(parse_port(text.as_bytes()), port, "{text:?}");
        }
        assert_eq!(parse_port(&[0xFF, b'1']), None);
    }
}
