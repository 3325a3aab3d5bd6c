// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Completes pending connections while the program does something else, as the kernel does for TCP:
//! a thread, which is started with the first one. Most programs wait for a connection that they
//! have begun, and so complete it themselves. The thread leaves them time for that, and is not
//! woken for each.

use super::pending;
use crate::sys::guard::Inside;
use crate::sys::librdmacm;
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::{Arc, Weak};
use base::deadline::Deadline;
use base::errno::Result;
use base::eventfd::EventFd;
use base::lock::Mutex;
use base::memory::{try_push, try_reserve};
use base::once::OnceLock;
use base::per_process::PerProcess;
use base::thread;
use core::time::Duration;
use libc::{POLLIN, POLLOUT, pollfd};

const STACK_SIZE: usize = 128 << 10;
/// How long a connection is left to the program.
const PROGRAM_TIME: Duration = Duration::from_millis(20);

/// What the thread has still to take.
struct PendingQueue {
    /// Wakes the thread.
    event: EventFd,
    /// The thread runs.
    started: OnceLock<()>,
    added: Mutex<Added>,
}

#[derive(Default)]
struct Added {
    sockets: Vec<Weak<Socket>>,
    /// The thread takes what is added without being woken.
    is_awake: bool,
}

static QUEUE: PerProcess<PendingQueue> = PerProcess::new();

/// Completes a connection in the background. If no thread can be started, or without memory, the
/// program's next call on the socket does.
pub(super) fn watch(socket: &Arc<Socket>) {
    let Ok(queue) = queue() else { return };
    let mut added = queue.added.lock();
    if try_push(&mut added.sockets, Arc::downgrade(socket)).is_err() {
        return;
    }
    if !core::mem::replace(&mut added.is_awake, true) {
        queue.event.notify();
    }
}

fn queue() -> Result<&'static PendingQueue> {
    let queue = QUEUE.get_or_try_init(|| {
        let (started, added) = (OnceLock::new(), Mutex::default());
        Ok(PendingQueue { event: EventFd::new()?, started, added })
    })?;
    let start = || thread::spawn_small(c"rs-connect", STACK_SIZE, move || queue.run());
    queue.started.get_or_try_init(start)?;
    Ok(queue)
}

impl PendingQueue {
    /// The thread.
    fn run(&self) {
        let _inside = Inside::enter();
        let mut sockets: Vec<Weak<Socket>> = Vec::new();
        // Connections that are still left to the program, until `program_ends`.
        let mut fresh = Vec::new();
        let mut fds = Vec::new();
        let mut program_ends = Deadline::Never;
        loop {
            wait(&self.event, &mut sockets, &mut fds, program_ends);
            if program_ends == Deadline::Never || program_ends.has_passed() {
                // Without memory they are the program's.
                let _ = try_reserve(&mut sockets, fresh.len()).map(|()| sockets.append(&mut fresh));
                fresh = self.take_added();
                program_ends = match fresh.is_empty() {
                    true => Deadline::Never,
                    false => Deadline::after(PROGRAM_TIME),
                };
            }
        }
    }

    /// Takes what was added. If that is nothing, the next one wakes the thread.
    fn take_added(&self) -> Vec<Weak<Socket>> {
        let mut added = self.added.lock();
        added.is_awake = !added.sockets.is_empty();
        core::mem::take(&mut added.sockets)
    }
}

/// Drives the connections, drops those that are settled, and waits for the others.
fn wait(
    event: &EventFd,
    sockets: &mut Vec<Weak<Socket>>,
    fds: &mut Vec<pollfd>,
    mut limit: Deadline,
) {
    fds.clear();
    while try_reserve(fds, 1 + sockets.len()).is_err() {
        base::time::sleep(PROGRAM_TIME);
    }
    fds.push(pollfd { fd: event.as_raw_fd(), events: POLLIN, revents: 0 });
    // No reference is held while waiting: the program may close the socket.
    sockets.retain(|socket| {
        let Some(socket) = socket.upgrade() else { return false };
        pending::drive(&socket);
        let (Mode::Connecting, Some(rsocket)) = (socket.mode(), socket.rsocket()) else {
            return false;
        };
        fds.push(pollfd { fd: rsocket, events: POLLOUT, revents: 0 });
        limit = limit.earlier(socket.state.lock().deadline);
        true
    });
    let _ = librdmacm::poll(fds, limit.left_millis());
    if fds[0].revents != 0 {
        event.clear();
    }
}
