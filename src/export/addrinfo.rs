//! `<rdma/rdma_cma.h>`: names and addresses.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::addrinfo::{self, Failure, Hints, Question};
use crate::error::Result;
use crate::id::Id;
use crate::types::{rdma_addrinfo, rdma_cm_id};
use libc::{c_char, c_int};
use std::ffi::CStr;

/// # Safety
/// `hints` are NULL or valid.
unsafe fn question<'a>(
    node: Option<&'a CStr>,
    service: Option<&'a CStr>,
    hints: *const rdma_addrinfo,
) -> Result<Question<'a>> {
    let named = node.is_some() || service.is_some();
    // SAFETY: by contract.
    let hints = unsafe { hints.as_ref().map(|hints| Hints::read(hints, named)) }.transpose()?;
    Ok(Question { node, service, hints })
}

/// Translates names into what rdma_create_ep and rdma_resolve_addr take.
///
/// # Arguments
///
/// - `node`: a host name, the text of an address, or NULL.
/// - `service`: a service name, a port number as text, or NULL.
/// - `hints`: wishes, or NULL. Only read during the call.
/// - `res`: where the list is returned; it belongs to the caller until rdma_freeaddrinfo. Not
///   written on failure.
///
/// # Description
///
/// Names are resolved as getaddrinfo does. Each address becomes an entry of the list, the best
/// first. With RAI_PASSIVE in `ai_flags` of the hints the name stands for the local address
/// (`ai_src_addr`), otherwise for the peer's (`ai_dst_addr`). `ai_port_space` and `ai_qp_type`
/// of an entry say how it is used.
///
/// Fields of `hints` that are looked at; all others must be zero:
///
/// - `ai_flags`: RAI_PASSIVE, RAI_NUMERICHOST (no look-up by name), RAI_FAMILY (`ai_family`
///   says how to read `node`), RAI_NOROUTE (do not look for a route).
/// - `ai_family`: AF_INET, AF_INET6, AF_IB or 0 for any.
/// - `ai_qp_type`: IBV_QPT_RC, IBV_QPT_UD and so on, or 0 for what the port space means.
/// - `ai_port_space`: RDMA_PS_TCP and so on, or 0 for what the service or the type means.
/// - `ai_src_addr`: the local address to use, without RAI_PASSIVE, of `ai_src_len` bytes.
/// - `ai_dst_addr`: the peer's address, of `ai_dst_len` bytes, where neither node nor service
///   is given.
///
/// - `ai_route`: the wished path, a struct ibv_path_record or a struct ibv_path_data.
///
/// With AF_IB, RAI_FAMILY and RAI_NUMERICHOST, `node` is the text of a GID.
///
/// Where the daemon ibacm runs, it is asked for the route to the first address (`ai_route`). With
/// AF_IB an entry with the native addresses of this route goes before the others; `ai_connect`
/// then holds what has to go before the private data of rdma_connect, as rdma_create_ep does it.
///
/// With RAI_SA in `ai_flags`, `service` is the number or the name of a service that the subnet
/// administrator of an InfiniBand fabric knows, and the entries are the places where it is
/// offered. The fabric of the hinted local address is asked, or that of each port until one
/// knows the service.
///
/// # Return value
///
/// 0, an EAI_ number of getaddrinfo for gai_strerror, or -1 with `errno`. EAI_BADFLAGS is -1
/// too and leaves `errno` alone: set `errno` to 0 before to tell them apart. EAI_SYSTEM sets
/// `errno`.
///
/// # Errors
///
/// - `EINVAL`: `res` is NULL, or all of `node`, `service` and `hints` are, or an address in the
///   hints is shorter than its family, or RAI_SA comes without a service.
/// - `ENODEV`: the machine has no RDMA device, or with RAI_SA no connected InfiniBand port.
/// - `ENOENT`: no fabric knows the service.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel is too old for RAI_SA.
/// - `EOPNOTSUPP`: RAI_SA comes with a node or with RAI_DNS.
///
/// # Notes
///
/// The C library returns the first entry only. rdma_create_ep tries one after the other.
///
/// ibacm is asked for two seconds at most, or as many milliseconds as `RDMACM_IBACM_TIMEOUT_MS`
/// in the environment says, 0 for never. RAI_NUMERICHOST and RAI_NOROUTE ask it only for what it
/// knows already. A daemon that is not there, or did not answer, is left alone for five seconds.
///
/// # Thread safety
///
/// Any thread at any time.
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
            *place = addrinfo::into_c(&addrinfo::lookup(&question?)?)?;
            Ok(())
        })
        .into_c()
}

/// Gives a list of rdma_getaddrinfo back.
///
/// # Arguments
///
/// - `res`: the first entry of a list of rdma_getaddrinfo or rdma_query_addrinfo; NULL does
///   nothing.
///
/// # Description
///
/// Frees all entries with their addresses, names and routes.
///
/// # Return value
///
/// None.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_getaddrinfo(3), rdma_query_addrinfo(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_freeaddrinfo(res: *mut rdma_addrinfo) {
    // SAFETY: NULL or a list of rdma_getaddrinfo, given back once.
    unsafe { addrinfo::free(res) };
}

/// Starts to translate names; the outcome comes as an event.
///
/// # Arguments
///
/// - `id`: any id; with RAI_SA one that is bound to an InfiniBand port.
/// - `node`: as in rdma_getaddrinfo.
/// - `service`: as in rdma_getaddrinfo, or with RAI_SA the number or the name, of at most 63
///   bytes, of a service that the subnet administrator knows.
/// - `hints`: wishes, or NULL. Only read during the call.
///
/// # Description
///
/// As rdma_getaddrinfo, but the call does not wait. The outcome is
/// RDMA_CM_EVENT_ADDRINFO_RESOLVED, after which rdma_query_addrinfo gives the list, or
/// RDMA_CM_EVENT_ADDRINFO_ERROR. Two more flags choose who is asked:
///
/// - `RAI_DNS`: the resolver of the system. The default.
/// - `RAI_SA`: the InfiniBand subnet administrator, once for an id.
///
/// The status of the error event is a negative errno value; ENOENT stands for names that do not
/// exist. An id can be destroyed or moved to another channel at any time meanwhile, neither waits
/// for a name server.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the look-up has begun.
///
/// # Errors
///
/// - `EAGAIN`: no thread could be started.
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EBUSY`: an earlier look-up is under way, or its answer was not taken.
/// - `EINTR`: synchronous id: a signal came. A look-up of names is given up, that of a service goes
///   on: rdma_query_addrinfo gives its answer after the next wait of the id.
/// - `EINVAL`: `id` is NULL, nothing is asked for, an address in the hints is shorter than its
///   family, or with RAI_SA the service is missing or too long, the id is not bound, or asked
///   before.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the name or service does not exist (synchronous ids).
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel is too old.
/// - `ENXIO`: the device was removed.
/// - `EOPNOTSUPP`: RAI_SA comes with a node or with RAI_DNS, or the port is no InfiniBand port.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Needs a kernel that resolves InfiniBand services and lets programs write events (6.18 or
/// later).
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
    id.and_then(|id| addrinfo::resolve(id, &question?)).into_c()
}

/// Takes what rdma_resolve_addrinfo found.
///
/// # Arguments
///
/// - `id`: the id, after RDMA_CM_EVENT_ADDRINFO_RESOLVED.
/// - `info`: where the list is returned; it belongs to the caller until rdma_freeaddrinfo. Not
///   written on failure.
///
/// # Description
///
/// The list is as one of rdma_getaddrinfo. It can be taken once; the next look-up can begin then.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `id` or `info` is NULL.
/// - `ENOENT`: there is no answer, or not yet.
/// - `ENOMEM`: out of memory; the answer can still be taken.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
        *place = addrinfo::query(id)?;
        Ok(())
    })
    .into_c()
}
