// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Listening, and asynchronous events of the queue pair (rdma_notify).

use crate::cm::id::Id;
use crate::lane::{self, Phase};
use crate::uapi::abi;
use base::errno::Result;
use base::trace;

impl Id {
    pub(crate) fn listen(&self, backlog: i32) -> Result<()> {
        self.send(abi::Listen { id: self.handle(), backlog: backlog as u32 })?;
        // The kernel bound an unbound id to a port; others keep theirs.
        let known = if self.source_port() == 0 { self.query_addresses() } else { Ok(()) };
        if trace::is_on() {
            if let Some(local) = self.addresses().0 {
                self.lane().enter(Phase::Listen, &[("local", lane::address(&local))]);
            }
        }
        known
    }

    pub(crate) fn notify(&self, event: u32) -> Result<()> {
        self.send(abi::Notify { id: self.handle(), event })
    }
}
