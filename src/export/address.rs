// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: local and remote addresses, resolution of the destination and its route.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::id::Id;
use crate::cm::sync_mode;
use crate::cm::wildcard;
use crate::types::{__be16, SocketAddress, port_of, rdma_cm_id};
use base::errno::{Errno, Result, preserve_errno};
use libc::{c_int, sockaddr};

/// What was read, where it is: an address is large, and would be copied by `?`.
fn borrowed<T>(read: &Result<T>) -> Result<&T> {
    read.as_ref().map_err(|error| *error)
}

/// Binds an identifier to a local address.
///
/// # Arguments
///
/// - `id`: the id.
/// - `addr`: a struct sockaddr_in, sockaddr_in6 or sockaddr_ib; a wildcard address and port 0 are
///   allowed. Only read during the call.
///
/// # Description
///
/// An address of an RDMA device binds the id to the device: `id->verbs`, `id->pd` and
/// `id->port_num` are set. A wildcard address binds the id to the port only. Port 0 selects a
/// free port, which rdma_get_src_port returns.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EACCES`: the port is reserved for privileged processes, or the caller is a child of fork, and the
///   process that created the id is still running.
/// - `EADDRINUSE`: the address is in use.
/// - `EADDRNOTAVAIL`: no network interface has the address, no port is free, or the port is in
///   use and one of the two addresses is a wildcard.
/// - `EINVAL`: `id` or `addr` is NULL, the family is unknown, or the id is bound already.
/// - `ENODEV`: the address belongs to no RDMA device.
/// - `ENOMEM`: out of memory.
///
/// {Errors: command on a channel}
///
/// # Notes
///
/// Required before rdma_listen on a given address or port. An id that connects needs it only to
/// choose the device or the source address.
///
/// The IPv4 wildcard address is for IPv4 alone, that of IPv6 for both families, unless
/// RDMA_OPTION_ID_AFONLY or the system says otherwise. Where the process has bound the IPv4 one to
/// the port, that of IPv6 is for IPv6 alone, so that a server can listen on each address of rdma_getaddrinfo(3).
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_id(3), rdma_listen(3), rdma_resolve_addr(3), rdma_get_src_port(3),
/// rdma_set_option(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_bind_addr(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    unsafe {
        Id::from_c(id).and_then(|id| {
            let address = SocketAddress::read(addr);
            preserve_errno(|| wildcard::bind(id, borrowed(&address)?))
        })
    }
    .into_c()
}

/// Resolves a destination address to a device.
///
/// # Arguments
///
/// - `id`: the id.
/// - `src_addr`: the source address, or NULL to let routing choose it. Only read during the call.
/// - `dst_addr`: address of the peer or of a multicast group. Only read during the call.
/// - `timeout_ms`: limit of the resolution in milliseconds.
///
/// # Description
///
/// Finds the device that reaches the destination and the hardware address of the peer, and binds
/// the id to the device. RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR reports the
/// result. After the former, `id->verbs`, `id->pd` and `id->port_num` are set, and the id is
/// ready for rdma_create_qp and rdma_resolve_route.
///
/// {Return value: started | resolution}
///
/// # Errors
///
/// - `EACCES`: the caller is a child of fork, and the process that created the id is still running; the
///   source port is reserved for privileged processes, or a routing rule prohibits
///   the route.
/// - `EADDRINUSE`: the source address is in use.
/// - `EADDRNOTAVAIL`: no network interface has the source address, or no port is free.
/// - `EHOSTUNREACH`: the route to the destination is an unreachable route.
/// - `EINVAL`: `id` or `dst_addr` is NULL, a family is unknown, the two families differ, or the
///   id already has a destination.
/// - `ENETUNREACH`: there is no route to the destination.
/// - `ENODEV`: the source address belongs to no RDMA device; synchronous id: no RDMA device
///   reaches the destination.
/// - `ENOMEM`: out of memory.
///
/// {Errors: command on a channel}
/// {Errors: synchronous id}
///
/// # Notes
///
/// The kernel reports some failures immediately and others in the event. Programs must handle
/// both.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_resolve_route(3), rdma_bind_addr(3), rdma_create_qp(3), rdma_getaddrinfo(3),
/// rdma_get_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addr(
    id: *mut rdma_cm_id,
    src_addr: *mut sockaddr,
    dst_addr: *mut sockaddr,
    timeout_ms: c_int,
) -> c_int {
    // SAFETY: a valid id pointer and valid sockaddrs, or NULL.
    unsafe {
        Id::from_c(id).and_then(|id| {
            let source = arg::optional_address(src_addr);
            let destination = SocketAddress::read(dst_addr);
            let source = borrowed(&source)?.as_ref();
            sync_mode::resolve_address(id, source, borrowed(&destination)?, timeout_ms)
        })
    }
    .into_c()
}

/// Resolves the route to the destination.
///
/// # Arguments
///
/// - `id`: an id after RDMA_CM_EVENT_ADDR_RESOLVED.
/// - `timeout_ms`: limit of the resolution in milliseconds.
///
/// # Description
///
/// Finds the path through the fabric. RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR
/// reports the result. After the former, `id->route` holds the path records (none on iWARP), and
/// the id is ready for rdma_connect.
///
/// On InfiniBand the library first queries the daemon ibacm, if it runs, as rdma_getaddrinfo
/// does. The call waits for its answer, for at most `timeout_ms` or two seconds.
///
/// {Return value: started | resolution}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL, its address is not resolved, or `timeout_ms` is 0.
/// - `EIO`: synchronous id: no route was found.
/// - `ENODEV`: the device was removed.
/// - `ENOMEM`: out of memory.
///
/// {Errors: command}
/// {Errors: synchronous id}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_resolve_addr(3), rdma_connect(3), rdma_set_option(3), rdma_get_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_route(id: *mut rdma_cm_id, timeout_ms: c_int) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }
        .and_then(|id| preserve_errno(|| sync_mode::resolve_route(id, timeout_ms)))
        .into_c()
}

/// Returns the local port of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// {Description: port | local}
///
/// # Return value
///
/// The port in network byte order; 0 if `id` is NULL or not bound.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_get_dst_port(3), rdma_get_local_addr(3), rdma_bind_addr(3), rdma_resolve_addr(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_src_port(id: *mut rdma_cm_id) -> __be16 {
    // SAFETY: a valid id pointer or NULL; every view of the union is plain data.
    unsafe { id.as_ref().map_or(0, |id| port_of(&id.route.addr.src.src_storage)) }
}

/// Returns the peer's port of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// {Description: port | remote}
///
/// # Return value
///
/// The port in network byte order; 0 if `id` is NULL or has no destination.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_get_src_port(3), rdma_get_peer_addr(3), rdma_bind_addr(3), rdma_resolve_addr(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_dst_port(id: *mut rdma_cm_id) -> __be16 {
    // SAFETY: a valid id pointer or NULL; every view of the union is plain data.
    unsafe { id.as_ref().map_or(0, |id| port_of(&id.route.addr.dst.dst_storage)) }
}

/// Returns the local address of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// {Description: address}
///
/// {Return value: address}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL.
///
/// {Notes: inline code}
///
/// {Thread safety: address}
///
/// # See also
///
/// rdma_get_peer_addr(3), rdma_get_src_port(3), rdma_bind_addr(3), rdma_resolve_addr(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_local_addr(id: *mut rdma_cm_id) -> *mut sockaddr {
    if id.is_null() {
        return Err::<*mut sockaddr, _>(Errno::EINVAL).into_c();
    }
    // SAFETY: a valid id pointer.
    unsafe { (&raw mut (*id).route.addr.src).cast() }
}

/// Returns the peer's address of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// {Description: address}
///
/// {Return value: address}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL.
///
/// {Notes: inline code}
///
/// {Thread safety: address}
///
/// # See also
///
/// rdma_get_local_addr(3), rdma_get_dst_port(3), rdma_bind_addr(3), rdma_resolve_addr(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_peer_addr(id: *mut rdma_cm_id) -> *mut sockaddr {
    if id.is_null() {
        return Err::<*mut sockaddr, _>(Errno::EINVAL).into_c();
    }
    // SAFETY: a valid id pointer.
    unsafe { (&raw mut (*id).route.addr.dst).cast() }
}
