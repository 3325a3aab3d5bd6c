// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A table of live objects by 64-bit key, for the numbers that the kernel hands back.
//!
//! Kernel answers carry a number that the library chose. It is a key, never a pointer: a stale,
//! zero or invalid key finds nothing. Looking up and releasing take no lock and never wait.
//! Retiring waits until the object has no holds; slots are never freed, so a late release is always
//! safe.
//!
//! # Safety
//! A slot's pointer is dereferenced only while a hold on a live slot of the right generation is
//! counted in its state word, and `retire` returns only after the last hold is gone.
#![allow(unsafe_code)]

use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::futex;
use base::segments::{Segments, Zeroed};
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Room for 67 million objects.
const SEGMENTS: usize = 20;
const LIVE: u64 = 1 << 31;
const HOLDS: u64 = LIVE - 1;

/// Generation in the upper half, slot number plus one in the lower: never zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(u64);

impl Key {
    /// The number to give to the kernel.
    pub(crate) fn raw(self) -> u64 {
        self.0
    }

    fn generation(self) -> u64 {
        self.0 >> 32
    }

    /// Slot number plus one.
    fn slot(self) -> u32 {
        self.0 as u32
    }
}

struct Slot<T> {
    /// Generation (32 bits), live (1), number of holds (31).
    state: AtomicU64,
    /// The object, or for a free slot the number of the next one, plus one, instead of an address.
    value: AtomicPtr<T>,
}

// SAFETY: generation zero, not live, no holds, no address.
unsafe impl<T> Zeroed for Slot<T> {}

impl<T> Slot<T> {
    /// The half of the state that has the holds: what `retire` sleeps on.
    fn holds(&self) -> *const u32 {
        let halves: *const u32 = self.state.as_ptr().cast_const().cast();
        halves.wrapping_add(usize::from(cfg!(target_endian = "big")))
    }
}

/// See the module text. Meant for statics: slots are never freed.
pub(crate) struct Table<T> {
    slots: Segments<Slot<T>, SEGMENTS>,
    /// Head of the free list: a change counter against ABA (32 bits) and a slot number plus one.
    free: AtomicU64,
    /// Slots handed out so far, plus one.
    used: AtomicU32,
}

/// Keeps an object of the table alive.
pub(crate) struct Hold<T: 'static> {
    slot: &'static Slot<T>,
}

// SAFETY: a Hold gives shared access to a T from any thread that has it.
unsafe impl<T: Sync> Send for Hold<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Hold<T> {}

impl<T> Table<T> {
    pub(crate) const fn new() -> Table<T> {
        Table { slots: Segments::new(), free: AtomicU64::new(0), used: AtomicU32::new(1) }
    }

    /// By slot number plus one.
    fn slot(&'static self, slot: u32) -> Option<&'static Slot<T>> {
        self.slots.get(slot.checked_sub(1)? as usize)
    }

    /// Takes a free slot. Nothing is found under its key before `publish`.
    pub(crate) fn reserve(&'static self) -> Result<Key> {
        let slot_number = match self.pop_free() {
            Some(number) => number,
            None => {
                let number = self.used.fetch_add(1, Ordering::Relaxed);
                if number == u32::MAX {
                    self.used.fetch_sub(1, Ordering::Relaxed);
                    return Err(Errno::ENOMEM);
                }
                number
            }
        };
        // Without memory the number is lost for this process; numbers are plenty.
        let slot = self.slots.get_or_grow((slot_number as usize).wrapping_sub(1))?;
        let generation = (slot.state.load(Ordering::Relaxed) >> 32).wrapping_add(1) as u32;
        slot.state.store(u64::from(generation) << 32, Ordering::Relaxed);
        Ok(Key((u64::from(generation) << 32) | u64::from(slot_number)))
    }

    /// Lets `acquire` find `value` under `key`.
    ///
    /// # Safety
    /// `key` is reserved and not yet published; `value` stays valid until `retire(key)` returns.
    pub(crate) unsafe fn publish(&'static self, key: Key, value: NonNull<T>) {
        if let Some(slot) = self.slot(key.slot()) {
            slot.value.store(value.as_ptr(), Ordering::Relaxed);
            slot.state.fetch_or(LIVE, Ordering::Release);
        }
    }

    /// Finds a live object and keeps it alive.
    pub(crate) fn acquire(&'static self, key: u64) -> Option<Hold<T>> {
        let key = Key(key);
        let slot = self.slot(key.slot())?;
        let mut state = slot.state.load(Ordering::Acquire);
        loop {
            if state >> 32 != key.generation() || state & LIVE == 0 || state & HOLDS == HOLDS {
                return None;
            }
            match slot.state.compare_exchange_weak(
                state,
                state + 1,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        Some(Hold { slot })
    }

    /// Ends a key: no new holds, then waits for the last one, then frees the slot.
    pub(crate) fn retire(&'static self, key: Key) {
        let Some(slot) = self.slot(key.slot()) else { return };
        let mut state = slot.state.fetch_and(!LIVE, Ordering::AcqRel) & !LIVE;
        while state & HOLDS != 0 {
            // SAFETY: half of a slot, which lives for ever.
            unsafe { futex::sleep(slot.holds(), state as u32, Deadline::Never) };
            state = slot.state.load(Ordering::Acquire);
        }
        self.push_free(key.slot(), slot);
    }

    /// Ends a key without waiting. False when the object is still held: then it must stay valid,
    /// and its slot is not used again.
    pub(crate) fn try_retire(&'static self, key: Key) -> bool {
        let Some(slot) = self.slot(key.slot()) else { return true };
        let free = slot.state.fetch_and(!LIVE, Ordering::AcqRel) & HOLDS == 0;
        if free {
            self.push_free(key.slot(), slot);
        }
        free
    }

    /// Calls `found` for each live object until it returns true. For rare cases only.
    pub(crate) fn find(&'static self, mut found: impl FnMut(&T) -> bool) -> Option<Hold<T>> {
        (1..self.used.load(Ordering::Acquire)).find_map(|number| {
            let state = self.slot(number)?.state.load(Ordering::Acquire);
            let hold = self.acquire((state & !(LIVE | HOLDS)) | u64::from(number))?;
            found(&hold).then_some(hold)
        })
    }

    fn pop_free(&'static self) -> Option<u32> {
        let mut head = self.free.load(Ordering::Acquire);
        loop {
            let number = head as u32;
            // For a slot that was taken in between this is an address, and the head has changed.
            let next = self.slot(number)?.value.load(Ordering::Relaxed).addr() as u32;
            match self.free.compare_exchange_weak(
                head,
                Self::changed(head, next),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(number),
                Err(now) => head = now,
            }
        }
    }

    fn push_free(&'static self, number: u32, slot: &Slot<T>) {
        let mut head = self.free.load(Ordering::Relaxed);
        loop {
            let next = ptr::without_provenance_mut(head as u32 as usize);
            slot.value.store(next, Ordering::Relaxed);
            match self.free.compare_exchange_weak(
                head,
                Self::changed(head, number),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn changed(head: u64, number: u32) -> u64 {
        ((head >> 32).wrapping_add(1) << 32) | u64::from(number)
    }
}

impl<T> Clone for Hold<T> {
    fn clone(&self) -> Hold<T> {
        // Holds are far fewer than the counter can count: each belongs to an event in memory.
        self.slot.state.fetch_add(1, Ordering::Relaxed);
        Hold { slot: self.slot }
    }
}

impl<T> Deref for Hold<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the hold is counted on a slot that was live: its value was published, and stays
        // valid as `retire` has not returned.
        unsafe { &*self.slot.value.load(Ordering::Relaxed) }
    }
}

impl<T> Drop for Hold<T> {
    fn drop(&mut self) {
        let before = self.slot.state.fetch_sub(1, Ordering::AcqRel);
        if before & HOLDS == 1 && before & LIVE == 0 {
            futex::wake(self.slot.holds(), libc::c_int::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    fn publish(table: &'static Table<u64>, value: u64) -> (Key, NonNull<u64>) {
        let key = table.reserve().unwrap_or(Key(0));
        let value = NonNull::from(Box::leak(Box::new(value)));
        // SAFETY: leaked for the test.
        unsafe { table.publish(key, value) };
        (key, value)
    }

    #[test]
    fn unknown_keys_find_nothing() {
        static TABLE: Table<u64> = Table::new();
        for key in [0, 1, u64::MAX, 1 << 32, 0xDEAD_BEEF_0000_0001] {
            assert!(TABLE.acquire(key).is_none());
        }
        let (key, _) = publish(&TABLE, 7);
        assert_eq!(TABLE.acquire(key.raw()).map(|hold| *hold), Some(7));
        TABLE.retire(key);
        assert!(TABLE.acquire(key.raw()).is_none());
    }

    #[test]
    fn a_reused_slot_has_another_key() {
        static TABLE: Table<u64> = Table::new();
        let (first, _) = publish(&TABLE, 1);
        TABLE.retire(first);
        let (second, _) = publish(&TABLE, 2);
        assert_eq!(first.slot(), second.slot());
        assert_ne!(first, second);
        assert!(TABLE.acquire(first.raw()).is_none());
        assert_eq!(TABLE.acquire(second.raw()).map(|hold| *hold), Some(2));
    }

    #[test]
    fn find_sees_live_objects_only() {
        static TABLE: Table<u64> = Table::new();
        let keys: Vec<_> = (0..200).map(|value| publish(&TABLE, value).0).collect();
        assert_eq!(TABLE.find(|value| *value == 150).map(|hold| *hold), Some(150));
        TABLE.retire(keys[150]);
        assert!(TABLE.find(|value| *value == 150).is_none());
    }

    #[test]
    fn retire_waits_for_the_last_hold() {
        static TABLE: Table<u64> = Table::new();
        static RETIRED: AtomicUsize = AtomicUsize::new(0);
        for round in 0..200 {
            let (key, _) = publish(&TABLE, round);
            let hold = TABLE.acquire(key.raw());
            let retiring = std::thread::spawn(move || {
                TABLE.retire(key);
                RETIRED.fetch_add(1, Ordering::SeqCst);
            });
            while TABLE.acquire(key.raw()).is_some() {
                core::hint::spin_loop();
            }
            assert_eq!(RETIRED.load(Ordering::SeqCst), round as usize);
            drop(hold);
            assert!(retiring.join().is_ok());
            assert_eq!(RETIRED.load(Ordering::SeqCst), round as usize + 1);
        }
    }

    #[test]
    fn a_held_object_is_not_retired_without_waiting() {
        static TABLE: Table<u64> = Table::new();
        let (key, _) = publish(&TABLE, 5);
        let hold = TABLE.acquire(key.raw());
        assert!(!TABLE.try_retire(key));
        assert!(TABLE.acquire(key.raw()).is_none());
        assert_eq!(hold.map(|hold| *hold), Some(5));
        let (other, _) = publish(&TABLE, 6);
        assert_ne!(other.slot(), key.slot());
        assert!(TABLE.try_retire(other));
        assert_eq!(publish(&TABLE, 7).0.slot(), other.slot());
    }

    #[test]
    fn many_threads_never_see_a_strangers_value() {
        static TABLE: Table<u64> = Table::new();
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                scope.spawn(move || {
                    for round in 0..5_000 {
                        let mine = (thread << 32) | round;
                        let (key, value) = publish(&TABLE, mine);
                        assert_eq!(TABLE.acquire(key.raw()).map(|hold| *hold), Some(mine));
                        TABLE.retire(key);
                        // SAFETY: leaked by `publish`, retired, nobody else has it.
                        drop(unsafe { Box::from_raw(value.as_ptr()) });
                    }
                });
            }
        });
    }
}
