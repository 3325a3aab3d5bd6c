//! The search for a way to a peer: address and route, each step when the event of the one before
//! arrives, and then an address handle. On Ethernet it carries a global routing header.

use super::Datagram;
use super::peers::{Key, key};
use crate::counted::{Counted, Weak};
use crate::error::{Errno, Result};
use crate::event;
use crate::lock::Mutex;
use crate::rsocket::owned_id::OwnedId;
use crate::rsocket::service;
use crate::rsocket::socket::{self, Socket};
use crate::types::*;
use crate::verbs::{AddressHandle, ProtectionDomain};
use rdma_sys::{ibv_ah_attr, ibv_gid, ibv_global_route};
use std::os::fd::RawFd;

/// Limit of each step.
const TIMEOUT_MS: i32 = 2000;
/// What the kernel's route has no opinion on.
const HOP_LIMIT: u8 = 64;
const FLOW_LABEL: u32 = 0x000F_FFFF;
const PATH_BITS: u8 = 0x7F;

/// See the module text.
pub(crate) struct Lookup {
    fd: RawFd,
    id: OwnedId,
    socket: Weak<Datagram>,
    peer: Key,
    /// The socket's, only to compare.
    domain: usize,
    is_done: Mutex<bool>,
}

impl Lookup {
    /// Starts the search; the socket hears of its end.
    pub(super) fn start(
        socket: &Counted<Datagram>,
        local: &SocketAddress,
        peer: &SocketAddress,
        domain: ProtectionDomain,
    ) -> Result<()> {
        let id = OwnedId::for_datagrams()?;
        let fd = id.channel().file().fd()?;
        crate::rsocket::descriptor::set_non_blocking(fd)?;
        let lookup = Counted::try_new(Lookup {
            fd,
            id,
            socket: Counted::downgrade(socket),
            peer: key(peer),
            domain: domain.as_ptr().addr(),
            is_done: Mutex::new(false),
        })?;
        let service = service::get()?;
        socket::enter(fd, Socket::Lookup(Counted::clone(&lookup)))?;
        let started = service
            .watch(fd)
            .and_then(|()| lookup.id.resolve_address(Some(&local.with_port(0)), peer, TIMEOUT_MS));
        if started.is_err() {
            drop(socket::leave(fd));
        }
        started
    }

    /// Only the service thread calls this.
    pub(crate) fn take_events(&self) {
        let file = self.id.file();
        while let Ok(message) = event::next(&file, None) {
            let step = match message.event() {
                RDMA_CM_EVENT_ADDR_RESOLVED => self.id.resolve_route(TIMEOUT_MS).map(|()| None),
                RDMA_CM_EVENT_ROUTE_RESOLVED => self.make_handle().map(Some),
                _ => Err(Errno::EHOSTUNREACH),
            };
            match step {
                Ok(None) => {}
                Ok(Some(handle)) => return self.end(Counted::try_new(handle).ok()),
                Err(_) => return self.end(None),
            }
        }
    }

    fn end(&self, handle: Option<Counted<AddressHandle>>) {
        if !std::mem::replace(&mut *self.is_done.lock(), true) {
            if let Some(socket) = self.socket.upgrade() {
                socket.found(&self.peer, handle);
            }
        }
        drop(socket::leave(self.fd));
    }

    fn make_handle(&self) -> Result<AddressHandle> {
        let (source, destination) = self.id.gids();
        let port_num = self.id.port_num();
        let infiniband = self.id.is_on_infiniband();
        let attr = self.id.with_path(|path| ibv_ah_attr {
            grh: ibv_global_route {
                dgid: ibv_gid { raw: destination },
                flow_label: u32::from_be(path.flow_label) & FLOW_LABEL,
                sgid_index: 0,
                hop_limit: path.hop_limit,
                traffic_class: path.traffic_class,
            },
            dlid: if infiniband { u16::from_be(path.dlid) } else { 0 },
            sl: path.sl,
            src_path_bits: if infiniband { u16::from_be(path.slid) as u8 & PATH_BITS } else { 0 },
            static_rate: path.rate,
            is_global: 0,
            port_num,
        });
        let mut attr = attr.ok_or(Errno::EHOSTUNREACH)?;
        // Within an InfiniBand subnet the local identifier is enough.
        if !infiniband || attr.grh.hop_limit > 1 {
            attr.is_global = 1;
            attr.grh.sgid_index = self.id.context()?.gid_index(port_num, &source)?;
            if attr.grh.hop_limit <= 1 {
                attr.grh.hop_limit = HOP_LIMIT;
            }
        }
        // The socket and its domain may be gone; this id's own binding keeps the device's domain, which is
        // the same one unless the route leads over another device.
        let domain = self.id.domain()?;
        if domain.as_ptr().addr() != self.domain {
            return Err(Errno::EHOSTUNREACH);
        }
        AddressHandle::create(domain, &mut attr)
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        service::forget(self.fd);
    }
}
