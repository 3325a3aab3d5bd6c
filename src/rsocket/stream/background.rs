// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a stream sends when the program does not wait for it: the rest of a closed one, and the
//! message of an end that has no slot yet. The service thread does it, as the kernel does for TCP.
//!
//! Closed streams are bounded in number, memory and time: where there is no room the oldest is
//! aborted.

use super::link::Link;
use super::state::Stream;
use crate::rsocket::service::{self, Handler};
use crate::rsocket::wait::source::Identity;
use alloc::vec::Vec;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::lock::Mutex;
use base::memory::try_push;
use base::per_process::PerProcess;
use core::sync::atomic::Ordering;
use core::time::Duration;

/// Closed streams whose data has not left, and the bytes that are registered for them.
const MAX_CLOSED: usize = 64;
const MAX_REGISTERED: usize = 64 << 20;
/// How long the end of the process waits for the list.
const LIST_LIMIT: Duration = Duration::from_millis(10);

struct Closed {
    stream: Arc<Stream>,
    registered: usize,
}

/// From the oldest to the newest.
static CLOSED: PerProcess<Mutex<Vec<Closed>>> = PerProcess::new();

/// Completions of a stream that has something to send.
struct Completions(Arc<Stream>);

/// The connection manager's events of a closed stream.
struct ConnectionEvents(Arc<Stream>);

impl Handler for Completions {
    fn on_readable(&self) {
        if drive(&self.0) {
            done(&self.0);
        }
    }

    /// The time of a closed stream is over.
    fn on_timer(&self) {
        done(&self.0);
    }

    fn identity(&self) -> *const () {
        core::ptr::from_ref(&*self.0).cast()
    }
}

impl Handler for ConnectionEvents {
    fn on_readable(&self) {
        self.0.take_connection_events();
        if self.0.is_drained() {
            done(&self.0);
        }
    }

    /// The queue pair has ended, and no event has said why.
    fn on_timer(&self) {
        self.0.lost(Errno::ECONNRESET);
        done(&self.0);
    }

    fn identity(&self) -> *const () {
        core::ptr::from_ref(&*self.0).cast()
    }
}

/// Sends the message of an end, which has no slot yet, when there is one.
pub(super) fn send_end(stream: &Arc<Stream>) {
    let fd = {
        let mut state = stream.state.lock();
        let fd = state.link.as_ref().filter(|link| link.has_unsent_end()).map(event_fd_of);
        if fd.is_none() || state.closed || state.sends_end {
            return;
        }
        state.sends_end = true;
        fd.unwrap_or(-1)
    };
    // Without memory for it the program's next call sends it.
    let watched = service::get()
        .and_then(|service| service.watch(fd, Completions(Arc::clone(stream))))
        .is_ok();
    // Another thread may have taken the link meanwhile, and has then found no watch to end.
    let is_there = stream.state.lock().link.as_ref().map(event_fd_of) == Some(fd);
    if !watched {
        stream.state.lock().sends_end = false;
    } else if !is_there {
        service::forget(fd, &**stream);
    } else if drive(stream) {
        done(stream);
    }
}

/// Ends what `send_end` has begun.
pub(super) fn forget(stream: &Stream) {
    let fd = {
        let mut state = stream.state.lock();
        let sends_end = core::mem::take(&mut state.sends_end);
        state.link.as_ref().filter(|_| sends_end).map(event_fd_of)
    };
    if let Some(fd) = fd {
        service::forget(fd, stream);
    }
}

/// Ends the watch over a link that was taken from its stream, before it is dropped.
pub(super) fn forget_link(stream: &Stream, link: &Link) {
    service::forget(event_fd_of(link), stream);
}

/// Sends what is left of a closed stream until the deadline. `is_alone`: no thread is in a call on
/// it any more, so that its descriptor may move and leave the number to the program.
pub(super) fn send_rest(stream: &Arc<Stream>, deadline: Deadline, is_alone: bool) {
    if is_alone {
        // Without a free number it keeps its own until it is done.
        if let Ok(fresh) = stream.channel.file().move_away() {
            stream.fd.store(fresh, Ordering::Relaxed);
            stream.state.lock().fd = fresh;
        }
    }
    let Ok(evicted) = add(stream) else { return stream.abort() };
    evicted.into_iter().for_each(end);
    match watch(stream, deadline) {
        Ok(()) if drive(stream) => done(stream),
        Ok(()) => {}
        Err(_) => done(stream),
    }
    // Where the service thread was done with it before the last descriptor was watched.
    if !is_in_list(stream) {
        end_watches(stream);
    }
}

fn event_fd_of(link: &Link) -> RawFd {
    link.endpoint.queue.fd()
}

/// Those that have to go for it.
fn add(stream: &Arc<Stream>) -> Result<Vec<Closed>> {
    let registered = stream.state.lock().link.as_ref().map_or(0, Link::registered);
    let mut list = CLOSED.get_or_try_init(|| Ok(Mutex::default()))?.lock();
    try_push(&mut list, Closed { stream: Arc::clone(stream), registered })?;
    let mut evicted = Vec::new();
    let mut total: usize = list.iter().map(|closed| closed.registered).sum();
    while list.len() > 1 && (list.len() > MAX_CLOSED || total > MAX_REGISTERED) {
        let oldest = list.remove(0);
        total -= oldest.registered;
        // Without memory it ends here, under the lock, which its end does not take.
        if let Err(Errno::ENOMEM) = evicted.try_reserve(1).map_err(|_| Errno::ENOMEM) {
            end(oldest);
        } else {
            evicted.push(oldest);
        }
    }
    Ok(evicted)
}

fn is_in_list(stream: &Arc<Stream>) -> bool {
    let is_stream = |closed: &Closed| Arc::ptr_eq(&closed.stream, stream);
    CLOSED.get().is_some_and(|list| list.lock().iter().any(is_stream))
}

fn watch(stream: &Arc<Stream>, deadline: Deadline) -> Result<()> {
    let fd = stream.state.lock().link.as_ref().map(event_fd_of).ok_or(Errno::ENOTCONN)?;
    let service = service::get()?;
    service.watch(fd, Completions(Arc::clone(stream)))?;
    service.watch(stream.fd(), ConnectionEvents(Arc::clone(stream)))?;
    match deadline {
        Deadline::At(time) => service.call_at(time, fd),
        Deadline::Now | Deadline::Never => Err(Errno::EINVAL),
    }
}

/// Takes what has completed, and requests an event with the next. True when nothing is left to do.
fn drive(stream: &Stream) -> bool {
    let mut state = stream.state.lock();
    if let Some(link) = &mut state.link {
        link.expect_event();
    }
    state.take_event(Link::take_event, Identity::NOBODY);
    let is_done = |state: &mut super::state::StreamState| {
        let is_closed = state.closed;
        state.progress();
        state.link.as_ref().is_none_or(|link| match is_closed {
            true => link.is_drained(),
            false => !link.has_unsent_end(),
        })
    };
    is_done(&mut state) || state.arm(Identity::NOBODY).is_err() || is_done(&mut state)
}

fn done(stream: &Arc<Stream>) {
    if !stream.state.lock().closed {
        return forget(stream);
    }
    let Some(list) = CLOSED.get() else { return };
    let own = {
        let mut list = list.lock();
        let index = list.iter().position(|closed| Arc::ptr_eq(&closed.stream, stream));
        index.map(|index| list.remove(index))
    };
    own.into_iter().for_each(end);
}

/// What is left of the stream goes with its last user.
fn end(closed: Closed) {
    closed.stream.abort();
    end_watches(&closed.stream);
}

fn end_watches(stream: &Stream) {
    let fd = stream.state.lock().link.as_ref().map(event_fd_of);
    if let Some(fd) = fd {
        service::forget(fd, stream);
    }
    service::forget(stream.fd(), stream);
}

/// Calls `each` for every closed stream whose data has not left.
pub(crate) fn for_each(mut each: impl FnMut(&Arc<Stream>)) {
    let list = CLOSED.get().and_then(|list| list.try_lock_for(LIST_LIMIT));
    list.into_iter().for_each(|list| list.iter().for_each(|closed| each(&closed.stream)));
}
