// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Making ids.
//!
//! # Safety
//! An id is boxed, published under its key, and freed by `destroy` after its key is retired.
#![allow(unsafe_code)]

use super::cm_id::{IDS, Id};
use super::destroy::free;
use super::pin::Pins;
use super::state::IdState;
use crate::cm::acknowledge::Acknowledgements;
use crate::cm::channel::Channel;
use crate::lane::Lane;
use crate::types::{RDMA_PS_IPOIB, RDMA_PS_UDP, rdma_cm_id, rdma_event_channel, rdma_port_space};
use crate::uapi::{self, abi};
use alloc::boxed::Box;
use base::arc::Arc;
use base::counters::{Live, layout};
use base::errno::{Errno, Result};
use base::fail;
use base::lock::Mutex;
use base::memory::try_box;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use libc::c_void;
use probe::probe;
use rdma_sys::ibv_qp_type;

/// Makes an id in the kernel and here. Without a channel it gets one of its own and is synchronous.
pub(crate) fn create(
    channel: Option<&Arc<Channel>>,
    context: *mut c_void,
    port_space: rdma_port_space,
    qp_type: ibv_qp_type::Type,
) -> Result<&'static Id> {
    let kernel_port_space = u16::try_from(port_space)
        .map_err(|_| fail!(EINVAL, "rdma_create_id: {port_space:#x} is no port space"))?;
    let kernel_qp_type = u8::try_from(qp_type)
        .map_err(|_| fail!(EINVAL, "rdma_create_id: {qp_type} is no type of a queue pair"))?;
    let own_channel = match channel {
        Some(_) => None,
        None => Some(Channel::create()?),
    };
    let used = match (channel, &own_channel) {
        (Some(channel), _) => channel,
        (None, Some(own)) => own,
        (None, None) => return Err(Errno::EINVAL),
    };
    let fd = used.file().fd()?;
    let id = allocate(used.as_c(), Arc::clone(used), context, port_space, qp_type)?;
    id.synchronous.store(own_channel.is_some(), Ordering::Release);
    id.with(|state| state.own_channel = own_channel);
    let made = uapi::call(
        fd,
        abi::CreateId {
            uid: id.key().raw(),
            response: 0,
            ps: kernel_port_space,
            qp_type: kernel_qp_type,
            reserved: [0; 5],
        },
    );
    match made {
        Ok(answer) => {
            id.handle.store(answer.id, Ordering::Relaxed);
            id.counted.begin(layout::IDS_MADE);
            probe!(rdmacm, id__create, id.as_c(), port_space);
            Ok(id)
        }
        Err(error) => {
            id.refused("CREATE_ID", error);
            // SAFETY: the kernel did not take its key, and C has not seen it.
            unsafe { free(id) };
            Err(error)
        }
    }
}

/// The queue pair type that a port space means where none is given.
pub(crate) fn default_qp_type(port_space: rdma_port_space) -> ibv_qp_type::Type {
    match port_space {
        RDMA_PS_IPOIB | RDMA_PS_UDP => ibv_qp_type::IBV_QPT_UD,
        _ => ibv_qp_type::IBV_QPT_RC,
    }
}

/// The id for a connection request; the kernel has made its side already.
pub(crate) fn child_of(listener: &Id, handle: u32) -> Result<&'static Id> {
    let channel = listener.public(|id| id.channel);
    let child = allocate(
        channel,
        listener.file(),
        listener.user_context(),
        listener.port_space(),
        listener.qp_type(),
    )?;
    child.handle.store(handle, Ordering::Relaxed);
    child.counted.begin(layout::IDS_MADE);
    let uses_ib_addresses = listener.with(|state| state.uses_ib_addresses);
    child.with(|state| {
        state.is_child = true;
        state.uses_ib_addresses = uses_ib_addresses;
    });
    Ok(child)
}

fn allocate(
    channel: *mut rdma_event_channel,
    file: Arc<Channel>,
    context: *mut c_void,
    port_space: rdma_port_space,
    qp_type: ibv_qp_type::Type,
) -> Result<&'static Id> {
    let mut room = try_box(MaybeUninit::<Id>::uninit())?;
    let key = IDS.reserve()?;
    let place = room.as_mut_ptr();
    // SAFETY: every field, in its place. The public part is pointers, integers and addresses, valid
    // when zero.
    let id: &'static mut Id = unsafe {
        let public: *mut rdma_cm_id = (&raw mut (*place).public).cast();
        public.write_bytes(0, 1);
        (*public).channel = channel;
        (*public).context = context;
        (*public).ps = port_space;
        (*public).qp_type = qp_type;
        (&raw mut (*place).key).write(key);
        (&raw mut (*place).handle).write(AtomicU32::new(0));
        (&raw mut (*place).file).write(Mutex::new(file));
        (&raw mut (*place).synchronous).write(AtomicBool::new(false));
        (&raw mut (*place).readers).write(AtomicU32::new(0));
        (&raw mut (*place).acknowledgements).write(Acknowledgements::default());
        (&raw mut (*place).pins).write(Pins::default());
        (&raw mut (*place).lane).write(Lane::default());
        (&raw mut (*place).state).write(Mutex::new(IdState::default()));
        (&raw mut (*place).counted).write(Live::of(layout::IDS_NOW));
        (&raw mut (*place).counted_queue_pair).write(Live::of(layout::QUEUE_PAIRS_NOW));
        Box::leak(room.assume_init())
    };
    // SAFETY: leaked, and freed only after its key is retired.
    unsafe { IDS.publish(key, NonNull::from(&mut *id)) };
    Ok(id)
}

/// A synchronous id that the library makes for itself and destroys on drop.
pub(crate) struct TemporaryId(&'static Id);

impl TemporaryId {
    pub(crate) fn create(
        port_space: rdma_port_space,
        qp_type: ibv_qp_type::Type,
    ) -> Result<TemporaryId> {
        create(None, core::ptr::null_mut(), port_space, qp_type).map(TemporaryId)
    }
}

impl Deref for TemporaryId {
    type Target = Id;

    fn deref(&self) -> &Id {
        self.0
    }
}

impl Drop for TemporaryId {
    fn drop(&mut self) {
        // SAFETY: borrows of the id end before its owner does. A failure has no
        // caller to report to.
        let _ = unsafe { self.0.destroy() };
    }
}
