// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Making and destroying the queue pair of an id.
//!
//! # Safety
//! Queues in the attributes are the caller's valid objects or made here; what this call made is
//! undone when it fails, and nothing else.
#![allow(unsafe_code)]

use super::transition;
use crate::cm::id::Id;
use crate::verbs::{CompletionChannel, CompletionQueue, ProtectionDomain, QueuePair};
use base::counters::layout::QUEUE_PAIRS_MADE;
use base::errno::{Errno, Result};
use base::{because, fail};
use core::mem::MaybeUninit;
use core::ptr;
use rdma_sys::{
    ibv_cq, ibv_ece, ibv_pd, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_qp_init_attr_mask,
    ibv_qp_type,
};

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
        return Err(fail!(EINVAL, *id, "rdma_create_qp: the id has a queue pair already"));
    }
    let context = id.context()?;
    let with_pd = ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0;
    if attr.comp_mask & with_pd == 0 || attr.pd.is_null() {
        attr.comp_mask |= with_pd;
        attr.pd = id.public(|public| public.pd);
    }
    // SAFETY: NULL or valid, by contract.
    let pd = unsafe { ProtectionDomain::from_raw(attr.pd) }.ok_or_else(|| id.not_bound())?;
    if pd.context() != context.as_ptr() {
        return Err(fail!(
            EINVAL,
            *id,
            "rdma_create_qp: the protection domain is of another device context than the id: make it \
             with ibv_alloc_pd(id->verbs)"
        ));
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
        return Err(fail!(
            EINVAL,
            *id,
            "rdma_create_qp: the completion queues are others than those that the id has"
        ));
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
    let queue_pair = unsafe { QueuePair::create_extended(context, attr, id) }?;
    if let Err(error) = initialise(id, queue_pair) {
        // SAFETY: made above, known to nobody else.
        let _ = unsafe { queue_pair.destroy(id) };
        return Err(error);
    }
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
    id.counted_queue_pair.begin(QUEUE_PAIRS_MADE);
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

/// Stores the device's extensions (ECE); a child combines them with those of its peer.
fn exchange_ece(id: &Id, queue_pair: QueuePair) -> Result<()> {
    let own = match queue_pair.query_ece() {
        Ok(ece) => ece,
        // Most devices have none.
        Err(Errno::EOPNOTSUPP) => return Ok(()),
        Err(error) => return Err(because!(error, *id, "ibv_query_ece")),
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
        // The device requires an extension that the peer does not have.
        Err(Errno::ECONNREFUSED) => Err(fail!(
            ECONNREFUSED,
            *id,
            "the device needs an extension (ECE) that the peer does not offer"
        )),
        Err(_) => Ok(()),
    }
}

/// rdma_destroy_qp: the queue pair, and the completion queues of the id. After an error the device may
/// have the pair still.
pub(crate) fn destroy(id: &Id) -> Result<()> {
    let Some(queue_pair) = id.take_queue_pair() else { return Ok(()) };
    // SAFETY: taken out of the id; no other thread uses it any more.
    let destroyed = unsafe { queue_pair.destroy(id) };
    id.counted_queue_pair.end();
    destroy_completion_queues(id);
    destroyed
}

fn take<T>(field: &mut *mut T) -> *mut T {
    core::mem::replace(field, ptr::null_mut())
}

/// The completion queues and channels in the public fields of the id, whoever made them: a program
/// that puts its own there gives them to the id. The queues of an XRC receive queue belong to it, not
/// to the pair.
pub(crate) fn destroy_completion_queues(id: &Id) {
    let has_srq = id.public(|public| !public.srq.is_null());
    if has_srq && id.qp_type() == ibv_qp_type::IBV_QPT_XRC_RECV {
        return;
    }
    let (queues, channels) = id.public(|public| {
        let queues = [&mut public.recv_cq, &mut public.send_cq];
        let channels = [&mut public.recv_cq_channel, &mut public.send_cq_channel];
        (queues.map(take), channels.map(take))
    });
    let [receive, send] = queues;
    let [receive_channel, send_channel] = channels;
    // Both directions may share one. Queues go before their channels.
    let send = if ptr::eq(send, receive) { ptr::null_mut() } else { send };
    let shared = ptr::eq(send_channel, receive_channel);
    let send_channel = if shared { ptr::null_mut() } else { send_channel };
    for queue in [receive, send] {
        // SAFETY: taken out of the id just now, where it was valid.
        drop(unsafe { CompletionQueue::from_raw(queue, ptr::null_mut()) });
    }
    for channel in [receive_channel, send_channel] {
        // SAFETY: as above.
        drop(unsafe { CompletionChannel::from_raw(channel) });
    }
}
