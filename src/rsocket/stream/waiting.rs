//! Waiting on a stream.

use super::link::Link;
use super::{Inner, Phase, Stream};
use crate::error::{Errno, Result};
use crate::rsocket::Limit;
use crate::rsocket::wait::Waiter;
use crate::rsocket::waiting::{self, NOBODY, Patience, Source};
use libc::c_short;
use std::os::fd::RawFd;
use std::time::Duration;

impl Source for Stream {
    fn add_waiter(&self, waiter: Waiter) -> Result<()> {
        self.check()?;
        self.inner.lock().waiters.add(waiter)
    }

    fn enlist(&self, waiter: Waiter) -> Result<(RawFd, c_short)> {
        self.check()?;
        let mut inner = self.inner.lock();
        let fd = inner.arm(NOBODY)?;
        inner.waiters.add(waiter)?;
        Ok((fd, inner.look()))
    }

    fn remove_waiter(&self, waiter: &Waiter) {
        self.inner.lock().waiters.remove(waiter);
    }

    fn arm(&self, own: *const ()) -> Result<RawFd> {
        self.inner.lock().arm(own)
    }

    fn take_event(&self, own: *const ()) {
        self.inner.lock().take_event(Link::take_event, own);
    }

    fn take_due(&self, own: *const ()) -> bool {
        self.inner.lock().take_event(Link::take_due, own)
    }

    fn expect_event(&self) {
        if let Some(link) = &mut self.inner.lock().link {
            link.expect_event();
        }
    }
}

impl Inner {
    fn arm(&mut self, own: *const ()) -> Result<RawFd> {
        self.take_event(Link::take_due, own);
        match (self.phase, &mut self.link) {
            (Phase::Connected, Some(link)) => {
                link.arm()?;
                Ok(link.endpoint.event_fd())
            }
            _ => Ok(-1),
        }
    }

    fn take_event(&mut self, event: impl FnOnce(&mut Link) -> bool, own: *const ()) -> bool {
        let taken = self.link.as_mut().is_some_and(event);
        if taken {
            self.waiters.wake_others(own);
        }
        taken
    }
}

/// What a call does of its work whenever it can, under the stream's lock.
pub(super) trait Attempt<R> {
    /// `None`: it has to wait.
    fn attempt(&mut self, inner: &mut Inner) -> Option<Result<R>>;
}

impl<R, F: FnMut(&mut Inner) -> Option<Result<R>>> Attempt<R> for F {
    fn attempt(&mut self, inner: &mut Inner) -> Option<Result<R>> {
        self(inner)
    }
}

impl Stream {
    /// Repeats an attempt until it has a result or the call's patience ends, which is asked for when the first
    /// one had none.
    #[inline(always)]
    pub(super) fn wait_for<R>(
        &self,
        patience: impl FnOnce(&Inner) -> Patience,
        call: &mut impl Attempt<R>,
    ) -> Result<R> {
        if let Err(error) = self.check() {
            return Err(self.refusal(error));
        }
        let patience = {
            let mut inner = self.inner.lock();
            if inner.closed {
                return Err(Errno::EBADF);
            }
            if let Some(result) = call.attempt(&mut inner) {
                return result;
            }
            patience(&inner)
        };
        if patience.non_blocking {
            return Err(Errno::EAGAIN);
        }
        self.wait_on(patience.limit, call)
    }

    #[cold]
    #[inline(never)]
    fn wait_on<R>(&self, limit: Option<Duration>, call: &mut impl Attempt<R>) -> Result<R> {
        let mut attempt = |inner: &mut Inner| call.attempt(inner);
        let attempt: &mut dyn FnMut(&mut Inner) -> Option<Result<R>> = &mut attempt;
        waiting::wait_on(self, limit, || self.try_once(&mut *attempt))
    }

    /// What a fork's child is told: what is wrong with the socket anyway, or that it is not its own. The lock may
    /// be that of a thread which did not come along.
    #[cold]
    #[inline(never)]
    fn refusal(&self, error: Errno) -> Errno {
        let inner = self.inner.try_lock_for(Duration::from_millis(1));
        inner.and_then(|inner| inner.check_connected().err()).unwrap_or(error)
    }

    /// Begins something and waits for its end, whether or not the socket is non-blocking. What the wait needs
    /// comes first: without it nothing has begun.
    pub(super) fn begin_and_wait<R>(
        &self,
        begin: impl FnOnce() -> Result<()>,
        mut attempt: impl FnMut(&mut Inner) -> Option<Result<R>>,
    ) -> Result<R> {
        let limit = self.inner.lock().options.send_timeout;
        let deadline = Limit::from(limit).begin();
        let mut begin = Some(begin);
        waiting::sleep_until(self, deadline, || {
            if let Some(Err(error)) = begin.take().map(|begin| begin()) {
                return Some(Err(error));
            }
            self.try_once(&mut attempt)
        })
    }

    fn try_once<R>(
        &self,
        attempt: &mut (impl FnMut(&mut Inner) -> Option<Result<R>> + ?Sized),
    ) -> Option<Result<R>> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Some(Err(Errno::EBADF));
        }
        attempt(&mut inner)
    }
}
