// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The child's side of an inherited connection. RDMA resources do not survive fork, so a child
//! claims a connection when it first uses it: it asks the process that has the rsocket, gets one
//! end of a Unix socket, and puts that under its own descriptor numbers. A connection that a child
//! does not use is not claimed: a relay would take bytes from the process that reads them.
//!
//! # Safety
//! dup3(2) onto numbers of the socket, and close(2) on links that are owned here.
#![allow(unsafe_code)]

use super::request::{self, Request};
use crate::sys::{original, process};
use crate::table::descriptors::{self, SOCKETS};
use crate::table::socket::{Mode, Socket};
use base::errno::{Errno, Result, preserve_errno};
use base::fork::generation;
use base::lock::Mutex;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use libc::{F_GETFD, FD_CLOEXEC, O_CLOEXEC, c_int};

/// A Unix socket that leads to an ancestor.
struct Link {
    /// The ancestor's generation, as in `Socket::maker`.
    generation: AtomicU32,
    fd: AtomicI32,
}

impl Link {
    const fn none() -> Link {
        Link { generation: AtomicU32::new(0), fd: AtomicI32::new(-1) }
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
static LINKS: [Link; DEPTH] = [const { Link::none() }; DEPTH];
/// The links of the child that is being made.
static NEXT_LINKS: [Link; DEPTH] = [const { Link::none() }; DEPTH];
/// A link carries one request and its answer at a time.
static ASKING: Mutex<()> = Mutex::new(());

fn has_inherited_streams() -> bool {
    descriptors::all().any(|(_, socket)| socket.is_stream() && socket.is_inherited())
}

/// Before fork: gets links to this process's ancestors for the child, if it may need them. `own` is
/// a link to this process.
pub(super) fn prepare_links(own: impl FnOnce() -> Option<c_int>) {
    let mut slots = NEXT_LINKS.iter();
    if LINKS.iter().any(|link| link.get().is_some()) && has_inherited_streams() {
        let _asking = ASKING.lock();
        for (generation, fd) in LINKS.iter().filter_map(Link::get) {
            // An ancestor that has ended does not answer; its connections have ended, too.
            if let (Ok(link), Some(slot)) = (request::ask(fd, Request::Fork, 0), slots.next()) {
                slot.set(generation, link);
            }
        }
    }
    let Some(slot) = slots.next() else { return };
    if let Some(link) = own() {
        slot.set(generation(), link);
    }
}

/// In the parent: the child has the links.
pub(super) fn close_next_links() {
    for (_, fd) in NEXT_LINKS.iter().filter_map(Link::take) {
        original::close_own(fd);
    }
}

/// In the child: its links take the place of its parent's. Async-signal-safe.
pub(super) fn take_links() {
    for (link, next) in LINKS.iter().zip(&NEXT_LINKS) {
        if let Some((_, fd)) = link.take() {
            original::close_own(fd);
        }
        if let Some((generation, fd)) = next.take() {
            link.set(generation, fd);
        }
    }
}

/// The program closes these numbers. Links may be among them, of which it does not know.
pub(crate) fn numbers_closed(first: c_int, last: c_int) {
    for link in &LINKS {
        if link.get().is_some_and(|(_, fd)| (first..=last).contains(&fd)) {
            link.take();
        }
    }
}

/// The link to the process that has the connection.
fn link_of(socket: &Socket) -> Result<c_int> {
    let maker = socket.maker();
    let found = LINKS.iter().filter_map(Link::get).find(|(generation, _)| *generation == maker);
    found.map(|(_, fd)| fd).ok_or(Errno::ENOTCONN)
}

/// An inherited connection is closed that was never used here.
pub(super) fn release(socket: &Socket) {
    if let Ok(link) = link_of(socket) {
        let _ = request::send(link, Request::Closed, socket.number());
    }
}

/// Makes an inherited stream usable in this process, or fails it with ECONNRESET.
pub(crate) fn claim(socket: &Socket) {
    if !socket.is_inherited() || !process::is_own_memory() {
        return;
    }
    preserve_errno(|| {
        let _asking = ASKING.lock();
        if !socket.is_inherited() {
            return;
        }
        let claimed =
            link_of(socket).and_then(|link| request::ask(link, Request::Claim, socket.number()));
        match claimed.and_then(|unix| replace(socket, unix)) {
            Ok(()) => socket.set_mode(Mode::Relayed),
            Err(_) => {
                socket.state.lock().error = Some(Errno::ECONNRESET);
                socket.set_mode(Mode::Failed);
            }
        }
        socket.carrier_changed();
    });
}

/// Puts a descriptor, with the socket's options, under all numbers of the socket, and closes it.
pub(super) fn replace(socket: &Socket, unix: c_int) -> Result<()> {
    let state = socket.state.lock();
    state.settings.iter().for_each(|setting| setting.apply_to_kernel(unix));
    // SAFETY: no pointers; the numbers are the socket's.
    unsafe {
        if socket.is_non_blocking() {
            original::fcntl(unix, libc::F_SETFL, libc::O_NONBLOCK.into());
        }
        for fd in state.fds.iter().copied() {
            // The list may be ahead of the table if another thread closed or copied during the
            // fork.
            if !SOCKETS.get(fd).is_some_and(|found| core::ptr::eq(&raw const *found, socket)) {
                continue;
            }
            let flags = original::fcntl(fd, F_GETFD, 0);
            original::dup3(unix, fd, if flags & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 });
        }
    }
    drop(state);
    original::close_own(unix);
    Ok(())
}
