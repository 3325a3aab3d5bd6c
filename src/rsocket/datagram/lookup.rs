// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The search for a route to a peer: address and route, each step when the event of the one before
//! arrives, and then an address handle. On Ethernet it carries a global routing header.

use super::peers::{PeerKey, key};
use super::state::Datagram;
use crate::cm::event;
use crate::rsocket::owned_id::OwnedId;
use crate::rsocket::service::{self, Handler};
use crate::types::*;
use crate::verbs::{AddressHandle, ProtectionDomain};
use base::arc::{Arc, Weak};
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::lock::Mutex;
use base::time::Instant;
use core::time::Duration;
use rdma_sys::{ibv_ah_attr, ibv_gid, ibv_global_route};

/// Limit of each step.
const TIMEOUT_MS: i32 = 2000;
/// Of both steps: an answer that does not come by then is not waited for.
const LIMIT: Duration = Duration::from_secs(5);
/// What the kernel's route has no opinion on.
const HOP_LIMIT: u8 = 64;
const FLOW_LABEL: u32 = 0x000F_FFFF;
const PATH_BITS: u8 = 0x7F;

/// See the module text.
pub(super) struct Lookup {
    fd: RawFd,
    id: OwnedId,
    socket: Weak<Datagram>,
    peer: PeerKey,
    /// The socket's, only to compare.
    domain: usize,
    is_done: Mutex<bool>,
}

impl Lookup {
    /// Starts the search, which ends with a call of `Datagram::found`.
    pub(super) fn start(
        socket: &Arc<Datagram>,
        local: &SocketAddress,
        peer: &SocketAddress,
        domain: ProtectionDomain,
    ) -> Result<()> {
        let id = OwnedId::for_datagrams()?;
        let fd = id.channel().file().fd()?;
        let lookup = Arc::try_new(Lookup {
            fd,
            id,
            socket: Arc::downgrade(socket),
            peer: key(peer),
            domain: domain.as_ptr().addr(),
            is_done: Mutex::new(false),
        })?;
        let service = service::get()?;
        service.watch(fd, Arc::clone(&lookup))?;
        let started = service.call_at(Instant::now() + LIMIT, fd).and_then(|()| {
            let (local, peer) = (local.with_port(0), peer.unmapped());
            lookup.id.resolve_address(Some(&local), &peer, TIMEOUT_MS)
        });
        if started.is_err() {
            service::forget(fd, &*lookup);
        }
        started
    }

    fn take_events(&self) {
        let file = self.id.file();
        while let Ok(message) = event::next(&file, Deadline::Never) {
            let step = match message.event() {
                RDMA_CM_EVENT_ADDR_RESOLVED => self.id.resolve_route(TIMEOUT_MS).map(|()| None),
                RDMA_CM_EVENT_ROUTE_RESOLVED => self.make_handle().map(Some),
                _ => Err(Errno::EHOSTUNREACH),
            };
            match step {
                Ok(None) => {}
                Ok(Some(handle)) => return self.end(Arc::try_new(handle).ok()),
                Err(_) => return self.end(None),
            }
        }
    }

    fn end(&self, handle: Option<Arc<AddressHandle>>) {
        if !core::mem::replace(&mut *self.is_done.lock(), true) {
            if let Some(socket) = self.socket.upgrade() {
                socket.found(&self.peer, handle, self.domain);
            }
        }
        service::forget(self.fd, self);
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
        // The socket and its domain may be gone; this id's own binding keeps the device's domain,
        // which is the same one unless the route leads over another device.
        let domain = self.id.domain()?;
        if domain.as_ptr().addr() != self.domain {
            return Err(Errno::EHOSTUNREACH);
        }
        AddressHandle::create(domain, &mut attr)
    }
}

impl Handler for Arc<Lookup> {
    fn on_readable(&self) {
        self.take_events();
    }

    fn on_timer(&self) {
        self.end(None);
    }

    fn identity(&self) -> *const () {
        core::ptr::from_ref(&**self).cast()
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        service::forget(self.fd, self);
    }
}
