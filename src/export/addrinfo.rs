// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: names and addresses.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::addrinfo::{self, AddrinfoQuestion, Failure, Hints};
use crate::cm::id::Id;
use crate::cm::lookup::lookup;
use crate::cm::resolve;
use crate::cm::sync_mode;
use crate::cm::sync_timeout::sync_timeout;
use crate::types::{rdma_addrinfo, rdma_cm_id};
use base::errno::Result;
use core::ffi::CStr;
use libc::{c_char, c_int};

/// # Safety
/// `hints` are NULL or valid.
unsafe fn question<'a>(
    node: Option<&'a CStr>,
    service: Option<&'a CStr>,
    hints: *const rdma_addrinfo,
) -> Result<AddrinfoQuestion<'a>> {
    let named = node.is_some() || service.is_some();
    // SAFETY: by contract.
    let hints = unsafe { hints.as_ref().map(|hints| Hints::read(hints, named)) }.transpose()?;
    Ok(AddrinfoQuestion { node, service, hints, timeout: sync_timeout() })
}

/// Translates names to addresses for rdma_create_ep and rdma_resolve_addr.
///
/// # Arguments
///
/// - `node`: a host name, a numeric address, or NULL.
/// - `service`: a service name, a port number in text form, or NULL.
/// - `hints`: restrictions on the result, or NULL. Only read during the call.
/// - `res`: where the list is returned, which the caller owns until rdma_freeaddrinfo. Unchanged
///   on failure.
///
/// # Description
///
/// Names are resolved as by getaddrinfo. Each address is an entry of the list, in order of
/// preference. With RAI_PASSIVE in `ai_flags` of the hints the name is the local address
/// (`ai_src_addr`), otherwise it is the peer's (`ai_dst_addr`). `ai_port_space` and `ai_qp_type`
/// of an entry are the types of the id and the queue pair to use with it.
///
/// The fields of `hints` below are used; all others must be zero:
///
/// - `ai_flags`: RAI_PASSIVE, RAI_NUMERICHOST (`node` is a numeric address), RAI_FAMILY
///   (`ai_family` is the format of `node`), RAI_NOROUTE (do not resolve a route).
/// - `ai_family`: AF_INET, AF_INET6, AF_IB, or 0 for any.
/// - `ai_qp_type`: IBV_QPT_RC, IBV_QPT_UD and so on, or 0 for the default of the port space.
/// - `ai_port_space`: RDMA_PS_TCP and so on, or 0 for the default of the service or the queue
///   pair type.
/// - `ai_src_addr`: without RAI_PASSIVE, the local address to use, `ai_src_len` bytes.
/// - `ai_dst_addr`: address of the peer, `ai_dst_len` bytes, if neither `node` nor `service` is
///   given.
/// - `ai_route`: the path to use, a struct ibv_path_record or a struct ibv_path_data.
///
/// With AF_IB, RAI_FAMILY and RAI_NUMERICHOST, `node` is a GID in text form.
///
/// If the daemon ibacm runs, it is queried for the route to the first address (`ai_route`). With
/// AF_IB, an entry with the native addresses of this route precedes the others; its `ai_connect`
/// must be sent ahead of the private data of rdma_connect, as rdma_create_ep does.
///
/// With RAI_SA in `ai_flags`, `service` is the number or the name of a service that is registered
/// with the subnet administrator of an InfiniBand fabric, and the entries are the ports that
/// offer it. The fabric of the local address in the hints is queried, or the fabric of each port
/// in turn until one knows the service.
///
/// # Return value
///
/// 0 on success, an EAI_ code of getaddrinfo for gai_strerror, or -1 with `errno` set.
/// EAI_BADFLAGS equals -1 too, and does not set `errno`: to distinguish the two, set `errno` to 0
/// before the call. EAI_SYSTEM sets `errno`.
///
/// # Errors
///
/// - `EINVAL`: `res` is NULL; `node`, `service` and `hints` are all NULL; an address in the hints
///   is shorter than its family requires; or RAI_SA is set without a service.
/// - `ENODEV`: the system has no RDMA device, or with RAI_SA no connected InfiniBand port.
/// - `ENOENT`: no fabric knows the service.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel does not support RAI_SA.
/// - `EOPNOTSUPP`: RAI_SA is set together with a node or with RAI_DNS.
///
/// # Notes
///
/// The C library returns only the first entry. rdma_create_ep tries one after the other.
///
/// The query to ibacm takes at most two seconds, or the number of milliseconds in the environment
/// variable `RDMACM_IBACM_TIMEOUT_MS`; 0 disables it. With RAI_NUMERICHOST or RAI_NOROUTE ibacm
/// only answers from its cache. If the daemon is absent or does not answer, it is not queried
/// again for five seconds.
///
/// {Thread safety: any thread}
///
/// # Examples
///
/// From the client in rdma_cm(7):
///
/// {Code: client.c | open_connection}
///
/// # See also
///
/// rdma_freeaddrinfo(3), rdma_create_ep(3), rdma_resolve_addrinfo(3), getaddrinfo(3),
/// gai_strerror(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
    res: *mut *mut rdma_addrinfo,
) -> c_int {
    // SAFETY: a place for the list, and C strings, or NULL.
    let (place, node, service) = unsafe { (arg::out(res), arg::text(node), arg::text(service)) };
    // SAFETY: NULL or valid hints.
    let question = unsafe { question(node, service, hints) };
    place
        .map_err(Failure::from)
        .and_then(|place| {
            *place = addrinfo::into_c(&lookup(&question?)?)?;
            Ok(())
        })
        .into_c()
}

/// Frees a list of addresses.
///
/// # Arguments
///
/// - `res`: the first entry of a list returned by rdma_getaddrinfo or rdma_query_addrinfo, which
///   becomes invalid; NULL has no effect.
///
/// # Description
///
/// Frees all entries with their addresses, names and routes.
///
/// {Return value: none}
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rdma_getaddrinfo(3), rdma_query_addrinfo(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_freeaddrinfo(res: *mut rdma_addrinfo) {
    // SAFETY: NULL or a list of rdma_getaddrinfo, freed once.
    unsafe { addrinfo::free(res) };
}

/// Starts to translate names to addresses; an event reports the result.
///
/// # Arguments
///
/// - `id`: any id; with RAI_SA an id that is bound to an InfiniBand port.
/// - `node`: see rdma_getaddrinfo(3).
/// - `service`: see rdma_getaddrinfo(3); with RAI_SA the number or the name, of at most 63 bytes,
///   of a service that is registered with the subnet administrator.
/// - `hints`: restrictions on the result, or NULL. Only read during the call.
///
/// # Description
///
/// Like rdma_getaddrinfo, without waiting. RDMA_CM_EVENT_ADDRINFO_RESOLVED reports success, after
/// which rdma_query_addrinfo returns the list; RDMA_CM_EVENT_ADDRINFO_ERROR reports failure. Two
/// more flags select the service to query:
///
/// - `RAI_DNS`: the resolver of the system. The default.
/// - `RAI_SA`: the InfiniBand subnet administrator, once per id.
///
/// The status of the error event is a negative error number; -ENOENT means that the name does not
/// exist. During the look-up the id can be destroyed or moved to another channel; neither waits
/// for a name server.
///
/// {Return value: started | look-up}
///
/// # Errors
///
/// - `EAGAIN`: no thread could be started.
/// - `EBUSY`: an earlier look-up is in progress, or its result was not fetched.
/// - `EINTR`: synchronous id: interrupted by a signal. A look-up of names is cancelled. A look-up
///   of a service continues: rdma_query_addrinfo returns its result after the id's next wait.
/// - `EINVAL`: `id` is NULL; `node`, `service` and `hints` request nothing; an address in the
///   hints is shorter than its family requires; or with RAI_SA the service is missing or too
///   long, the id is not bound, or it was used for a look-up before.
/// - `ENOENT`: synchronous id: the name or the service does not exist.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel does not support the command.
/// - `EOPNOTSUPP`: RAI_SA is set together with a node or with RAI_DNS, or the port is not an
///   InfiniBand port.
///
/// {Errors: command}
///
/// # Notes
///
/// Requires a kernel that resolves InfiniBand services and accepts events from applications (6.18
/// or later).
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_query_addrinfo(3), rdma_getaddrinfo(3), rdma_get_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addrinfo(
    id: *mut rdma_cm_id,
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
) -> c_int {
    // SAFETY: a valid id pointer and C strings, or NULL.
    let (id, node, service) = unsafe { (Id::from_c(id), arg::text(node), arg::text(service)) };
    // SAFETY: NULL or valid hints.
    let question = unsafe { question(node, service, hints) };
    id.and_then(|id| sync_mode::resolve_addrinfo(id, &question?)).into_c()
}

/// Returns the result of rdma_resolve_addrinfo.
///
/// # Arguments
///
/// - `id`: the id, after RDMA_CM_EVENT_ADDRINFO_RESOLVED.
/// - `info`: where the list is returned, which the caller owns until rdma_freeaddrinfo. Unchanged
///   on failure.
///
/// # Description
///
/// Returns a list like that of rdma_getaddrinfo. The result can be fetched once; then the next
/// look-up can start.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` or `info` is NULL.
/// - `ENOENT`: there is no result, or not yet.
/// - `ENOMEM`: out of memory; the result can still be fetched.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_resolve_addrinfo(3), rdma_freeaddrinfo(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_query_addrinfo(
    id: *mut rdma_cm_id,
    info: *mut *mut rdma_addrinfo,
) -> c_int {
    // SAFETY: a valid id pointer and a place for the list, or NULL.
    let (id, place) = unsafe { (Id::from_c(id), arg::out(info)) };
    id.and_then(|id| {
        // Checked first: the answer can be taken only once.
        let place = place?;
        *place = resolve::query(id)?;
        Ok(())
    })
    .into_c()
}
