// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Resolving the route to a peer.

use crate::addrinfo;
use crate::cm::id::Id;
use crate::cm::option;
use crate::cm::sync_timeout::sync_timeout;
use crate::lane::{self, Phase};
use crate::types::{RDMA_OPTION_IB, RDMA_OPTION_IB_PATH};
use crate::uapi::abi;
use base::deadline::Timeout;
use base::errno::Result;
use zerocopy::IntoBytes;

impl Id {
    /// Starts to resolve; the outcome is an event.
    pub(crate) fn resolve_route(&self, timeout_ms: i32) -> Result<()> {
        self.context()?;
        self.lane().enter(Phase::ResolveRoute, &[]);
        if self.is_on_infiniband() && self.set_known_route(timeout_ms) {
            return Ok(());
        }
        self.send(abi::ResolveRoute { id: self.handle(), timeout_ms: timeout_ms as u32 })
            .inspect_err(|error| self.lane().leave(&[lane::failure(*error)]))
    }

    /// Sets the route that ibacm knows, which saves a question to the subnet administrator. False
    /// where there is none, or the kernel refuses it.
    fn set_known_route(&self, timeout_ms: i32) -> bool {
        let (source, destination) = self.addresses();
        let Some(destination) = destination else { return false };
        let timeout = Timeout::from_millis(timeout_ms).shorter(sync_timeout());
        let Some(route) = addrinfo::known_route(source.as_ref(), &destination, timeout) else {
            return false;
        };
        let bytes = route.as_bytes();
        let data = bytes.as_ptr().cast();
        option::set(self, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, bytes.len()).is_ok()
    }
}
