// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The sets of select(2), word by word.
//!
//! # Safety
//! A set is an array of as many words as the caller's count of descriptors needs; a program may
//! have one that is longer than an fd_set.
#![allow(unsafe_code)]

use libc::{POLLIN, POLLOUT, POLLPRI, c_int, c_short, c_ulong, fd_set, pollfd};

const WIDTH: c_int = c_ulong::BITS as c_int;

/// Read, write, except; each may be NULL.
pub type Sets = [*const fd_set; 3];

/// The descriptors of one word, and what is asked of them.
pub struct Word {
    first: c_int,
    any: c_ulong,
    each: [c_ulong; 3],
}

/// All words; descriptors from `count` on do not count.
///
/// # Safety
/// Each set is NULL or has bits for `count` descriptors, as long as the words are read.
pub unsafe fn words(sets: Sets, count: c_int) -> impl Iterator<Item = Word> + Clone {
    (0..count).step_by(WIDTH as usize).map(move |first| {
        let each = sets.map(|set| {
            // SAFETY: by contract.
            if set.is_null() { 0 } else { unsafe { *word_of(set.cast_mut(), first) } }
        });
        let mask = c_ulong::MAX >> (WIDTH - (count - first).min(WIDTH));
        Word { first, any: (each[0] | each[1] | each[2]) & mask, each }
    })
}

impl Word {
    /// How many descriptors are in any of the sets.
    pub fn len(&self) -> usize {
        self.any.count_ones() as usize
    }

    /// The descriptors as places to poll.
    pub fn places(self) -> impl Iterator<Item = pollfd> + Clone {
        let Word { first, mut any, each } = self;
        core::iter::from_fn(move || {
            let bit = any.trailing_zeros();
            any &= any.checked_sub(1)?;
            let event =
                |(set, event): (c_ulong, c_short)| if set >> bit & 1 == 1 { event } else { 0 };
            let events = each.into_iter().zip([POLLIN, POLLOUT, POLLPRI]).map(event).sum();
            Some(pollfd { fd: first + bit as c_int, events, revents: 0 })
        })
    }
}

/// Where a descriptor's bit is.
///
/// # Safety
/// The set has a bit for it.
pub unsafe fn word_of(set: *mut fd_set, fd: c_int) -> *mut c_ulong {
    // SAFETY: by contract.
    unsafe { set.cast::<c_ulong>().add((fd / WIDTH) as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    #[test]
    fn descriptors_below_the_count_are_read_once() {
        // Longer than an fd_set.
        let mut read = [0 as c_ulong; 20];
        let mut write = read;
        let set = |set: &mut [c_ulong], fd: usize| {
            set[fd / WIDTH as usize] |= 1 << (fd % WIDTH as usize);
        };
        for fd in [0, 63, 64, 1100] {
            set(&mut read, fd);
        }
        for fd in [63, 100, 1101] {
            set(&mut write, fd);
        }
        let sets = [read.as_ptr().cast(), write.as_ptr().cast(), ptr::null()];
        // SAFETY: 1280 bits each.
        let words = unsafe { words(sets, 1101) };
        assert_eq!(words.clone().map(|word| word.len()).sum::<usize>(), 5);
        let places: Vec<_> =
            words.flat_map(Word::places).map(|place| (place.fd, place.events)).collect();
        let both = POLLIN | POLLOUT;
        assert_eq!(places, [(0, POLLIN), (63, both), (64, POLLIN), (100, POLLOUT), (1100, POLLIN)]);
    }

    #[test]
    fn a_bit_is_where_libc_has_it() {
        // SAFETY: an integer array, valid when zero; bits of a whole set.
        unsafe {
            let mut set: fd_set = core::mem::zeroed();
            for fd in [0, 5, 64, 1023] {
                libc::FD_SET(fd, &raw mut set);
                let word = word_of(&raw mut set, fd);
                assert_eq!(*word, 1 << (fd % WIDTH));
                *word = 0;
                assert!(!libc::FD_ISSET(fd, &raw const set));
            }
        }
    }
}
