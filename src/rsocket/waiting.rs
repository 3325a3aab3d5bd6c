//! Waiting for something on one socket: look, look again for a while, then sleep.

use super::looking::Looking;
use super::wait::{self, Borrowed, Deadline, Limit, Waiter};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use libc::{POLLIN, c_short, pollfd};
use std::os::fd::RawFd;
use std::time::Duration;

/// What a sleeper needs of a socket.
pub(super) trait Source {
    fn add_waiter(&self, waiter: Waiter) -> Result<()>;

    /// `add_waiter`, `arm` and a look at what is ready, in one. An event that is taken wakes also this waiter, where it
    /// waits for the socket in another place already: what that one saw is old then.
    fn enlist(&self, waiter: Waiter) -> Result<(RawFd, c_short)>;

    fn remove_waiter(&self, waiter: &Waiter);

    /// Asks for an event with the next completion; the descriptor that tells of it, -1 where there is
    /// none. Completions from before have no event. An event that is due is taken first.
    fn arm(&self, own: *const ()) -> Result<RawFd>;

    /// Takes an event and wakes the other waiters: they saw it too, or slept through it.
    fn take_event(&self, own: *const ());

    /// `take_event`, if something has come since it was asked for. Whether there was one.
    fn take_due(&self, own: *const ()) -> bool;

    /// The descriptor tells of an event, which is left for whoever sleeps next.
    fn expect_event(&self);
}

/// A waiter is told of changes as long as this lives.
pub(super) struct Registration<'a> {
    source: &'a dyn Source,
    waiter: Waiter,
}

impl<'a> Registration<'a> {
    pub(super) fn new(source: &'a dyn Source, waiter: Waiter) -> Result<Registration<'a>> {
        source.add_waiter(waiter.clone())?;
        Ok(Registration { source, waiter })
    }

    /// A registration, the descriptor to watch, and what is ready now.
    pub(super) fn enlisted(
        source: &'a dyn Source,
        waiter: Waiter,
    ) -> Result<(Registration<'a>, RawFd, c_short)> {
        let (fd, ready) = source.enlist(waiter.clone())?;
        Ok((Registration { source, waiter }, fd, ready))
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.source.remove_waiter(&self.waiter);
    }
}

/// The identity of no waiter.
pub(super) const NOBODY: *const () = std::ptr::null();

/// Tells one waiter from another.
pub(super) fn identity(waiter: &Waiter) -> *const () {
    match waiter {
        Waiter::Thread(waker) => identity_of(waker),
        Waiter::Member(member) => identity_of(member),
    }
}

pub(super) fn identity_of<T>(waiter: &Counted<T>) -> *const () {
    std::ptr::from_ref(&**waiter).cast()
}

/// How a call waits.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    pub(super) non_blocking: bool,
    pub(super) limit: Option<Duration>,
}

/// Repeats `attempt` until it has a result; EAGAIN at once for a call that does not block, or when the
/// limit has passed.
pub(super) fn wait_for<R>(
    source: &dyn Source,
    patience: Patience,
    mut attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    if let Some(result) = attempt() {
        return result;
    }
    if patience.non_blocking {
        return Err(Errno::EAGAIN);
    }
    wait_on(source, patience.limit, attempt)
}

/// What is left of `wait_for` when a first attempt had no result and the call blocks.
pub(super) fn wait_on<R>(
    source: &dyn Source,
    limit: Option<Duration>,
    mut attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    let deadline = Limit::from(limit).begin();
    let looking = Looking::start();
    while looking.again() {
        if let Some(result) = attempt() {
            looking.found();
            return result;
        }
    }
    let result = sleep_until(source, deadline, attempt);
    looking.slept();
    result
}

pub(super) fn sleep_until<R>(
    source: &dyn Source,
    deadline: Deadline,
    mut attempt: impl FnMut() -> Option<Result<R>>,
) -> Result<R> {
    let borrowed = Borrowed::take()?;
    let waker = Counted::clone(borrowed.waker());
    let registered = Registration::new(source, Waiter::Thread(waker.clone()))?;
    let own = identity_of(&waker);
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
        match wait::poll_until(&mut fds, deadline) {
            Ok(0) => break Err(Errno::EAGAIN),
            Ok(_) => {}
            // A limit turns restarting off, as with a socket's own.
            Err(Errno::EINTR) if deadline == Deadline::Never && wait::restarts_after_signal() => {}
            Err(error) => break Err(error),
        }
        if fds[0].revents != 0 {
            waker.clear();
        }
        if fds[1].revents != 0 {
            source.expect_event();
        }
        // Before an event is asked for again, which the next message would make without a sleeper.
        if let Some(result) = attempt() {
            break result;
        }
    };
    drop(registered);
    result
}
