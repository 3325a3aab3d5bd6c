//! `<rdma/rdma_cma.h>`: connections.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::endpoint;
use crate::error::quietly;
use crate::event;
use crate::id::Id;
use crate::types::{
    ibv_event_type, rdma_addrinfo, rdma_cm_event_type, rdma_cm_id, rdma_conn_param,
};
use libc::{c_int, c_void};
use rdma_sys::{ibv_ece, ibv_pd, ibv_qp_init_attr};

/// Makes an identifier that is ready to connect or to listen.
///
/// # Arguments
///
/// - `id`: where the id is returned; it belongs to the caller until rdma_destroy_ep. Not
///   written on failure.
/// - `res`: a list of rdma_getaddrinfo, or of the caller's making. Only read during the call.
/// - `pd`: the protection domain of the queue pair, or NULL for the device's default one.
/// - `qp_init_attr`: the queue pair to make, or NULL for none. Comes back with the granted
///   sizes.
///
/// # Description
///
/// The id is synchronous. For an active entry of the list the call resolves address and route,
/// each within two seconds, and makes the queue pair: rdma_connect may follow. For a passive
/// one (RAI_PASSIVE) it binds the address: rdma_listen may follow, and rdma_get_request makes a
/// queue pair with the same attributes for each connection.
///
/// The entries are tried in order until one works. `ai_port_space` and `ai_qp_type` decide what
/// is made, `ai_route` takes the place of the route's resolution, `ai_connect` goes before the
/// private data of rdma_connect.
///
/// # Return value
///
/// 0, or -1 with `errno`. The error is that of the last entry.
///
/// # Errors
///
/// - `EACCES`: the caller may not open the rdma_cm device, or not use the port.
/// - `EADDRINUSE`: the local address is in use.
/// - `EADDRNOTAVAIL`: no network interface has the local address, or the port is in use and one of the two
///   addresses is a wildcard.
/// - `EHOSTUNREACH`: the route to the destination leads nowhere.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `id` is NULL, `res` has no entry or a wrong one, or `pd` or `qp_init_attr` does
///   not fit the device.
/// - `EMFILE`: the process has too many open files.
/// - `ENETUNREACH`: there is no route to the destination.
/// - `ENODEV`: the address belongs to no RDMA device, or none reaches the destination.
/// - `ENOENT`: the rdma_cm device is not there.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `ETIMEDOUT`: the peer did not answer in time.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// What rdma_create_event_channel, rdma_create_id, rdma_bind_addr, rdma_resolve_addr,
/// rdma_resolve_route and rdma_create_qp say of their errors holds here too. rdma_migrate_id
/// makes the id asynchronous.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_destroy_ep(3), rdma_getaddrinfo(3), rdma_connect(3), rdma_listen(3),
/// rdma_get_request(3), rdma_migrate_id(3), rdma_cm(7)
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
            *place = quietly(|| endpoint::create(res, pd, qp_init_attr.as_mut()))?;
            Ok(())
        })
    }
    .into_c()
}

/// Ends an identifier with its queue pair and shared receive queue.
///
/// # Arguments
///
/// - `id`: an id of rdma_create_ep or rdma_get_request, not to be used afterwards; NULL does
///   nothing.
///
/// # Description
///
/// The counterpart of rdma_create_ep: destroys the queue pair, the completion queues that the
/// library made with it, the shared receive queue, and the id.
///
/// # Return value
///
/// None.
///
/// # Notes
///
/// Deregister memory only after the connection has ended. What the device or the kernel refuses
/// is not reported; the id is gone in any case.
///
/// # Thread safety
///
/// No other thread may be in a call with the id.
///
/// # See also
///
/// rdma_create_ep(3), rdma_destroy_id(3), rdma_destroy_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_ep(id: *mut rdma_cm_id) {
    // SAFETY: a valid id pointer or NULL, not used again.
    if let Ok(id) = unsafe { Id::from_c(id) } {
        // SAFETY: as above. There is no way to report a failure.
        let _ = unsafe { endpoint::destroy(id) };
    }
}

/// Asks a peer for a connection.
///
/// # Arguments
///
/// - `id`: an id with a resolved route.
/// - `conn_param`: what to tell the peer, or NULL. Only read during the call.
///
/// # Description
///
/// Sends a connection request, or for a datagram id asks for the queue pair behind the peer's
/// port. The outcome of the former is RDMA_CM_EVENT_ESTABLISHED, or
/// RDMA_CM_EVENT_CONNECT_RESPONSE for an id without a queue pair of its own, after which the
/// program moves its own queue pair and calls rdma_establish. A datagram id gets
/// RDMA_CM_EVENT_ESTABLISHED with what it needs to send in `param.ud`. Failures are
/// RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE and RDMA_CM_EVENT_CONNECT_ERROR.
///
/// Fields of `conn_param`:
///
/// - `private_data`: bytes that the peer's event shows, `private_data_len` of them.
/// - `responder_resources`: RDMA reads and atomics of the peer that may be outstanding here;
///   RDMA_MAX_RESP_RES for as many as the device can.
/// - `initiator_depth`: RDMA reads and atomics that may be outstanding from here;
///   RDMA_MAX_INIT_DEPTH for as many as the device can.
/// - `flow_control`: not 0 if the hardware has flow control.
/// - `retry_count`: 0 to 7, how often an unacknowledged packet is sent again.
/// - `rnr_retry_count`: 0 to 7, how often a send is tried again that found no receive posted; 7
///   is for ever.
/// - `srq`: not 0 if the queue pair has a shared receive queue; taken from the id's queue pair
///   if it has one.
/// - `qp_num`: the queue pair's number; taken from the id's queue pair if it has one.
///
/// Without `conn_param` the depths are the device's limits and both retry counts 7.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the request is on its way.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `ECONNREFUSED`: synchronous id: the peer rejected the request; `id->event` has its reason
///   and private data.
/// - `ECONNRESET`: synchronous id: the connection ended at once.
/// - `EHOSTUNREACH`: synchronous id: the peer does not answer.
/// - `EINTR`: synchronous id: a signal came. The operation goes on, its event is still to come.
/// - `EINVAL`: `id` is NULL or has no route, a connected service has neither queue pair nor
///   `conn_param`, a depth is more than the device can, or there is too much private data.
/// - `EIO`: synchronous id: the connection could not be set up.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: synchronous id: the device was removed.
/// - `ENOMEM`: out of memory.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: synchronous id: the time limit passed, the peer's or that of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// How much private data a request can have depends on transport and service: 56 bytes with IP
/// addresses over InfiniBand and RoCE, 180 for datagrams, up to 255 for iWARP. What
/// rdma_create_ep found in `ai_connect` goes before it.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
    let (id, given) = unsafe { (Id::from_c(id), arg::parameters(conn_param)) };
    id.and_then(|id| quietly(|| id.connect(given.as_ref()))).into_c()
}

/// Tells the peer that the application's own queue pair is ready.
///
/// # Arguments
///
/// - `id`: an id without a queue pair, after RDMA_CM_EVENT_CONNECT_RESPONSE.
///
/// # Description
///
/// Ends the set-up of a connection whose queue pair the program moves through its states
/// itself, with rdma_init_qp_attr. The peer gets RDMA_CM_EVENT_ESTABLISHED. For queue pairs of
/// rdma_create_qp the library does all this.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL, has a queue pair, or has no response to answer.
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
/// rdma_connect(3), rdma_init_qp_attr(3), rdma_disconnect(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_establish(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(Id::establish).into_c()
}

/// Waits for connection requests.
///
/// # Arguments
///
/// - `id`: an id, bound by rdma_bind_addr or not yet.
/// - `backlog`: how many requests may wait for their accept; 0 or less for the system's limit.
///
/// # Description
///
/// Requests that reach the id's address are reported as RDMA_CM_EVENT_CONNECT_REQUEST, for
/// datagram services too. An id that is bound to an address of a device listens on this device;
/// one with a wildcard address listens on all, also those that are added later. An unbound id
/// is bound to a free port.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EADDRINUSE`: another id listens on the address.
/// - `EADDRNOTAVAIL`: another id uses the port, and one of the two addresses is a wildcard.
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL or in a state in which it cannot listen.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: the device of the address is not there.
/// - `ENOMEM`: out of memory.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// The system's limit is net.rdma_ucm.max_backlog.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_bind_addr(3), rdma_get_request(3), rdma_accept(3), rdma_reject(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_listen(id: *mut rdma_cm_id, backlog: c_int) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| quietly(|| id.listen(backlog))).into_c()
}

/// Takes the next connection request of a synchronous listener.
///
/// # Arguments
///
/// - `listen`: a synchronous id after rdma_listen.
/// - `id`: where the id of the connection is returned; it belongs to the caller until
///   rdma_destroy_ep. Not written on failure.
///
/// # Description
///
/// Waits for a request. The new id is synchronous, its `event` has the request with the peer's
/// parameters and private data. If the listener came from rdma_create_ep with attributes for a
/// queue pair, one is made. rdma_accept or rdma_reject follow.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the listener's file was closed.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `listen` or `id` is NULL, or the listener is not synchronous.
/// - `ENODATA`: the kernel gave no event.
/// - `ENODEV`: the listener's device was removed.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `EPERM`: the caller is a child of fork, and the process that made the listener still runs.
/// - `ETIMEDOUT`: the limit of `RDMACM_SYNC_TIMEOUT_MS` passed.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// A request whose queue pair cannot be made is rejected, and its error returned; the listener
/// goes on.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_create_ep(3), rdma_listen(3), rdma_accept(3), rdma_reject(3), rdma_destroy_ep(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_request(
    listen: *mut rdma_cm_id,
    id: *mut *mut rdma_cm_id,
) -> c_int {
    // SAFETY: a valid id pointer and a place for the id, or NULL.
    unsafe {
        Id::from_c(listen).and_then(|listener| {
            let place = arg::out(id)?;
            *place = quietly(|| endpoint::next_request(listener))?;
            Ok(())
        })
    }
    .into_c()
}

/// Accepts a connection request.
///
/// # Arguments
///
/// - `id`: the id of the request, not the listener.
/// - `conn_param`: what to tell the peer, or NULL. Only read during the call.
///
/// # Description
///
/// Moves the id's queue pair to where it can receive and send, and answers the peer.
/// RDMA_CM_EVENT_ESTABLISHED follows when the peer is ready. For datagram ids the answer is all
/// there is.
///
/// The fields of `conn_param` are those of rdma_connect; `retry_count` is not used here.
/// Without it, and for depths of RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH, the depths are what
/// the peer asked for, as far as the device can.
///
/// # Return value
///
/// 0, or -1 with `errno`. On failure the queue pair is in the error state, and the id must be
/// destroyed.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `ECONNREFUSED`: synchronous id: the peer gave up.
/// - `ECONNRESET`: synchronous id: the connection ended at once.
/// - `EINTR`: synchronous id: a signal came. The operation goes on, its event is still to come.
/// - `EINVAL`: `id` is NULL or no request, there is neither queue pair nor `conn_param`, a
///   depth is more than the device can, or there is too much private data.
/// - `EIO`: synchronous id: the connection could not be set up.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: synchronous id: the device was removed.
/// - `ENOMEM`: out of memory.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: synchronous id: the time limit passed, the peer's or that of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Post receives before, so that the peer's first send finds one. An answer can have 196 bytes
/// of private data over InfiniBand and RoCE, 136 for datagrams.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
    let (id, given) = unsafe { (Id::from_c(id), arg::parameters(conn_param)) };
    id.and_then(|id| quietly(|| id.accept(given.as_ref()))).into_c()
}

/// Rejects a connection request.
///
/// # Arguments
///
/// - `id`: the id of the request, not the listener.
/// - `private_data`: bytes that the peer's event shows, or NULL. Only read during the call.
/// - `private_data_len`: how many.
///
/// # Description
///
/// The peer gets RDMA_CM_EVENT_REJECTED, with the reason consumer (28 on InfiniBand and RoCE)
/// as its status. The id is of no use afterwards and is destroyed by the caller.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL or no request, or there is too much private data.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// A reject can have 148 bytes of private data over InfiniBand and RoCE, 136 for datagrams.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Rejects a connection request because of its extensions.
///
/// # Arguments
///
/// - `id`: the id of the request, not the listener.
/// - `private_data`: bytes that the peer's event shows, or NULL. Only read during the call.
/// - `private_data_len`: how many.
///
/// # Description
///
/// The peer gets RDMA_CM_EVENT_REJECTED, with the reason "vendor option not supported" (35) as
/// its status: what it offered by rdma_set_local_ece does not fit. The id is of no use
/// afterwards and is destroyed by the caller.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL or no request, or there is too much private data.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// A reject can have 148 bytes of private data over InfiniBand and RoCE, 136 for datagrams. The
/// kernel must know reasons (5.8 or later); an older one gives its usual reason.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Tells the connection manager of an event of the queue pair.
///
/// # Arguments
///
/// - `id`: the id of the queue pair.
/// - `event`: IBV_EVENT_COMM_EST.
///
/// # Description
///
/// A queue pair can receive before the last message of the connection's set-up has arrived; the
/// device then reports IBV_EVENT_COMM_EST through ibv_get_async_event. With this call the
/// connection counts as established, even if that message never comes.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL or has no connection, or the kernel does not care for the event.
/// - `EISCONN`: the connection is established already.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Few programs need this: the peer's message is repeated when it is lost.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_accept(3), rdma_connect(3), ibv_get_async_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_notify(id: *mut rdma_cm_id, event: ibv_event_type) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| id.notify(event)).into_c()
}

/// Ends a connection.
///
/// # Arguments
///
/// - `id`: a connected id.
///
/// # Description
///
/// Moves the queue pair to the error state, so that its work requests complete with
/// IBV_WC_WR_FLUSH_ERR, and tells the peer. Both sides get RDMA_CM_EVENT_DISCONNECTED. On iWARP
/// posted work finishes first.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINTR`: synchronous id: a signal came. The operation goes on, its event is still to come.
/// - `EINVAL`: `id` is NULL, has no device, or is not connected.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: synchronous id: the device was removed.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: synchronous id: the time limit passed, the peer's or that of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// The side that got RDMA_CM_EVENT_DISCONNECTED calls this too, to flush its own queue pair.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_connect(3), rdma_accept(3), rdma_destroy_qp(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| quietly(|| id.disconnect())).into_c()
}

/// Sets the extensions to offer to the peer.
///
/// # Arguments
///
/// - `id`: an id without a queue pair.
/// - `ece`: what the program's own queue pair can do, as ibv_query_ece gives it. Only read
///   during the call.
///
/// # Description
///
/// Enhanced connection establishment (ECE) lets both devices agree on abilities beyond the
/// standard. For queue pairs of rdma_create_qp the library does this; programs that make their
/// own call this before rdma_connect or rdma_accept.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` or `ece` is NULL, the id has a queue pair, `vendor_id` is 0, or `comp_mask`
///   is not.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Reads the extensions that the peer offered.
///
/// # Arguments
///
/// - `id`: an id without a queue pair, after RDMA_CM_EVENT_CONNECT_REQUEST or
///   RDMA_CM_EVENT_CONNECT_RESPONSE.
/// - `ece`: where they are returned.
///
/// # Description
///
/// What the peer said in its request, or chose in its answer; all zero if it said nothing. Goes
/// to ibv_set_ece.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` or `ece` is NULL, or the id has a queue pair.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Queues an event of the application's own on the id's channel.
///
/// # Arguments
///
/// - `id`: the id whose event it will be.
/// - `event`: RDMA_CM_EVENT_USER.
/// - `status`: any number, for the event's `status`.
/// - `arg`: any number, for the event's `param.arg`.
///
/// # Description
///
/// Whoever waits in rdma_get_cm_event gets the event as any other, in order. This is how one
/// thread tells the one that handles events to do something.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL, or `event` is not RDMA_CM_EVENT_USER.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel is too old.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Needs a kernel that lets programs write events (6.18 or later).
///
/// # Thread safety
///
/// Any thread, as long as none destroys the id.
///
/// # See also
///
/// rdma_get_cm_event(3), rdma_create_event_channel(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_write_cm_event(
    id: *mut rdma_cm_id,
    event: rdma_cm_event_type,
    status: c_int,
    arg: u64,
) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| event::write(id, event, status, arg)).into_c()
}
