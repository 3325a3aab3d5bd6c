//! Ids that end with their owner.
//!
//! # Safety
//! The id is known to nobody but its owner, which hands out references no longer than it lives.
#![allow(unsafe_code)]

use crate::error::Result;
use crate::event::Channel;
use crate::id::{self, Id};
use crate::types::{RDMA_PS_TCP, RDMA_PS_UDP, SocketAddress};
use rdma_sys::ibv_qp_type;
use std::ops::Deref;

/// An id without its event channel, which outlives it.
pub(super) struct SoleId(&'static Id);

impl SoleId {
    /// Of an id that nobody else ends.
    pub(super) fn of(id: &'static Id) -> SoleId {
        SoleId(id)
    }

    /// A new id for a stream.
    pub(super) fn for_stream(channel: &Channel) -> Result<SoleId> {
        let kind = id::default_qp_type(RDMA_PS_TCP);
        id::create(Some(channel), std::ptr::null_mut(), RDMA_PS_TCP, kind).map(SoleId)
    }

    /// For what ends before its owner.
    pub(super) fn get(&self) -> &'static Id {
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

/// An id with an event channel of its own.
pub(super) struct OwnedId {
    // Dropped before its channel.
    id: SoleId,
    channel: Box<Channel>,
}

impl OwnedId {
    /// A new id for datagrams.
    pub(super) fn for_datagrams() -> Result<OwnedId> {
        let channel = Channel::create()?;
        let kind = ibv_qp_type::IBV_QPT_UD;
        let id = id::create(Some(&channel), std::ptr::null_mut(), RDMA_PS_UDP, kind)?;
        Ok(OwnedId { id: SoleId(id), channel })
    }

    pub(super) fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Binds to an address, which names the device, with a port of the kernel's choice.
    pub(super) fn bind_anywhere(&self, local: &SocketAddress) -> Result<()> {
        self.id.bind(&local.with_port(0))
    }
}

impl Deref for OwnedId {
    type Target = Id;

    fn deref(&self) -> &Id {
        &self.id
    }
}
