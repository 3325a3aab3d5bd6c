// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the library remembers of an id beyond the public struct.
//!
//! # Safety
//! Path records and attributes are plain data that any thread may hold.
#![allow(unsafe_code)]

use super::membership::Membership;
use super::resolution::Resolution;
use crate::cm::channel::Channel;
use crate::device::Binding;
use crate::types::rdma_cm_event;
use alloc::boxed::Box;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::Result;
use base::memory::Seldom;
use core::ptr::NonNull;
use rdma_sys::{ibv_qp_init_attr, ibv_sa_path_rec};

/// The values of an id. Behind its lock, which is never held across a system call.
#[derive(Default)]
pub(crate) struct IdState {
    /// The channel that a synchronous id made for itself.
    pub(super) own_channel: Option<Arc<Channel>>,
    pub(crate) binding: Option<Binding>,
    pub(crate) paths: Box<[ibv_sa_path_rec]>,
    pub(crate) initiator_depth: u8,
    pub(crate) responder_resources: u8,
    /// Vendor and options of enhanced connection establishment.
    pub(crate) local_ece: (u32, u32),
    pub(crate) remote_ece: (u32, u32),
    /// Connecting failed on this side: REJECTED and DISCONNECTED are not reported after that.
    pub(crate) connect_failed: bool,
    /// Native InfiniBand addresses are in use, which QUERY_ROUTE cannot report.
    pub(crate) uses_ib_addresses: bool,
    /// The library tries once more where nobody has answered.
    pub(crate) is_resolved_again: bool,
    /// Made for a connection request.
    pub(crate) is_child: bool,
    /// The peer writes to memory of this side, and neither reads it nor has other rights.
    pub(crate) peer_only_writes: bool,
    pub(crate) more: Seldom<RareState>,
}

/// What few ids have.
#[derive(Default)]
pub(crate) struct RareState {
    /// Bytes before the caller's private data in CONNECT.
    pub(crate) connect_header: Vec<u8>,
    pub(crate) memberships: Vec<&'static Membership>,
    resolution: Resolution,
    /// For the children of a passive endpoint.
    pub(crate) child_queue_pair: Option<ibv_qp_init_attr>,
    /// Told to the next verb that waits; it is as in `id->event`.
    pub(super) early_event: Option<NonNull<rdma_cm_event>>,
}

// SAFETY: path records are plain data and the queue pair attributes hold pointers of the caller
// that any thread may use.
unsafe impl Send for IdState {}

impl IdState {
    pub(crate) fn connect_header(&self) -> &[u8] {
        self.more.get().map_or(&[], |more| &more.connect_header)
    }

    /// Whether the link layer of a port of the id's device is InfiniBand.
    pub(crate) fn is_on_infiniband(&self, port: u8) -> bool {
        self.binding.as_ref().is_some_and(|bound| bound.device().is_infiniband(port))
    }

    /// The extensions (ECE) that the peer of the active side has chosen, if both have some.
    pub(crate) fn chosen_ece(&self) -> Option<(u32, u32)> {
        let (vendor, options) = (self.local_ece.0, self.remote_ece.1);
        (!self.is_child && vendor != 0 && self.remote_ece.0 != 0).then_some((vendor, options))
    }

    pub(crate) fn resolution(&self) -> &Resolution {
        self.more.get().map_or(&Resolution::None, |more| &more.resolution)
    }

    pub(crate) fn take_resolution(&mut self) -> Resolution {
        self.more.get_mut().map_or(Resolution::None, |more| core::mem::take(&mut more.resolution))
    }

    /// The first resolution of an id; ENOMEM where it has no memory for one.
    pub(crate) fn begin_resolution(&mut self, first: Resolution) -> Result<()> {
        self.more.make()?.resolution = first;
        Ok(())
    }

    /// The next step. Does nothing before `begin_resolution`.
    pub(crate) fn set_resolution(&mut self, next: Resolution) {
        if let Some(more) = self.more.get_mut() {
            more.resolution = next;
        }
    }
}
