//! The sets of select(2), word by word. (The preload library has this file too.)
//!
//! # Safety
//! Sets are arrays of words, as many as the caller's count of descriptors needs: a program may have made
//! its own, longer than an fd_set.
#![allow(unsafe_code)]

use libc::{POLLIN, POLLOUT, POLLPRI, c_int, c_short, c_ulong, fd_set, pollfd};

const WIDTH: c_int = c_ulong::BITS as c_int;

/// Read, write, except; each may be NULL.
pub(crate) type Sets = [*const fd_set; 3];

/// The descriptors of one word, and what is asked of them.
pub(crate) struct Word {
    first: c_int,
    any: c_ulong,
    each: [c_ulong; 3],
}

/// All words; descriptors from `count` on do not count.
///
/// # Safety
/// Each set is NULL or has bits for `count` descriptors, as long as the words are read.
pub(crate) unsafe fn words(sets: Sets, count: c_int) -> impl Iterator<Item = Word> + Clone {
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
    pub(crate) fn len(&self) -> usize {
        self.any.count_ones() as usize
    }

    /// The descriptors as places to poll.
    pub(crate) fn places(self) -> impl Iterator<Item = pollfd> + Clone {
        let Word { first, mut any, each } = self;
        std::iter::from_fn(move || {
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
pub(crate) unsafe fn word_of(set: *mut fd_set, fd: c_int) -> *mut c_ulong {
    // SAFETY: by contract.
    unsafe { set.cast::<c_ulong>().add((fd / WIDTH) as usize) }
}
