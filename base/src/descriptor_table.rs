// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Objects by descriptor number. Looking one up takes no lock. An entry is removed before its
//! descriptor is closed, so a new object with the same number never finds the old one.

use crate::arc::Arc;
use crate::errno::{Errno, Result};
use crate::fd::RawFd;
use crate::segments::Segments;
use crate::slot::Slot;

/// Enough for every descriptor number that a Linux process can have (fs.nr_open is at most 2^30).
const SEGMENTS: usize = 25;

/// Meant for statics: its memory is never freed.
pub struct Table<T>(Segments<Slot<T>, SEGMENTS>);

impl<T> Table<T> {
    #[must_use]
    pub const fn new() -> Table<T> {
        Table(Segments::new())
    }

    #[inline]
    fn slot(&self, fd: RawFd) -> Option<&Slot<T>> {
        self.0.get(usize::try_from(fd).ok()?)
    }

    /// Enters an object under a descriptor that nobody else can have now.
    pub fn insert(&self, fd: RawFd, value: Arc<T>) -> Result<()> {
        let index = usize::try_from(fd).map_err(|_| Errno::EBADF)?;
        self.0.get_or_grow(index)?.fill(value);
        Ok(())
    }

    #[inline]
    pub fn get(&self, fd: RawFd) -> Option<Arc<T>> {
        self.slot(fd)?.get()
    }

    /// Takes an object out; only one of several callers gets it.
    pub fn remove(&self, fd: RawFd) -> Option<Arc<T>> {
        self.slot(fd)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    fn counted<T>(value: T) -> Arc<T> {
        Arc::try_new(value).unwrap_or_else(|_| unreachable!("no memory"))
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
