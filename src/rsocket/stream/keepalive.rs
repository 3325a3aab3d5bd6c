// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Keep-alive: a message to the peer when a timer expires. The transport acknowledges it, or fails
//! the connection after its own retries, so one unanswered message is enough.

use super::state::{Phase, Stream};
use crate::rsocket::service;
use crate::rsocket::wire::StreamMessage;
use base::time::Instant;
use core::time::Duration;

impl Stream {
    /// Called when the connection is made and when the options change.
    pub(super) fn start_keep_alive(&self) {
        let idle = {
            let state = self.state.lock();
            // The timer of a connection that has ended is in use.
            if state.awaits_event {
                return;
            }
            let on = state.options.keep_alive && state.phase == Phase::Connected;
            on.then_some(state.options.keep_idle)
        };
        let Ok(service) = service::get() else { return };
        // Also ends the timeout of a handshake that is over.
        let Some(idle) = idle else { return service.cancel_timer(self.fd()) };
        let Some(time) = Instant::now().checked_add(Duration::from_secs(idle.into())) else {
            return;
        };
        // Without memory for it there is no keep-alive; data finds a dead peer as well.
        let _ = service.call_at(time, self.fd());
    }

    pub(super) fn keep_alive(&self) {
        {
            let mut state = self.state.lock();
            state.progress();
            if !state.options.keep_alive {
                return;
            }
            let Some(link) = &mut state.link else { return };
            if !link.is_alive() {
                return;
            }
            // Without a free slot something is in flight anyhow.
            link.send_control(StreamMessage::KeepAlive);
        }
        self.start_keep_alive();
    }
}
