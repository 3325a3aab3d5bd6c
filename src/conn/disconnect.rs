//! The end of a connection.

use crate::error::Result;
use crate::id::Id;
use crate::sync_mode::Operation;
use crate::uapi::{self, abi};

impl Id {
    pub(crate) fn disconnect(&self) -> Result<()> {
        if self.context()?.is_iwarp() {
            self.drain_queue_pair()?;
        } else {
            fail_queue_pair(self)?;
        }
        uapi::send(self.fd()?, abi::Disconnect { id: self.handle() })?;
        self.finish(Operation::Disconnect)
    }
}

/// Moves the queue pair to the error state, which flushes its work requests. No queue pair is fine.
pub(crate) fn fail_queue_pair(id: &Id) -> Result<()> {
    match id.queue_pair() {
        Some(queue_pair) => queue_pair.fail(),
        None => Ok(()),
    }
}
