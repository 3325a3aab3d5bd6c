// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The parent's side of inherited connections: one thread answers the requests of all children.
//!
//! A child holds each connection that it inherited until it says that it has closed it, ends, or
//! executes another program. Until then the parent's close does not end the connection, as with
//! TCP.
//!
//! A child may be broken, or hostile: it is never waited for, the descriptors that it makes this
//! process open are bounded, and one that breaks the rules loses its link, and nobody else does.
//!
//! # Safety
//! System calls on descriptors that are owned here.
#![allow(unsafe_code)]

use super::connection_end;
use super::relay::{self, RelayObserver};
use super::request::{self, Request};
use crate::sys::guard::Inside;
use crate::sys::original;
use crate::table::descriptors;
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::Result;
use base::eventfd::EventFd;
use base::lock::Mutex;
use base::memory::{try_push, try_reserve, try_vec};
use base::once::OnceLock;
use base::per_process::PerProcess;
use base::thread;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use libc::{POLLIN, c_int, pollfd};

const STACK_SIZE: usize = 128 << 10;
/// Between two attempts to get memory.
const WITHOUT_MEMORY: Duration = Duration::from_millis(20);

/// Links to the descendants of one child. Those that are made later have none.
const MAX_DESCENDANTS: usize = 128;

/// A child, and the connections that it may still want.
struct Child {
    link: c_int,
    sockets: Vec<Arc<Socket>>,
    /// The child of this process that it descends from, or is.
    family: u64,
}

/// What the thread has still to take.
struct ChildQueue {
    /// Wakes the thread.
    event: EventFd,
    /// The thread runs.
    started: OnceLock<()>,
    added: Mutex<Vec<Child>>,
}

static QUEUE: PerProcess<ChildQueue> = PerProcess::new();

/// Serves a child that has just been made. Without a thread for that the link is closed, and the
/// child loses its connections.
pub(super) fn watch(link: c_int) {
    let is_own = |socket: &Arc<Socket>| {
        socket.is_stream() && socket.mode() == Mode::Rdma && socket.rsocket().is_some()
    };
    connection_end::enter(link);
    let mut sockets = Vec::new();
    for socket in descriptors::all().map(|(_, socket)| socket).filter(is_own) {
        if try_push(&mut sockets, socket).is_err() {
            return connection_end::close(link);
        }
    }
    static FAMILIES: AtomicU64 = AtomicU64::new(0);
    let family = FAMILIES.fetch_add(1, Ordering::Relaxed);
    let child = Child { link, sockets, family };
    match queue() {
        Ok(queue) => {
            // Without memory the child is dropped as well.
            let _ = try_push(&mut queue.added.lock(), child);
            queue.event.notify();
        }
        Err(_) => drop(child),
    }
}

fn queue() -> Result<&'static ChildQueue> {
    let queue = QUEUE.get_or_try_init(|| {
        let (started, added) = (OnceLock::new(), Mutex::default());
        Ok(ChildQueue { event: EventFd::new()?, started, added })
    })?;
    let start = || thread::spawn_small(c"rs-children", STACK_SIZE, move || queue.serve());
    queue.started.get_or_try_init(start)?;
    Ok(queue)
}

impl ChildQueue {
    /// The thread.
    fn serve(&self) {
        let _inside = Inside::enter();
        let mut children: Vec<Child> = Vec::new();
        let mut fds: Vec<pollfd> = Vec::new();
        loop {
            let polled = |fd| pollfd { fd, events: POLLIN, revents: 0 };
            fds.clear();
            while try_reserve(&mut fds, children.len() + 1).is_err() {
                base::time::sleep(WITHOUT_MEMORY);
            }
            fds.extend(children.iter().map(|child| polled(child.link)));
            fds.push(polled(self.event.as_raw_fd()));
            // SAFETY: a live array.
            unsafe { original::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, -1) };
            // From the last to the first: what takes the place of one that has ended was served.
            for index in (0..children.len()).rev() {
                if fds.get(index).is_some_and(|polled| polled.revents != 0) {
                    serve_child(&mut children, index);
                }
            }
            self.event.clear();
            let mut added = self.added.lock();
            // Without memory they are dropped, and lose their connections.
            let _ = try_reserve(&mut children, added.len()).map(|()| children.append(&mut added));
            added.clear();
        }
    }
}

/// Serves one request of a child. One that has ended, or is broken, leaves the list; one that it
/// has made is added.
fn serve_child(children: &mut Vec<Child>, index: usize) {
    let Some(family) = children.get(index).map(|child| child.family) else { return };
    let relatives = children.iter().filter(|child| child.family == family).count();
    let may_fork = relatives <= MAX_DESCENDANTS && try_reserve(children, 1).is_ok();
    let Some(child) = children.get_mut(index) else { return };
    let mut grandchild = None;
    if !child.serve_request(may_fork, &mut grandchild) {
        children.swap_remove(index);
    }
    children.extend(grandchild);
}

impl Child {
    /// Takes one request. False when the child has ended, or is broken.
    fn serve_request(&mut self, may_fork: bool, grandchild: &mut Option<Child>) -> bool {
        let (request, number) = match request::take(self.link) {
            Ok(Some(request)) => request,
            Ok(None) => return true,
            Err(_) => return false,
        };
        if request == Request::Closed {
            self.take(number).into_iter().for_each(release_one);
            return true;
        }
        if request::has_unread_answer(self.link) {
            return false;
        }
        let answer = match request {
            Request::Fork if may_fork => self.add_link(grandchild),
            Request::Claim => self.take(number).and_then(|socket| start_relay(socket).ok()),
            _ => None,
        };
        let is_answered = request::answer(self.link, answer).is_ok();
        original::close_own(answer.unwrap_or(-1));
        is_answered
    }

    /// Makes a link for a child of this one; the grandchild's end of it.
    fn add_link(&self, grandchild: &mut Option<Child>) -> Option<c_int> {
        let mut sockets = try_vec(self.sockets.len()).ok()?;
        sockets.extend(self.sockets.iter().map(Arc::clone));
        let [own, link] = request::link_pair().ok()?;
        connection_end::enter(own);
        *grandchild = Some(Child { link: own, sockets, family: self.family });
        Some(link)
    }

    fn take(&mut self, number: u64) -> Option<Arc<Socket>> {
        let index = self.sockets.iter().position(|socket| socket.number() == number)?;
        Some(self.sockets.swap_remove(index))
    }
}

/// Drops references. Closing a connection may take a while, so it happens in a thread of its own.
fn release(sockets: Vec<Arc<Socket>>) {
    if sockets.iter().any(|socket| Arc::strong_count(socket) == 1) {
        drop_in_thread(sockets);
    }
}

fn release_one(socket: Arc<Socket>) {
    if Arc::strong_count(&socket) == 1 {
        drop_in_thread(socket);
    }
}

fn drop_in_thread(value: impl Send + 'static) {
    let _ = thread::spawn_small(c"rs-close", STACK_SIZE, move || {
        let _inside = Inside::enter();
        drop(value);
    });
}

impl Drop for Child {
    fn drop(&mut self) {
        release(core::mem::take(&mut self.sockets));
        connection_end::close(self.link);
    }
}

/// Starts a relay, and returns the child's end of its Unix socket.
fn start_relay(socket: Arc<Socket>) -> Result<c_int> {
    let [own, child] = request::stream_pair(&socket)?;
    relay::start(socket, own, RelayObserver::NONE).inspect_err(|_| original::close_own(child))?;
    Ok(child)
}
