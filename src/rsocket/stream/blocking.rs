// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Calls that wait: each attempts its work under the stream's lock, and sleeps between attempts.

use super::state::{Stream, StreamState};
use crate::rsocket::wait::Blocking;
use crate::rsocket::wait::blocking::{sleep_until, wait_on};
use base::deadline::Timeout;
use base::errno::{Errno, Result};
use core::time::Duration;

/// The work of a call.
pub(super) trait Call<R> {
    /// `None`: it has to wait.
    fn attempt(&mut self, state: &mut StreamState) -> Option<Result<R>>;
}

impl<R, F: FnMut(&mut StreamState) -> Option<Result<R>>> Call<R> for F {
    fn attempt(&mut self, state: &mut StreamState) -> Option<Result<R>> {
        self(state)
    }
}

impl Stream {
    /// Repeats a call's attempt until it has a result or its time is over. `blocking` is asked when
    /// the first attempt had no result.
    #[inline(always)]
    pub(super) fn wait_for<R>(
        &self,
        blocking: impl FnOnce(&StreamState) -> Blocking,
        call: &mut impl Call<R>,
    ) -> Result<R> {
        if let Err(error) = self.check() {
            return Err(self.refusal(error));
        }
        let blocking = {
            let mut state = self.state.lock();
            if state.closed {
                return Err(Errno::EBADF);
            }
            if let Some(result) = call.attempt(&mut state) {
                return result;
            }
            blocking(&state)
        };
        if blocking.nonblock {
            return Err(Errno::EAGAIN);
        }
        self.wait_on(blocking.timeout, call)
    }

    #[cold]
    #[inline(never)]
    fn wait_on<R>(&self, timeout: Option<Duration>, call: &mut impl Call<R>) -> Result<R> {
        let mut attempt = |state: &mut StreamState| call.attempt(state);
        let attempt: &mut dyn FnMut(&mut StreamState) -> Option<Result<R>> = &mut attempt;
        wait_on(self, timeout, || self.try_once(&mut *attempt))
    }

    /// What a call reports in a fork's child: what is wrong with the socket anyway, or that it is
    /// not its own. The lock may be held by a thread that does not exist here.
    #[cold]
    #[inline(never)]
    fn refusal(&self, error: Errno) -> Errno {
        let state = self.state.try_lock_for(Duration::from_millis(1));
        state.and_then(|state| state.check_connected().err()).unwrap_or(error)
    }

    /// Begins something and waits for its end, whether or not the socket is non-blocking. What the
    /// wait needs comes first: without it nothing has begun.
    pub(super) fn begin_and_wait<R>(
        &self,
        begin: impl FnOnce() -> Result<()>,
        mut attempt: impl FnMut(&mut StreamState) -> Option<Result<R>>,
    ) -> Result<R> {
        let timeout = self.state.lock().options.send_timeout;
        let deadline = Timeout::from(timeout).begin();
        let mut begin = Some(begin);
        sleep_until(self, deadline, || {
            if let Some(Err(error)) = begin.take().map(|begin| begin()) {
                return Some(Err(error));
            }
            self.try_once(&mut attempt)
        })
    }

    fn try_once<R>(
        &self,
        attempt: &mut (impl FnMut(&mut StreamState) -> Option<Result<R>> + ?Sized),
    ) -> Option<Result<R>> {
        let mut state = self.state.lock();
        if state.closed {
            return Some(Err(Errno::EBADF));
        }
        attempt(&mut state)
    }
}
