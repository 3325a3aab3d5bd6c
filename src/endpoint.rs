//! Endpoints: an id with address, route and queue pair in one call, and the requests of a passive one.
//!
//! # Safety
//! Walks the caller's address list as far as its own lengths say, and destroys ids that it made.
#![allow(unsafe_code)]

use crate::deadline;
use crate::error::{Errno, Result};
use crate::id::{self, Id};
use crate::memory::try_vec;
use crate::option;
use crate::qp;
use crate::sync_mode::Operation;
use crate::types::{
    RAI_PASSIVE, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, SocketAddress, rdma_addrinfo, rdma_cm_id,
    rdma_port_space,
};
use rdma_sys::{ibv_pd, ibv_qp_init_attr};

/// Limit of each resolving step: two seconds, or what the environment says.
fn resolve_limit_ms() -> i32 {
    const DEFAULT: i32 = 2000;
    deadline::limit().map_or(DEFAULT, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX))
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
    let mut outcome = Err(Errno::EINVAL);
    let mut next = list;
    // SAFETY: by contract.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: by contract.
        outcome = unsafe { from_entry(entry, pd, attr.as_deref_mut()) };
        match outcome {
            // What the address has nothing to do with fails alike for the next one.
            // A port in use is not free because the name has another address.
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
    let id = id::create(
        None,
        std::ptr::null_mut(),
        entry.ai_port_space as rdma_port_space,
        entry.ai_qp_type as u32,
    )?;
    // SAFETY: by contract.
    let set_up = unsafe {
        if entry.ai_flags & RAI_PASSIVE != 0 {
            prepare_passive(id, entry, pd, attr)
        } else {
            prepare_active(id, entry, pd, attr)
        }
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

/// # Safety
/// As `from_entry`.
unsafe fn prepare_passive(
    id: &Id,
    entry: &rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: Option<&mut ibv_qp_init_attr>,
) -> Result<()> {
    // SAFETY: a valid entry.
    let source =
        unsafe { SocketAddress::read_sized(entry.ai_src_addr, entry.ai_src_len as usize) }?;
    id.bind(&source)?;
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
    entry: &rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: Option<&mut ibv_qp_init_attr>,
) -> Result<()> {
    // SAFETY: a valid entry.
    let destination =
        unsafe { SocketAddress::read_sized(entry.ai_dst_addr, entry.ai_dst_len as usize) }?;
    let source = if entry.ai_src_addr.is_null() || entry.ai_src_len == 0 {
        None
    } else {
        // SAFETY: a valid entry.
        Some(unsafe { SocketAddress::read_sized(entry.ai_src_addr, entry.ai_src_len as usize) }?)
    };
    id.resolve_address(source.as_ref(), &destination, resolve_limit_ms())?;
    if entry.ai_route_len > 0 && !entry.ai_route.is_null() {
        option::set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, entry.ai_route, entry.ai_route_len)?;
        id.finish(Operation::ResolveRoute)?;
    } else {
        id.resolve_route(resolve_limit_ms())?;
    }
    if let Some(attr) = attr {
        attr.qp_type = entry.ai_qp_type as u32;
        // SAFETY: by contract.
        unsafe { qp::create(id, pd, attr) }?;
    }
    if entry.ai_connect_len > 0 && !entry.ai_connect.is_null() {
        if entry.ai_connect_len > crate::uapi::abi::MAX_PRIVATE_DATA {
            return Err(Errno::EINVAL);
        }
        let mut header = try_vec(entry.ai_connect_len)?;
        // SAFETY: a valid entry has this many bytes there.
        header.extend_from_slice(unsafe {
            std::slice::from_raw_parts(entry.ai_connect.cast::<u8>(), entry.ai_connect_len)
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
        return Err(Errno::EINVAL);
    }
    let (message, outcome) = listener.wait_for(Operation::Request)?;
    let child_pointer = message.id();
    if child_pointer == listener.as_c() {
        listener.set_event(message.into_c());
        // Only a request is a success here, and that names its child.
        return outcome.and(Err(Errno::EPROTO));
    }
    // SAFETY: the message names the id that was made for the request.
    let child: &'static Id = unsafe { Id::from_c(child_pointer) }?;
    if let Err(error) = outcome {
        drop(message);
        turn_away(child);
        return Err(error);
    }
    if let Some(mut attr) = listener.with(|state| state.more.get()?.child_queue_pair) {
        let pd = listener.public(|public| public.pd);
        // SAFETY: what the endpoint was made with is still valid.
        if let Err(error) = unsafe { qp::create(child, pd, &mut attr) } {
            drop(message);
            turn_away(child);
            return Err(error);
        }
    }
    child.set_event(message.into_c());
    Ok(child_pointer)
}

/// The peer should not wait for a connection that cannot be. C has not seen the child.
pub(crate) fn turn_away(child: &'static Id) {
    let _ = child.reject(&[], 0);
    // SAFETY: not given to C.
    let _ = unsafe { destroy(child) };
}

/// Ends an endpoint with its queue pair and shared receive queue.
///
/// # Safety
/// The id is not used after this.
pub(crate) unsafe fn destroy(id: &'static Id) -> Result<()> {
    qp::destroy(id);
    qp::shared_queue::destroy(id);
    // SAFETY: by contract.
    unsafe { id.destroy() }
}
