// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The lock of many readers or one writer.
//!
//! # Safety
//! The lower half of the word counts the readers of a process, or says that there is a writer; both
//! keep the other out. The upper half is the stamp of that process (`fork::stamp`), or zero before
//! the first one.
#![allow(unsafe_code)]

use crate::deadline::Deadline;
use crate::fork::stamp;
use crate::futex::{sleep, wake};
use core::sync::atomic::{AtomicU64, Ordering};
use lock_api::GuardNoSend;

const WRITER: u32 = 1 << 31;
/// Somebody may sleep. Readers that come then wait too, so that a writer is not kept out for ever.
const SLEEPER: u32 = 1 << 30;

/// Who is in, and of which process.
#[derive(Debug)]
pub struct RawRwLock(AtomicU64);

fn lower(word: u64) -> u32 {
    word as u32
}

/// Nobody is in, the last one was of this process.
#[inline]
fn idle() -> u64 {
    u64::from(stamp()) << 32
}

/// Those who are in, as this process sees them: of others there is nobody.
fn users(word: u64) -> u32 {
    if word & !u64::from(u32::MAX) == idle() { lower(word) } else { 0 }
}

/// The lower half with a reader more, unless there is or waits a writer.
fn with_reader(users: u32) -> Option<u32> {
    (users & (WRITER | SLEEPER) == 0).then_some(users + 1)
}

fn with_writer(users: u32) -> Option<u32> {
    (users & !SLEEPER == 0).then_some(users | WRITER)
}

type Step = fn(u32) -> Option<u32>;

impl RawRwLock {
    /// Most find nobody in.
    #[inline]
    fn enter_idle(&self, users: u32) -> bool {
        let idle = idle();
        let then = idle | u64::from(users);
        self.0.compare_exchange(idle, then, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn try_enter(&self, step: Step) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        while let Some(users) = step(users(word)) {
            let then = idle() | u64::from(users);
            match self.0.compare_exchange_weak(word, then, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn enter(&self, step: Step) {
        while !self.try_enter(step) {
            self.wait_for_change();
        }
    }

    /// The half of the word that is waited on.
    fn futex(&self) -> *const u32 {
        let halves: *const u32 = self.0.as_ptr().cast_const().cast();
        halves.wrapping_add(usize::from(cfg!(target_endian = "big")))
    }

    fn wait_for_change(&self) {
        let before = self.0.fetch_or(SLEEPER.into(), Ordering::Relaxed);
        // Whoever was in is the one to wake us.
        if users(before) & !SLEEPER != 0 {
            // SAFETY: half of a live word.
            unsafe { sleep(self.futex(), lower(before) | SLEEPER, Deadline::Never) };
        } else {
            self.leave_last(before | u64::from(SLEEPER));
        }
    }

    /// Nobody is in any more, unless the word has changed.
    #[cold]
    fn leave_last(&self, word: u64) {
        if self.0.compare_exchange(word, idle(), Ordering::Release, Ordering::Relaxed).is_ok() {
            wake(self.futex(), libc::c_int::MAX);
        }
    }
}

// SAFETY: the word lets in readers, or one writer.
unsafe impl lock_api::RawRwLock for RawRwLock {
    // A value for each lock, not one that they share.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: RawRwLock = RawRwLock(AtomicU64::new(0));

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        if !self.enter_idle(1) {
            self.enter(with_reader);
        }
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.enter_idle(1) || self.try_enter(with_reader)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        let before = self.0.fetch_sub(1, Ordering::Release);
        if lower(before) == SLEEPER + 1 {
            self.leave_last(before - 1);
        }
    }

    #[inline]
    fn lock_exclusive(&self) {
        if !self.enter_idle(WRITER) {
            self.enter(with_writer);
        }
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.enter_idle(WRITER) || self.try_enter(with_writer)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        if lower(self.0.swap(idle(), Ordering::Release)) & SLEEPER != 0 {
            wake(self.futex(), libc::c_int::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fork::tests::in_a_child;
    use crate::lock::RwLock;
    use core::sync::atomic::Ordering;
    use std::thread;

    #[test]
    fn readers_see_no_half_of_a_writer() {
        static PAIR: RwLock<(u64, u64)> = RwLock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let mut pair = PAIR.write();
                        pair.0 += 1;
                        if pair.0 % 500 == 0 {
                            thread::yield_now();
                        }
                        pair.1 += 1;
                    }
                });
                scope.spawn(|| {
                    while PAIR.read().0 < 10_000 {
                        let pair = PAIR.read();
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
        });
        // SAFETY: only read.
        assert_eq!(super::lower(unsafe { PAIR.raw() }.0.load(Ordering::Relaxed)), 0);
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let lock = RwLock::new(1);
        let first = lock.read();
        assert!(lock.try_read().is_some() && lock.try_write().is_none());
        drop(first);
        let writer = lock.write();
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        drop(writer);
        assert!(lock.try_write().is_some());
    }

    #[test]
    fn a_child_takes_what_a_fork_lost() {
        let lock = RwLock::new(1);
        let writer = lock.write();
        assert!(in_a_child(|| *lock.read() == 1 && lock.try_write().is_some()));
        drop(writer);
        let reader = lock.read();
        assert!(in_a_child(|| {
            *lock.write() += 1;
            *lock.read() == 2 && lock.try_write().is_some()
        }));
        drop(reader);
        assert!(lock.try_write().is_some());
    }
}
