//! Connections that are used without us: by another process that gets the descriptor (SCM_RIGHTS), by
//! stdio and by programs that are run with it as their standard input and output. The program's
//! descriptor becomes one end of a Unix socket, and a thread moves the bytes.
//!
//! # Safety
//! The caller's message header.
#![allow(unsafe_code)]

use crate::counted::Counted;
use crate::error::quietly;
use crate::fork;
use crate::lock::Lock;
use crate::process;
use crate::real;
use crate::relay;
use crate::socket::{Mode, SOCKETS, Socket};
use libc::{SCM_RIGHTS, SHUT_RD, SOL_SOCKET, c_int, msghdr};
use std::time::{Duration, Instant};

/// How long the end of the program waits for what it has written.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);
const FLUSH_STEP: Duration = Duration::from_millis(1);

/// Our end of a detached connection, and what carries it.
struct Detached {
    generation: u32,
    end: c_int,
    carrier: Counted<Socket>,
    /// The program may still write.
    is_open: bool,
}

static ALL: Lock<Vec<Detached>> = Lock::new(Vec::new());

/// Makes the descriptor of a connection one that needs us no more.
pub(crate) fn detach(fd: c_int) {
    let Some(socket) = SOCKETS.get(fd) else { return };
    fork::claim(&socket);
    let is_ours = |socket: &Socket| socket.mode() == Mode::Rdma && socket.is_stream();
    if !is_ours(&socket) || !process::is_own_memory() {
        return;
    }
    quietly(|| {
        let mut all = ALL.lock();
        let Some(rsocket) = socket.rsocket().filter(|_| is_ours(&socket)) else { return };
        let Ok(carrier) = Socket::new(socket.family, socket.kind, Mode::Rdma) else { return };
        let Ok([end, other]) = fork::stream_pair() else { return };
        carrier.set_rsocket(rsocket);
        let replaced = relay::start(Counted::clone(&carrier), end).and_then(|()| {
            all.retain(|detached| detached.generation == process::generation());
            let generation = process::generation();
            all.push(Detached {
                generation,
                end,
                carrier: Counted::clone(&carrier),
                is_open: true,
            });
            fork::replace(&socket, other)
        });
        if replaced.is_err() {
            // It stays as it was.
            carrier.set_mode(Mode::Plain);
            carrier.take_rsocket();
            return fork::close(other);
        }
        socket.counts.hand_over(&carrier.counts);
        carrier.state.lock().names = socket.state.lock().names;
        socket.set_mode(Mode::Relayed);
        socket.take_rsocket();
        socket.moved();
    });
}

/// The program's side has ended, and the peer knows.
pub(crate) fn flushed(end: c_int) {
    let mut all = ALL.lock();
    for detached in all.iter_mut().filter(|detached| detached.end == end) {
        detached.is_open = false;
    }
}

/// The connection has ended.
pub(crate) fn ended(end: c_int) {
    // Dropped without the lock: closing an rsocket may take a while.
    let gone: Vec<Detached> = {
        let mut all = ALL.lock();
        let (gone, left) = all.drain(..).partition(|detached| detached.end == end);
        *all = left;
        gone
    };
    drop(gone);
}

/// The program ends: what it has written goes out first, as from the kernel's buffers.
pub(crate) fn finish() {
    ALL.lock().retain(|detached| detached.generation == process::generation());
    for detached in ALL.lock().iter() {
        // What is there can still be read, then comes the end.
        // SAFETY: no pointers.
        unsafe { real::shutdown(detached.end, SHUT_RD) };
    }
    let deadline = Instant::now() + FLUSH_LIMIT;
    while ALL.lock().iter().any(|detached| detached.is_open) && Instant::now() < deadline {
        std::thread::sleep(FLUSH_STEP);
    }
    for detached in ALL.lock().iter() {
        detached.carrier.tell();
    }
}

/// Detaches what a message takes to another process.
///
/// # Safety
/// NULL, or the caller's header of sendmsg.
pub(crate) unsafe fn detach_rights(message: *const msghdr) {
    // SAFETY: the caller's; headers lie within its control data, descriptors within their lengths.
    unsafe {
        let Some(message) = message.as_ref() else { return };
        if message.msg_control.is_null() || message.msg_controllen == 0 {
            return;
        }
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(found) = header.as_ref() {
            let bytes = found.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
            let start = libc::CMSG_DATA(header).addr() - message.msg_control.addr();
            let room = message.msg_controllen.saturating_sub(start);
            if (found.cmsg_level, found.cmsg_type) == (SOL_SOCKET, SCM_RIGHTS) {
                let fds = libc::CMSG_DATA(header).cast::<c_int>();
                for index in 0..bytes.min(room) / size_of::<c_int>() {
                    detach(fds.add(index).read_unaligned());
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}
