// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_verbs.h>`: shared receive queues.
#![allow(unsafe_code)]

use crate::cm::id::Id;
use crate::cm::qp::shared_queue;
use crate::export::arg;
use crate::export::ret::IntoC;
use crate::types::rdma_cm_id;
use libc::c_int;
use rdma_sys::{ibv_pd, ibv_srq_init_attr, ibv_srq_init_attr_ex};

/// Creates the shared receive queue of an identifier.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `pd`: a protection domain of this device, or NULL for `id->pd`.
/// - `attr`: attributes of the queue. Updated with the actual sizes.
///
/// # Description
///
/// The queue is `id->srq`. rdma_create_qp uses it, and rdma_post_recv and rdma_post_recvv post to
/// it. For an id of type IBV_QPT_XRC_RECV the call creates an XRC queue with the completion queue
/// `id->recv_cq`, which the library creates if there is none.
///
/// {Return value: zero}
///
/// {Errors: shared receive queue}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_srq_ex(3), rdma_destroy_srq(3), rdma_create_qp(3), rdma_post_recv(3),
/// ibv_create_srq(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_srq(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    attr: *mut ibv_srq_init_attr,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe { Id::from_c(id).and_then(|id| shared_queue::create(id, pd, arg::out(attr)?)) }.into_c()
}

/// Creates the shared receive queue of an identifier, with extended attributes.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `attr`: attributes of the queue; IBV_SRQ_INIT_ATTR_TYPE must be set in `comp_mask`. Updated
///   with the actual sizes and the objects in use.
///
/// # Description
///
/// Like rdma_create_srq, with the attributes of ibv_create_srq_ex. The default protection domain
/// is `id->pd`. For an XRC queue the default XRC domain is one that all ids of the device share,
/// and the default completion queue is `id->recv_cq`.
///
/// {Return value: zero}
///
/// {Errors: shared receive queue}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_srq(3), rdma_destroy_srq(3), ibv_create_srq_ex(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_srq_ex(
    id: *mut rdma_cm_id,
    attr: *mut ibv_srq_init_attr_ex,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe { Id::from_c(id).and_then(|id| shared_queue::create_extended(id, arg::out(attr)?)) }
        .into_c()
}

/// Destroys the shared receive queue of an identifier.
///
/// # Arguments
///
/// - `id`: the id; NULL, or an id without a shared receive queue, has no effect.
///
/// # Description
///
/// Destroys `id->srq`, and the completion queue that the library created for it, unless a queue
/// pair still uses that.
///
/// {Return value: none}
///
/// # Notes
///
/// Call this function after rdma_destroy_qp for every queue pair that uses the queue, and before
/// rdma_destroy_id. A queue that is in use is not destroyed: it remains in `id->srq`, and the
/// call may be repeated.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_srq(3), rdma_destroy_qp(3), ibv_destroy_srq(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_srq(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        shared_queue::destroy(id);
    }
}
