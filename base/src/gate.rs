// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Objects whose lock is all that a look-up by number takes.
//!
//! The lock of such an object, its gate, lies in memory of its own that is never freed: when the object
//! ends, another one gets the gate. So whoever has a number may take whatever gate he finds there, at
//! any time. Under the lock the gate says whose it is: where that is the number, the object is
//! there as long as the lock is held, because it takes the lock to end. Nothing is counted.
//!
//! A fork's child, and a process that has closed the library's descriptors, finds none of the objects
//! from before (`fork::ownership`). A gate that a thread of the parent held is free there (`lock`).
//!
//! # Safety
//! A gate is never freed. Its key and its pointer change under its lock, and name a `Gated` only while
//! that has neither been dropped nor moved.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use crate::fork::ownership;
use crate::lock;
use crate::memory::try_box;
use crate::segments::{Segments, Zeroed};
use crate::sync::{Mutex, MutexGuard};
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::time::Duration;

/// Places that take no search, which are those of most processes.
const FEW: usize = 1024;
/// As many as `descriptor_table` has.
const SEGMENTS: usize = 25;

/// A lock, in a cache line of its own.
#[repr(align(64))]
struct Gate<T> {
    state: Mutex<GateState<T>>,
    /// While it is free: the next one that is.
    next: AtomicPtr<Gate<T>>,
}

struct GateState<T> {
    /// Of the number under which look-ups find the value; `NOBODY` for none.
    key: u64,
    value: *mut T,
}

const NOBODY: u64 = 0;

/// An ownership is not zero.
#[inline(always)]
fn key(number: i32) -> u64 {
    u64::from(ownership()) << 32 | u64::from(number as u32)
}

// SAFETY: the pointer is followed under the lock.
unsafe impl<T: Send> Send for GateState<T> {}

impl<T> Gate<T> {
    /// The value of this number, locked, if the gate is that value's now.
    #[inline(always)]
    fn lock_as(&self, number: i32) -> Option<Locked<'_, T>> {
        let held = self.state.lock();
        if held.key != key(number) {
            return None;
        }
        // SAFETY: a key has a value, which takes the lock before it is dropped.
        let value = unsafe { NonNull::new_unchecked(held.value) };
        Some(Locked { value, _held: held })
    }

    fn set(&self, key: u64, value: *mut T) {
        let mut state = self.state.lock();
        (state.key, state.value) = (key, value);
    }
}

/// The gate that was found last under a number. Zeroed memory has none.
struct Place<T>(AtomicPtr<Gate<T>>);

// SAFETY: a null pointer.
unsafe impl<T> Zeroed for Place<T> {}

/// Objects by number. Meant for statics: its memory is never freed.
pub struct Gates<T> {
    few: [Place<T>; FEW],
    more: Segments<Place<T>, SEGMENTS>,
    free: lock::Mutex<Option<NonNull<Gate<T>>>>,
}

// SAFETY: gates are used from any thread, and give the value to one at a time.
unsafe impl<T: Send> Sync for Gates<T> {}

impl<T: Send + 'static> Gates<T> {
    #[must_use]
    pub const fn new() -> Gates<T> {
        let few = [const { Place(AtomicPtr::new(ptr::null_mut())) }; FEW];
        Gates { few, more: Segments::new(), free: lock::Mutex::new(None) }
    }

    /// A value behind a gate, which no number leads to yet.
    pub fn gated(&'static self, value: T) -> Result<Gated<T>> {
        Ok(Gated { gates: self, gate: self.take()?, value: UnsafeCell::new(value) })
    }

    /// The value of a number, locked. None where no value was entered as that, or another process's.
    #[inline(always)]
    pub fn lock(&self, number: i32) -> Option<Locked<'_, T>> {
        let place = match self.few.get(number as usize) {
            Some(place) => place,
            None => self.search(number)?,
        };
        // SAFETY: NULL, or a gate.
        unsafe { place.0.load(Ordering::Acquire).as_ref() }?.lock_as(number)
    }

    #[cold]
    fn search(&self, number: i32) -> Option<&Place<T>> {
        self.more.get(usize::try_from(number).ok()?.checked_sub(FEW)?)
    }

    fn place(&self, number: i32) -> Result<&Place<T>> {
        let index = usize::try_from(number).map_err(|_| Errno::EBADF)?;
        self.few.get(index).map_or_else(|| self.more.get_or_grow(index - FEW), Ok)
    }

    /// From now on no value is found under this number.
    pub fn remove(&self, number: i32) {
        if let Ok(place) = self.place(number) {
            place.0.store(ptr::null_mut(), Ordering::Release);
        }
    }

    fn take(&self) -> Result<&'static Gate<T>> {
        if let Some(free) = self.pop() {
            return Ok(free);
        }
        let state = Mutex::new(GateState { key: NOBODY, value: ptr::null_mut() });
        Ok(Box::leak(try_box(Gate { state, next: AtomicPtr::new(ptr::null_mut()) })?))
    }

    fn pop(&self) -> Option<&'static Gate<T>> {
        let mut free = self.free.lock();
        // SAFETY: a gate.
        let first = unsafe { (*free)?.as_ref() };
        // A fork's child finds it done or not.
        *free = NonNull::new(first.next.load(Ordering::Relaxed));
        Some(first)
    }

    fn give_back(&self, gate: &'static Gate<T>) {
        let mut free = self.free.lock();
        gate.next.store(free.map_or(ptr::null_mut(), NonNull::as_ptr), Ordering::Relaxed);
        *free = Some(NonNull::from(gate));
    }
}

/// A value and its lock.
pub struct Gated<T: Send + 'static> {
    gates: &'static Gates<T>,
    gate: &'static Gate<T>,
    value: UnsafeCell<T>,
}

// SAFETY: the value goes to one thread at a time.
unsafe impl<T: Send> Sync for Gated<T> {}

impl<T: Send> Gated<T> {
    /// Enters it under a number. Without memory for that, look-ups do not find it.
    ///
    /// # Safety
    /// It does not move any more, and is dropped before its memory is used for something else.
    pub unsafe fn enter(&self, number: i32) {
        self.gate.set(key(number), self.value.get());
        if let Ok(place) = self.gates.place(number) {
            place.0.store(ptr::from_ref(self.gate).cast_mut(), Ordering::Release);
        }
    }

    #[inline]
    pub fn lock(&self) -> Locked<'_, T> {
        self.locked(self.gate.state.lock())
    }

    pub fn try_lock_for(&self, limit: Duration) -> Option<Locked<'_, T>> {
        self.gate.state.try_lock_for(limit).map(|held| self.locked(held))
    }

    #[inline]
    fn locked<'a>(&self, held: MutexGuard<'a, GateState<T>>) -> Locked<'a, T> {
        // SAFETY: the address of a field.
        Locked { value: unsafe { NonNull::new_unchecked(self.value.get()) }, _held: held }
    }

    /// Look-ups do not find it any more.
    pub fn get_mut(&mut self) -> &mut T {
        self.gate.set(NOBODY, ptr::null_mut());
        self.value.get_mut()
    }
}

impl<T: Send> Drop for Gated<T> {
    fn drop(&mut self) {
        self.gate.set(NOBODY, ptr::null_mut());
        self.gates.give_back(self.gate);
    }
}

/// A value whose lock is held.
pub struct Locked<'a, T> {
    value: NonNull<T>,
    _held: MutexGuard<'a, GateState<T>>,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for Locked<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { self.value.as_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::tests::in_a_child;
    use core::sync::atomic::AtomicBool;
    use std::thread;

    /// A value that knows its number, and whether it is there.
    struct Numbered {
        number: i32,
        count: u64,
    }

    impl Drop for Numbered {
        fn drop(&mut self) {
            self.number = -1;
        }
    }

    fn enter(gates: &'static Gates<Numbered>, number: i32) -> Box<Gated<Numbered>> {
        let gated = gates.gated(Numbered { number, count: 0 });
        let gated = Box::new(gated.unwrap_or_else(|_| unreachable!("no memory")));
        // SAFETY: in a box, which the test drops.
        unsafe { gated.enter(number) };
        gated
    }

    #[test]
    fn any_number_may_be_asked_for() {
        static GATES: Gates<Numbered> = Gates::new();
        for number in [-1, i32::MIN, 0, 1023, 1024, 70_000, i32::MAX] {
            assert!(GATES.lock(number).is_none());
            GATES.remove(number);
        }
        for number in [0, 1023, 1024, 70_000] {
            let gated = enter(&GATES, number);
            assert_eq!(GATES.lock(number).map(|found| found.number), Some(number));
            assert!(GATES.lock(number + 1).is_none());
            drop(gated);
            assert!(GATES.lock(number).is_none());
        }
    }

    #[test]
    fn a_value_is_found_from_its_entry_to_its_end() {
        static GATES: Gates<Numbered> = Gates::new();
        let Ok(hidden) = GATES.gated(Numbered { number: 7, count: 0 }) else { return };
        assert!(GATES.lock(7).is_none() && hidden.lock().number == 7);
        drop(hidden);
        let mut first = enter(&GATES, 7);
        first.lock().count += 1;
        assert_eq!(GATES.lock(7).map(|found| found.count), Some(1));
        // Another one in its place, which outlives it.
        let second = enter(&GATES, 7);
        assert_eq!(first.get_mut().count, 1);
        drop(first);
        assert_eq!(GATES.lock(7).map(|found| found.count), Some(0));
        GATES.remove(7);
        assert!(GATES.lock(7).is_none() && second.lock().number == 7);
    }

    #[test]
    fn a_gate_serves_one_value_after_another() {
        static GATES: Gates<Numbered> = Gates::new();
        let first = enter(&GATES, 3);
        let gate: *const _ = first.gate;
        drop(first);
        let second = enter(&GATES, 4);
        assert!(core::ptr::eq(gate, second.gate));
        // What is left under the first number is no way to the second value.
        assert!(GATES.lock(3).is_none() && GATES.lock(4).is_some());
    }

    #[test]
    fn a_held_value_is_not_dropped() {
        static GATES: Gates<Numbered> = Gates::new();
        static ENDED: AtomicBool = AtomicBool::new(false);
        let gated = enter(&GATES, 5);
        let found = GATES.lock(5);
        assert!(found.is_some() && gated.try_lock_for(Duration::ZERO).is_none());
        thread::scope(|scope| {
            scope.spawn(move || {
                drop(gated);
                ENDED.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(20));
            assert!(!ENDED.load(Ordering::SeqCst));
            drop(found);
        });
        assert!(ENDED.load(Ordering::SeqCst) && GATES.lock(5).is_none());
    }

    #[test]
    fn a_child_finds_its_own_alone_and_waits_for_nobody() {
        static GATES: Gates<Numbered> = Gates::new();
        let (inherited, held) = (enter(&GATES, 8), enter(&GATES, 9));
        let holder = held.lock();
        assert!(in_a_child(|| {
            let finds_none = GATES.lock(8).is_none() && GATES.lock(9).is_none();
            // A thread of the parent has held it.
            let takes_over = held.lock().number == 9;
            let own = enter(&GATES, 9);
            finds_none && takes_over && GATES.lock(9).is_some() && own.lock().number == 9
        }));
        drop(holder);
        assert!(GATES.lock(8).is_some() && GATES.lock(9).is_some());
        drop((inherited, held));
    }

    #[test]
    fn threads_never_find_an_ended_or_foreign_value() {
        static GATES: Gates<Numbered> = Gates::new();
        static DONE: AtomicBool = AtomicBool::new(false);
        thread::scope(|scope| {
            let lookers = [(); 2].map(|()| {
                scope.spawn(|| {
                    while !DONE.load(Ordering::Relaxed) {
                        for number in 0..3 {
                            let Some(mut found) = GATES.lock(number) else { continue };
                            assert_eq!(found.number, number);
                            found.count += 1;
                        }
                    }
                })
            });
            for round in 0..60_000 {
                drop(enter(&GATES, round % 3));
            }
            DONE.store(true, Ordering::Relaxed);
            for looker in lookers {
                assert!(looker.join().is_ok());
            }
        });
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Watched;
    use loom::thread;

    /// What loom sees of a value: its number, -1 when it has ended. An access beside another one is an error. It is
    /// never freed.
    struct Numbered(&'static Watched<i32>);

    // SAFETY: loom finds out whether it is used by one thread at a time.
    unsafe impl Send for Numbered {}

    impl Drop for Numbered {
        fn drop(&mut self) {
            // SAFETY: loom finds out whether it is.
            self.0.with_mut(|number| unsafe { *number = -1 });
        }
    }

    fn enter(gates: &'static Gates<Numbered>, number: i32) -> Box<Gated<Numbered>> {
        let gated = gates.gated(Numbered(Box::leak(Box::new(Watched::new(number)))));
        let gated = Box::new(gated.unwrap_or_else(|_| unreachable!("no memory")));
        // SAFETY: in a box, which the test drops.
        unsafe { gated.enter(number) };
        gated
    }

    /// Takes a gate by one of the numbers that it has had, or will have.
    fn look(gate: &'static Gate<Numbered>, number: i32) -> bool {
        let found = gate.lock_as(number);
        if let Some(found) = &found {
            // SAFETY: as above.
            assert_eq!(found.0.with_mut(|place| unsafe { *place }), number);
        }
        found.is_some()
    }

    /// A gate that was found under a number is taken at any later time, by two threads, while its value ends and
    /// another one gets it under another number: nobody has a value that has ended, or the other one's.
    #[test]
    fn loom_a_gate_goes_to_another_value() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let gates: &'static Gates<Numbered> = Box::leak(Box::new(Gates::new()));
            let first = enter(gates, 1);
            let gate = first.gate;
            let looks = [1, 2].map(|number| thread::spawn(move || look(gate, number)));
            drop(first);
            let second = enter(gates, 2);
            assert!(core::ptr::eq(gate, second.gate));
            assert!(!look(gate, 1) && look(gate, 2));
            for look in looks {
                assert!(look.join().is_ok());
            }
            drop(second);
            assert!(!look(gate, 1) && !look(gate, 2));
        });
    }

    /// Its owner and a look-up use a value in turn.
    #[test]
    fn loom_one_at_a_time() {
        loom::model(|| {
            let gates: &'static Gates<Numbered> = Box::leak(Box::new(Gates::new()));
            let gated = enter(gates, 1);
            let gate = gated.gate;
            let looks = thread::spawn(move || look(gate, 1));
            // SAFETY: as above.
            gated.lock().0.with_mut(|number| unsafe { *number = 1 });
            assert_eq!(looks.join().ok(), Some(true));
            drop(gated);
        });
    }
}
