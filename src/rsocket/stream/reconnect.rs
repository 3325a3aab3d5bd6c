// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A stream that is as new again: after a failed connect, after connect to AF_UNSPEC, and after the
//! shutdown of a listener. As with TCP its options stay, and what the program has bound it to.

use super::background;
use super::link::Link;
use super::state::{ConnectAttempt, IdState, Phase, Stream, StreamState};
use crate::rsocket::owned_id::SoleId;
use crate::types::{
    RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_TOS, SocketAddress,
};
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::time::sleep;
use core::time::Duration;

/// Nobody holds a stream's id longer than for a command of the kernel, or the making of a queue pair.
const LONGEST_CALL: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_micros(50);

impl StreamState {
    /// The link, for its end. What has arrived over it counts on: an edge has a number once.
    pub(super) fn take_link(&mut self) -> Option<Link> {
        let link = self.link.take();
        let arrived = link.as_ref().map_or(0, |link| link.flow.arrived());
        self.edges.reads = self.edges.reads.wrapping_add(arrived);
        link
    }

    /// Why the attempt failed, for connect to report; ECONNABORTED where another call has reported
    /// it.
    pub(super) fn take_connect_error(&mut self) -> Errno {
        self.back_to_start();
        self.wake();
        self.error.take().unwrap_or(Errno::ECONNABORTED)
    }

    /// As before the first connect, but for the error.
    pub(super) fn back_to_start(&mut self) {
        let is_bound = |bound: SocketAddress| self.id == IdState::Bound || bound.port() != 0;
        self.phase = if self.bound.is_some_and(is_bound) { Phase::Bound } else { Phase::Idle };
        (self.read_shut, self.write_shut, self.sent_disconnect) = (false, false, false);
        (self.failure_reported, self.awaits_event) = (false, false);
        self.attempt = ConnectAttempt::default();
        self.edges.note_change();
        // As TCP, which keeps the number of a port that it has given back.
        self.local = match (self.bound, self.local) {
            (Some(bound), Some(local)) => Some(bound.with_port(local.port())),
            (None, Some(local)) => Some(SocketAddress::any(local.family()).with_port(local.port())),
            (_, None) => None,
        };
        self.peer = None;
    }
}

impl Stream {
    /// connect to AF_UNSPEC. The peer of a connection is told by no message.
    pub(crate) fn dissolve(&self) -> Result<()> {
        self.check()?;
        self.reset(|state| {
            state.progress();
            match state.phase {
                Phase::Connecting | Phase::Accepting => Some(Errno::ECONNRESET),
                Phase::Connected if !state.has_ended() => Some(Errno::ECONNRESET),
                _ => state.error,
            }
        })
    }

    /// Gives up what the stream is doing; `why` says which error there is from then on.
    pub(super) fn reset(&self, why: impl FnOnce(&mut StreamState) -> Option<Errno>) -> Result<()> {
        background::forget(self);
        let (phase, id, link, iomaps, observers) = {
            let mut state = self.state.lock();
            // By another thread, since the check.
            if state.closed {
                return Err(Errno::EBADF);
            }
            let id = self.id();
            // What needs memory comes first.
            let observers = state.waiters.observers()?;
            let phase = state.phase;
            state.error = why(&mut state);
            state.was_connecting |= !matches!(phase, Phase::Idle | Phase::Bound | Phase::Listening);
            state.back_to_start();
            let iomaps = core::mem::take(&mut state.iomaps);
            state.wake();
            (phase, id, state.take_link(), iomaps, observers)
        };
        match phase {
            Phase::Listening => self.stop_listening(),
            // Ended or not: without its queue pair it is nothing to the peer.
            Phase::Connected => drop(id.disconnect()),
            _ => {}
        }
        // Sets let go of the connection before its descriptor can be another's.
        observers.iter().for_each(|observer| observer.detach());
        drop(iomaps);
        self.drop_link(link);
        // Which another thread may be about to change.
        drop(id);
        // Where that fails the next call that needs an id makes one.
        let _ = self.renew_id();
        Ok(())
    }

    /// A fresh id, bound as the program has bound the stream.
    pub(super) fn prepare_id(&self) -> Result<()> {
        self.renew_id()?;
        let bound = {
            let state = self.state.lock();
            state.bound.filter(|_| state.id == IdState::Fresh)
        };
        let Some(bound) = bound else { return Ok(()) };
        self.id().bind(&bound)?;
        self.state.lock().id = IdState::Bound;
        Ok(())
    }

    /// Puts a fresh id in the place of one that has made its request.
    pub(super) fn renew_id(&self) -> Result<()> {
        {
            let mut state = self.state.lock();
            match state.id {
                IdState::Fresh | IdState::Bound => return Ok(()),
                IdState::Spent => state.id = IdState::Replaced,
                // Another thread does it.
                IdState::Replaced => return Err(Errno::EALREADY),
            }
        }
        let changed = self.change_id();
        self.state.lock().id = if changed.is_ok() { IdState::Fresh } else { IdState::Spent };
        changed
    }

    fn drop_link(&self, link: Option<Link>) {
        if let Some(link) = link {
            background::forget_link(self, &link);
        }
    }

    fn change_id(&self) -> Result<()> {
        let fresh = Arc::try_new(SoleId::for_stream(&self.channel)?)?;
        // Before its id.
        let link = self.state.lock().take_link();
        self.drop_link(link);
        fresh.lane().take_over(self.id().lane());
        let spent = core::mem::replace(&mut *self.id.lock(), fresh);
        // Destroying an id waits until its events are given back. The service thread, which may handle one,
        // must not be the last to have it, or it waits for itself.
        let limit = Deadline::after(LONGEST_CALL);
        while Arc::strong_count(&spent) > 1 && !limit.has_passed() {
            sleep(STEP);
        }
        // Frees its address.
        drop(spent);
        let options = self.state.lock().options;
        if options.reuse_address {
            self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &1_i32.to_ne_bytes())?;
        }
        if options.only_ipv6 {
            self.set_id_option(RDMA_OPTION_ID_AFONLY, &1_i32.to_ne_bytes())?;
        }
        if options.type_of_service != 0 {
            self.set_id_option(RDMA_OPTION_ID_TOS, &[options.type_of_service])?;
        }
        Ok(())
    }
}
