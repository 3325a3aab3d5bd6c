// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: multicast.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::cm::id::Id;
use crate::cm::multicast;
use crate::cm::sync_mode;
use crate::types::{
    RDMA_CM_JOIN_MC_ATTR_ADDRESS, RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, SocketAddress, rdma_cm_id,
    rdma_cm_join_mc_attr_ex,
};
use base::errno::{Result, preserve_errno};
use base::fail;
use libc::{c_int, c_void, sockaddr};

const FULL_MEMBER: u32 = 0;
const KNOWN_ATTRIBUTES: u32 = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

/// Joins a multicast group as a full member.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `addr`: address of the group. Only read during the call.
/// - `context`: application context, returned as `param.ud.private_data` of the group's events.
///
/// # Description
///
/// RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR reports the result. With the
/// former the id's queue pair, if there is one, is attached to the group and receives its
/// messages; `param.ud` holds what is needed to send: the attributes of an address handle, the
/// queue pair number (0xFFFFFF) and the Q_Key.
///
/// {Return value: started | join}
///
/// # Errors
///
/// - `EINVAL`: `id` or `addr` is NULL, the family is unknown, the address is all zeros, or the id
///   has no device, is connected, or is not of a datagram service.
///
/// {Errors: join}
///
/// # Notes
///
/// rdma_bind_addr or rdma_resolve_addr selects the device. A later RDMA_CM_EVENT_MULTICAST_ERROR
/// means that the membership was lost; the group must still be left. A synchronous id whose join
/// fails is not a member.
///
/// On RoCE v2 the kernel rejects IPv6 groups with error 524, which has no name in errno.h.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_join_multicast_ex(3), rdma_leave_multicast(3), rdma_resolve_addr(3),
/// rdma_post_ud_send(3), ibv_create_ah(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_join_multicast(
    id: *mut rdma_cm_id,
    addr: *mut sockaddr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| sync_mode::join_multicast(id, &address?, FULL_MEMBER, context)).into_c()
}

/// Joins a multicast group with flags.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `mc_join_attr`: group and flags. Only read during the call.
/// - `context`: application context, returned as `param.ud.private_data` of the group's events.
///
/// # Description
///
/// Like rdma_join_multicast. `comp_mask` of the attributes must be RDMA_CM_JOIN_MC_ATTR_ADDRESS
/// and RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS; `addr` is the address of the group, and `join_flags` is
/// one of:
///
/// - `RDMA_MC_JOIN_FLAG_FULLMEMBER`: send and receive.
/// - `RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER`: only send; the queue pair is not attached.
///
/// {Return value: started | join}
///
/// # Errors
///
/// - `EINVAL`: `id`, `mc_join_attr` or the address is NULL, `comp_mask` lacks one of the two, the
///   family or the flag is unknown, or the id has no device, is connected, or is not of a
///   datagram service.
/// - `EOPNOTSUPP`: `comp_mask` has unknown bits.
///
/// {Errors: join}
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_join_multicast(3), rdma_leave_multicast(3), rdma_cm(7)
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
        sync_mode::join_multicast(id, &address, flags, context)
    })
    .into_c()
}

/// # Safety
/// NULL or valid.
unsafe fn join_attributes(given: *const rdma_cm_join_mc_attr_ex) -> Result<(SocketAddress, u32)> {
    // SAFETY: by contract.
    let given = unsafe { given.as_ref() }
        .ok_or_else(|| fail!(EINVAL, "rdma_join_multicast_ex: the attributes are NULL"))?;
    if given.comp_mask & !KNOWN_ATTRIBUTES != 0 {
        return Err(fail!(
            EOPNOTSUPP,
            "rdma_join_multicast_ex: comp_mask {:#x} has bits that this library does not know",
            given.comp_mask
        ));
    }
    if given.comp_mask != KNOWN_ATTRIBUTES {
        return Err(fail!(
            EINVAL,
            "rdma_join_multicast_ex: comp_mask {:#x} is without address or join flags",
            given.comp_mask
        ));
    }
    // SAFETY: by contract.
    Ok((unsafe { SocketAddress::read(given.addr) }?, given.join_flags))
}

/// Leaves a multicast group.
///
/// # Arguments
///
/// - `id`: an id that joined the group.
/// - `addr`: address of the group. Only read during the call.
///
/// # Description
///
/// Detaches the queue pair, leaves the group, and waits until every event of the group that was
/// fetched is acknowledged. A join in progress is cancelled. If a group was joined several times,
/// the last join is undone.
///
/// {Return value: zero}
/// If the kernel refuses, the id remains a member.
///
/// # Errors
///
/// - `EADDRNOTAVAIL`: the id is not a member of the group.
/// - `EINVAL`: `id` or `addr` is NULL, or the family is unknown.
/// - `ENOENT`: the kernel does not know the id.
///
/// {Errors: command}
/// {Errors: unacknowledged event | the group was left}
///
/// # Notes
///
/// Messages that were received before can still complete afterwards. rdma_destroy_id leaves all
/// groups.
///
/// {Thread safety: one thread per id}
/// A thread that still has to acknowledge an event of the group must not call this function.
///
/// # See also
///
/// rdma_join_multicast(3), rdma_join_multicast_ex(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_leave_multicast(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| preserve_errno(|| multicast::leave(id, &address?))).into_c()
}
