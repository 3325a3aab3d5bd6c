//! `<rdma/rdma_cma.h>`: connections.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::endpoint;
use crate::error::Errno;
use crate::id::Id;
use crate::types::{rdma_addrinfo, rdma_cm_event_type, rdma_cm_id, rdma_conn_param};
use libc::{c_int, c_void};
use rdma_sys::{ibv_ece, ibv_pd, ibv_qp_init_attr};

/// Makes an identifier that is ready to connect or to listen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_ep(
    id: *mut *mut rdma_cm_id,
    res: *mut rdma_addrinfo,
    pd: *mut ibv_pd,
    qp_init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: a place for the id, a valid list, and valid attributes or NULL.
    unsafe {
        arg::out(id).and_then(|place| {
            *place = endpoint::create(res, pd, qp_init_attr.as_mut())?;
            Ok(())
        })
    }
    .into_c()
}

/// Ends an identifier of rdma_create_ep with all that belongs to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_ep(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL, not used again.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        // SAFETY: as above. There is no way to report a failure.
        let _ = unsafe { endpoint::destroy(id) };
    }
}

/// Asks a peer for a connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_connect(
    id: *mut rdma_cm_id,
    conn_param: *mut rdma_conn_param,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; parameters are valid or NULL.
    let (id, given) = unsafe { (Id::from_c(id), arg::parameters(conn_param)) };
    id.and_then(|id| id.connect(given.as_ref())).into_c()
}

/// Tells the peer that the application's own queue pair is ready.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_establish(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(Id::establish).into_c()
}

/// Waits for connection requests.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_listen(id: *mut rdma_cm_id, backlog: c_int) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| id.listen(backlog)).into_c()
}

/// Takes the next connection request of a synchronous listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_request(
    listen: *mut rdma_cm_id,
    id: *mut *mut rdma_cm_id,
) -> c_int {
    // SAFETY: a valid id pointer and a place for the id, or NULL.
    unsafe {
        Id::from_c(listen).and_then(|listener| {
            let place = arg::out(id)?;
            *place = endpoint::next_request(listener)?;
            Ok(())
        })
    }
    .into_c()
}

/// Accepts a connection request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_accept(
    id: *mut rdma_cm_id,
    conn_param: *mut rdma_conn_param,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; parameters are valid or NULL.
    let (id, given) = unsafe { (Id::from_c(id), arg::parameters(conn_param)) };
    id.and_then(|id| id.accept(given.as_ref())).into_c()
}

/// Rejects a connection request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reject(
    id: *mut rdma_cm_id,
    private_data: *const c_void,
    private_data_len: u8,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; private data of the stated length or NULL.
    let (id, data) = unsafe { (Id::from_c(id), arg::bytes(private_data, private_data_len)) };
    id.and_then(|id| id.reject(data, 0)).into_c()
}

/// Rejects a connection request because of its extensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reject_ece(
    id: *mut rdma_cm_id,
    private_data: *const c_void,
    private_data_len: u8,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; private data of the stated length or NULL.
    let (id, data) = unsafe { (Id::from_c(id), arg::bytes(private_data, private_data_len)) };
    id.and_then(|id| id.reject_ece(data)).into_c()
}

/// Tells the connection manager of an event of the queue pair.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_notify(id: *mut rdma_cm_id, event: u32) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| id.notify(event)).into_c()
}

/// Ends a connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(Id::disconnect).into_c()
}

/// Sets the extensions to offer to the peer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_set_local_ece(id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: a valid id pointer and valid extensions, or NULL.
    let (id, ece) = unsafe { (Id::from_c(id), arg::out(ece)) };
    id.and_then(|id| id.set_local_ece(ece?)).into_c()
}

/// Reads the extensions that the peer offered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_remote_ece(id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: a valid id pointer and a place for the extensions, or NULL.
    let (id, ece) = unsafe { (Id::from_c(id), arg::out(ece)) };
    id.and_then(|id| id.remote_ece(ece?)).into_c()
}

/// Queues an event of the application's own on the id's channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_write_cm_event(
    id: *mut rdma_cm_id,
    event: rdma_cm_event_type,
    status: c_int,
    arg: u64,
) -> c_int {
    let _ = (event, status, arg);
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and(Err::<(), _>(Errno::ENOSYS)).into_c()
}
