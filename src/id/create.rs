//! Makes and ends ids.
//!
//! # Safety
//! An id is boxed, published under its key, and freed by `destroy` after its key is retired.
#![allow(unsafe_code)]

use super::{IDS, Id, State};
use crate::acknowledge::Acknowledgements;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::event::{Channel, DeviceFile, Message};
use crate::index::Key;
use crate::lock::Mutex;
use crate::memory::try_box;
use crate::multicast;
use crate::types::{RDMA_PS_IPOIB, RDMA_PS_UDP, rdma_cm_id, rdma_event_channel, rdma_port_space};
use crate::uapi::{self, abi};
use libc::c_void;
use rdma_sys::ibv_qp_type;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Makes an id in the kernel and here. Without a channel it gets one of its own and is synchronous.
pub(crate) fn create(
    channel: Option<&Channel>,
    context: *mut c_void,
    port_space: rdma_port_space,
    qp_type: ibv_qp_type::Type,
) -> Result<&'static Id> {
    let kernel_port_space = u16::try_from(port_space).map_err(|_| Errno::EINVAL)?;
    let kernel_qp_type = u8::try_from(qp_type).map_err(|_| Errno::EINVAL)?;
    let own_channel = match channel {
        Some(_) => None,
        None => Some(Channel::create()?),
    };
    let used = match (channel, &own_channel) {
        (Some(channel), _) => channel,
        (None, Some(own)) => own,
        (None, None) => return Err(Errno::EINVAL),
    };
    let fd = used.file().fd()?;
    let id = allocate(used.as_c(), Counted::clone(used.file()), context, port_space, qp_type)?;
    id.synchronous.store(own_channel.is_some(), Ordering::Release);
    id.with(|state| state.own_channel = own_channel);
    let made = uapi::call(
        fd,
        abi::CreateId {
            uid: id.key.raw(),
            response: 0,
            ps: kernel_port_space,
            qp_type: kernel_qp_type,
            reserved: [0; 5],
        },
    );
    match made {
        Ok(answer) => {
            id.handle.store(answer.id, Ordering::Relaxed);
            Ok(id)
        }
        Err(error) => {
            // SAFETY: nobody else has seen the id.
            unsafe { free(id) };
            Err(error)
        }
    }
}

/// The queue pair type that a port space means where none is given.
pub(crate) fn default_qp_type(port_space: rdma_port_space) -> ibv_qp_type::Type {
    match port_space {
        RDMA_PS_IPOIB | RDMA_PS_UDP => ibv_qp_type::IBV_QPT_UD,
        _ => ibv_qp_type::IBV_QPT_RC,
    }
}

/// The id for a connection request; the kernel has made its side already.
pub(crate) fn child_of(listener: &Id, handle: u32) -> Result<&'static Id> {
    let channel = listener.public(|id| id.channel);
    let child = allocate(
        channel,
        listener.file(),
        listener.user_context(),
        listener.port_space(),
        listener.qp_type(),
    )?;
    child.handle.store(handle, Ordering::Relaxed);
    let uses_ib_addresses = listener.with(|state| state.uses_ib_addresses);
    child.with(|state| {
        state.is_child = true;
        state.uses_ib_addresses = uses_ib_addresses;
    });
    Ok(child)
}

fn allocate(
    channel: *mut rdma_event_channel,
    file: Counted<DeviceFile>,
    context: *mut c_void,
    port_space: rdma_port_space,
    qp_type: ibv_qp_type::Type,
) -> Result<&'static Id> {
    let mut room = try_box(MaybeUninit::<Id>::uninit())?;
    let key = IDS.reserve()?;
    let place = room.as_mut_ptr();
    // SAFETY: every field, in its place. The public part is pointers, integers and addresses, valid when
    // zero.
    let id: &'static mut Id = unsafe {
        let public: *mut rdma_cm_id = (&raw mut (*place).public).cast();
        public.write_bytes(0, 1);
        (*public).channel = channel;
        (*public).context = context;
        (*public).ps = port_space;
        (*public).qp_type = qp_type;
        (&raw mut (*place).key).write(key);
        (&raw mut (*place).handle).write(AtomicU32::new(0));
        (&raw mut (*place).file).write(Mutex::new(file));
        (&raw mut (*place).synchronous).write(AtomicBool::new(false));
        (&raw mut (*place).acknowledgements).write(Acknowledgements::default());
        (&raw mut (*place).pins).write(super::Pins::default());
        (&raw mut (*place).state).write(Mutex::new(State::default()));
        Box::leak(room.assume_init())
    };
    // SAFETY: leaked, and freed only after its key is retired.
    unsafe { IDS.publish(key, NonNull::from(&mut *id)) };
    Ok(id)
}

/// Waits for whoever still holds the id, then frees it.
///
/// A synchronous id that the library makes for itself and destroys on drop.
pub(crate) struct Temporary(&'static Id);

impl Temporary {
    pub(crate) fn create(
        port_space: rdma_port_space,
        qp_type: ibv_qp_type::Type,
    ) -> Result<Temporary> {
        create(None, std::ptr::null_mut(), port_space, qp_type).map(Temporary)
    }
}

impl Deref for Temporary {
    type Target = Id;

    fn deref(&self) -> &Id {
        self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // SAFETY: borrows of the id end before its owner does. There is nobody to tell of a failure.
        let _ = unsafe { self.0.destroy() };
    }
}

/// # Safety
/// The id is not used after this.
unsafe fn free(id: &'static Id) {
    multicast::forget_all(id);
    IDS.retire(id.key);
    // SAFETY: made by `allocate`; its key is retired, so nothing in the library refers to it.
    drop(unsafe { Box::from_raw((&raw const *id).cast_mut()) });
}

/// As `free`, without waiting: an id that an event still holds is left behind.
///
/// # Safety
/// The caller does not use the id after this.
unsafe fn free_unless_held(id: &'static Id) {
    if IDS.try_retire(id.key) {
        multicast::forget_all(id);
        // SAFETY: as in `free`.
        drop(unsafe { Box::from_raw((&raw const *id).cast_mut()) });
    }
}

impl Id {
    /// Ends the id: no more events, then waits until those that were reported are acknowledged.
    ///
    /// The id is gone afterwards whatever happens; an error tells that the kernel did not know it, or
    /// that an event of it was not given back in time.
    ///
    /// # Safety
    /// The id is not used after this.
    pub(crate) unsafe fn destroy(&'static self) -> Result<()> {
        let file = self.file();
        let reported = if file.is_usable() {
            file.fd().and_then(|fd| {
                uapi::call(fd, abi::DestroyId { response: 0, id: self.handle(), reserved: 0 })
            })
        } else {
            // The kernel's id went with the channel, or is the business of the parent process.
            if !file.is_owned() {
                // What the parent has of the device must not be closed here.
                std::mem::forget(self.with(|state| state.binding.take()));
            }
            // SAFETY: by contract.
            unsafe { self.give_up() };
            return Ok(());
        };
        match reported {
            Ok(answer) => {
                self.drop_kept_event();
                let waited =
                    self.acknowledgements.wait_for(answer.events_reported, "rdma_destroy_id");
                // SAFETY: by contract.
                unsafe {
                    match waited {
                        Ok(()) => free(self),
                        Err(_) => free_unless_held(self),
                    }
                }
                waited
            }
            Err(error) => {
                // SAFETY: by contract.
                unsafe { self.give_up() };
                Err(error)
            }
        }
    }

    /// # Safety
    /// The caller does not use the id after this.
    unsafe fn give_up(&'static self) {
        self.drop_kept_event();
        // SAFETY: by contract.
        unsafe { free_unless_held(self) };
    }

    /// As `drop_kept_event`, if it is an event of this membership.
    pub(crate) fn drop_kept_event_of(&self, membership: Key) {
        let kept = self.public(|id| id.event);
        // SAFETY: NULL or the event that a synchronous call kept.
        if unsafe { Message::is_of_membership(kept, membership) } {
            self.drop_kept_event();
        }
    }

    /// Gives back the event that the last synchronous call left in `id->event`.
    pub(crate) fn drop_kept_event(&self) {
        // SAFETY: NULL or the event that a synchronous call kept.
        drop(unsafe { Message::from_c(self.take_event()) });
    }
}
