// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Sets of rsockets: the functions repoll_* of librdmacm. They are looked up at run time, because
//! the C library has them only since version 65.
//!
//! # Safety
//! Prototypes of <rdma/rsocket.h>.
#![allow(unsafe_code)]

use super::guard::Inside;
use super::librdmacm::checked;
use super::original::optional;
use base::errno::{Errno, Result};
use base::once::OnceLock;
use libc::{c_int, c_void, epoll_event};

type Control = unsafe extern "C" fn(c_int, c_int, c_int, *mut epoll_event) -> c_int;
type Wait = unsafe extern "C" fn(c_int, *mut epoll_event, c_int, c_int) -> c_int;
type Create = unsafe extern "C" fn(c_int) -> c_int;

struct Sets {
    create: Create,
    control: Control,
    wait: Wait,
}

fn sets() -> Result<&'static Sets> {
    static SETS: OnceLock<Option<Sets>> = OnceLock::new();
    let found = SETS.get_or_init(|| {
        let [create, control, wait] =
            [c"repoll_create", c"repoll_ctl", c"repoll_wait"].map(optional);
        if create.is_null() || control.is_null() || wait.is_null() {
            return None;
        }
        // SAFETY: the functions of those names have these prototypes.
        Some(unsafe {
            Sets {
                create: core::mem::transmute::<*mut c_void, Create>(create),
                control: core::mem::transmute::<*mut c_void, Control>(control),
                wait: core::mem::transmute::<*mut c_void, Wait>(wait),
            }
        })
    });
    found.as_ref().ok_or(Errno::ENOSYS)
}

/// Whether librdmacm has sets, so that rsockets can be in epoll instances.
pub(crate) fn is_available() -> bool {
    sets().is_ok()
}

/// Makes a set, whose descriptor can be polled; ENOSYS on old libraries.
pub(crate) fn create() -> Result<c_int> {
    let sets = sets()?;
    let _inside = Inside::enter();
    // SAFETY: no pointers.
    checked(unsafe { (sets.create)(libc::EPOLL_CLOEXEC) })
}

/// Adds, changes or removes an rsocket.
pub(crate) fn control(
    set: c_int,
    operation: c_int,
    socket: c_int,
    events: u32,
    data: u64,
) -> Result<()> {
    let sets = sets()?;
    let _inside = Inside::enter();
    let mut event = epoll_event { events, u64: data };
    // SAFETY: a live event.
    match unsafe { (sets.control)(set, operation, socket, &raw mut event) } {
        0 => Ok(()),
        -1 => Err(Errno::last()),
        // The C library returns the error number.
        error => Err(Errno::of(error)),
    }
}

/// The events of a set now, without waiting.
pub(crate) fn wait(set: c_int, events: &mut [epoll_event]) -> Result<usize> {
    let sets = sets()?;
    let most = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
    let _inside = Inside::enter();
    // SAFETY: a live array of that length.
    let count = unsafe { (sets.wait)(set, events.as_mut_ptr(), most, 0) };
    match usize::try_from(count) {
        Ok(count) if count <= events.len() => Ok(count),
        Ok(error) => Err(Errno::of(error as i32)),
        Err(_) => Err(Errno::last()),
    }
}
