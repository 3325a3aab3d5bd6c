//! Multicast memberships of an id.
//!
//! # Safety
//! A membership is leaked by `join` and freed by whoever took it out of the id's list, after its key
//! is retired.
#![allow(unsafe_code)]

use crate::acknowledge::Acknowledgements;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::index::{Key, Table};
use crate::lock::Mutex;
use crate::memory::try_box;
use crate::sync_mode::Operation;
use crate::types::SocketAddress;
use crate::uapi::{self, abi};
use libc::c_void;
use rdma_sys::ibv_gid;
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use zerocopy::FromZeros;

/// Members of this kind only send: their queue pair is not attached.
const SEND_ONLY_FULL_MEMBER: u32 = 1;
const JOIN_FLAGS: std::ops::Range<u32> = 0..2;

/// By the number that the kernel gives back in multicast events.
pub(crate) static MEMBERSHIPS: Table<Membership> = Table::new();

pub(crate) struct Membership {
    key: Key,
    id_key: Key,
    context: Context,
    address: SocketAddress,
    join_flags: u32,
    handle: AtomicU32,
    /// A synchronous join that failed: left already, only its event is still around.
    left: AtomicBool,
    /// Group and LID that the queue pair is attached to.
    attached: Mutex<Option<(ibv_gid, u16)>>,
    acknowledgements: Acknowledgements,
}

/// The caller's pointer, only ever given back.
struct Context(*mut c_void);

// SAFETY: never followed here.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Membership {
    pub(crate) fn key(&self) -> Key {
        self.key
    }

    pub(crate) fn id_key(&self) -> u64 {
        self.id_key.raw()
    }

    pub(crate) fn context(&self) -> *mut c_void {
        self.context.0
    }

    pub(crate) fn acknowledge(&self) {
        self.acknowledgements.add();
    }
}

/// Asks to join; the event comes later, with `context` where others have private data.
pub(crate) fn join(
    id: &Id,
    address: &SocketAddress,
    join_flags: u32,
    context: *mut c_void,
) -> Result<()> {
    if !JOIN_FLAGS.contains(&join_flags) {
        return Err(Errno::EINVAL);
    }
    let fd = id.fd()?;
    let key = MEMBERSHIPS.reserve()?;
    let membership = try_box(Membership {
        key,
        id_key: id.key(),
        context: Context(context),
        address: *address,
        join_flags,
        handle: AtomicU32::new(0),
        left: AtomicBool::new(false),
        attached: Mutex::new(None),
        acknowledgements: Acknowledgements::default(),
    });
    let membership: &'static Membership = match membership {
        Ok(membership) => Box::leak(membership),
        Err(error) => {
            MEMBERSHIPS.retire(key);
            return Err(error);
        }
    };
    // SAFETY: leaked, freed after retirement.
    unsafe { MEMBERSHIPS.publish(key, NonNull::from(membership)) };
    let mut addr = abi::Storage::new_zeroed();
    let addr_size = addr.put(address);
    let room =
        id.with(|state| state.more.make()?.memberships.try_reserve(1).map_err(|_| Errno::ENOMEM));
    let answer = room.and_then(|()| {
        uapi::call(
            fd,
            abi::JoinMcast {
                response: 0,
                uid: key.raw(),
                id: id.handle(),
                addr_size,
                join_flags: join_flags as u16,
                addr,
            },
        )
    });
    match answer {
        Ok(answer) => {
            membership.handle.store(answer.id, Ordering::Relaxed);
            id.with(|state| {
                if let Some(more) = state.more.get_mut() {
                    more.memberships.push(membership);
                }
            });
            id.finish(Operation::JoinMulticast).inspect_err(|_| {
                membership.left.store(true, Ordering::Relaxed);
                // The join's own error is the one to tell.
                let _ = leave_in_kernel(fd, membership);
            })
        }
        Err(error) => {
            // SAFETY: in no list, and the kernel did not take it.
            unsafe { free(membership) };
            Err(error)
        }
    }
}

/// The kernel has joined: attaches the queue pair so that it receives.
pub(crate) fn joined(id: &Id, membership: &Membership, ud: &abi::UdParam) -> Result<()> {
    if membership.join_flags == SEND_ONLY_FULL_MEMBER {
        return Ok(());
    }
    let Some(queue_pair) = id.queue_pair() else { return Ok(()) };
    let group = ibv_gid { raw: ud.ah_attr.dgid };
    queue_pair.attach(&group, ud.ah_attr.dlid)?;
    *membership.attached.lock() = Some((group, ud.ah_attr.dlid));
    Ok(())
}

fn leave_in_kernel(fd: RawFd, membership: &Membership) -> Result<abi::EventsReported> {
    let handle = membership.handle.load(Ordering::Relaxed);
    uapi::call(fd, abi::LeaveMcast { response: 0, id: handle, reserved: 0 })
}

/// Leaves the newest membership of a group; waits until its events are acknowledged. Where the kernel
/// refuses, the membership stays.
pub(crate) fn leave(id: &Id, address: &SocketAddress) -> Result<()> {
    let fd = id.fd()?;
    let (place, membership) = id
        .with(|state| {
            let memberships = &mut state.more.get_mut()?.memberships;
            let place = memberships.iter().rposition(|membership| {
                membership.address.is_same(address) && !membership.left.load(Ordering::Relaxed)
            })?;
            Some((place, memberships.remove(place)))
        })
        .ok_or(Errno::EADDRNOTAVAIL)?;
    detach(id, membership);
    let answer = leave_in_kernel(fd, membership).inspect_err(|_| {
        id.with(|state| {
            if let Some(more) = state.more.get_mut() {
                more.memberships.insert(place.min(more.memberships.len()), membership);
            }
        });
    })?;
    // A synchronous join leaves its event in the id.
    id.drop_kept_event_of(membership.key);
    let waited =
        membership.acknowledgements.wait_for(answer.events_reported, "rdma_leave_multicast");
    // An event that was under way may have attached it once more.
    detach(id, membership);
    // SAFETY: taken out of the list by this call alone.
    unsafe {
        match waited {
            Ok(()) => free(membership),
            Err(_) => free_unless_held(membership),
        }
    }
    waited
}

/// The kernel's leave matters more than an error of the device here.
fn detach(id: &Id, membership: &Membership) {
    if let Some((group, lid)) = membership.attached.lock().take() {
        if let Some(queue_pair) = id.queue_pair() {
            let _ = queue_pair.detach(&group, lid);
        }
    }
}

/// The id is going; the kernel's side went with it.
pub(crate) fn forget_all(id: &Id) {
    let all = id.with(|state| Some(std::mem::take(&mut state.more.get_mut()?.memberships)));
    for membership in all.into_iter().flatten() {
        // SAFETY: taken out of the list by this call alone.
        unsafe { free(membership) };
    }
}

/// # Safety
/// In no list, and not used again by the caller.
unsafe fn free(membership: &'static Membership) {
    MEMBERSHIPS.retire(membership.key);
    // SAFETY: leaked by `join`; no event holds it any more.
    drop(unsafe { Box::from_raw((&raw const *membership).cast_mut()) });
}

/// As `free`, without waiting: a membership that an event still holds is left behind.
///
/// # Safety
/// As `free`.
unsafe fn free_unless_held(membership: &'static Membership) {
    if MEMBERSHIPS.try_retire(membership.key) {
        // SAFETY: as in `free`.
        drop(unsafe { Box::from_raw((&raw const *membership).cast_mut()) });
    }
}
