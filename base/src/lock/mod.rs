// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Locks of one word that the kernel waits on (futex(2)), as types of `lock_api`.
//!
//! Nothing is shared between two locks. Where sleepers stand in a list of the process, a fork's
//! child inherits the list but not the sleepers: its threads get their stacks, and whoever sleeps
//! or wakes next follows pointers into them.
//!
//! A taken lock has its holder's generation (`fork`) in the word. So a fork's child takes a lock
//! that was held when it was born: its holder is not here, and would never give it back. What it
//! was about to change may be changed by half; values that could not be used then are the parent's
//! alone, and a child makes its own (`per_process`).
//!
//! | file | what |
//! |---|---|
//! | `condvar` | waiting for something that is under a mutex |
//! | `raw_mutex`, `raw_rw_lock` | the locks proper |
//!
//! # Safety
//! A look at a lock's word.
#![allow(unsafe_code)]

mod condvar;
mod raw_mutex;
mod raw_rw_lock;

pub use condvar::Condvar;
pub use raw_mutex::RawMutex;
pub use raw_rw_lock::RawRwLock;

/// As std's, without poison and with a limit.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;

/// Many readers or one writer. Not for a thread that reads already: a writer may wait in between.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

/// In a fork's child: a thread that only the parent has held it at the fork, so what it protects may be
/// changed by half. To be asked before the lock is taken here.
#[must_use]
pub fn was_left_locked<T>(mutex: &Mutex<T>) -> bool {
    // SAFETY: only looked at.
    unsafe { mutex.raw() }.is_held_elsewhere()
}
