// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Destroying ids.
//!
//! # Safety
//! An id is freed here, once, after its key is retired.
#![allow(unsafe_code)]

use super::cm_id::{IDS, Id};
use crate::lane::Phase;
use crate::uapi::{self, abi};
use alloc::boxed::Box;
use base::errno::Result;
use probe::probe;

impl Id {
    /// Ends the id: no more events, then waits until those that were reported are acknowledged.
    ///
    /// The id is not valid afterwards, even on error: the kernel did not know it, or an event of it
    /// was not acknowledged in time.
    ///
    /// # Safety
    /// The id is not used after this.
    pub(crate) unsafe fn destroy(&'static self) -> Result<()> {
        probe!(rdmacm, id__destroy, self.as_c());
        if !self.lane.is_in(Phase::Close) {
            self.lane.enter(Phase::Close, &[]);
        }
        let file = self.file();
        let reported = if file.is_usable() {
            file.fd().and_then(|fd| {
                uapi::call(fd, abi::DestroyId { response: 0, id: self.handle(), reserved: 0 })
            })
        } else {
            // The kernel's id went with the channel, or belongs to the parent process.
            if !file.is_owned() {
                // What the parent has of the device must not be closed here.
                core::mem::forget(self.with(|state| state.binding.take()));
            }
            // SAFETY: by contract.
            unsafe { self.abandon() };
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
                self.refused("DESTROY_ID", error);
                // SAFETY: by contract.
                unsafe { self.abandon() };
                Err(error)
            }
        }
    }

    /// # Safety
    /// The caller does not use the id after this.
    unsafe fn abandon(&'static self) {
        self.drop_kept_event();
        // SAFETY: by contract.
        unsafe { free_unless_held(self) };
    }
}

/// Waits until no event holds the id, then frees it.
///
/// # Safety
/// The id is not used after this.
pub(super) unsafe fn free(id: &'static Id) {
    free_memberships(id);
    IDS.retire(id.key());
    id.lane.end();
    // SAFETY: made by `create`; its key is retired, so nothing in the library refers to it.
    drop(unsafe { Box::from_raw((&raw const *id).cast_mut()) });
}

/// As `free`, without waiting: an id that an event still holds is left behind.
///
/// # Safety
/// The caller does not use the id after this.
unsafe fn free_unless_held(id: &'static Id) {
    if IDS.try_retire(id.key()) {
        free_memberships(id);
        id.lane.end();
        // SAFETY: as in `free`.
        drop(unsafe { Box::from_raw((&raw const *id).cast_mut()) });
    }
}

/// The kernel's memberships went with its id.
fn free_memberships(id: &Id) {
    let taken = id.with(|state| Some(core::mem::take(&mut state.more.get_mut()?.memberships)));
    let Some(memberships) = taken else { return };
    for membership in memberships {
        // SAFETY: taken out of the list by this call alone.
        unsafe { membership.free() };
    }
}
