//! select: the caller's sets as an array to poll.
//!
//! # Safety
//! The caller's sets, each NULL or with bits for as many descriptors as the caller says.
#![allow(unsafe_code)]

use crate::descriptor_sets::{Word, word_of, words};
use crate::error::{Errno, Result, quietly};
use crate::wait::{self, Deadline, has_passed, needs_us};
use libc::{
    FD_SETSIZE, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM,
    c_int, c_ulong, fd_set, pollfd, sigset_t,
};
use std::time::Duration;

/// What select calls readable, writable, exceptional.
const READABLE: i16 = POLLIN | POLLRDNORM | POLLHUP | POLLERR;
const WRITABLE: i16 = POLLOUT | POLLWRNORM | POLLERR;

/// As the kernel, no more bits than there are descriptors, whatever the caller says: its sets may be
/// shorter than the table could grow.
pub(crate) fn bits_in_use(count: c_int) -> c_int {
    if count <= FD_SETSIZE as c_int {
        return count;
    }
    let size = quietly(|| std::fs::read_to_string("/proc/self/status")).ok().and_then(|status| {
        status.lines().find_map(|line| line.strip_prefix("FDSize:")?.trim().parse().ok())
    });
    count.min(size.unwrap_or(FD_SETSIZE as c_int))
}

/// The caller's three sets as places to poll; None where none of them needs us.
///
/// # Safety
/// The caller's sets, each NULL or with bits for `count` descriptors.
pub(crate) unsafe fn places_of(count: c_int, sets: [*mut fd_set; 3]) -> Option<Vec<pollfd>> {
    // SAFETY: by contract.
    let words = unsafe { words(sets.map(<*mut fd_set>::cast_const), count) };
    let places = words.flat_map(Word::places);
    if !places.clone().any(|place| needs_us(place.fd)) {
        return None;
    }
    Some(places.collect())
}

/// # Safety
/// As for `places_of`.
pub(crate) unsafe fn select(
    count: c_int,
    sets: [*mut fd_set; 3],
    places: &mut [pollfd],
    deadline: Deadline,
    mask: Option<&sigset_t>,
) -> Result<c_int> {
    loop {
        wait::poll(places, deadline, mask)?;
        if places.iter().any(|place| place.revents & POLLNVAL != 0) {
            return Err(Errno::EBADF);
        }
        // A hang-up of what is only asked for writing is nothing to select.
        let told: c_int = places
            .iter()
            .map(|place| bits_of(place).iter().filter(|bit| **bit).count() as c_int)
            .sum();
        if told > 0 || has_passed(deadline) {
            // SAFETY: by contract.
            unsafe { store(count, sets, places) };
            return Ok(told);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn bits_of(place: &pollfd) -> [bool; 3] {
    let asked = |event, answers| place.events & event != 0 && place.revents & answers != 0;
    [asked(POLLIN, READABLE), asked(POLLOUT, WRITABLE), asked(POLLPRI, POLLPRI)]
}

unsafe fn store(count: c_int, sets: [*mut fd_set; 3], places: &[pollfd]) {
    // SAFETY: by contract.
    unsafe {
        for set in sets.into_iter().filter(|set| !set.is_null()) {
            for fd in 0..count {
                set_bit(set, fd, false);
            }
        }
        for place in places {
            for (set, on) in sets.into_iter().zip(bits_of(place)) {
                if on && !set.is_null() {
                    set_bit(set, place.fd, true);
                }
            }
        }
    }
}

unsafe fn set_bit(set: *mut fd_set, fd: c_int, on: bool) {
    let bit = 1 << (fd.unsigned_abs() % c_ulong::BITS);
    // SAFETY: by contract.
    unsafe {
        let word = word_of(set, fd);
        *word = if on { *word | bit } else { *word & !bit };
    }
}
