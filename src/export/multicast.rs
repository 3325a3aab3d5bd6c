//! `<rdma/rdma_cma.h>`: multicast.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::error::{Errno, Result, quietly};
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
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `addr`: the group. Only read during the call.
/// - `context`: any pointer, given back in `param.ud.private_data` of the group's events.
///
/// # Description
///
/// The outcome is RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR. With the
/// former the id's queue pair, if it has one, is attached to the group and receives; `param.ud`
/// has what is needed to send: an address handle's attributes, the queue pair number (0xFFFFFF)
/// and the Q_Key.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the join has begun.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINTR`: synchronous id: a signal came. The join is given up.
/// - `EINVAL`: `id` or `addr` is NULL, the family is unknown or the address all zeros, or the id has no
///   device, is connected, or not of a datagram service.
/// - `EIO`: synchronous id: the group was not joined.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: synchronous id: the device was removed.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the device has no multicast, as with iWARP.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: synchronous id: the time limit passed, the peer's or that of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// rdma_bind_addr or rdma_resolve_addr chooses the device. A later
/// RDMA_CM_EVENT_MULTICAST_ERROR means that the group was lost; it is still to be left. A
/// synchronous id whose join fails is no member.
///
/// Where the device is RoCE v2, the kernel refuses IPv6 groups with its own number 524, for which C has no
/// name.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads.
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
    id.and_then(|id| multicast::join(id, &address?, FULL_MEMBER, context)).into_c()
}

/// Joins a multicast group with flags.
///
/// # Arguments
///
/// - `id`: an id that is bound to a device.
/// - `mc_join_attr`: group and flags. Only read during the call.
/// - `context`: any pointer, given back in `param.ud.private_data` of the group's events.
///
/// # Description
///
/// As rdma_join_multicast. `comp_mask` of the attributes must be RDMA_CM_JOIN_MC_ATTR_ADDRESS
/// and RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, with the group in `addr`, and in `join_flags`:
///
/// - `RDMA_MC_JOIN_FLAG_FULLMEMBER`: send and receive.
/// - `RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER`: only send; the queue pair is not attached.
///
/// # Return value
///
/// 0, or -1 with `errno`. For an asynchronous id 0 means that the join has begun.
///
/// # Errors
///
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINTR`: synchronous id: a signal came. The join is given up.
/// - `EINVAL`: `id`, `mc_join_attr` or the address is NULL, `comp_mask` lacks one of the two,
///   the family is unknown, the flag is unknown, or the id has no device, is connected, or not of a
///   datagram service.
/// - `EIO`: synchronous id: the group was not joined.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENODEV`: synchronous id: the device was removed.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the device has no multicast, as with iWARP.
/// - `ENXIO`: the device was removed.
/// - `EOPNOTSUPP`: `comp_mask` has bits that are not known.
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
///
/// # Arguments
///
/// - `id`: an id that joined the group.
/// - `addr`: the group. Only read during the call.
///
/// # Description
///
/// Detaches the queue pair, leaves, and waits until every event of the group that was fetched
/// is acknowledged. A join that is still going on is cancelled. Of several joins of one group
/// the last is undone.
///
/// # Return value
///
/// 0, or -1 with `errno`. Where the kernel refuses, the membership stays.
///
/// # Errors
///
/// - `EADDRNOTAVAIL`: the id is not a member of the group.
/// - `EBADF`: the event channel of the id was destroyed.
/// - `EINVAL`: `id` or `addr` is NULL, or the family is unknown.
/// - `ENODATA`: the kernel did not take the command.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENXIO`: the device was removed.
/// - `EPERM`: the caller is a child of fork, and the process that made the id still runs.
/// - `ETIMEDOUT`: the group is left, but an event was not given back before the limit of
///   `RDMACM_SYNC_TIMEOUT_MS`.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Messages that were received before can still complete afterwards. rdma_destroy_id leaves all
/// groups.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. Not in the thread
/// that still has to acknowledge an event of the group.
///
/// # See also
///
/// rdma_join_multicast(3), rdma_join_multicast_ex(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_leave_multicast(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: a valid id pointer and a valid sockaddr, or NULL.
    let (id, address) = unsafe { (Id::from_c(id), SocketAddress::read(addr)) };
    id.and_then(|id| quietly(|| multicast::leave(id, &address?))).into_c()
}
