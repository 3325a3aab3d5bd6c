// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Resolving the address of a peer.

use crate::cm::id::Id;
use crate::lane::{self, Phase};
use crate::types::SocketAddress;
use crate::uapi::{self, abi};
use base::errno::Result;
use base::trace;

impl Id {
    /// Starts to resolve; the outcome is an event.
    pub(crate) fn resolve_address(
        &self,
        source: Option<&SocketAddress>,
        destination: &SocketAddress,
        timeout_ms: i32,
    ) -> Result<()> {
        let fd = self.fd()?;
        // Before the command: another thread may process its event before it returns here.
        let address_before = self.public(|id| id.route.addr.dst);
        let family_before = self.with(|state| {
            let is_ib = state.uses_ib_addresses || destination.is_ib();
            core::mem::replace(&mut state.uses_ib_addresses, is_ib)
        });
        self.set_destination(destination);
        if trace::is_on() {
            let fields = [("peer", lane::address(destination))];
            self.lane().enter(Phase::ResolveAddress, &fields);
        }
        let sent = uapi::send_filled(fd, |command: &mut abi::ResolveAddr| {
            command.id = self.handle();
            command.timeout_ms = timeout_ms as u32;
            command.src_size = source.map_or(0, |address| command.src_addr.put(address));
            command.dst_size = command.dst_addr.put(destination);
            Ok(())
        });
        sent.inspect_err(|error| {
            self.refused("RESOLVE_ADDR", *error);
            self.lane().leave(&[lane::failure(*error)]);
            self.public(|id| id.route.addr.dst = address_before);
            self.with(|state| state.uses_ib_addresses = family_before);
        })
    }
}
