// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Which process this is: children of fork and of vfork, and the parent's end.
//!
//! # Safety
//! System calls without pointers.
#![allow(unsafe_code)]

use base::time::Instant;
use core::sync::atomic::{AtomicI32, Ordering};
use core::time::Duration;

static PROCESS: AtomicI32 = AtomicI32::new(0);
static PARENT: AtomicI32 = AtomicI32::new(0);

/// How long a child waits for the end of a parent that makes it a daemon.
const PARENT_EXIT_TIMEOUT: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(2);

/// When the library is loaded.
pub(crate) fn at_load() {
    // SAFETY: no arguments.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

/// In a child of fork. Async-signal-safe.
pub(crate) fn in_child() {
    PARENT.store(PROCESS.load(Ordering::Relaxed), Ordering::Relaxed);
    at_load();
}

/// False in a child of vfork, which runs in its parent's memory: its descriptors are its own, but
/// the tables are the parent's.
pub(crate) fn is_own_memory() -> bool {
    // SAFETY: no arguments.
    PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

/// Whether the process that forked this one has ended. With `waits`, gives it some time to end.
pub(crate) fn has_lost_parent(waits: bool) -> bool {
    let deadline = Instant::now() + if waits { PARENT_EXIT_TIMEOUT } else { Duration::ZERO };
    // SAFETY: no arguments.
    while PARENT.load(Ordering::Relaxed) == unsafe { libc::getppid() } {
        if Instant::now() >= deadline {
            return false;
        }
        base::time::sleep(STEP);
    }
    true
}
