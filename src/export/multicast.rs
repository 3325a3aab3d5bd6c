//! `<rdma/rdma_cma.h>`: multicast.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::multicast;
use crate::types::{
    RDMA_CM_JOIN_MC_ATTR_ADDRESS, RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, SocketAddress, rdma_cm_id,
    rdma_cm_join_mc_attr_ex,
};
use libc::{c_int, c_void, sockaddr};

const FULL_MEMBER: u32 = 0;
const KNOWN_ATTRIBUTES: u32 = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

/// Joins a multicast group as a full member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_join_multicast(
    id: *mut rdma_cm_id,
    addr: *mut sockaddr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| multicast::join(id, &address?, FULL_MEMBER, context)).into_c()
}

/// Joins a multicast group with flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_join_multicast_ex(
    id: *mut rdma_cm_id,
    mc_join_attr: *mut rdma_cm_join_mc_attr_ex,
    context: *mut c_void,
) -> c_int {
    // SAFETY: a valid id pointer and valid attributes, or NULL.
    let (id, attributes) = unsafe { (Id::from_c(id), join_attributes(mc_join_attr)) };
    id.and_then(|id| {
        let (address, flags) = attributes?;
        multicast::join(id, &address, flags, context)
    })
    .into_c()
}

/// # Safety
/// NULL or valid.
unsafe fn join_attributes(given: *const rdma_cm_join_mc_attr_ex) -> Result<(SocketAddress, u32)> {
    // SAFETY: by contract.
    let given = unsafe { given.as_ref() }.ok_or(Errno::EINVAL)?;
    if given.comp_mask & !KNOWN_ATTRIBUTES != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if given.comp_mask != KNOWN_ATTRIBUTES {
        return Err(Errno::EINVAL);
    }
    // SAFETY: by contract.
    Ok((unsafe { SocketAddress::read(given.addr) }?, given.join_flags))
}

/// Leaves a multicast group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_leave_multicast(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| multicast::leave(id, &address?)).into_c()
}
