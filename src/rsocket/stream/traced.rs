// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a stream has moved and waited for, where there is a trace.

use super::state::{Stream, StreamState};
use crate::lane::Traffic;
use base::time::Instant;

impl StreamState {
    fn traffic_now(&mut self) -> &mut Traffic {
        if let Some(link) = &self.link {
            self.traffic.note(link.flow.activity());
        }
        &mut self.traffic
    }
}

impl Stream {
    /// A call has moved so many bytes.
    #[cold]
    #[inline(never)]
    pub(super) fn count(&self, is_send: bool, bytes: usize) {
        self.state.lock().traffic_now().count(is_send, bytes);
    }

    /// A call has waited.
    #[cold]
    pub(super) fn count_wait(&self, since: Instant) {
        let moved = self.state.lock().traffic_now().count_wait(since);
        if moved.is_some() {
            self.id().lane().waited(since, "wait", moved);
        }
    }

    /// All so far.
    pub(super) fn traffic(&self) -> Traffic {
        *self.state.lock().traffic_now()
    }
}
