// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Waiting for one source: attempt, busy-poll, then sleep.

use super::busy_poll::BusyPoll;
use super::source::{Identity, Registration, Source, Waiter};
use super::waker::Borrowed;
use crate::lane;
use base::arc::Arc;
use base::counters::{count, layout};
use base::deadline::{Deadline, Timeout, poll_until};
use base::errno::{Errno, Result};
use base::signal::restarts_after_signal;
use base::trace;
use core::time::Duration;
use libc::{POLLIN, pollfd};

/// How a call waits.
#[derive(Clone, Copy)]
pub(crate) struct Blocking {
    /// O_NONBLOCK or MSG_DONTWAIT.
    pub(crate) nonblock: bool,
    /// SO_RCVTIMEO or SO_SNDTIMEO.
    pub(crate) timeout: Option<Duration>,
}

/// Repeats `attempt` until it has a result; EAGAIN at once for a call that does not block, or when
/// the time is over.
pub(crate) fn wait_for<R>(
    source: &dyn Source,
    blocking: Blocking,
    mut attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    if let Some(result) = attempt() {
        return result;
    }
    if blocking.nonblock {
        return Err(Errno::EAGAIN);
    }
    wait_on(source, blocking.timeout, attempt)
}

/// The rest of `wait_for`, when a first attempt had no result and the call blocks.
pub(crate) fn wait_on<R>(
    source: &dyn Source,
    timeout: Option<Duration>,
    mut attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    count(|words| words.add(layout::WAITS, 1));
    let deadline = Timeout::from(timeout).begin();
    let busy_poll = BusyPoll::start();
    let result = loop {
        if !busy_poll.goes_on() {
            let result = sleep(source, deadline, attempt);
            busy_poll.slept();
            break result;
        }
        if let Some(result) = attempt() {
            busy_poll.found();
            break result;
        }
    };
    if trace::is_on() {
        source.note_wait(busy_poll.begin());
    }
    result
}

/// Sleeps between attempts, until one has a result.
pub(crate) fn sleep_until<R>(
    source: &dyn Source,
    deadline: Deadline,
    attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    let begin = lane::wait_begins();
    let result = sleep(source, deadline, attempt);
    begin.into_iter().for_each(|begin| source.note_wait(begin));
    result
}

fn sleep<R>(
    source: &dyn Source,
    deadline: Deadline,
    mut attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    let borrowed = Borrowed::take()?;
    let waker = Arc::clone(borrowed.waker());
    let own = Identity::of(&*waker);
    let registered = Registration::new(source, Waiter::Thread(Arc::clone(&waker)))?;
    let result = loop {
        // While it was taken the answer may have come.
        if source.take_due(own) {
            if let Some(result) = attempt() {
                break result;
            }
        }
        let events = match source.arm(own) {
            Ok(events) => events,
            Err(error) => break Err(error),
        };
        if let Some(result) = attempt() {
            break result;
        }
        let ready = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut fds = [ready(waker.fd()), ready(events)];
        count(|words| words.add(layout::SLEEPS, 1));
        match poll_until(&mut fds, deadline) {
            Ok(0) => break Err(Errno::EAGAIN),
            Ok(_) => {}
            // A time limit turns restarting off, as with a socket's own.
            Err(Errno::EINTR) if deadline == Deadline::Never && restarts_after_signal() => {}
            Err(error) => break Err(error),
        }
        if fds[0].revents != 0 {
            waker.clear();
        }
        if fds[1].revents != 0 {
            source.expect_event();
        }
        // Before an event is requested again, which the next message would raise without a sleeper.
        if let Some(result) = attempt() {
            break result;
        }
    };
    drop(registered);
    result
}
