//! An id with an event channel of its own, ended by its drop.
//!
//! # Safety
//! The id is known to nobody but its owner, which hands out references no longer than it lives.
#![allow(unsafe_code)]

use crate::error::Result;
use crate::event::Channel;
use crate::id::{self, Id};
use crate::types::{RDMA_PS_UDP, SocketAddress};
use rdma_sys::ibv_qp_type;
use std::ops::Deref;

/// See the module text.
pub(super) struct OwnedId {
    id: &'static Id,
    channel: Box<Channel>,
}

impl OwnedId {
    /// A new id for datagrams.
    pub(super) fn for_datagrams() -> Result<OwnedId> {
        let channel = Channel::create()?;
        let kind = ibv_qp_type::IBV_QPT_UD;
        let id = id::create(Some(&channel), std::ptr::null_mut(), RDMA_PS_UDP, kind)?;
        Ok(OwnedId { id, channel })
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
        self.id
    }
}

impl Drop for OwnedId {
    fn drop(&mut self) {
        // SAFETY: nobody else has it. An error means that the kernel's side is gone already.
        let _ = unsafe { self.id.destroy() };
    }
}
