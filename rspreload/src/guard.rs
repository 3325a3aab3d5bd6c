//! Calls that librdmacm itself makes come back here through the dynamic linker. While a thread is
//! inside one of its functions, and in every thread that it starts, sockets are its own affair.
//!
//! # Safety
//! The start routine of a thread, called once with the argument that belongs to it.
#![allow(unsafe_code)]

use crate::real;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use std::cell::Cell;

thread_local! {
    // No destructor: reading it is safe in signal handlers and at thread exit.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The thread is inside librdmacm as long as this lives.
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

pub(crate) type Start = extern "C" fn(*mut c_void) -> *mut c_void;

struct Routine {
    start: Start,
    argument: *mut c_void,
}

extern "C" fn run_inside(routine: *mut c_void) -> *mut c_void {
    // SAFETY: made by `start_inside` for this thread alone.
    let routine = unsafe { Box::from_raw(routine.cast::<Routine>()) };
    DEPTH.set(1);
    (routine.start)(routine.argument)
}

/// pthread_create for a thread of librdmacm's.
///
/// # Safety
/// The caller's arguments of pthread_create.
pub(crate) unsafe fn start_inside(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let routine = Box::into_raw(Box::new(Routine { start, argument }));
    // SAFETY: the caller's; `routine` is for the new thread.
    let failed = unsafe { real::pthread_create(thread, attributes, run_inside, routine.cast()) };
    if failed != 0 {
        // SAFETY: there is no thread that would take it.
        drop(unsafe { Box::from_raw(routine) });
    }
    failed
}
