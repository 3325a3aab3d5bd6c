//! `<rdma/rdma_cma.h>`: identifiers, addresses, options, devices.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::device;
use crate::error::Errno;
use crate::event::Channel;
use crate::id::{self, Id};
use crate::option;
use crate::types::{SocketAddress, port_of, rdma_cm_id, rdma_event_channel, rdma_port_space};
use libc::{c_int, c_void, sockaddr};
use rdma_sys::ibv_context;

/// Makes an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_id(
    channel: *mut rdma_event_channel,
    id: *mut *mut rdma_cm_id,
    context: *mut c_void,
    ps: rdma_port_space,
) -> c_int {
    // SAFETY: a place for the id and a valid channel pointer, or NULL.
    let (place, channel) = unsafe { (arg::out(id), Channel::from_c(channel)) };
    place
        .and_then(|place| {
            let made = id::create(channel.ok(), context, ps, id::default_qp_type(ps))?;
            *place = made.as_c();
            Ok(())
        })
        .into_c()
}

/// Ends an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL, not used again.
    unsafe { Id::from_c(id).and_then(|id| id.destroy()) }.into_c()
}

/// Moves an identifier to another event channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_migrate_id(
    id: *mut rdma_cm_id,
    channel: *mut rdma_event_channel,
) -> c_int {
    // SAFETY: a valid id pointer and a valid channel pointer, or NULL.
    let (id, channel) = unsafe { (Id::from_c(id), Channel::from_c(channel)) };
    id.and_then(|id| id.migrate(channel.ok())).into_c()
}

/// Binds an identifier to a local address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_bind_addr(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| id.bind(&address?)).into_c()
}

/// Resolves a destination to a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addr(
    id: *mut rdma_cm_id,
    src_addr: *mut sockaddr,
    dst_addr: *mut sockaddr,
    timeout_ms: c_int,
) -> c_int {
    // SAFETY: a valid id pointer and valid sockaddrs, or NULL.
    let (id, source, destination) =
        unsafe { (Id::from_c(id), arg::optional_address(src_addr), SocketAddress::read(dst_addr)) };
    id.and_then(|id| id.resolve_address(source?.as_ref(), &destination?, timeout_ms)).into_c()
}

/// Resolves the route to a resolved destination.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_route(id: *mut rdma_cm_id, timeout_ms: c_int) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| id.resolve_route(timeout_ms)).into_c()
}

/// The local port, big endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_src_port(id: *mut rdma_cm_id) -> u16 {
    // SAFETY: a valid id pointer or NULL; every view of the union is plain data.
    unsafe { id.as_ref().map_or(0, |id| port_of(&id.route.addr.src.src_storage)) }
}

/// The peer's port, big endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_dst_port(id: *mut rdma_cm_id) -> u16 {
    // SAFETY: a valid id pointer or NULL; every view of the union is plain data.
    unsafe { id.as_ref().map_or(0, |id| port_of(&id.route.addr.dst.dst_storage)) }
}

/// The local address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_local_addr(id: *mut rdma_cm_id) -> *mut sockaddr {
    if id.is_null() {
        return Err::<*mut sockaddr, _>(Errno::EINVAL).into_c();
    }
    // SAFETY: a valid id pointer.
    unsafe { (&raw mut (*id).route.addr.src).cast() }
}

/// The peer's address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_peer_addr(id: *mut rdma_cm_id) -> *mut sockaddr {
    if id.is_null() {
        return Err::<*mut sockaddr, _>(Errno::EINVAL).into_c();
    }
    // SAFETY: a valid id pointer.
    unsafe { (&raw mut (*id).route.addr.dst).cast() }
}

/// Sets an option of an identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_set_option(
    id: *mut rdma_cm_id,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: usize,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the kernel copies the value and checks its address.
    unsafe { Id::from_c(id) }
        .and_then(|id| option::set(id, level, optname, optval, optlen))
        .into_c()
}

/// Opens all RDMA devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_devices(num_devices: *mut c_int) -> *mut *mut ibv_context {
    let opened = device::open_contexts();
    let count = opened.as_ref().map_or(0, |(_, count)| *count);
    // SAFETY: NULL or writable.
    if let Some(place) = unsafe { num_devices.as_mut() } {
        *place = c_int::try_from(count).unwrap_or(c_int::MAX);
    }
    opened.map(|(contexts, _)| contexts).into_c()
}

/// Gives a list of devices back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_free_devices(list: *mut *mut ibv_context) {
    // SAFETY: NULL or from rdma_get_devices, once.
    unsafe { device::free_contexts(list) };
}
