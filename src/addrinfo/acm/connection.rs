//! One connection to the daemon for one question.
//!
//! A connection is not kept: with one of its own each question can only get its own reply, needs no
//! lock, cannot be disturbed by an earlier one that was given up, and means nothing to a fork's child.
//! Connecting takes some microseconds, the question itself often a round trip through the fabric.
//!
//! # Safety
//! System calls with buffers of this stack; descriptors are owned.
#![allow(unsafe_code)]

use super::message::{MAX_MESSAGE, announced_length};
use crate::deadline::wait_ready;
use crate::error::{Errno, Result};
use libc::{c_int, sockaddr_in, sockaddr_un, socklen_t};
use std::fs::OpenOptions;
use std::io::Read;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

/// Holds the number of a TCP port of this machine, where the daemon listens on one.
const PORT_FILE: &str = "/run/ibacm.port";
const SOCKET: &[u8] = b"/run/ibacm.sock";

/// When a Unix socket has no place in its queue, nothing tells when it has one again.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// A connected socket that does not block.
pub(super) struct Connection(OwnedFd);

impl Connection {
    pub(super) fn open(deadline: Instant) -> Result<Connection> {
        match tcp_port() {
            Some(port) => connect(&loopback(port), deadline).or_else(|_| connect_unix(deadline)),
            None => connect_unix(deadline),
        }
    }

    /// Sends the question and receives one message; its length.
    pub(super) fn exchange(
        &self,
        question: &[u8],
        reply: &mut [u8; MAX_MESSAGE],
        deadline: Instant,
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

    fn send(&self, bytes: &[u8], deadline: Instant) -> Result<usize> {
        self.transfer(libc::POLLOUT, deadline, |fd| {
            // SAFETY: a live buffer. The daemon may be gone, which must not raise a signal.
            unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) }
        })
    }

    fn receive(&self, bytes: &mut [u8], deadline: Instant) -> Result<usize> {
        self.transfer(libc::POLLIN, deadline, |fd| {
            // SAFETY: a live buffer.
            unsafe { libc::recv(fd, bytes.as_mut_ptr().cast(), bytes.len(), 0) }
        })
    }

    /// Repeats a call until it moves something; ECONNRESET at the end of the stream.
    fn transfer(
        &self,
        event: libc::c_short,
        deadline: Instant,
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

/// Signals do not end this wait: a signal is no reason to connect without a route.
fn wait(fd: c_int, event: libc::c_short, deadline: Instant) -> Result<()> {
    loop {
        match wait_ready(fd, event, deadline) {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

/// A port that is written into the port file, unless it is zero.
fn tcp_port() -> Option<u16> {
    let mut text = [0; 16];
    let mut file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(PORT_FILE).ok()?;
    let length = file.read(&mut text).ok()?;
    parse_port(&text[..length])
}

fn parse_port(text: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(text).ok()?.trim_start();
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

fn connect_unix(deadline: Instant) -> Result<Connection> {
    // SAFETY: integers and bytes: valid when zero.
    let mut address: sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sun_family = libc::AF_UNIX as u16;
    for (place, byte) in address.sun_path.iter_mut().zip(SOCKET) {
        *place = *byte as libc::c_char;
    }
    connect(&address, deadline)
}

/// A socket address of the C library's.
trait Address {
    const FAMILY: c_int;
}

impl Address for sockaddr_in {
    const FAMILY: c_int = libc::AF_INET;
}

impl Address for sockaddr_un {
    const FAMILY: c_int = libc::AF_UNIX;
}

fn connect<A: Address>(address: &A, deadline: Instant) -> Result<Connection> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(A::FAMILY, kind, 0) };
    if fd < 0 {
        return Err(Errno::last());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    let socket = Connection(unsafe { OwnedFd::from_raw_fd(fd) });
    loop {
        let size = size_of::<A>() as socklen_t;
        // SAFETY: an address of the given size.
        if unsafe { libc::connect(fd, std::ptr::from_ref(address).cast(), size) } == 0 {
            return Ok(socket);
        }
        match Errno::last() {
            Errno::EISCONN => return Ok(socket),
            // EALREADY after a signal.
            Errno::EINPROGRESS | Errno::EALREADY => {
                wait(fd, libc::POLLOUT, deadline)?;
            }
            Errno::EINTR => {}
            Errno::EAGAIN if Instant::now() < deadline => std::thread::sleep(QUEUE_PAUSE),
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
