// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rclose, and what the end of the process does to open connections.

use super::background;
use super::shutdown::{Farewell, SHORT_WAIT};
use super::state::{Phase, Stream};
use crate::lane;
use crate::rsocket::service;
use base::arc::Arc;
use base::deadline::Deadline;
use base::trace;
use core::time::Duration;

/// How long the end of the process waits for one lock: a signal handler that ends the process may
/// have interrupted its holder.
const LOCK_LIMIT: Duration = Duration::from_millis(10);

impl Stream {
    /// Ends the calls of others at once, then the connection. What was sent and has not left goes on
    /// when the last of them is out: `send_rest`.
    pub(crate) fn close(&self) {
        if self.owner.is_ours() {
            if trace::is_on() {
                self.traffic().with_fields(|all| self.id().lane().enter(lane::Phase::Close, all));
            }
            self.end_all();
        }
        service::forget(self.fd(), self);
    }

    fn end_all(&self) {
        let (phase, linger) = {
            let mut state = self.state.lock();
            state.closed = true;
            state.wake();
            (state.phase, state.options.linger)
        };
        self.drop_unaccepted();
        background::forget(self);
        let unsent = if phase == Phase::Connected { self.say_goodbye(linger) } else { None };
        let is_aborted = phase == Phase::Connected && unsent.is_none();
        if is_aborted && !self.state.lock().sent_disconnect {
            self.abort();
        }
        // The id lives as long as the link: another thread may be about to change it.
        let (waiters, link, id) = {
            let mut state = self.state.lock();
            let id = self.id();
            let link = match unsent {
                Some(deadline) => {
                    state.unsent_until = deadline;
                    None
                }
                None => state.link.take(),
            };
            state.is_left = true;
            (core::mem::take(&mut state.waiters), link, id)
        };
        if let Some(link) = &link {
            background::forget_link(self, link);
        }
        // Sets let go of the socket before its descriptors can be another's.
        waiters.close();
        drop(link);
        drop(id);
    }

    /// Until when the background sends what has not left.
    fn say_goodbye(&self, linger: Option<Duration>) -> Option<Deadline> {
        let farewell = self.state.lock().leave();
        let wait = match (farewell, linger) {
            (Farewell::Clean, Some(linger)) => linger,
            _ => SHORT_WAIT,
        };
        let is_drained = self.drain(wait);
        (!is_drained).then(|| Deadline::after(farewell.limit()))
    }

    /// After `close`: what was sent and has not left goes on in the background. `is_alone`: no call is
    /// on its way any more, so that the descriptor's number can be free.
    pub(crate) fn send_rest(stream: &Arc<Stream>, is_alone: bool) {
        let deadline = {
            let mut state = stream.state.lock();
            core::mem::replace(&mut state.unsent_until, Deadline::Now)
        };
        if deadline != Deadline::Now {
            background::send_rest(stream, deadline, is_alone);
        }
    }

    /// The process ends: begins what a close would do. How long to wait for it, if at all.
    pub(crate) fn prepare_exit(&self) -> Option<Duration> {
        if !self.owner.is_maker() {
            return None;
        }
        let mut state = self.state.try_lock_for(LOCK_LIMIT)?;
        if state.phase != Phase::Connected {
            return None;
        }
        if let (true, Some(link)) = (trace::is_on(), &state.link) {
            let lane = link.endpoint.id().lane();
            state.traffic.with_fields(|all| lane.mark("end of the process", all));
        }
        // What is closed has said it.
        let farewell = if state.closed { Farewell::Clean } else { state.leave() };
        (!state.is_drained()).then(|| farewell.limit())
    }

    /// Whether the end of the process has to wait for it.
    pub(crate) fn delays_exit(&self) -> bool {
        self.state.try_lock_for(LOCK_LIMIT).is_some_and(|mut state| !state.is_drained())
    }
}
