//! Making and destroying the queue pair of an id.
//!
//! # Safety
//! Queues in the attributes are the caller's valid objects or made here; what this call made is undone
//! when it fails, and nothing else.
#![allow(unsafe_code)]

use super::transition;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::verbs::{CompletionQueue, ProtectionDomain, QueuePair};
use rdma_sys::{
    ibv_cq, ibv_ece, ibv_pd, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_qp_init_attr_mask,
    ibv_qp_type,
};
use std::mem::MaybeUninit;
use std::ptr;

fn zeroed_extended() -> ibv_qp_init_attr_ex {
    // SAFETY: pointers and integers: valid when zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// rdma_create_qp: `attr` comes back with the queues in use and the granted sizes.
///
/// # Safety
/// Pointers in `attr` and `pd` are NULL or valid.
pub(crate) unsafe fn create(id: &Id, pd: *mut ibv_pd, attr: &mut ibv_qp_init_attr) -> Result<()> {
    let mut extended = zeroed_extended();
    extended.qp_context = attr.qp_context;
    extended.send_cq = attr.send_cq;
    extended.recv_cq = attr.recv_cq;
    extended.srq = attr.srq;
    extended.cap = attr.cap;
    extended.qp_type = attr.qp_type;
    extended.sq_sig_all = attr.sq_sig_all;
    extended.comp_mask = ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0;
    extended.pd = pd;
    // SAFETY: by contract.
    let result = unsafe { create_extended(id, &mut extended) };
    attr.send_cq = extended.send_cq;
    attr.recv_cq = extended.recv_cq;
    attr.srq = extended.srq;
    attr.cap = extended.cap;
    result
}

/// rdma_create_qp_ex.
///
/// # Safety
/// As `create`.
pub(crate) unsafe fn create_extended(id: &Id, attr: &mut ibv_qp_init_attr_ex) -> Result<()> {
    if id.has_queue_pair() {
        return Err(Errno::EINVAL);
    }
    let context = id.context()?;
    let with_pd = ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0;
    if attr.comp_mask & with_pd == 0 || attr.pd.is_null() {
        attr.comp_mask |= with_pd;
        attr.pd = id.public(|public| public.pd);
    }
    // SAFETY: NULL or valid, by contract.
    let pd = unsafe { ProtectionDomain::from_raw(attr.pd) }.ok_or(Errno::EINVAL)?;
    if pd.context() != context.as_ptr() {
        return Err(Errno::EINVAL);
    }
    if id.qp_type() == ibv_qp_type::IBV_QPT_XRC_RECV {
        let with_xrcd = ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_XRCD.0;
        if attr.comp_mask & with_xrcd == 0 || attr.xrcd.is_null() {
            attr.xrcd = id.xrc_domain()?.as_ptr();
            attr.comp_mask |= with_xrcd;
        }
    }
    let (send_cq, recv_cq, srq) = id.public(|public| (public.send_cq, public.recv_cq, public.srq));
    let differs = |ours: *mut ibv_cq, theirs: *mut ibv_cq| {
        !ours.is_null() && !theirs.is_null() && !ptr::eq(ours, theirs)
    };
    if differs(send_cq, attr.send_cq) || differs(recv_cq, attr.recv_cq) {
        return Err(Errno::EINVAL);
    }
    let queue_for = |given: bool, entries: u32| match given || entries == 0 {
        true => Ok(None),
        false => CompletionQueue::create(context, entries, id.as_c().cast()).map(Some),
    };
    let own_recv = queue_for(!(attr.recv_cq.is_null() && recv_cq.is_null()), attr.cap.max_recv_wr)?;
    let own_send = queue_for(!(attr.send_cq.is_null() && send_cq.is_null()), attr.cap.max_send_wr)?;
    if attr.recv_cq.is_null() {
        attr.recv_cq = own_recv.as_ref().map_or(recv_cq, CompletionQueue::as_ptr);
    }
    if attr.send_cq.is_null() {
        attr.send_cq = own_send.as_ref().map_or(send_cq, CompletionQueue::as_ptr);
    }
    if attr.srq.is_null() {
        attr.srq = srq;
    }
    // SAFETY: live queues of this device, by contract or made above.
    let queue_pair = unsafe { QueuePair::create_extended(context, attr) }?;
    if let Err(error) = initialise(id, queue_pair) {
        // SAFETY: made above, known to nobody else.
        let _ = unsafe { queue_pair.destroy() };
        return Err(error);
    }
    id.with(|state| {
        state.made_queue_pair = true;
        state.made_receive_queue |= own_recv.is_some();
        state.made_send_queue |= own_send.is_some();
    });
    id.public(|public| {
        if let Some(queue) = own_recv {
            (public.recv_cq, public.recv_cq_channel) = queue.into_raw();
        }
        if let Some(queue) = own_send {
            (public.send_cq, public.send_cq_channel) = queue.into_raw();
        }
        public.pd = pd.as_ptr();
    });
    id.set_queue_pair(queue_pair);
    Ok(())
}

fn initialise(id: &Id, queue_pair: QueuePair) -> Result<()> {
    exchange_ece(id, queue_pair)?;
    if id.is_datagram() {
        transition::initialise_datagram(id, queue_pair)
    } else {
        transition::initialise_connected(id, queue_pair)
    }
}

/// Remembers what the device can do beyond the standard; a child agrees on it with its peer.
fn exchange_ece(id: &Id, queue_pair: QueuePair) -> Result<()> {
    let own = match queue_pair.query_ece() {
        Ok(ece) => ece,
        // Most devices have none.
        Err(Errno::EOPNOTSUPP) => return Ok(()),
        Err(error) => return Err(error),
    };
    let remote = id.with(|state| {
        state.local_ece = (own.vendor_id, own.options);
        state.remote_ece
    });
    if remote.0 == 0 {
        return Ok(());
    }
    let mut ece = ibv_ece { vendor_id: remote.0, options: remote.1, comp_mask: 0 };
    match queue_pair.set_ece(&mut ece) {
        Ok(()) => {
            id.with(|state| state.local_ece.1 = ece.options);
            Ok(())
        }
        // The device insists on what the peer does not have.
        Err(Errno::ECONNREFUSED) => Err(Errno::ECONNREFUSED),
        Err(_) => Ok(()),
    }
}

/// rdma_destroy_qp: the queue pair, and the completion queues that were made with it. Nothing where
/// there is none.
pub(crate) fn destroy(id: &Id) {
    if let Some(queue_pair) = id.take_queue_pair() {
        // SAFETY: taken out of the id; no other thread uses it any more. The C API has no way to
        // report a failure.
        let _ = unsafe { queue_pair.destroy() };
        id.with(|state| state.made_queue_pair = false);
        destroy_completion_queues(id);
    }
}

/// Those that the library made. The queues of an XRC receive queue belong to it, not to the pair.
pub(crate) fn destroy_completion_queues(id: &Id) {
    let has_srq = id.public(|public| !public.srq.is_null());
    if has_srq && id.qp_type() == ibv_qp_type::IBV_QPT_XRC_RECV {
        return;
    }
    let (made_send, made_receive) = id.with(|state| {
        (std::mem::take(&mut state.made_send_queue), std::mem::take(&mut state.made_receive_queue))
    });
    if made_receive {
        let (queue, channel) = id.public(|public| {
            (
                std::mem::replace(&mut public.recv_cq, ptr::null_mut()),
                std::mem::replace(&mut public.recv_cq_channel, ptr::null_mut()),
            )
        });
        // SAFETY: from `into_raw`, and taken out of the id just now.
        drop(unsafe { CompletionQueue::from_raw(queue, channel) });
    }
    if made_send {
        let (queue, channel) = id.public(|public| {
            (
                std::mem::replace(&mut public.send_cq, ptr::null_mut()),
                std::mem::replace(&mut public.send_cq_channel, ptr::null_mut()),
            )
        });
        // SAFETY: as above.
        drop(unsafe { CompletionQueue::from_raw(queue, channel) });
    }
}
