//! `<rdma/rdma_verbs.h>`: shared receive queues.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::id::Id;
use crate::qp::shared_queue;
use crate::types::rdma_cm_id;
use libc::c_int;
use rdma_sys::{ibv_pd, ibv_srq_init_attr, ibv_srq_init_attr_ex};

/// Makes the shared receive queue of an identifier.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `pd`: a protection domain on this device, or NULL for `id->pd`.
/// - `attr`: what to make. Comes back with the granted sizes.
///
/// # Description
///
/// The queue is `id->srq`. rdma_create_qp uses it, and rdma_post_recv and rdma_post_recvv post
/// to it. An id of type IBV_QPT_XRC_RECV gets an XRC queue, with the completion queue
/// `id->recv_cq`, which the library makes if there is none.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` or `attr` is NULL, the id has a shared receive queue or no device, or the
///   device refuses the attributes.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `EOPNOTSUPP`: the device has no such queues.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Makes the shared receive queue of an identifier with extended attributes.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `attr`: what to make; IBV_SRQ_INIT_ATTR_TYPE must be in `comp_mask`. Comes back with the
///   granted sizes and the objects in use.
///
/// # Description
///
/// As rdma_create_srq, with all that ibv_create_srq_ex can do. A protection domain that is not
/// given is `id->pd`. For an XRC queue the domain that is not given is one that all ids of the
/// device share, and the completion queue is `id->recv_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` or `attr` is NULL, the id has a shared receive queue or no device, or the
///   device refuses the attributes.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `EOPNOTSUPP`: the device has no such queues.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
/// - `id`: the id; NULL, or one without a shared receive queue, does nothing.
///
/// # Description
///
/// Destroys `id->srq`, and a completion queue that the library made for it unless a queue pair
/// still uses it.
///
/// # Return value
///
/// None.
///
/// # Notes
///
/// After rdma_destroy_qp of every queue pair that uses the queue, and before rdma_destroy_id. A queue
/// that is still in use is not destroyed: `id->srq` keeps it, and the call can be made again.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
