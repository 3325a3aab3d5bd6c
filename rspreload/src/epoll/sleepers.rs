// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Threads that sleep in a call of libc's on an instance that has no socket of this library, or
//! that poll something, which may be such an instance. When it gets its first socket they are woken.

use crate::sys::guard;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use libc::c_int;

/// In a cache line of its own: threads count at each call.
#[repr(align(64))]
struct Counter(AtomicU32);

const COUNTERS: usize = 64;

/// In epoll_wait, by the last bits of the descriptor.
static IN_INSTANCE: [Counter; COUNTERS] = [const { Counter(AtomicU32::new(0)) }; COUNTERS];
/// In poll or select, by the first descriptor.
static IN_POLL: [Counter; COUNTERS] = [const { Counter(AtomicU32::new(0)) }; COUNTERS];

/// While this lives, the thread may sleep.
pub(crate) struct Asleep(Option<&'static AtomicU32>);

fn index_of(fd: c_int) -> usize {
    fd as u32 as usize % COUNTERS
}

fn count(counters: &'static [Counter; COUNTERS], fd: c_int) -> Asleep {
    // The threads of librdmacm wait for instances of their own.
    if guard::is_inside() {
        return Asleep(None);
    }
    let counter = &counters[index_of(fd)].0;
    counter.fetch_add(1, Ordering::SeqCst);
    // Before what is looked up next: see `Mask::of`.
    fence(Ordering::SeqCst);
    Asleep(Some(counter))
}

/// To be called before the instance is looked up for the last time.
pub(crate) fn in_instance(fd: c_int) -> Asleep {
    count(&IN_INSTANCE, fd)
}

/// `first`: any of the descriptors, so that threads do not count in the same place.
pub(crate) fn in_poll(first: c_int) -> Asleep {
    count(&IN_POLL, first)
}

impl Drop for Asleep {
    fn drop(&mut self) {
        if let Some(counter) = self.0 {
            counter.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Whether any thread polls.
pub(super) fn is_any_in_poll() -> bool {
    fence(Ordering::SeqCst);
    IN_POLL.iter().any(|counter| counter.0.load(Ordering::SeqCst) > 0)
}

/// Counters that may count sleepers of an instance, one bit for each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mask(pub(super) u64);

impl Mask {
    /// After the instance was entered under this descriptor: a thread that comes later finds it.
    pub(super) fn of(fd: c_int) -> Mask {
        fence(Ordering::SeqCst);
        Mask(1 << index_of(fd)).still_asleep()
    }

    /// Without the counters that are zero.
    pub(super) fn still_asleep(self) -> Mask {
        let bits = IN_INSTANCE.iter().enumerate().filter(|(index, counter)| {
            self.0 & 1 << index != 0 && counter.0.load(Ordering::SeqCst) > 0
        });
        Mask(bits.fold(0, |all, (index, _)| all | 1 << index))
    }
}

/// In a fork's child: the other threads are not here.
pub(super) fn in_child() {
    let all = IN_INSTANCE.iter().chain(&IN_POLL);
    all.for_each(|counter| counter.0.store(0, Ordering::Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleepers_of_an_instance_are_counted_as_long_as_they_sleep() {
        let mask = || Mask::of(3 + COUNTERS as c_int * 5);
        assert!(mask() == Mask::default());
        let asleep = [in_instance(3), in_instance(3)];
        let seen = mask();
        assert_eq!(seen.0, 8);
        let [first, last] = asleep;
        drop(first);
        assert_eq!(seen.still_asleep().0, 8);
        drop(last);
        assert_eq!(seen.still_asleep().0, 0);
    }
}
