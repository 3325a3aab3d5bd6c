//! Binding and resolving addresses.

use super::Id;
use crate::addrinfo;
use crate::error::{Errno, Result};
use crate::option;
use crate::sync_mode::Operation;
use crate::types::{RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, SocketAddress};
use crate::uapi::{self, abi};

impl Id {
    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        uapi::send_filled(self.fd()?, |command: &mut abi::Bind| {
            command.id = self.handle();
            command.addr_size = command.addr.put(address);
            Ok(())
        })?;
        self.note_family(address);
        self.query_addresses()
    }

    pub(crate) fn resolve_address(
        &self,
        source: Option<&SocketAddress>,
        destination: &SocketAddress,
        timeout_ms: i32,
    ) -> Result<()> {
        let fd = self.fd()?;
        // Before the command: another thread may process its event before it returns here.
        let address_before = self.public(|id| id.route.addr.dst);
        let family_before = self.with(|state| state.uses_ib_addresses);
        self.note_family(destination);
        self.set_destination(destination.bytes());
        let sent = uapi::send_filled(fd, |command: &mut abi::ResolveAddr| {
            command.id = self.handle();
            command.timeout_ms = timeout_ms as u32;
            command.src_size = source.map_or(0, |address| command.src_addr.put(address));
            command.dst_size = command.dst_addr.put(destination);
            Ok(())
        });
        if sent.is_err() {
            self.public(|id| id.route.addr.dst = address_before);
            self.with(|state| state.uses_ib_addresses = family_before);
            return sent;
        }
        self.finish(Operation::ResolveAddress)
    }

    pub(crate) fn resolve_route(&self, timeout_ms: i32) -> Result<()> {
        if self.context().is_err() {
            return Err(Errno::EINVAL);
        }
        if self.is_on_infiniband() && self.take_known_route(timeout_ms) {
            return self.finish(Operation::ResolveRoute);
        }
        uapi::send(
            self.fd()?,
            abi::ResolveRoute { id: self.handle(), timeout_ms: timeout_ms as u32 },
        )?;
        self.finish(Operation::ResolveRoute)
    }

    /// Sets the route that ibacm knows, which saves a question to the subnet administrator. A route
    /// that the kernel does not want is as good as none.
    fn take_known_route(&self, timeout_ms: i32) -> bool {
        let Some(route) = addrinfo::route_for(self, timeout_ms) else { return false };
        let data = route.as_ptr().cast();
        option::set(self, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, route.len()).is_ok()
    }

    fn note_family(&self, address: &SocketAddress) {
        if address.is_ib() {
            self.with(|state| state.uses_ib_addresses = true);
        }
    }
}
