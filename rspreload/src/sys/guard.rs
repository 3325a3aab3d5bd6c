// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The re-entry guard. librdmacm's own calls of libc arrive in this library, too. While a thread is
//! inside a function of librdmacm, and in every thread that librdmacm starts, they go to libc
//! unchanged.
//!
//! # Safety
//! The start routine of a thread, called once with the argument that belongs to it.
#![allow(unsafe_code)]

use super::original::{self, StartRoutine};
use alloc::boxed::Box;
use base::memory::try_box;
use base::per_thread::ThreadNumber;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};

/// How many functions of librdmacm the thread is inside of.
static DEPTH: ThreadNumber = ThreadNumber::new();

/// Makes the thread-specific key. The first keys of a process need no memory in any thread.
pub(crate) fn at_load() {
    DEPTH.set(0);
}

/// While this lives, the thread is inside librdmacm.
pub(crate) struct Inside(());

impl Inside {
    pub(crate) fn enter() -> Inside {
        DEPTH.set(DEPTH.get() + 1);
        Inside(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

pub(crate) fn is_inside() -> bool {
    DEPTH.get() > 0
}

struct Routine {
    start: StartRoutine,
    argument: *mut c_void,
}

extern "C" fn run_inside(routine: *mut c_void) -> *mut c_void {
    // SAFETY: made by `start_inside` for this thread alone.
    let routine = unsafe { Box::from_raw(routine.cast::<Routine>()) };
    DEPTH.set(1);
    (routine.start)(routine.argument)
}

/// pthread_create for a thread that librdmacm starts.
///
/// # Safety
/// The caller's arguments of pthread_create.
pub(crate) unsafe fn start_inside(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: StartRoutine,
    argument: *mut c_void,
) -> c_int {
    let Ok(routine) = try_box(Routine { start, argument }) else { return libc::EAGAIN };
    let routine = Box::into_raw(routine);
    // SAFETY: the caller's; `routine` is for the new thread.
    let failed =
        unsafe { original::pthread_create(thread, attributes, run_inside, routine.cast()) };
    if failed != 0 {
        // SAFETY: there is no thread that would take it.
        drop(unsafe { Box::from_raw(routine) });
    }
    failed
}
