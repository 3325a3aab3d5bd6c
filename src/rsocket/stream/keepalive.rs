//! Keep-alive: a message to the peer when a timer says so. The transport acknowledges it, or fails
//! the connection after its own retries, so one unanswered message is enough.

use super::{Phase, Stream};
use crate::rsocket::service;
use crate::rsocket::wire::Message;
use std::time::{Duration, Instant};

impl Stream {
    /// Called when the connection is made and when the options change.
    pub(super) fn start_keep_alive(&self) {
        let idle = {
            let inner = self.inner.lock();
            // A connection that has ended has another use for the timer.
            if inner.awaits_news {
                return;
            }
            let on = inner.options.keep_alive && inner.phase == Phase::Connected;
            on.then_some(inner.options.keep_idle)
        };
        let Ok(service) = service::get() else { return };
        // Also ends the limit of a handshake that is over.
        let Some(idle) = idle else { return service.call_no_more(self.fd) };
        let Some(time) = Instant::now().checked_add(Duration::from_secs(idle.into())) else {
            return;
        };
        // Without memory for it there is no keep-alive; data finds a dead peer as well.
        let _ = service.call_at(time, self.fd);
    }

    pub(super) fn keep_alive(&self) {
        {
            let mut inner = self.inner.lock();
            inner.progress();
            if !inner.options.keep_alive {
                return;
            }
            let Some(link) = &mut inner.link else { return };
            if !link.is_alive() {
                return;
            }
            // Without a free slot something is on its way anyhow.
            link.send_control(Message::KeepAlive);
        }
        self.start_keep_alive();
    }
}
