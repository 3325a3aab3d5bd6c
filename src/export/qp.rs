// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: queue pairs.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::id::Id;
use crate::cm::qp;
use crate::types::rdma_cm_id;
use base::errno::preserve_errno;
use libc::c_int;
use rdma_sys::{ibv_pd, ibv_qp_attr, ibv_qp_init_attr, ibv_qp_init_attr_ex};

/// Creates the queue pair of an identifier.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `pd`: a protection domain of this device, or NULL for `id->pd`.
/// - `qp_init_attr`: attributes of the queue pair. Updated with the actual sizes and the queues
///   in use.
///
/// # Description
///
/// The queue pair is `id->qp`. The library changes its state as the connection is established and
/// closed. Receives can be posted immediately; a datagram queue pair can send immediately, too.
///
/// Completion queues that the attributes name are used. Those that are NULL are taken from the
/// id. If the id has none, and `cap` requests work requests in that direction, the library
/// creates a completion queue with a channel: `id->send_cq`, `id->send_cq_channel`, `id->recv_cq`
/// and `id->recv_cq_channel`. The shared receive queue is that of the attributes or `id->srq`.
///
/// {Return value: queue pair}
///
/// {Errors: queue pair}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_qp_ex(3), rdma_destroy_qp(3), rdma_create_srq(3), rdma_post_recv(3),
/// rdma_get_recv_comp(3), ibv_create_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_qp(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    qp_init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe {
        Id::from_c(id).and_then(|id| preserve_errno(|| qp::create(id, pd, arg::out(qp_init_attr)?)))
    }
    .into_c()
}

/// Creates the queue pair of an identifier, with extended attributes.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `qp_init_attr`: attributes of the queue pair. Updated with the actual sizes, the queues and
///   the protection domain in use.
///
/// # Description
///
/// Like rdma_create_qp, with the attributes of ibv_create_qp_ex. The protection domain is that of
/// the attributes, or `id->pd` if IBV_QP_INIT_ATTR_PD is not set in `comp_mask` or `pd` is NULL.
///
/// {Return value: queue pair}
///
/// {Errors: queue pair}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_qp(3), rdma_destroy_qp(3), ibv_create_qp_ex(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_qp_ex(
    id: *mut rdma_cm_id,
    qp_init_attr: *mut ibv_qp_init_attr_ex,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe {
        Id::from_c(id)
            .and_then(|id| preserve_errno(|| qp::create_extended(id, arg::out(qp_init_attr)?)))
    }
    .into_c()
}

/// Destroys the queue pair of an identifier.
///
/// # Arguments
///
/// - `id`: the id; NULL, or an id without a queue pair, has no effect.
///
/// # Description
///
/// Destroys `id->qp` and the completion queues that the library created for it. Completion queues
/// of the application remain.
///
/// {Return value: none}
///
/// # Notes
///
/// Call this function before rdma_destroy_id. Outstanding work requests never complete: to get
/// their completions, call rdma_disconnect and poll the completion queues first.
///
/// {Thread safety: one thread per id}
/// Waits for a thread that changes the state of the queue pair in rdma_get_cm_event.
///
/// # See also
///
/// rdma_create_qp(3), rdma_disconnect(3), rdma_destroy_id(3), ibv_destroy_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_qp(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        // The C API has no way to report a failure.
        let _ = qp::destroy(id);
    }
}

/// Returns the attributes for a state change of the application's queue pair.
///
/// # Arguments
///
/// - `id`: the id of the connection.
/// - `qp_attr`: `qp_state` is the new state. Filled with the attributes that ibv_modify_qp needs
///   for it.
/// - `qp_attr_mask`: where the mask for ibv_modify_qp is returned.
///
/// # Description
///
/// For applications that do not use rdma_create_qp: they request the attributes of IBV_QPS_INIT,
/// IBV_QPS_RTR and IBV_QPS_RTS in turn, and call ibv_modify_qp with each.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: an argument is NULL, or the connection has not reached the state.
/// - `ENOENT`: the kernel does not know the id.
///
/// {Errors: command}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_establish(3), rdma_accept(3), rdma_connect(3), ibv_modify_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_init_qp_attr(
    id: *mut rdma_cm_id,
    qp_attr: *mut ibv_qp_attr,
    qp_attr_mask: *mut c_int,
) -> c_int {
    // SAFETY: a valid id pointer, valid attributes and a place for the mask, or NULL.
    let (id, attr, mask) = unsafe { (Id::from_c(id), arg::out(qp_attr), arg::out(qp_attr_mask)) };
    id.and_then(|id| {
        let (attr, mask) = (attr?, mask?);
        let state = attr.qp_state;
        *mask = qp::init_attributes(id, state, attr)? as c_int;
        Ok(())
    })
    .into_c()
}
