// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Making and destroying the shared receive queue of an id.
//!
//! # Safety
//! Objects in the attributes are the caller's valid ones or made here; what this call made is
//! undone when it fails, and nothing else.
#![allow(unsafe_code)]

use super::create::destroy_completion_queues;
use crate::cm::id::Id;
use crate::verbs::{CompletionQueue, SharedQueue};
use base::errno::Result;
use base::{because, fail};
use core::mem::MaybeUninit;
use core::ptr;
use rdma_sys::{
    ibv_pd, ibv_qp_type, ibv_srq_init_attr, ibv_srq_init_attr_ex, ibv_srq_init_attr_mask as mask,
    ibv_srq_type,
};

/// rdma_create_srq: `attr` comes back with the granted sizes.
///
/// # Safety
/// `pd` is NULL or valid.
pub(crate) unsafe fn create(id: &Id, pd: *mut ibv_pd, attr: &mut ibv_srq_init_attr) -> Result<()> {
    // SAFETY: pointers and integers: valid when zero.
    let mut extended: ibv_srq_init_attr_ex = unsafe { MaybeUninit::zeroed().assume_init() };
    extended.srq_context = attr.srq_context;
    extended.attr = attr.attr;
    extended.comp_mask = (mask::IBV_SRQ_INIT_ATTR_TYPE | mask::IBV_SRQ_INIT_ATTR_PD).0;
    extended.srq_type = match id.qp_type() {
        ibv_qp_type::IBV_QPT_XRC_RECV => ibv_srq_type::IBV_SRQT_XRC,
        _ => ibv_srq_type::IBV_SRQT_BASIC,
    };
    extended.pd = pd;
    // SAFETY: by contract.
    let result = unsafe { create_extended(id, &mut extended) };
    attr.attr = extended.attr;
    result
}

/// rdma_create_srq_ex.
///
/// # Safety
/// Pointers in `attr` that its mask names are NULL or valid.
pub(crate) unsafe fn create_extended(id: &Id, attr: &mut ibv_srq_init_attr_ex) -> Result<()> {
    let context = id.context()?;
    let has = |attr: &ibv_srq_init_attr_ex, bit: mask| attr.comp_mask & bit.0 != 0;
    if !has(attr, mask::IBV_SRQ_INIT_ATTR_TYPE) {
        return Err(fail!(
            EINVAL,
            *id,
            "rdma_create_srq_ex: comp_mask is without IBV_SRQ_INIT_ATTR_TYPE"
        ));
    }
    let (own_pd, own_srq, own_cq) = id.public(|public| (public.pd, public.srq, public.recv_cq));
    if !own_srq.is_null() {
        return Err(fail!(
            EINVAL,
            *id,
            "rdma_create_srq: the id has a shared receive queue already"
        ));
    }
    if !has(attr, mask::IBV_SRQ_INIT_ATTR_PD) || attr.pd.is_null() {
        attr.pd = own_pd;
        attr.comp_mask |= mask::IBV_SRQ_INIT_ATTR_PD.0;
    }
    if attr.pd.is_null() {
        return Err(id.not_bound());
    }
    let mut made = None;
    if attr.srq_type == ibv_srq_type::IBV_SRQT_XRC {
        if !has(attr, mask::IBV_SRQ_INIT_ATTR_XRCD) || attr.xrcd.is_null() {
            attr.xrcd = id.xrc_domain()?.as_ptr();
        }
        if !has(attr, mask::IBV_SRQ_INIT_ATTR_CQ) || attr.cq.is_null() {
            attr.cq = if own_cq.is_null() {
                let queue = CompletionQueue::create(context, attr.attr.max_wr, id.as_c().cast())?;
                made.insert(queue).as_ptr()
            } else {
                own_cq
            };
        }
        attr.comp_mask |= (mask::IBV_SRQ_INIT_ATTR_XRCD | mask::IBV_SRQ_INIT_ATTR_CQ).0;
    }
    // SAFETY: live objects, by contract or made above.
    let queue = unsafe { SharedQueue::create(context, attr) }?;
    id.public(|public| {
        if let Some(queue) = made {
            (public.recv_cq, public.recv_cq_channel) = queue.into_raw();
        }
        if public.pd.is_null() {
            public.pd = attr.pd;
        }
        public.srq = queue.as_ptr();
    });
    Ok(())
}

/// rdma_destroy_srq: the queue, and a completion queue that was made with it. A queue that is in
/// use stays with the id, so that it can be destroyed later.
pub(crate) fn destroy(id: &Id) {
    let taken = id.public(|public| core::mem::replace(&mut public.srq, ptr::null_mut()));
    // SAFETY: NULL or the live queue that the id named.
    let Some(queue) = (unsafe { SharedQueue::from_raw(taken) }) else { return };
    // SAFETY: taken out of the id.
    if let Err(error) = unsafe { queue.destroy() } {
        // The C API has no way to report it.
        because!(
            error,
            *id,
            "rdma_destroy_srq: the queue stays, a queue pair uses it: destroy the queue pairs first"
        );
        return id.public(|public| public.srq = taken);
    }
    if !id.has_queue_pair() {
        destroy_completion_queues(id);
    }
}
