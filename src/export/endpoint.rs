// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: endpoints: synchronous ids created from an address, and their connection
//! requests.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::endpoint;
use crate::cm::id::Id;
use crate::types::{rdma_addrinfo, rdma_cm_id};
use base::errno::preserve_errno;
use libc::c_int;
use rdma_sys::{ibv_pd, ibv_qp_init_attr};

/// Creates an identifier that is ready to connect or to listen.
///
/// # Arguments
///
/// - `id`: where the id is returned, which the caller owns until rdma_destroy_ep. Unchanged on
///   failure.
/// - `res`: a list returned by rdma_getaddrinfo, or built by the caller. Only read during the
///   call.
/// - `pd`: protection domain for the queue pair, or NULL for the default one of the device.
/// - `qp_init_attr`: attributes of a queue pair, or NULL to create none. Updated with the actual
///   sizes.
///
/// # Description
///
/// Creates a synchronous id. For an active entry of the list the call resolves address and route,
/// each within two seconds, and creates the queue pair; the id is ready for rdma_connect. For a
/// passive entry (RAI_PASSIVE) it binds the address; the id is ready for rdma_listen, and
/// rdma_get_request creates a queue pair with the same attributes for each connection.
///
/// The entries are tried in order until one succeeds. `ai_port_space` and `ai_qp_type` select the
/// types of the id and the queue pair, `ai_route` replaces the resolution of the route, and
/// `ai_connect` is sent ahead of the private data of rdma_connect.
///
/// {Return value: zero}
/// The error is that of the last entry.
///
/// # Errors
///
/// - `EACCES`: the caller may not open the rdma_cm device, or not use the port.
/// - `EADDRINUSE`: the local address is in use.
/// - `EADDRNOTAVAIL`: no network interface has the local address, or the port is in use and one
///   of the two addresses is a wildcard.
/// - `EHOSTUNREACH`: the route to the destination is an unreachable route.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: `id` is NULL, `res` has no entry or an invalid one, or `pd` or `qp_init_attr` does
///   not suit the device.
/// - `EMFILE`: the process has too many open files.
/// - `ENETUNREACH`: there is no route to the destination.
/// - `ENODEV`: the address belongs to no RDMA device, or none reaches the destination.
/// - `ENOENT`: the rdma_cm device does not exist.
/// - `ENOMEM`: out of memory or of device resources.
/// - `ETIMEDOUT`: the peer did not respond in time.
///
/// {Errors: others}
///
/// # Notes
///
/// The errors of rdma_create_event_channel, rdma_create_id, rdma_bind_addr, rdma_resolve_addr,
/// rdma_resolve_route and rdma_create_qp apply too. rdma_migrate_id makes the id asynchronous.
///
/// {Thread safety: any thread}
///
/// # Examples
///
/// From the client in rdma_cm(7):
///
/// {Code: client.c | try_once, open_connection}
///
/// # See also
///
/// rdma_destroy_ep(3), rdma_getaddrinfo(3), rdma_connect(3), rdma_listen(3), rdma_get_request(3),
/// rdma_migrate_id(3), rdma_cm(7)
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
            *place = preserve_errno(|| endpoint::create(res, pd, qp_init_attr.as_mut()))?;
            Ok(())
        })
    }
    .into_c()
}

/// Destroys an identifier, its queue pair and its shared receive queue.
///
/// # Arguments
///
/// - `id`: an id of rdma_create_ep or rdma_get_request, which becomes invalid; NULL has no
///   effect.
///
/// # Description
///
/// Destroys the queue pair, the completion queues that the library created with it, the shared
/// receive queue, and the id.
///
/// {Return value: none}
///
/// # Notes
///
/// Deregister memory only after the connection has ended. Errors of the device and the kernel are
/// not reported; the id is destroyed in any case.
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

/// Returns the next connection request of a synchronous listener.
///
/// # Arguments
///
/// - `listen`: a synchronous id after rdma_listen.
/// - `id`: where the id of the connection is returned, which the caller owns until
///   rdma_destroy_ep. Unchanged on failure.
///
/// # Description
///
/// Waits for a connection request. The new id is synchronous; its `event` is the request, with
/// the parameters and the private data of the peer. If the listener was created by rdma_create_ep
/// with attributes for a queue pair, a queue pair is created. Answer the request with rdma_accept
/// or rdma_reject.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EBADF`: the file of the listener was closed.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: `listen` or `id` is NULL, or the listener is not synchronous.
/// - `ENODATA`: the kernel returned no event.
/// - `ENODEV`: the device of the listener was removed.
/// - `ENOMEM`: out of memory or of device resources.
/// - `ETIMEDOUT`: the limit `RDMACM_SYNC_TIMEOUT_MS` expired.
///
/// {Errors: child of fork | listener}
/// {Errors: others}
///
/// # Notes
///
/// A request whose queue pair cannot be created is rejected, and the error returned; the listener
/// remains usable.
///
/// {Thread safety: one thread per id}
///
/// # Examples
///
/// From the server in rdma_cm(7):
///
/// {Code: server.c | main}
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
            *place = preserve_errno(|| endpoint::next_request(listener))?;
            Ok(())
        })
    }
    .into_c()
}
