// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Forks of the process: how many there were, what a library does around them, and calls that none
//! may interrupt.
//!
//! # Safety
//! pthread_atfork, and getpid(2).
#![allow(unsafe_code)]

use crate::counters;
use crate::time::sleep;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;

/// Two more with each fork: locks keep a bit of their own below it. Never zero.
static STAMP: AtomicU32 = AtomicU32::new(2);

/// Another number after each fork, and after each loss of the library's descriptors.
static OWNERSHIP: AtomicU32 = AtomicU32::new(1);

/// Calls that no fork may interrupt, and forks that wait for them or are being made.
static CALLS: AtomicU32 = AtomicU32::new(0);
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Each side polls for the other in steps, and goes on after a second: then a thread hangs already.
const STEP: Duration = Duration::from_micros(200);
const STEPS: u32 = 5000;

/// Number of forks between the process that loaded the library and this one, from one on.
#[inline]
#[must_use]
pub fn generation() -> u32 {
    stamp() >> 1
}

/// The generation as locks store it: even, and not zero.
#[inline]
pub(crate) fn stamp() -> u32 {
    STAMP.load(Ordering::Relaxed)
}

/// What kernel objects are marked with: those with another number are not this process's, or not
/// behind the descriptors any more that they had.
#[inline]
pub(crate) fn ownership() -> u32 {
    OWNERSHIP.load(Ordering::Relaxed)
}

/// From now on the process owns nothing that it has made until now. `seen`: the ownership for which
/// that was found; another thread may have been first.
pub(crate) fn disown(seen: u32) {
    let next = seen.wrapping_add(1);
    let _ = OWNERSHIP.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed);
}

/// The calling process. The kernel is asked once in each generation.
#[must_use]
pub fn process_id() -> u32 {
    /// Stamp and number; no stamp is zero.
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    let (stamp, known) = (u64::from(stamp()), KNOWN.load(Ordering::Relaxed));
    if known >> 32 == stamp {
        return known as u32;
    }
    // SAFETY: no arguments.
    let process = unsafe { libc::getpid() }.unsigned_abs();
    KNOWN.store(stamp << 32 | u64::from(process), Ordering::Relaxed);
    process
}

/// What a library does around a fork. In the child other threads' locks may be taken, and malloc
/// may not be used.
pub struct Hooks {
    pub before: fn(),
    /// After the generation is the child's.
    pub in_child: fn(),
    pub in_parent: fn(),
}

static HOOKS: AtomicPtr<Hooks> = AtomicPtr::new(ptr::null_mut());

/// For a library, once, when it is loaded or used before that.
pub fn set_hooks(hooks: &'static Hooks) {
    HOOKS.store(ptr::from_ref(hooks).cast_mut(), Ordering::Release);
    register();
}

fn hooks() -> Option<&'static Hooks> {
    // SAFETY: NULL, or what `set_hooks` was given.
    unsafe { HOOKS.load(Ordering::Acquire).as_ref() }
}

/// No fork of this process happens while this lives, so it must be short. For calls into libraries
/// that hold locks meanwhile: a child made then would find them locked for ever.
pub struct HeldOff(());

#[must_use]
pub fn hold_off() -> HeldOff {
    for _ in 0..STEPS {
        CALLS.fetch_add(1, Ordering::SeqCst);
        if FORKS.load(Ordering::SeqCst) == 0 {
            return HeldOff(());
        }
        CALLS.fetch_sub(1, Ordering::SeqCst);
        sleep(STEP);
    }
    CALLS.fetch_add(1, Ordering::SeqCst);
    HeldOff(())
}

impl Drop for HeldOff {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

extern "C" fn before() {
    if let Some(hooks) = hooks() {
        (hooks.before)();
    }
    FORKS.fetch_add(1, Ordering::SeqCst);
    for _ in 0..STEPS {
        if CALLS.load(Ordering::SeqCst) == 0 {
            return;
        }
        sleep(STEP);
    }
}

extern "C" fn in_parent() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
    if let Some(hooks) = hooks() {
        (hooks.in_parent)();
    }
}

extern "C" fn in_child() {
    counters::in_child();
    // The threads that counted are not here.
    CALLS.store(0, Ordering::SeqCst);
    FORKS.store(0, Ordering::SeqCst);
    STAMP.fetch_add(2, Ordering::Relaxed);
    OWNERSHIP.fetch_add(1, Ordering::Relaxed);
    if let Some(hooks) = hooks() {
        (hooks.in_child)();
    }
}

extern "C" fn register() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        // SAFETY: the handlers are never unloaded: the library is linked with -z nodelete. A failed
        // registration (no memory) leaves the rules unenforced, as they are in the C library.
        let _ = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    }
}

/// Run when the library is loaded, before any call can make something to inherit.
#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = register;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::lock::Mutex;
    use core::sync::atomic::AtomicU32;

    /// What a fork's child says of a question; false also where there is no child.
    pub(crate) fn in_a_child(question: impl FnOnce() -> bool) -> bool {
        // One at a time: hooks are everybody's. (A child has it for itself.)
        static FORKING: Mutex<()> = Mutex::new(());
        let _forking = FORKING.lock();
        // SAFETY: the child does nothing but answer, and ends at once.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(if question() { 0 } else { 1 });
            }
            let mut status = -1;
            libc::waitpid(child, &raw mut status, 0) == child && status == 0
        }
    }

    #[test]
    fn each_process_has_a_generation() {
        let own = generation();
        assert!(in_a_child(|| generation() == own + 1 && in_a_child(|| generation() == own + 2)));
        assert_eq!(generation(), own);
    }

    #[test]
    fn each_process_has_its_number() {
        // SAFETY: no arguments.
        let asked = || unsafe { libc::getpid() }.unsigned_abs();
        let own = process_id();
        assert_eq!(own, asked());
        assert!(in_a_child(|| process_id() == asked() && process_id() != own));
        assert_eq!(process_id(), own);
    }

    #[test]
    fn hooks_are_called_around_a_fork() {
        static CALLED: AtomicU32 = AtomicU32::new(0);
        static OWN: Hooks = Hooks {
            before: || CALLED.store(1, Ordering::Relaxed),
            in_child: || CALLED.store(10 + generation(), Ordering::Relaxed),
            in_parent: || CALLED.store(2, Ordering::Relaxed),
        };
        set_hooks(&OWN);
        let own = generation();
        assert!(in_a_child(|| CALLED.load(Ordering::Relaxed) == 11 + own));
        assert_eq!(CALLED.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_fork_waits_for_a_call_that_holds_it_off() {
        static ENDED: AtomicU32 = AtomicU32::new(0);
        let held = hold_off();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                sleep(Duration::from_millis(20));
                ENDED.store(1, Ordering::SeqCst);
                drop(held);
            });
            assert!(in_a_child(|| ENDED.load(Ordering::SeqCst) == 1));
        });
    }
}
