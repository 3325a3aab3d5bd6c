// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a stream has moved and waited for, where there is a trace.

use super::state::{Stream, StreamState};
use crate::lane::Traffic;
use crate::rsocket::memory::buffers::Buffers;
use base::errno::Result;
use base::time::Instant;
use libc::{MSG_PEEK, c_int};

impl StreamState {
    fn traffic_now(&mut self) -> &mut Traffic {
        if let Some(link) = &self.link {
            self.traffic.note(link.flow.activity());
        }
        &mut self.traffic
    }
}

impl Stream {
    /// `receive`, where there is a trace.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_traced(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<()> {
        let wanted = buffers.left();
        let received = self.fill(buffers, flags);
        let is_taken = flags & MSG_PEEK == 0;
        self.count(false, if is_taken { wanted - buffers.left() } else { 0 });
        received
    }

    /// `send`, where there is a trace.
    #[cold]
    #[inline(never)]
    pub(super) fn send_traced(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<()> {
        let wanted = buffers.left();
        let sent = self.empty(buffers, flags);
        self.count(true, wanted - buffers.left());
        sent
    }

    /// A call has moved so many bytes.
    fn count(&self, is_send: bool, bytes: usize) {
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
