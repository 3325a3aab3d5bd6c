//! The passive side's beginning.

use crate::error::Result;
use crate::id::Id;
use crate::uapi::{self, abi};

impl Id {
    pub(crate) fn listen(&self, backlog: i32) -> Result<()> {
        uapi::send(self.fd()?, abi::Listen { id: self.handle(), backlog: backlog as u32 })?;
        // An unbound id got its port just now; others keep what they have.
        if self.source_port() == 0 { self.query_addresses() } else { Ok(()) }
    }

    pub(crate) fn notify(&self, event: u32) -> Result<()> {
        uapi::send(self.fd()?, abi::Notify { id: self.handle(), event })
    }
}
