//! `<rdma/rdma_cma.h>`: names and addresses.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::addrinfo::{self, Failure, Hints, Question};
use crate::error::{Errno, Result};
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
/// With AF_IB, RAI_FAMILY and RAI_NUMERICHOST, `node` is the text of a GID.
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
///   hints is shorter than its family.
/// - `ENODEV`: the machine has no RDMA device.
/// - `ENOMEM`: out of memory.
///
/// # Notes
///
/// The C library returns the first entry only. rdma_create_ep tries one after the other.
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
/// - `id`: an id that has no address yet.
/// - `node`: as in rdma_getaddrinfo.
/// - `service`: as in rdma_getaddrinfo, or with RAI_SA the name of a service that the subnet
///   administrator knows.
/// - `hints`: wishes, or NULL. Only read during the call.
///
/// # Description
///
/// As rdma_getaddrinfo, but the call does not wait. The outcome is
/// RDMA_CM_EVENT_ADDRINFO_RESOLVED, after which rdma_query_addrinfo gives the list, or
/// RDMA_CM_EVENT_ADDRINFO_ERROR. Two more flags choose who is asked:
///
/// - `RAI_DNS`: the resolver of the system. The default.
/// - `RAI_SA`: the InfiniBand subnet administrator.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the look-up has begun.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` is NULL, neither `node` nor `service` is given, or both flags are.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: not available.
/// - `ENXIO`: the device was removed.
/// - `EOPNOTSUPP`: the kernel cannot ask the subnet administrator, or write events.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// RAI_SA needs a kernel that resolves InfiniBand services (6.17 or later).
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
    let _ = (id, node, service, hints);
    Err::<(), _>(Errno::ENOSYS).into_c()
}

/// Reads what rdma_resolve_addrinfo found.
///
/// # Arguments
///
/// - `id`: the id, after RDMA_CM_EVENT_ADDRINFO_RESOLVED.
/// - `info`: where the list is returned; it belongs to the caller until rdma_freeaddrinfo. Not
///   written on failure.
///
/// # Description
///
/// The list is as one of rdma_getaddrinfo.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` or `info` is NULL.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: not available.
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
/// rdma_resolve_addrinfo(3), rdma_freeaddrinfo(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_query_addrinfo(
    id: *mut rdma_cm_id,
    info: *mut *mut rdma_addrinfo,
) -> c_int {
    let _ = (id, info);
    Err::<(), _>(Errno::ENOSYS).into_c()
}
