// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the service thread does for a stream: the connection manager's events, and timers.

use super::connect::is_end;
use super::link::Link;
use super::state::{IdState, Phase, Stream};
use crate::cm::event;
use crate::cm::id::CmEvent;
use crate::rsocket::owned_id;
use crate::rsocket::service::Handler;
use crate::types::{RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_ESTABLISHED};
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::Errno;

impl Handler for Arc<Stream> {
    fn on_readable(&self) {
        let phase = self.state.lock().phase;
        match phase {
            Phase::Listening => Stream::take_requests(self),
            _ => self.take_connection_events(),
        }
    }

    fn on_timer(&self) {
        let (phase, awaits_event, reason) = {
            let state = self.state.lock();
            let reason = state.link.as_ref().map(|link| link.flush_reason);
            (state.phase, state.awaits_event, reason.unwrap_or(Errno::ECONNRESET))
        };
        match phase {
            Phase::Listening => Stream::try_requests_again(self),
            Phase::Accepting => self.abandon(),
            Phase::Connected if awaits_event => self.lost(reason),
            Phase::Connected => self.keep_alive(),
            _ => {}
        }
    }

    fn on_period(&self) -> bool {
        let mut state = self.state.lock();
        let is_connected = state.phase == Phase::Connected && !state.closed;
        is_connected && state.link.as_mut().is_some_and(Link::shrink)
    }

    fn identity(&self) -> *const () {
        core::ptr::from_ref(&**self).cast()
    }
}

impl Stream {
    /// Events of a stream that connects, is being accepted, or is connected.
    pub(super) fn take_connection_events(&self) {
        let file = self.id().file();
        loop {
            match event::next(&file, Deadline::Never) {
                Ok(message) => {
                    self.connection_event(&message);
                    // For long the last one. If not, the descriptor is readable still.
                    if message.event() == RDMA_CM_EVENT_ESTABLISHED {
                        return;
                    }
                }
                Err(Errno::EAGAIN) => return,
                Err(Errno::EINTR | Errno::ENOMEM) => return,
                Err(error) => return self.state.lock().fail(error),
            }
        }
    }

    fn connection_event(&self, message: &CmEvent) {
        if let Some(child) = message.child() {
            // Nobody listens any more.
            return owned_id::refuse(child);
        }
        let phase = {
            let state = self.state.lock();
            if state.id == IdState::Replaced {
                // Of the id that goes.
                return;
            }
            state.phase
        };
        match (phase, message.event()) {
            (Phase::Connecting, _) => {
                if let Err(error) = self.connect_event(message) {
                    let mut state = self.state.lock();
                    if state.is_connecting() {
                        state.fail(error);
                    }
                }
            }
            (Phase::Accepting, RDMA_CM_EVENT_ESTABLISHED) => self.accepted(),
            (Phase::Accepting, event) if is_end(event) => self.abandon(),
            (Phase::Connected, RDMA_CM_EVENT_DEVICE_REMOVAL) => self.lost(Errno::ENODEV),
            (Phase::Connected, event) if is_end(event) => self.lost(Errno::ECONNRESET),
            _ => {}
        }
    }
}
