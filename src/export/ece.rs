// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: enhanced connection establishment (ECE).
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::id::Id;
use crate::types::rdma_cm_id;
use libc::{c_int, c_void};
use rdma_sys::ibv_ece;

/// Sets the ECE options to offer to the peer.
///
/// # Arguments
///
/// - `id`: an id without a queue pair of rdma_create_qp.
/// - `ece`: options of the application's own queue pair, as returned by ibv_query_ece. Only read
///   during the call.
///
/// # Description
///
/// With enhanced connection establishment (ECE) the two devices negotiate vendor-specific
/// options. For queue pairs of rdma_create_qp the library does this; an application that creates
/// its own queue pair calls this function before rdma_connect or rdma_accept.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` or `ece` is NULL, the id has a queue pair, `vendor_id` is 0, or `comp_mask`
///   is not 0.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_get_remote_ece(3), rdma_reject_ece(3), ibv_query_ece(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_set_local_ece(id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: a valid id pointer and valid extensions, or NULL.
    let (id, ece) = unsafe { (Id::from_c(id), arg::out(ece)) };
    id.and_then(|id| id.set_local_ece(ece?)).into_c()
}

/// Returns the ECE options of the peer.
///
/// # Arguments
///
/// - `id`: an id without a queue pair of rdma_create_qp, after RDMA_CM_EVENT_CONNECT_REQUEST or
///   RDMA_CM_EVENT_CONNECT_RESPONSE.
/// - `ece`: where the options are returned.
///
/// # Description
///
/// Returns the options that the peer offered in its request or selected in its response; all zero
/// if it sent none. They are meant for ibv_set_ece.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` or `ece` is NULL, or the id has a queue pair.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_set_local_ece(3), rdma_reject_ece(3), ibv_set_ece(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_remote_ece(id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: a valid id pointer and a place for the extensions, or NULL.
    let (id, ece) = unsafe { (Id::from_c(id), arg::out(ece)) };
    id.and_then(|id| id.remote_ece(ece?)).into_c()
}

/// Rejects a connection request because of its ECE options.
///
/// {Arguments: private data of a reject}
///
/// # Description
///
/// The peer gets RDMA_CM_EVENT_REJECTED; its `status` is the reason "vendor option not supported"
/// (35), because the options that it offered with rdma_set_local_ece are not acceptable. The id
/// cannot be used afterwards and must be destroyed by the caller.
///
/// {Return value: zero}
///
/// {Errors: reject}
///
/// {Notes: private data of a reject}
/// The kernel must support reject reasons (5.8 or later); older ones send the default reason.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_reject(3), rdma_get_remote_ece(3), rdma_set_local_ece(3), rdma_accept(3), rdma_cm(7)
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
