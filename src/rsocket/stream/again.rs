//! Another connect on a socket whose last one failed, as TCP has it.

use super::{Inner, Phase, Stream};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::rsocket::owned_id::SoleId;
use crate::types::*;

impl Inner {
    /// Why the attempt failed, for connect to say. When SO_ERROR has said it that is all there is to say.
    pub(super) fn told(&mut self) -> Errno {
        self.attempt.failure_told = self.attempt.destination.is_some();
        self.error.take().unwrap_or(Errno::ECONNABORTED)
    }
}

impl Stream {
    /// Makes all as it was before the first connect; the socket stays failed where that fails.
    pub(super) fn begin_again(&self) -> Result<()> {
        let changed = self.change_id();
        let mut inner = self.inner.lock();
        inner.attempt.changes_id = false;
        if changed.is_err() {
            inner.phase = Phase::Failed;
            inner.attempt.failure_told = true;
        }
        changed
    }

    fn change_id(&self) -> Result<()> {
        // Before its id.
        let link = self.inner.lock().link.take();
        drop(link);
        let fresh = Counted::try_new(SoleId::for_stream(&self.channel)?)?;
        let spent = std::mem::replace(&mut *self.id.lock(), fresh);
        // Waits for what the service thread does with an event of it, and gives its address free.
        drop(spent);
        let (options, local) = {
            let inner = self.inner.lock();
            (inner.options, inner.local)
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
