//! Waiting for something on one stream.

use super::{Inner, Stream};
use crate::error::{Errno, Result};
use crate::rsocket::config;
use crate::rsocket::wait::{self, Borrowed, Deadline, Wake, Waker};
use libc::{POLLIN, pollfd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Enters a waker with a stream for as long as it lives.
pub(crate) struct Registration<'a> {
    stream: &'a Stream,
    waker: Arc<dyn Wake>,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let mut inner = self.stream.inner.lock();
        inner.waiters.retain(|other| !Arc::ptr_eq(other, &self.waker));
    }
}

impl Stream {
    pub(crate) fn register(&self, waker: Arc<dyn Wake>) -> Result<Registration<'_>> {
        let mut inner = self.inner.lock();
        inner.waiters.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        inner.waiters.push(Arc::clone(&waker));
        drop(inner);
        Ok(Registration { stream: self, waker })
    }

    /// Repeats `attempt` until it has a result; EAGAIN at once when `non_blocking`, or when the limit
    /// has passed.
    pub(super) fn wait_for<R>(
        &self,
        non_blocking: bool,
        limit: Option<Duration>,
        mut attempt: impl FnMut(&mut Inner) -> Option<Result<R>>,
    ) -> Result<R> {
        self.check()?;
        let start = Instant::now();
        loop {
            if let Some(result) = self.try_once(&mut attempt) {
                return result;
            }
            if non_blocking {
                return Err(Errno::EAGAIN);
            }
            if start.elapsed() >= config::get().polling_time {
                break;
            }
            std::hint::spin_loop();
        }
        self.sleep_until(limit.and_then(|limit| start.checked_add(limit)), attempt)
    }

    /// As `wait_for`, whether or not the socket is non-blocking, and without looking for long.
    pub(super) fn wait_until<R>(
        &self,
        limit: Option<Duration>,
        attempt: impl FnMut(&mut Inner) -> Option<Result<R>>,
    ) -> Result<R> {
        self.sleep_until(limit.and_then(|limit| Instant::now().checked_add(limit)), attempt)
    }

    fn try_once<R>(
        &self,
        attempt: &mut impl FnMut(&mut Inner) -> Option<Result<R>>,
    ) -> Option<Result<R>> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Some(Err(Errno::EBADF));
        }
        inner.progress();
        attempt(&mut inner)
    }

    fn sleep_until<R>(
        &self,
        deadline: Deadline,
        mut attempt: impl FnMut(&mut Inner) -> Option<Result<R>>,
    ) -> Result<R> {
        let borrowed = Borrowed::take()?;
        let waker = Arc::clone(borrowed.waker());
        let registration = self.register(waker.clone());
        let result = registration.and_then(|_registered| {
            loop {
                let events = self.arm()?;
                if let Some(result) = self.try_once(&mut attempt) {
                    return result;
                }
                let ready = |fd| pollfd { fd, events: POLLIN, revents: 0 };
                let mut fds = [ready(waker.fd()), ready(events)];
                match wait::poll_until(&mut fds, deadline) {
                    Ok(0) => return Err(Errno::EAGAIN),
                    Ok(_) => {}
                    // A limit turns restarting off, as with a socket's own.
                    Err(Errno::EINTR) if deadline.is_none() && wait::restarts_after_signal() => {}
                    Err(error) => return Err(error),
                }
                if fds[1].revents != 0 {
                    self.take_event(&waker);
                }
                waker.clear();
            }
        });
        drop(waker);
        result
    }

    /// The descriptor that tells of completions, armed; -1 where there is no connection.
    pub(crate) fn arm(&self) -> Result<i32> {
        let mut inner = self.inner.lock();
        if inner.phase != super::Phase::Connected {
            return Ok(-1);
        }
        match &mut inner.link {
            Some(link) => {
                link.arm()?;
                Ok(link.endpoint.event_fd())
            }
            None => Ok(-1),
        }
    }

    /// Takes a completion event and tells the others that wait: they saw it too, or slept through it.
    pub(crate) fn take_event(&self, own: &Arc<Waker>) {
        let mut inner = self.inner.lock();
        if inner.link.as_mut().is_some_and(super::Link::take_event) {
            let own: *const () = Arc::as_ptr(own).cast();
            for waiter in &inner.waiters {
                if Arc::as_ptr(waiter).cast() != own {
                    waiter.wake();
                }
            }
        }
    }
}
