//! The passive side's beginning.

use crate::error::Result;
use crate::id::Id;
use crate::uapi::{self, abi};

impl Id {
    pub(crate) fn listen(&self, backlog: i32) -> Result<()> {
        uapi::send(self.fd()?, abi::Listen { id: self.handle(), backlog: backlog as u32 })?;
        // An unbound id got its port just now.
        self.query_addresses()
    }

    pub(crate) fn notify(&self, event: u32) -> Result<()> {
        uapi::send(self.fd()?, abi::Notify { id: self.handle(), event })
    }
}
