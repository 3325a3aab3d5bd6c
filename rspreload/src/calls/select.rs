// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! select, by poll: the caller's sets become an array.
//!
//! # Safety
//! The caller's sets, each NULL or with bits for as many descriptors as the caller says.
#![allow(unsafe_code)]

use super::poll::{self, needs_rpoll};
use alloc::vec::Vec;
use base::deadline::Deadline;
use base::descriptor_sets::{Word, word_of, words};
use base::errno::{Errno, Result, preserve_errno};
use base::fd::read_all;
use base::memory::try_push;
use core::time::Duration;
use libc::{
    FD_SETSIZE, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM,
    c_int, c_ulong, fd_set, pollfd, sigset_t,
};

/// The events that select calls readable, writable and exceptional.
const READABLE: i16 = POLLIN | POLLRDNORM | POLLHUP | POLLERR;
const WRITABLE: i16 = POLLOUT | POLLWRNORM | POLLERR;

/// How many bits are read. Like the kernel no more than the descriptor table has, whatever the
/// caller says: its sets may have no more.
pub(crate) fn bits_in_use(count: c_int) -> c_int {
    if count <= FD_SETSIZE as c_int {
        return count;
    }
    let size = preserve_errno(|| read_all(c"/proc/self/status")).ok().and_then(|status| {
        let status = core::str::from_utf8(&status).ok()?;
        status.lines().find_map(|line| line.strip_prefix("FDSize:")?.trim().parse().ok())
    });
    count.min(size.unwrap_or(FD_SETSIZE as c_int))
}

/// The caller's three sets as an array; None if no descriptor needs rpoll.
///
/// # Safety
/// The caller's sets, each NULL or with bits for `count` descriptors.
pub(crate) unsafe fn entries_of(
    count: c_int,
    sets: [*mut fd_set; 3],
) -> Option<Result<Vec<pollfd>>> {
    // SAFETY: by contract.
    let words = unsafe { words(sets.map(<*mut fd_set>::cast_const), count) };
    let entries = words.flat_map(Word::places);
    if !entries.clone().any(|entry| needs_rpoll(entry.fd)) {
        return None;
    }
    let mut array = Vec::new();
    for entry in entries {
        if let Err(error) = try_push(&mut array, entry) {
            return Some(Err(error));
        }
    }
    Some(Ok(array))
}

/// # Safety
/// As for `entries_of`.
pub(crate) unsafe fn select(
    count: c_int,
    sets: [*mut fd_set; 3],
    entries: &mut [pollfd],
    deadline: Deadline,
    mask: Option<&sigset_t>,
) -> Result<c_int> {
    loop {
        poll::poll(entries, deadline, mask)?;
        if entries.iter().any(|entry| entry.revents & POLLNVAL != 0) {
            return Err(Errno::EBADF);
        }
        // POLLHUP of a descriptor that is in the write set alone sets no bit.
        let bits: c_int = entries
            .iter()
            .map(|entry| ready_sets(entry).iter().filter(|bit| **bit).count() as c_int)
            .sum();
        if bits > 0 || deadline.has_passed() {
            // SAFETY: by contract.
            unsafe { store(count, sets, entries) };
            return Ok(bits);
        }
        base::time::sleep(Duration::from_millis(1));
    }
}

fn ready_sets(entry: &pollfd) -> [bool; 3] {
    let asked = |event, answers| entry.events & event != 0 && entry.revents & answers != 0;
    [asked(POLLIN, READABLE), asked(POLLOUT, WRITABLE), asked(POLLPRI, POLLPRI)]
}

unsafe fn store(count: c_int, sets: [*mut fd_set; 3], entries: &[pollfd]) {
    // SAFETY: by contract.
    unsafe {
        for set in sets.into_iter().filter(|set| !set.is_null()) {
            for fd in 0..count {
                set_bit(set, fd, false);
            }
        }
        for entry in entries {
            for (set, on) in sets.into_iter().zip(ready_sets(entry)) {
                if on && !set.is_null() {
                    set_bit(set, entry.fd, true);
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
