// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Endpoints: an id with address, route and queue pair in one call, and the requests of a passive
//! endpoint.
//!
//! # Safety
//! Walks the caller's address list as far as its own lengths say, and destroys ids that it made.
#![allow(unsafe_code)]

use crate::cm::conn::turn_away;
use crate::cm::id::{self, Id};
use crate::cm::option;
use crate::cm::qp;
use crate::cm::sync_mode::{self, Operation};
use crate::cm::sync_timeout::sync_timeout;
use crate::cm::wildcard;
use crate::lane::Kind;
use crate::types::{
    RAI_PASSIVE, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, SocketAddress, rdma_addrinfo, rdma_cm_id,
    rdma_port_space,
};
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::fail;
use base::memory::try_vec;
use rdma_sys::{ibv_pd, ibv_qp_init_attr};

/// Limit of each resolving step: two seconds, or what the environment says.
fn resolve_limit_ms() -> i32 {
    const DEFAULT: i32 = 2000;
    let own = sync_timeout().duration();
    own.map_or(DEFAULT, |own| i32::try_from(own.as_millis()).unwrap_or(i32::MAX))
}

/// Tries each entry of the list; the error is that of the last one.
///
/// # Safety
/// `list` is NULL or a valid list; `pd` is NULL or valid.
pub(crate) unsafe fn create(
    list: *const rdma_addrinfo,
    pd: *mut ibv_pd,
    mut attr: Option<&mut ibv_qp_init_attr>,
) -> Result<*mut rdma_cm_id> {
    if list.is_null() {
        return Err(fail!(EINVAL, "rdma_create_ep: there is no rdma_addrinfo"));
    }
    let mut outcome = Err(Errno::EINVAL);
    let mut next = list;
    // SAFETY: by contract.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: by contract.
        outcome = unsafe { from_entry(entry, pd, attr.as_deref_mut()) };
        match outcome {
            // Errors that the next address cannot change. A port in use is in use for every
            // address.
            Ok(_) | Err(Errno::EINTR | Errno::ENOMEM | Errno::EMFILE | Errno::EADDRINUSE) => break,
            Err(_) => next = entry.ai_next,
        }
    }
    outcome
}

/// # Safety
/// `entry` is valid; `pd` is NULL or valid.
unsafe fn from_entry(
    entry: &rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: Option<&mut ibv_qp_init_attr>,
) -> Result<*mut rdma_cm_id> {
    let is_passive = entry.ai_flags & RAI_PASSIVE != 0;
    // Before anything is made, what the entry itself makes impossible.
    // SAFETY: by contract.
    let addresses = unsafe { Addresses::read(entry, is_passive) }?;
    let id = id::create(
        None,
        core::ptr::null_mut(),
        entry.ai_port_space as rdma_port_space,
        entry.ai_qp_type as u32,
    )?;
    id.lane().begin(Kind::Id, id.handle() as i32, &[]);
    let set_up = if is_passive {
        prepare_passive(id, &addresses, entry, pd, attr)
    } else {
        // SAFETY: by contract.
        unsafe { prepare_active(id, &addresses, entry, pd, attr) }
    };
    match set_up {
        Ok(()) => Ok(id.as_c()),
        Err(error) => {
            // SAFETY: made above, known to nobody else.
            let _ = unsafe { destroy(id) };
            Err(error)
        }
    }
}

/// The addresses of an entry.
struct Addresses {
    source: Option<SocketAddress>,
    destination: Option<SocketAddress>,
}

impl Addresses {
    /// EINVAL for an entry without the address that it needs, or with private data that is too
    /// long.
    ///
    /// # Safety
    /// `entry` is valid.
    unsafe fn read(entry: &rdma_addrinfo, is_passive: bool) -> Result<Addresses> {
        // SAFETY: by contract.
        let read = |start, length| unsafe { SocketAddress::read_sized(start, length as usize) };
        if is_passive {
            let source = read(entry.ai_src_addr, entry.ai_src_len)?;
            return Ok(Addresses { source: Some(source), destination: None });
        }
        let has_header = entry.ai_connect_len > 0 && !entry.ai_connect.is_null();
        if has_header && entry.ai_connect_len > crate::uapi::abi::MAX_PRIVATE_DATA {
            return Err(fail!(
                EINVAL,
                "rdma_create_ep: {} bytes of ai_connect are more than a message has room for",
                entry.ai_connect_len
            ));
        }
        let destination = read(entry.ai_dst_addr, entry.ai_dst_len)?;
        let has_source = !entry.ai_src_addr.is_null() && entry.ai_src_len != 0;
        let source = match has_source {
            true => Some(read(entry.ai_src_addr, entry.ai_src_len)?),
            false => None,
        };
        Ok(Addresses { source, destination: Some(destination) })
    }
}

fn prepare_passive(
    id: &Id,
    addresses: &Addresses,
    entry: &rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: Option<&mut ibv_qp_init_attr>,
) -> Result<()> {
    wildcard::bind(id, addresses.source.as_ref().ok_or(Errno::EINVAL)?)?;
    if !pd.is_null() {
        id.public(|public| public.pd = pd);
    }
    if let Some(attr) = attr {
        let kept = ibv_qp_init_attr { qp_type: entry.ai_qp_type as u32, ..*attr };
        id.with(|state| -> Result<()> {
            state.more.make()?.child_queue_pair = Some(kept);
            Ok(())
        })?;
    }
    Ok(())
}

/// # Safety
/// As `from_entry`.
unsafe fn prepare_active(
    id: &Id,
    addresses: &Addresses,
    entry: &rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: Option<&mut ibv_qp_init_attr>,
) -> Result<()> {
    let destination = addresses.destination.as_ref().ok_or(Errno::EINVAL)?;
    let source = addresses.source.as_ref();
    sync_mode::resolve_address(id, source, destination, resolve_limit_ms())?;
    if entry.ai_route_len > 0 && !entry.ai_route.is_null() {
        option::set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, entry.ai_route, entry.ai_route_len)?;
        sync_mode::finish(id, Operation::ResolveRoute)?;
    } else {
        sync_mode::resolve_route(id, resolve_limit_ms())?;
    }
    if let Some(attr) = attr {
        attr.qp_type = entry.ai_qp_type as u32;
        // SAFETY: by contract.
        unsafe { qp::create(id, pd, attr) }?;
    }
    if entry.ai_connect_len > 0 && !entry.ai_connect.is_null() {
        let mut header = try_vec(entry.ai_connect_len)?;
        // SAFETY: a valid entry has this many bytes there.
        header.extend_from_slice(unsafe {
            core::slice::from_raw_parts(entry.ai_connect.cast::<u8>(), entry.ai_connect_len)
        });
        id.with(|state| -> Result<()> {
            state.more.make()?.connect_header = header;
            Ok(())
        })?;
    }
    Ok(())
}

/// The next connection request of a synchronous listener, with its queue pair when the endpoint was
/// made with attributes for one. A request that cannot be served is rejected.
pub(crate) fn next_request(listener: &Id) -> Result<*mut rdma_cm_id> {
    if !listener.is_synchronous() {
        return Err(fail!(
            EINVAL,
            *listener,
            "rdma_get_request: the id has an event channel: requests are events of that"
        ));
    }
    let (event, outcome) = sync_mode::wait_for(listener, Operation::Request, Deadline::Never)?;
    let child_pointer = event.id();
    if child_pointer == listener.as_c() {
        listener.keep_event(event);
        // Only a request is a success here, and that names its child.
        return outcome.and(Err(Errno::EPROTO));
    }
    // SAFETY: the event names the id that was made for the request.
    let child: &'static Id = unsafe { Id::from_c(child_pointer) }?;
    if let Err(error) = outcome {
        drop(event);
        turn_away(child);
        return Err(error);
    }
    if let Some(mut attr) = listener.with(|state| state.more.get()?.child_queue_pair) {
        let pd = listener.public(|public| public.pd);
        // SAFETY: what the endpoint was made with is still valid.
        if let Err(error) = unsafe { qp::create(child, pd, &mut attr) } {
            drop(event);
            turn_away(child);
            return Err(error);
        }
    }
    child.keep_event(event);
    Ok(child_pointer)
}

/// Ends an endpoint with its queue pair and shared receive queue.
///
/// # Safety
/// The id is not used after this.
pub(crate) unsafe fn destroy(id: &'static Id) -> Result<()> {
    // What is left of it goes with the device.
    let _ = qp::destroy(id);
    qp::shared_queue::destroy(id);
    // SAFETY: by contract.
    unsafe { id.destroy() }
}
