//! `<rdma/rdma_cma.h>`: identifiers, addresses, options, devices.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::device;
use crate::error::{Errno, quietly};
use crate::event::Channel;
use crate::id::{self, Id};
use crate::option;
use crate::types::{
    __be16, SocketAddress, port_of, rdma_cm_id, rdma_event_channel, rdma_port_space,
};
use libc::{c_int, c_void, sockaddr};
use rdma_sys::ibv_context;

/// Makes an identifier.
///
/// # Arguments
///
/// - `channel`: where its events are reported; NULL makes the id synchronous.
/// - `id`: where the id is returned; it belongs to the caller until rdma_destroy_id. Not
///   written on failure.
/// - `context`: any pointer, kept in `id->context`.
/// - `ps`: RDMA_PS_TCP for reliable connections, RDMA_PS_UDP or RDMA_PS_IPOIB for datagrams,
///   RDMA_PS_IB for any kind of queue pair.
///
/// # Description
///
/// An id is to RDMA what a socket is to IP: it is bound to an address, connects or listens, and
/// has a queue pair. It belongs to no device until an address has bound it to one.
///
/// Calls that start something return at once and report the outcome as an event. Those of a
/// synchronous id wait for it, and leave the event in `id->event` until the next such call.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the channel was closed.
/// - `EINVAL`: `id` is NULL, or `ps` is none of the four.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOMEM`: out of memory.
/// - `EPERM`: the caller is a child of fork, and the process that made the channel still runs.
///
/// With `channel` NULL also the errors of rdma_create_event_channel.
///
/// # Notes
///
/// `id->qp_type` is IBV_QPT_UD for RDMA_PS_UDP and RDMA_PS_IPOIB, otherwise IBV_QPT_RC.
/// rdma_create_ep makes ids of other types.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_destroy_id(3), rdma_create_ep(3), rdma_bind_addr(3), rdma_resolve_addr(3),
/// rdma_migrate_id(3), rdma_cm(7)
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
            let qp_type = id::default_qp_type(ps);
            let made = quietly(|| id::create(channel.ok(), context, ps, qp_type))?;
            *place = made.as_c();
            Ok(())
        })
        .into_c()
}

/// Ends an identifier.
///
/// # Arguments
///
/// - `id`: the id, not to be used afterwards.
///
/// # Description
///
/// Cancels what the id has started, leaves its multicast groups and frees it. Waits until every
/// event of the id that rdma_get_cm_event returned is acknowledged. Events that nobody fetched
/// are dropped.
///
/// # Return value
///
/// 0, or -1 with `errno`. The id is gone in either case.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL.
/// - `ENOENT`: the kernel did not know the id.
/// - `ETIMEDOUT`: an event was not given back before the limit of `RDMACM_SYNC_TIMEOUT_MS`. It may
///   be given back later.
///
/// # Notes
///
/// Destroy the queue pair and the shared receive queue of the id before, with rdma_destroy_qp
/// and rdma_destroy_srq, and acknowledge its events: in the thread that handles events,
/// rdma_destroy_id before rdma_ack_cm_event waits for ever.
///
/// In a child of fork this frees the child's copy and leaves the connection to the parent.
///
/// # Thread safety
///
/// No other thread may be in a call with the id, but for rdma_get_cm_event and
/// rdma_ack_cm_event.
///
/// # See also
///
/// rdma_create_id(3), rdma_destroy_ep(3), rdma_destroy_qp(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL, not used again.
    unsafe { Id::from_c(id).and_then(|id| quietly(|| id.destroy())) }.into_c()
}

/// Moves an identifier to another event channel.
///
/// # Arguments
///
/// - `id`: the id.
/// - `channel`: the new channel; NULL makes the id synchronous.
///
/// # Description
///
/// Events of the id that wait in the old channel move along. Waits until every event of the id
/// that was fetched from the old channel is acknowledged. A synchronous id that gets a channel
/// becomes asynchronous, and the event in `id->event` is given back.
///
/// # Return value
///
/// 0, or -1 with `errno`. On failure the id stays where it is, except for `ETIMEDOUT`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL, or `channel` is NULL and the id is synchronous already.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: the id has moved, but an event was not given back before the limit of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// With `channel` NULL also the errors of rdma_create_event_channel.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. Other threads may
/// be in rdma_get_cm_event and rdma_ack_cm_event with both channels.
///
/// # See also
///
/// rdma_create_event_channel(3), rdma_create_id(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_migrate_id(
    id: *mut rdma_cm_id,
    channel: *mut rdma_event_channel,
) -> c_int {
    // SAFETY: a valid id pointer and a valid channel pointer, or NULL.
    let (id, channel) = unsafe { (Id::from_c(id), Channel::from_c(channel)) };
    id.and_then(|id| quietly(|| id.migrate(channel.ok()))).into_c()
}

/// Binds an identifier to a local address.
///
/// # Arguments
///
/// - `id`: the id.
/// - `addr`: a struct sockaddr_in, sockaddr_in6 or sockaddr_ib; a wildcard address and port 0
///   are allowed. Only read during the call.
///
/// # Description
///
/// An address of an RDMA device binds the id to this device: `id->verbs`, `id->pd` and
/// `id->port_num` are set. A wildcard address binds to the port number alone. Port 0 takes a
/// free port, which rdma_get_src_port tells.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EACCES`: the port number is reserved for privileged processes.
/// - `EADDRINUSE`: the address is in use.
/// - `EADDRNOTAVAIL`: no network interface has the address, there is no free port, or the port is in use
///   and one of the two addresses is a wildcard.
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` or `addr` is NULL, the family is unknown, or the id is bound already.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: the address belongs to no RDMA device.
/// - `ENOMEM`: out of memory.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Needed before rdma_listen on a given address or port. A connecting id needs it only to
/// choose the device or the source address.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_create_id(3), rdma_listen(3), rdma_resolve_addr(3), rdma_get_src_port(3),
/// rdma_set_option(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_bind_addr(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| quietly(|| id.bind(&address?))).into_c()
}

/// Resolves a destination to a device.
///
/// # Arguments
///
/// - `id`: the id.
/// - `src_addr`: the local address to use, or NULL for the one that routing chooses. Only read
///   during the call.
/// - `dst_addr`: the peer's address, or a multicast group. Only read during the call.
/// - `timeout_ms`: how long the resolution may take, in milliseconds.
///
/// # Description
///
/// Finds the device that reaches the destination and the peer's hardware address, and binds the
/// id to the device. The outcome is RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR.
/// After the former, `id->verbs`, `id->pd` and `id->port_num` are set, and rdma_create_qp and
/// rdma_resolve_route may follow.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the resolution has begun.
///
/// # Errors
///
/// - `EACCES`: the source port is reserved for privileged processes, or a rule forbids the route.
/// - `EADDRINUSE`: the source address is in use.
/// - `EADDRNOTAVAIL`: no network interface has the source address, or there is no free port.
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EHOSTUNREACH`: the route to the destination leads nowhere.
/// - `EINTR`: synchronous id: a signal came. The operation goes on, its event is still to come.
/// - `EINVAL`: `id` or `dst_addr` is NULL, a family is unknown, the two addresses are of two families, or
///   the id has a destination already.
/// - `ENETUNREACH`: there is no route to the destination.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: the source address belongs to no RDMA device; synchronous id: no RDMA device reaches the
///   destination.
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
/// The kernel reports some of these at once and some in the event; programs look at both.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
    let (id, source, destination) =
        unsafe { (Id::from_c(id), arg::optional_address(src_addr), SocketAddress::read(dst_addr)) };
    id.and_then(|id| id.resolve_address(source?.as_ref(), &destination?, timeout_ms)).into_c()
}

/// Resolves the route to a resolved destination.
///
/// # Arguments
///
/// - `id`: an id after RDMA_CM_EVENT_ADDR_RESOLVED.
/// - `timeout_ms`: how long the resolution may take, in milliseconds.
///
/// # Description
///
/// Finds the path through the fabric. The outcome is RDMA_CM_EVENT_ROUTE_RESOLVED or
/// RDMA_CM_EVENT_ROUTE_ERROR. After the former, `id->route` has the path records (none on
/// iWARP), and rdma_connect may follow.
///
/// On InfiniBand the daemon ibacm, where it runs, is asked first, as in rdma_getaddrinfo: until it
/// answers the call waits, `timeout_ms` or two seconds at most.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the resolution has begun.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINTR`: synchronous id: a signal came. The operation goes on, its event is still to come.
/// - `EINVAL`: `id` is NULL, its address is not resolved, or `timeout_ms` is 0.
/// - `EIO`: synchronous id: no route was found.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: the device was removed.
/// - `ENOMEM`: out of memory.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: synchronous id: the time limit passed, the peer's or that of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_resolve_addr(3), rdma_connect(3), rdma_set_option(3), rdma_get_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_route(id: *mut rdma_cm_id, timeout_ms: c_int) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| quietly(|| id.resolve_route(timeout_ms))).into_c()
}

/// Tells the local port of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// # Description
///
/// Reads the port out of the id's local address. For native InfiniBand addresses these are the
/// low 16 bits of the service id, as far as its mask covers them.
///
/// # Return value
///
/// The port in network byte order; 0 if `id` is NULL or not bound.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Tells the peer's port of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// # Description
///
/// Reads the port out of the id's remote address. For native InfiniBand addresses these are the
/// low 16 bits of the service id, as far as its mask covers them.
///
/// # Return value
///
/// The port in network byte order; 0 if `id` is NULL or has no destination.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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

/// Tells the local address of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// # Description
///
/// Points into the id, where `sa_family` says what kind of address it is; 0 means none yet.
///
/// # Return value
///
/// The address, valid as long as the id, or NULL with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code that does not check for NULL.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. Events change the
/// address: rdma_get_cm_event counts as a use of the id.
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

/// Tells the peer's address of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
///
/// # Description
///
/// Points into the id, where `sa_family` says what kind of address it is; 0 means none yet.
///
/// # Return value
///
/// The address, valid as long as the id, or NULL with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code that does not check for NULL.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. Events change the
/// address: rdma_get_cm_event counts as a use of the id.
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

/// Sets an option of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
/// - `level`: RDMA_OPTION_ID or RDMA_OPTION_IB.
/// - `optname`: the option, see below.
/// - `optval`: the value; only read during the call.
/// - `optlen`: size of the value in bytes.
///
/// # Description
///
/// Level RDMA_OPTION_ID:
///
/// - `RDMA_OPTION_ID_TOS`: uint8_t, the type of service of the connection's packets.
/// - `RDMA_OPTION_ID_REUSEADDR`: int, not 0 lets several ids bind to one address, as
///   SO_REUSEADDR does.
/// - `RDMA_OPTION_ID_AFONLY`: int, not 0 keeps an IPv6 wildcard off IPv4, as IPV6_V6ONLY does.
/// - `RDMA_OPTION_ID_ACK_TIMEOUT`: uint8_t from 0 to 31, the queue pair's acknowledge timeout
///   of 4.096 us times 2 to the power of the value.
///
/// Level RDMA_OPTION_IB:
///
/// - `RDMA_OPTION_IB_PATH`: an array of struct ibv_path_data, takes the place of
///   rdma_resolve_route. RDMA_CM_EVENT_ROUTE_RESOLVED is reported.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EFAULT`: `optval` does not point to `optlen` bytes.
/// - `EINVAL`: `id` is NULL, the length or the value does not fit, or the id is past the state
///   in which the option can be set.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel does not know the level or the option.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// The kernel looks at the value, so that options of newer kernels work too. The call never
/// waits for an event, not even for a synchronous id.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
///
/// # See also
///
/// rdma_create_id(3), rdma_bind_addr(3), rdma_resolve_route(3), rdma_cm(7)
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
///
/// # Arguments
///
/// - `num_devices`: where the number of devices is returned, or NULL. 0 on failure.
///
/// # Description
///
/// Gives the open devices of this process, to make objects on that more than one id will use.
/// Devices that cannot be opened are left out.
///
/// # Return value
///
/// An array of contexts with a NULL at its end, given back by rdma_free_devices; or NULL with
/// `errno`.
///
/// # Errors
///
/// - `ENODEV`: there is no RDMA device that can be opened.
/// - `ENOMEM`: out of memory.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// These are the contexts of `id->verbs` too: do not close them. One stays open as long as a
/// list or an id refers to it, and a device stays known until it is removed.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_free_devices(3), rdma_bind_addr(3), ibv_get_device_list(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_devices(num_devices: *mut c_int) -> *mut *mut ibv_context {
    let opened = quietly(device::open_contexts);
    let count = opened.as_ref().map_or(0, |(_, count)| *count);
    // SAFETY: NULL or writable.
    if let Some(place) = unsafe { num_devices.as_mut() } {
        *place = c_int::try_from(count).unwrap_or(c_int::MAX);
    }
    opened.map(|(contexts, _)| contexts).into_c()
}

/// Gives a list of devices back.
///
/// # Arguments
///
/// - `list`: an array of rdma_get_devices; NULL does nothing.
///
/// # Description
///
/// Frees the array. A device that was removed meanwhile is closed when nothing refers to it any
/// more.
///
/// # Return value
///
/// None.
///
/// # Notes
///
/// Destroy what was made on the contexts before, unless ids on the same devices keep them open.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_get_devices(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_free_devices(list: *mut *mut ibv_context) {
    // SAFETY: NULL or from rdma_get_devices, once.
    unsafe { device::free_contexts(list) };
}
