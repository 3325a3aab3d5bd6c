//! `<rdma/rdma_cma.h>`: queue pairs.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::error::quietly;
use crate::id::Id;
use crate::qp;
use crate::types::rdma_cm_id;
use libc::c_int;
use rdma_sys::{ibv_pd, ibv_qp_attr, ibv_qp_init_attr, ibv_qp_init_attr_ex};

/// Makes the queue pair of an identifier.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `pd`: a protection domain on this device, or NULL for `id->pd`.
/// - `qp_init_attr`: what to make. Comes back with the granted sizes and the queues in use.
///
/// # Description
///
/// The queue pair is `id->qp`. The library moves it through its states as the connection goes.
/// Receives can be posted at once; a datagram queue pair can send too.
///
/// Completion queues that the attributes name are used. For those that are NULL the id's are,
/// and if it has none and `cap` asks for work requests in that direction, the library makes a
/// queue with a channel: `id->send_cq`, `id->send_cq_channel`, `id->recv_cq` and
/// `id->recv_cq_channel`. A shared receive queue comes from the attributes or from `id->srq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. On failure what this call made is gone again, and the id is as
/// before.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `ECONNREFUSED`: the device insists on extensions that the peer does not have.
/// - `EINVAL`: `id` or `qp_init_attr` is NULL, the id has a queue pair or no device, the
///   protection domain is of another device, the id has other completion queues, or the device
///   refuses the attributes.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
    unsafe { Id::from_c(id).and_then(|id| quietly(|| qp::create(id, pd, arg::out(qp_init_attr)?))) }
        .into_c()
}

/// Makes the queue pair of an identifier with extended attributes.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `qp_init_attr`: what to make. Comes back with the granted sizes, the queues and the
///   protection domain in use.
///
/// # Description
///
/// As rdma_create_qp, with all that ibv_create_qp_ex can do. The protection domain is in the
/// attributes; if IBV_QP_INIT_ATTR_PD is not in `comp_mask`, or `pd` is NULL, `id->pd` is used.
///
/// # Return value
///
/// 0, or -1 with `errno`. On failure what this call made is gone again, and the id is as
/// before.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `ECONNREFUSED`: the device insists on extensions that the peer does not have.
/// - `EINVAL`: `id` or `qp_init_attr` is NULL, the id has a queue pair or no device, the
///   protection domain is of another device, the id has other completion queues, or the device
///   refuses the attributes.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
        Id::from_c(id).and_then(|id| quietly(|| qp::create_extended(id, arg::out(qp_init_attr)?)))
    }
    .into_c()
}

/// Destroys the queue pair of an identifier.
///
/// # Arguments
///
/// - `id`: the id; NULL, or one without a queue pair, does nothing.
///
/// # Description
///
/// Destroys `id->qp` and the completion queues that the library made for it. Those of the
/// program stay.
///
/// # Return value
///
/// None.
///
/// # Notes
///
/// Before rdma_destroy_id. Work requests that have not completed never will: rdma_disconnect
/// before, and fetch the completions, to see them flushed.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. Waits for another
/// thread that is just moving the queue pair in rdma_get_cm_event.
///
/// # See also
///
/// rdma_create_qp(3), rdma_disconnect(3), rdma_destroy_id(3), ibv_destroy_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_qp(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        qp::destroy(id);
    }
}

/// Tells the attributes that move the application's own queue pair.
///
/// # Arguments
///
/// - `id`: the id of the connection.
/// - `qp_attr`: `qp_state` says which state; comes back with what ibv_modify_qp needs for it.
/// - `qp_attr_mask`: where the mask for ibv_modify_qp is returned.
///
/// # Description
///
/// For programs that do not use rdma_create_qp: they ask for IBV_QPS_INIT, IBV_QPS_RTR and
/// IBV_QPS_RTS in turn and call ibv_modify_qp each time.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: an argument is NULL, or the connection is not so far.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
