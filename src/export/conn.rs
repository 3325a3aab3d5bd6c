// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: connections.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::id::Id;
use crate::cm::sync_mode;
use crate::types::{ibv_event_type, rdma_cm_id, rdma_conn_param};
use base::errno::preserve_errno;
use libc::{c_int, c_void};

/// Requests a connection to the peer.
///
/// # Arguments
///
/// - `id`: an id with a resolved route.
/// - `conn_param`: parameters of the connection, or NULL. Only read during the call.
///
/// # Description
///
/// For a connected service, sends a connection request. RDMA_CM_EVENT_ESTABLISHED reports
/// success, or, for an id without a queue pair of rdma_create_qp, RDMA_CM_EVENT_CONNECT_RESPONSE,
/// after which the application changes the state of its own queue pair and calls rdma_establish.
///
/// For a datagram service, queries the queue pair that serves the peer's port.
/// RDMA_CM_EVENT_ESTABLISHED reports it in `param.ud`, with what is needed to send to it.
///
/// RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE and RDMA_CM_EVENT_CONNECT_ERROR report
/// failures.
///
/// Fields of `conn_param`:
///
/// - `private_data`: data for the peer's event, `private_data_len` bytes.
/// - `responder_resources`: number of outstanding RDMA reads and atomics that the local side
///   accepts from the peer; RDMA_MAX_RESP_RES for the limit of the device.
/// - `initiator_depth`: number of outstanding RDMA reads and atomics that the local side issues;
///   RDMA_MAX_INIT_DEPTH for the limit of the device.
/// - `flow_control`: nonzero if the hardware supports flow control.
/// - `retry_count`: 0 to 7, number of retransmissions of a packet that is not acknowledged.
/// - `rnr_retry_count`: 0 to 7, number of times that the peer retries a send for which this side
///   has posted no receive; 7 means no limit. The other direction is the peer's choice. Ignored
///   on iWARP.
/// - `srq`: nonzero if the queue pair has a shared receive queue; ignored if the id has a queue
///   pair.
/// - `qp_num`: number of the queue pair; ignored if the id has a queue pair.
///
/// Without `conn_param` the depths are the limits of the device, and both retry counts are 7.
///
/// {Return value: zero}
/// For an asynchronous id, 0 means that the request was sent.
///
/// # Errors
///
/// - `ECONNREFUSED`: synchronous id: the peer rejected the request; `id->event` holds its reason
///   and private data.
/// - `EHOSTUNREACH`: synchronous id: the peer does not respond.
/// - `EINVAL`: `id` is NULL or has no route, an id of a connected service has neither queue pair
///   nor `conn_param`, a depth exceeds the limit of the device, or there is too much private
///   data.
/// - `ENOMEM`: out of memory.
///
/// {Errors: command}
/// {Errors: synchronous id, connection}
///
/// # Notes
///
/// The limit of the private data depends on transport and service: 56 bytes with IP addresses on
/// InfiniBand and RoCE, 180 for datagram services, up to 255 on iWARP. It includes `ai_connect`
/// of an id of rdma_create_ep.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_resolve_route(3), rdma_create_qp(3), rdma_establish(3), rdma_disconnect(3),
/// rdma_accept(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_connect(
    id: *mut rdma_cm_id,
    conn_param: *mut rdma_conn_param,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; parameters are valid or NULL.
    unsafe { Id::from_c(id).and_then(|id| sync_mode::connect(id, arg::parameters(conn_param))) }
        .into_c()
}

/// Completes a connection whose queue pair the application manages.
///
/// # Arguments
///
/// - `id`: an id without a queue pair of rdma_create_qp, after RDMA_CM_EVENT_CONNECT_RESPONSE.
///
/// # Description
///
/// Completes the establishment of a connection whose queue pair the application created itself,
/// and whose state it changes with the attributes of rdma_init_qp_attr. The peer gets
/// RDMA_CM_EVENT_ESTABLISHED. For queue pairs of rdma_create_qp the library does all this.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL, has a queue pair, or has not received a response.
/// - `ENOENT`: the kernel does not know the id.
///
/// {Errors: command}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_connect(3), rdma_init_qp_attr(3), rdma_disconnect(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_establish(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(Id::establish).into_c()
}

/// Listens for connection requests.
///
/// # Arguments
///
/// - `id`: an id, which may be unbound.
/// - `backlog`: maximum number of pending requests; 0 or less selects the limit of the system.
///
/// # Description
///
/// RDMA_CM_EVENT_CONNECT_REQUEST reports each request for the address of the id, for datagram
/// services too. An id that is bound to an address of a device listens on this device. An id with
/// a wildcard address listens on all devices, including those that are added later. An unbound id
/// is bound to a free port.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EADDRINUSE`: another id listens on the address.
/// - `EADDRNOTAVAIL`: another id uses the port, and one of the two addresses is a wildcard.
/// - `EINVAL`: `id` is NULL or in a state in which it cannot listen.
/// - `ENODEV`: the device of the address does not exist.
/// - `ENOMEM`: out of memory.
///
/// {Errors: command}
///
/// # Notes
///
/// The limit of the system is the sysctl net.rdma_ucm.max_backlog.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_bind_addr(3), rdma_get_request(3), rdma_accept(3), rdma_reject(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_listen(id: *mut rdma_cm_id, backlog: c_int) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| preserve_errno(|| id.listen(backlog))).into_c()
}

/// Accepts a connection request.
///
/// # Arguments
///
/// - `id`: the id of the connection request, not the listener.
/// - `conn_param`: parameters of the connection, or NULL. Only read during the call.
///
/// # Description
///
/// Moves the id's queue pair to a state in which it can send and receive, and sends the response.
/// RDMA_CM_EVENT_ESTABLISHED follows when the peer is ready. For datagram services no event
/// follows.
///
/// The fields of `conn_param` are described in rdma_connect(3); `retry_count` is ignored. Without
/// `conn_param`, `rnr_retry_count` is 7. Without it, and for depths of RDMA_MAX_RESP_RES and
/// RDMA_MAX_INIT_DEPTH, the depths are those of the request, up to the limits of the device.
///
/// {Return value: zero}
/// A call that is refused for its arguments changes nothing and can be repeated. After any other
/// failure the queue pair is in the error state, and the id must be destroyed.
///
/// # Errors
///
/// - `ECONNREFUSED`: synchronous id: the peer cancelled the request.
/// - `EINVAL`: `id` is NULL or not a connection request, there is neither queue pair nor
///   `conn_param`, a depth exceeds the limit of the device, or there is too much private data.
/// - `ENOMEM`: out of memory.
///
/// {Errors: command}
/// {Errors: synchronous id, connection}
///
/// # Notes
///
/// Post receives before this call, so that the first send of the peer finds one. The private data
/// of a response is limited to 196 bytes on InfiniBand and RoCE, to 136 for datagram services.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_listen(3), rdma_get_request(3), rdma_reject(3), rdma_create_qp(3), rdma_connect(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_accept(
    id: *mut rdma_cm_id,
    conn_param: *mut rdma_conn_param,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; parameters are valid or NULL.
    unsafe {
        Id::from_c(id)
            .and_then(|id| preserve_errno(|| sync_mode::accept(id, arg::parameters(conn_param))))
    }
    .into_c()
}

/// Rejects a connection request.
///
/// {Arguments: private data of a reject}
///
/// # Description
///
/// The peer gets RDMA_CM_EVENT_REJECTED; its `status` is the reason "consumer" (28 on InfiniBand
/// and RoCE), see rdma_status(7). The id cannot be used afterwards and must be destroyed by the caller.
///
/// {Return value: zero}
///
/// {Errors: reject}
///
/// {Notes: private data of a reject}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_accept(3), rdma_listen(3), rdma_get_request(3), rdma_reject_ece(3), rdma_cm(7)
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

/// Notifies the connection manager of an event of the queue pair.
///
/// # Arguments
///
/// - `id`: the id of the queue pair.
/// - `event`: IBV_EVENT_COMM_EST.
///
/// # Description
///
/// A queue pair can receive data before the last message of the connection establishment arrives;
/// the device then reports IBV_EVENT_COMM_EST, see ibv_get_async_event(3). With this call the
/// connection is established even if that message never arrives.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no connection, or the kernel does not handle the event.
/// - `EISCONN`: the connection is established already.
/// - `ENOENT`: the kernel does not know the id.
///
/// {Errors: command}
///
/// # Notes
///
/// Few programs need this function: the peer retransmits the message if it is lost.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_accept(3), rdma_connect(3), ibv_get_async_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_notify(id: *mut rdma_cm_id, event: ibv_event_type) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| id.notify(event)).into_c()
}

/// Disconnects an identifier.
///
/// # Arguments
///
/// - `id`: a connected id.
///
/// # Description
///
/// Moves the queue pair to the error state, so that outstanding work requests complete with
/// IBV_WC_WR_FLUSH_ERR, and sends a disconnect request. Both sides get
/// RDMA_CM_EVENT_DISCONNECTED. On iWARP, posted work requests complete first.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL, has no device, or is not connected.
/// - `ENODEV`: synchronous id: the device was removed.
///
/// {Errors: command}
/// {Errors: synchronous id}
///
/// # Notes
///
/// The side that gets RDMA_CM_EVENT_DISCONNECTED first calls this function too, to flush its own
/// queue pair.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_connect(3), rdma_accept(3), rdma_destroy_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| preserve_errno(|| sync_mode::disconnect(id))).into_c()
}
