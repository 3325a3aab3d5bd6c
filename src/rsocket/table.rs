//! Which descriptors of the process are rsockets.
//!
//! A table of slots that grows and never moves: looking one up takes no lock. An entry is removed before
//! its descriptor is closed, so a new socket with the same number never finds the old one.
//!
//! # Safety
//! Segments are published whole and never freed; zeroed memory is empty slots.
#![allow(unsafe_code)]

use super::slot::Slot;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use std::alloc::Layout;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const FIRST_SEGMENT: usize = 64;
/// Enough for every descriptor number that a Linux process can have (fs.nr_open is at most 2^30).
const SEGMENTS: usize = 25;
/// See the module text. Meant for statics.
pub(super) struct Table<T> {
    segments: [AtomicPtr<Slot<T>>; SEGMENTS],
}

impl<T> Table<T> {
    pub(super) const fn new() -> Table<T> {
        Table { segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS] }
    }

    /// Segment k has `FIRST_SEGMENT << k` slots.
    fn place(fd: RawFd) -> Option<(usize, usize)> {
        let position = usize::try_from(fd).ok()? + FIRST_SEGMENT;
        let segment = (position / FIRST_SEGMENT).ilog2() as usize;
        (segment < SEGMENTS).then_some((segment, position - (FIRST_SEGMENT << segment)))
    }

    #[inline]
    fn slot(&self, fd: RawFd) -> Option<&Slot<T>> {
        let (segment, place) = Self::place(fd)?;
        let base = self.segments[segment].load(Ordering::Acquire);
        // SAFETY: a segment is published whole, zeroed, and never freed; `place` lies within it.
        (!base.is_null()).then(|| unsafe { &*base.add(place) })
    }

    fn slot_or_grow(&self, fd: RawFd) -> Result<&Slot<T>> {
        if let Some(slot) = self.slot(fd) {
            return Ok(slot);
        }
        let (segment, _) = Self::place(fd).ok_or(Errno::EBADF)?;
        let layout =
            Layout::array::<Slot<T>>(FIRST_SEGMENT << segment).map_err(|_| Errno::ENOMEM)?;
        // SAFETY: not an empty layout; zero is a valid slot. A segment that lost the race is freed
        // with the layout it was made with.
        unsafe {
            let fresh = std::alloc::alloc_zeroed(layout).cast::<Slot<T>>();
            if fresh.is_null() {
                return Err(Errno::ENOMEM);
            }
            let published = self.segments[segment].compare_exchange(
                ptr::null_mut(),
                fresh,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if published.is_err() {
                std::alloc::dealloc(fresh.cast(), layout);
            }
        }
        self.slot(fd).ok_or(Errno::ENOMEM)
    }

    /// Enters a socket under a descriptor that nobody else can have now.
    pub(super) fn insert(&self, fd: RawFd, value: Counted<T>) -> Result<()> {
        self.slot_or_grow(fd)?.fill(value);
        Ok(())
    }

    #[inline]
    pub(super) fn get(&self, fd: RawFd) -> Option<Counted<T>> {
        self.slot(fd)?.get()
    }

    /// Takes a socket out; only one of several callers gets it.
    pub(super) fn remove(&self, fd: RawFd) -> Option<Counted<T>> {
        self.slot(fd)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn counted<T>(value: T) -> Counted<T> {
        Counted::try_new(value).unwrap_or_else(|_| unreachable!("no memory"))
    }

    #[test]
    fn places_are_dense_and_distinct() {
        assert_eq!(Table::<u32>::place(-1), None);
        assert_eq!(Table::<u32>::place(0), Some((0, 0)));
        assert_eq!(Table::<u32>::place(63), Some((0, 63)));
        assert_eq!(Table::<u32>::place(64), Some((1, 0)));
        assert_eq!(Table::<u32>::place(191), Some((1, 127)));
        assert_eq!(Table::<u32>::place(192), Some((2, 0)));
        assert!(Table::<u32>::place(1 << 30).is_some());
    }

    #[test]
    fn any_number_may_be_asked_for() {
        static TABLE: Table<u32> = Table::new();
        for fd in [-1, i32::MIN, 0, 3, 65_536, i32::MAX] {
            assert!(TABLE.get(fd).is_none());
            assert!(TABLE.remove(fd).is_none());
        }
        assert_eq!(TABLE.insert(70_000, counted(5)), Ok(()));
        assert_eq!(TABLE.get(70_000).as_deref(), Some(&5));
        assert_eq!(TABLE.remove(70_000).as_deref(), Some(&5));
        assert!(TABLE.get(70_000).is_none());
    }

    #[test]
    fn threads_never_see_a_closed_or_foreign_socket() {
        struct Alive(u64, &'static AtomicUsize);
        impl Drop for Alive {
            fn drop(&mut self) {
                self.1.fetch_sub(1, Ordering::SeqCst);
            }
        }
        static TABLE: Table<Alive> = Table::new();
        static ALIVE: AtomicUsize = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..3_u64 {
                scope.spawn(move || {
                    let fd = thread as RawFd + 10;
                    for round in 0..20_000 {
                        ALIVE.fetch_add(1, Ordering::SeqCst);
                        let mine = (thread << 32) | round;
                        assert!(TABLE.insert(fd, counted(Alive(mine, &ALIVE))).is_ok());
                        assert_eq!(TABLE.get(fd).map(|found| found.0), Some(mine));
                        assert_eq!(TABLE.remove(fd).map(|found| found.0), Some(mine));
                    }
                });
            }
            scope.spawn(|| {
                for round in 0..60_000 {
                    let thread = round % 3;
                    if let Some(found) = TABLE.get(thread + 10) {
                        assert_eq!(found.0 >> 32, thread as u64);
                    }
                }
            });
        });
        assert_eq!(ALIVE.load(Ordering::SeqCst), 0);
    }
}
