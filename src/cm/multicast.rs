// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Joining and leaving multicast groups.
//!
//! # Safety
//! Frees memberships that it took out of their id's list.
#![allow(unsafe_code)]

use crate::cm::id::{Id, Membership};
use crate::types::SocketAddress;
use crate::uapi::{self, abi};
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;
use libc::c_void;
use rdma_sys::ibv_gid;
use zerocopy::FromZeros;

/// Members of this kind only send: their queue pair is not attached.
const SEND_ONLY_FULL_MEMBER: u32 = 1;
const JOIN_FLAGS: core::ops::Range<u32> = 0..2;

/// Starts to join; the outcome is an event, with `context` where others have private data.
pub(crate) fn join(
    id: &Id,
    address: &SocketAddress,
    join_flags: u32,
    context: *mut c_void,
) -> Result<&'static Membership> {
    if !JOIN_FLAGS.contains(&join_flags) {
        return Err(fail!(EINVAL, *id, "rdma_join_multicast_ex: {join_flags} is no join flag"));
    }
    let fd = id.fd()?;
    let membership = Membership::publish(id.key(), address, join_flags, context)?;
    let mut addr = abi::Storage::new_zeroed();
    let addr_size = addr.put(address);
    let room =
        id.with(|state| state.more.make()?.memberships.try_reserve(1).map_err(|_| Errno::ENOMEM));
    let answer = room.and_then(|()| {
        uapi::call(
            fd,
            abi::JoinMcast {
                response: 0,
                uid: membership.key().raw(),
                id: id.handle(),
                addr_size,
                join_flags: join_flags as u16,
                addr,
            },
        )
    });
    match answer {
        Ok(answer) => {
            membership.set_handle(answer.id);
            id.with(|state| {
                if let Some(more) = state.more.get_mut() {
                    more.memberships.push(membership);
                }
            });
            Ok(membership)
        }
        Err(error) => {
            id.refused("JOIN_MCAST", error);
            // SAFETY: in no list, and the kernel did not take it.
            unsafe { membership.free() };
            Err(error)
        }
    }
}

/// Leaves a group whose synchronous join failed. Its event, and the membership with it, stay.
pub(crate) fn abandon(id: &Id, membership: &Membership) {
    membership.set_left();
    // The join's own error is the one to report.
    let _ = id.fd().and_then(|fd| leave_in_kernel(fd, membership));
}

/// The kernel has joined: attaches the queue pair so that it receives.
#[inline(never)]
pub(crate) fn joined(id: &Id, membership: &Membership, ud: &abi::UdParam) -> Result<()> {
    if membership.join_flags() == SEND_ONLY_FULL_MEMBER {
        return Ok(());
    }
    let Some(queue_pair) = id.queue_pair() else { return Ok(()) };
    let group = ibv_gid { raw: ud.ah_attr.dgid };
    queue_pair.attach(&group, ud.ah_attr.dlid)?;
    *membership.attached.lock() = Some((group, ud.ah_attr.dlid));
    Ok(())
}

fn leave_in_kernel(fd: RawFd, membership: &Membership) -> Result<abi::EventsReported> {
    uapi::call(fd, abi::LeaveMcast { response: 0, id: membership.handle(), reserved: 0 })
}

/// Leaves the newest membership of a group; waits until its events are acknowledged. Where the
/// kernel refuses, the membership stays.
pub(crate) fn leave(id: &Id, address: &SocketAddress) -> Result<()> {
    let fd = id.fd()?;
    let (index, membership) = id
        .with(|state| {
            let memberships = &mut state.more.get_mut()?.memberships;
            let index = memberships.iter().rposition(|membership| membership.is_in(address))?;
            Some((index, memberships.remove(index)))
        })
        .ok_or_else(|| {
            fail!(EADDRNOTAVAIL, *id, "rdma_leave_multicast: the id is no member of {address}")
        })?;
    detach(id, membership);
    let answer = leave_in_kernel(fd, membership).inspect_err(|error| {
        id.refused("LEAVE_MCAST", *error);
        id.with(|state| {
            if let Some(more) = state.more.get_mut() {
                more.memberships.insert(index.min(more.memberships.len()), membership);
            }
        });
    })?;
    // A synchronous join leaves its event in the id.
    id.drop_kept_event_of(membership.key());
    let waited =
        membership.wait_for_acknowledgements(answer.events_reported, "rdma_leave_multicast");
    // An event that was fetched meanwhile may have attached it again.
    detach(id, membership);
    // SAFETY: taken out of the list by this call alone.
    unsafe {
        match waited {
            Ok(()) => membership.free(),
            Err(_) => membership.free_unless_held(),
        }
    }
    waited
}

/// Errors of the device are ignored: the kernel leaves the group anyway.
fn detach(id: &Id, membership: &Membership) {
    if let Some((group, lid)) = membership.attached.lock().take() {
        if let Some(queue_pair) = id.queue_pair() {
            let _ = queue_pair.detach(&group, lid);
        }
    }
}
