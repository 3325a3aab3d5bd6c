// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Requests over RDMA that the program does not accept. A request is answered by accept alone, so
//! no connection exists yet. If this process accepts nothing for `ACCEPT_TIMEOUT` while a request
//! waits, it gives its RDMA listener up. That refuses the requests, and the clients connect by TCP:
//! their connections wait in the kernel's queue, from which each process that has the listener may
//! accept. A thread, which is started with the first RDMA listener, watches for that.

use crate::sys::guard::Inside;
use crate::sys::{config, librdmacm};
use crate::table::decision::{Reason, Way};
use crate::table::descriptors;
use crate::table::setting::{ON_DEMAND, SOL_RDMA};
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::{Arc, Weak};
use base::deadline::Deadline;
use base::errno::Result;
use base::eventfd::EventFd;
use base::fork::generation;
use base::lock::Mutex;
use base::memory::{try_push, try_reserve};
use base::once::OnceLock;
use base::per_process::PerProcess;
use base::thread;
use core::time::Duration;
use libc::{POLLIN, pollfd};

const STACK_SIZE: usize = 128 << 10;
/// How long a client waits for accept before it is refused.
const ACCEPT_TIMEOUT: Duration = Duration::from_millis(300);
/// How long it waits while the process has answered others, which it would lose: it is only slow.
const ANSWERED_TIMEOUT: Duration = Duration::from_secs(5);

/// A client that RDMA is required of has nowhere else to go.
fn accept_timeout() -> Duration {
    let config = config::get();
    if config.require_rdma { config.connect_timeout } else { ACCEPT_TIMEOUT }
}

/// A listener that the thread watches.
struct Watched {
    socket: Weak<Socket>,
    limit: Option<Limit>,
}

/// While a request waits: when the listener is given up.
#[derive(Clone, Copy)]
struct Limit {
    at: Deadline,
    /// The latest time.
    end: Deadline,
    /// What the process had accepted before. If it accepts more, it keeps the listener.
    accepted: u32,
}

struct Watchers {
    /// Wakes the thread.
    event: EventFd,
    /// The thread runs.
    started: OnceLock<()>,
    added: Mutex<Vec<Weak<Socket>>>,
}

static WATCHERS: PerProcess<Watchers> = PerProcess::new();

/// Watches a socket whose RDMA listener has been made. Without a thread or memory for that the
/// listener stays as long as its socket.
pub(super) fn watch(socket: &Arc<Socket>) {
    // The C library answers requests before accept: giving up would reset connections.
    if !librdmacm::is_own() {
        return;
    }
    if let Ok(watchers) = watchers() {
        if try_push(&mut watchers.added.lock(), Arc::downgrade(socket)).is_err() {
            return;
        }
        watchers.event.notify();
    }
}

fn watchers() -> Result<&'static Watchers> {
    let watchers = WATCHERS.get_or_try_init(|| {
        let (started, added) = (OnceLock::new(), Mutex::default());
        Ok(Watchers { event: EventFd::new()?, started, added })
    })?;
    let start = || thread::spawn_small(c"rs-listen", STACK_SIZE, move || watchers.run());
    watchers.started.get_or_try_init(start)?;
    Ok(watchers)
}

impl Watchers {
    /// The thread.
    fn run(&self) {
        let _inside = Inside::enter();
        let mut all: Vec<Watched> = Vec::new();
        let mut fds = Vec::new();
        loop {
            self.wait(&mut all, &mut fds);
            let added = core::mem::take(&mut *self.added.lock());
            for added in added {
                let Some(socket) = added.upgrade() else { continue };
                all.retain(|watched| watched.socket.as_ptr() != Arc::as_ptr(&socket));
                let _ = try_push(&mut all, Watched { socket: added, limit: None });
            }
        }
    }

    /// Gives up what is due, and waits for requests and for the next limit.
    fn wait(&self, all: &mut Vec<Watched>, fds: &mut Vec<pollfd>) {
        fds.clear();
        while try_reserve(fds, 1 + all.len()).is_err() {
            base::time::sleep(ACCEPT_TIMEOUT);
        }
        fds.push(pollfd { fd: self.event.as_raw_fd(), events: POLLIN, revents: 0 });
        let mut next = Deadline::Never;
        // No reference is held while waiting: the program may close the socket.
        all.retain_mut(|watched| {
            let Some(socket) = watched.socket.upgrade() else { return false };
            watched.check(&socket);
            let Some(rsocket) = socket.rsocket() else { return false };
            // While the limit runs, further requests do not matter.
            let fd = watched.limit.map_or(rsocket, |_| -1);
            fds.push(pollfd { fd, events: POLLIN, revents: 0 });
            next = watched.limit.map_or(next, |limit| next.earlier(limit.at));
            true
        });
        let _ = librdmacm::poll(fds, next.left_millis());
        if fds[0].revents != 0 {
            self.event.clear();
        }
        for (watched, found) in all.iter_mut().zip(&fds[1..]) {
            if let (true, Some(socket)) = (found.revents != 0, watched.socket.upgrade()) {
                watched.limit = Some(Limit {
                    at: Deadline::after(accept_timeout()),
                    end: Deadline::after(ANSWERED_TIMEOUT),
                    accepted: socket.accepts.done(),
                });
            }
        }
    }
}

impl Watched {
    fn check(&mut self, socket: &Arc<Socket>) {
        let Some(limit) = self.limit.filter(|limit| limit.at.has_passed()) else { return };
        self.limit = None;
        let Some(rsocket) = socket.rsocket() else { return };
        if librdmacm::readiness(rsocket, POLLIN) == 0 || socket.accepts.done() != limit.accepted {
            return;
        }
        if librdmacm::number_of(rsocket, SOL_RDMA, ON_DEMAND) > 0 && !limit.end.has_passed() {
            self.limit = Some(Limit { at: Deadline::after(accept_timeout()), ..limit });
            return;
        }
        give_up(socket);
    }
}

/// Closes the RDMA listener, unless a thread is in accept and may use it. The process makes no
/// other one before it calls accept.
fn give_up(socket: &Arc<Socket>) {
    if socket.mode() != Mode::Listening {
        return;
    }
    let Some(rsocket) = socket.take_rsocket() else { return };
    if socket.accepts.is_any_inside() {
        return socket.set_rsocket(rsocket);
    }
    socket.state.lock().gave_up = generation();
    socket.decided_again(Way::Kernel(Reason::NotAccepted));
    socket.carrier_changed();
    librdmacm::close(rsocket);
}

/// At the end of the process: clients that wait are refused, so that they connect by TCP to another
/// process that has the listener.
pub(crate) fn give_up_all() {
    for (_, socket) in descriptors::all() {
        give_up(&socket);
    }
}
