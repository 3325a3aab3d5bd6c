//! Connections in a fork's child. RDMA cannot be used by a child, so what it touches is relayed: it asks
//! the process that has the connection, gets one end of a Unix stream socket, and puts that under its
//! own numbers. A child that touches nothing costs its parent a socket pair.
//!
//! A child that forks itself asks for a way of its own child's to the process that has the connections. What
//! nobody touches is not relayed: a relay would take bytes from the process that reads them.
//!
//! # Safety
//! Messages on sockets that are made here; dup3 onto numbers that the tables know.
#![allow(unsafe_code)]

use crate::counted::Counted;
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
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// Connections over RDMA that this process has.
static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
/// The way to a process that this one descends from.
struct Line {
    /// The process, as makers of rsockets are numbered.
    generation: AtomicU32,
    fd: AtomicI32,
}

impl Line {
    const fn none() -> Line {
        Line { generation: AtomicU32::new(0), fd: AtomicI32::new(-1) }
    }

    fn set(&self, generation: u32, fd: c_int) {
        self.generation.store(generation, Ordering::Relaxed);
        self.fd.store(fd, Ordering::Relaxed);
    }

    fn get(&self) -> Option<(u32, c_int)> {
        let fd = self.fd.load(Ordering::Relaxed);
        (fd >= 0).then(|| (self.generation.load(Ordering::Relaxed), fd))
    }

    fn take(&self) -> Option<(u32, c_int)> {
        let taken = self.get();
        self.fd.store(-1, Ordering::Relaxed);
        taken
    }
}

/// Connections of older ancestors are lost (ECONNRESET).
const DEPTH: usize = 8;
static LINES: [Line; DEPTH] = [const { Line::none() }; DEPTH];
/// The next child's, and our end of the one that leads here.
static NEXT: [Line; DEPTH] = [const { Line::none() }; DEPTH];
static OWN_END: AtomicI32 = AtomicI32::new(-1);
static ASKING: Lock<()> = Lock::new(());

/// What a child says about one of its connections.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Word {
    /// It wants to use it.
    Claim = 1,
    /// It has closed it.
    Closed = 2,
    /// It forks: its child wants a way, too.
    Fork = 3,
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

fn foreign_sockets() -> Vec<Counted<Socket>> {
    let all = (0..crate::descriptors::highest()).filter_map(|fd| SOCKETS.get(fd));
    all.filter(|socket| socket.is_stream() && is_foreign(socket)).collect()
}

pub(crate) extern "C" fn before() {
    quietly(|| {
        let mut places = NEXT.iter();
        if LINES.iter().any(|line| line.get().is_some()) && !foreign_sockets().is_empty() {
            let _asking = ASKING.lock();
            for (generation, fd) in LINES.iter().filter_map(Line::get) {
                // A process that has ended answers no more, and its connections have ended, too.
                if let (Ok(line), Some(place)) = (ask(fd, Word::Fork, 0), places.next()) {
                    place.set(generation, line);
                }
            }
        }
        let Some(place) = places.next() else { return };
        if CONNECTIONS.load(Ordering::Relaxed) > 0 {
            if let Ok([own, child]) = control_pair() {
                OWN_END.store(own, Ordering::Relaxed);
                place.set(process::generation(), child);
            }
        }
    });
}

pub(crate) extern "C" fn in_parent() {
    let own = OWN_END.swap(-1, Ordering::Relaxed);
    quietly(|| {
        for (_, fd) in NEXT.iter().filter_map(Line::take) {
            close(fd);
        }
        if own >= 0 {
            relay::watch(own);
        }
    });
}

/// Async-signal-safe: other threads' locks may be held.
pub(crate) fn in_child() {
    quietly(|| {
        close(OWN_END.swap(-1, Ordering::Relaxed));
        for (line, next) in LINES.iter().zip(&NEXT) {
            if let Some((_, fd)) = line.take() {
                close(fd);
            }
            if let Some((generation, fd)) = next.take() {
                line.set(generation, fd);
            }
        }
        ends::in_child();
    });
    CONNECTIONS.store(0, Ordering::Relaxed);
}

/// The program closes these numbers. Some of them may be ours, which it does not know.
pub(crate) fn closed(first: c_int, last: c_int) {
    for line in &LINES {
        if line.get().is_some_and(|(_, fd)| (first..=last).contains(&fd)) {
            line.take();
        }
    }
}

pub(crate) fn close(fd: c_int) {
    if fd >= 0 {
        // SAFETY: ours.
        unsafe { real::close(fd) };
    }
}

/// The way to the process that has the connection.
fn line_of(socket: &Socket) -> Result<c_int> {
    let maker = socket.maker();
    let found = LINES.iter().filter_map(Line::get).find(|(generation, _)| *generation == maker);
    found.map(|(_, fd)| fd).ok_or(Errno::ENOTCONN)
}

/// A child closes a connection that it has never touched.
pub(crate) fn forget(socket: &Socket) {
    if let Ok(line) = line_of(socket) {
        let _ = tell(line, Word::Closed, socket.number());
    }
}

fn tell(line: c_int, word: Word, number: u64) -> Result<()> {
    let message: Message = [word as u64, number];
    // SAFETY: live bytes.
    let sent =
        unsafe { real::send(line, message.as_ptr().cast(), size_of::<Message>(), MSG_NOSIGNAL) };
    if sent < 0 { Err(Errno::last()) } else { Ok(()) }
}

/// What is answered with a descriptor. One at a time.
fn ask(line: c_int, word: Word, number: u64) -> Result<c_int> {
    tell(line, word, number)?;
    receive_descriptor(line)
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
        let claimed = line_of(socket).and_then(|line| ask(line, Word::Claim, socket.number()));
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
            // Of what another thread did during the fork, the list may know more than the table.
            if !SOCKETS.get(fd).is_some_and(|found| std::ptr::eq(&raw const *found, socket)) {
                continue;
            }
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

fn receive_descriptor(line: c_int) -> Result<c_int> {
    let (mut byte, mut control) = (0, Control([0; ROOM]));
    // SAFETY: live places; the header is read only where the kernel wrote one.
    with_message(&mut byte, &mut control, |message| unsafe {
        loop {
            let count = real::recvmsg(line, message, MSG_CMSG_CLOEXEC);
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
    pair(SOCK_STREAM)
}

/// The two ends of a way between processes.
pub(crate) fn control_pair() -> Result<[c_int; 2]> {
    pair(SOCK_SEQPACKET)
}

fn pair(kind: c_int) -> Result<[c_int; 2]> {
    let mut pair = [-1; 2];
    // SAFETY: a place for two descriptors.
    match unsafe { libc::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, pair.as_mut_ptr()) } {
        0 => Ok(pair),
        _ => Err(Errno::last()),
    }
}
