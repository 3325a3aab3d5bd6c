//! `<rdma/rdma_cma.h>` and `<rdma/rdma_verbs.h>`: queue pairs and shared receive queues.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::id::Id;
use crate::qp::{self, shared_queue};
use crate::types::rdma_cm_id;
use libc::c_int;
use rdma_sys::{
    ibv_pd, ibv_qp_attr, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_srq_init_attr,
    ibv_srq_init_attr_ex,
};

/// Makes the queue pair of an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_qp(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    qp_init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe { Id::from_c(id).and_then(|id| qp::create(id, pd, arg::out(qp_init_attr)?)) }.into_c()
}

/// Makes the queue pair of an identifier with extended attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_qp_ex(
    id: *mut rdma_cm_id,
    qp_init_attr: *mut ibv_qp_init_attr_ex,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe { Id::from_c(id).and_then(|id| qp::create_extended(id, arg::out(qp_init_attr)?)) }
        .into_c()
}

/// Destroys the queue pair of an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_qp(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        qp::destroy(id);
    }
}

/// The attributes that move the application's own queue pair.
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

/// Makes the shared receive queue of an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_srq(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    attr: *mut ibv_srq_init_attr,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    unsafe { Id::from_c(id).and_then(|id| shared_queue::create(id, pd, arg::out(attr)?)) }.into_c()
}

/// Makes the shared receive queue of an identifier with extended attributes.
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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_srq(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        shared_queue::destroy(id);
    }
}
