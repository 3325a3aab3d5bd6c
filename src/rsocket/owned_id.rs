// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Ids that are destroyed with their owner.
//!
//! # Safety
//! The id is known to nobody but its owner, which hands out references no longer than it lives.
#![allow(unsafe_code)]

use crate::cm::channel::Channel;
use crate::cm::id::{self, Id};
use crate::types::{RDMA_PS_TCP, RDMA_PS_UDP, SocketAddress};
use base::arc::Arc;
use base::errno::Result;
use core::ops::Deref;
use rdma_sys::ibv_qp_type;

/// An id without its event channel, which outlives it.
pub(crate) struct SoleId(&'static Id);

impl SoleId {
    /// Takes over an id that nobody else destroys.
    pub(crate) fn of(id: &'static Id) -> SoleId {
        SoleId(id)
    }

    /// A new id for a stream.
    pub(crate) fn for_stream(channel: &Arc<Channel>) -> Result<SoleId> {
        let kind = id::default_qp_type(RDMA_PS_TCP);
        id::create(Some(channel), core::ptr::null_mut(), RDMA_PS_TCP, kind).map(SoleId)
    }

    /// A new id for datagrams.
    pub(crate) fn for_datagrams(channel: &Arc<Channel>) -> Result<SoleId> {
        let kind = ibv_qp_type::IBV_QPT_UD;
        id::create(Some(channel), core::ptr::null_mut(), RDMA_PS_UDP, kind).map(SoleId)
    }

    /// Binds to an address, which names the device, with a port of the kernel's choice.
    pub(crate) fn bind_anywhere(&self, local: &SocketAddress) -> Result<()> {
        self.0.bind(&local.with_port(0))
    }

    /// For what ends before its owner.
    pub(crate) fn get(&self) -> &'static Id {
        self.0
    }
}

impl Deref for SoleId {
    type Target = Id;

    fn deref(&self) -> &Id {
        self.0
    }
}

impl Drop for SoleId {
    fn drop(&mut self) {
        // SAFETY: nobody else has it. An error means that the kernel's side is gone already.
        let _ = unsafe { self.0.destroy() };
    }
}

/// Refuses a connection request, whose id nobody else destroys.
pub(crate) fn refuse(id: &'static Id) {
    let id = SoleId::of(id);
    // It goes anyway.
    let _ = id.reject(&[], 0);
}

/// An id with an event channel of its own.
pub(crate) struct OwnedId {
    // Dropped before its channel.
    id: SoleId,
    channel: Arc<Channel>,
}

impl OwnedId {
    /// A new id for datagrams.
    pub(crate) fn for_datagrams() -> Result<OwnedId> {
        let channel = Channel::create_non_blocking(true)?;
        let id = SoleId::for_datagrams(&channel)?;
        Ok(OwnedId { id, channel })
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }
}

impl Deref for OwnedId {
    type Target = Id;

    fn deref(&self) -> &Id {
        &self.id
    }
}
