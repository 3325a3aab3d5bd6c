// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Another connect on a socket whose last one failed, as TCP allows it.

use super::state::{Phase, Stream, StreamState};
use crate::rsocket::owned_id::SoleId;
use crate::types::{RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_TOS};
use base::arc::Arc;
use base::errno::{Errno, Result};

impl StreamState {
    /// Why the attempt failed, for connect to report; ECONNABORTED where SO_ERROR has reported it.
    pub(super) fn take_connect_error(&mut self) -> Errno {
        self.attempt.failure_reported = self.attempt.destination.is_some();
        self.error.take().unwrap_or(Errno::ECONNABORTED)
    }
}

impl Stream {
    /// Makes all as it was before the first connect; the socket stays failed where that fails.
    pub(super) fn prepare_reconnect(&self) -> Result<()> {
        let changed = self.change_id();
        let mut state = self.state.lock();
        state.attempt.changes_id = false;
        if changed.is_err() {
            state.phase = Phase::Failed;
            state.attempt.failure_reported = true;
        }
        changed
    }

    fn change_id(&self) -> Result<()> {
        // Before its id.
        let link = self.state.lock().link.take();
        drop(link);
        let fresh = Arc::try_new(SoleId::for_stream(&self.channel)?)?;
        fresh.lane().take_over(self.id().lane());
        let spent = core::mem::replace(&mut *self.id.lock(), fresh);
        // Waits for what the service thread does with an event of it, and frees its address.
        drop(spent);
        let (options, local) = {
            let state = self.state.lock();
            (state.options, state.local)
        };
        if options.reuse_address {
            self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &1_i32.to_ne_bytes())?;
        }
        if options.only_ipv6 {
            self.set_id_option(RDMA_OPTION_ID_AFONLY, &1_i32.to_ne_bytes())?;
        }
        if options.type_of_service != 0 {
            self.set_id_option(RDMA_OPTION_ID_TOS, &[options.type_of_service])?;
        }
        // Where the program had bound it.
        local.map_or(Ok(()), |local| self.id().bind(&local))
    }
}
