// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rselect, in terms of rpoll.
//!
//! # Safety
//! Whole sets; bits below their size are cleared with libc's macro.
#![allow(unsafe_code)]

use super::poll::poll;
use super::poll_cache::PollCaches;
use super::source::Pollable;
use alloc::vec::Vec;
use base::deadline::Timeout;
use base::descriptor_sets::{Word, words};
use base::errno::{Errno, Result};
use base::fail;
use core::ptr;
use libc::{
    FD_SETSIZE, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, c_short, fd_set, pollfd,
};

const READ: c_short = POLLIN | POLLHUP | POLLERR;
const WRITE: c_short = POLLOUT | POLLERR;
const EXCEPT: c_short = POLLPRI;
/// So many need no memory.
const FEW: usize = 32;
const NOTHING: pollfd = pollfd { fd: -1, events: 0, revents: 0 };

/// Read, write, except.
pub(crate) type Sets<'a> = [Option<&'a mut fd_set>; 3];

/// The sets keep what is ready; untouched on error. The number of bits set.
pub(crate) fn select<S: Pollable>(
    caches: &PollCaches<S>,
    count: i32,
    mut sets: Sets<'_>,
    timeout: Timeout,
) -> Result<usize> {
    if count < 0 {
        return Err(fail!(EINVAL, "rselect: {count} descriptors"));
    }
    let count = count.min(FD_SETSIZE as i32);
    let mut few = [NOTHING; FEW];
    let mut many = Vec::new();
    let given = sets.each_ref().map(|set| set.as_deref().map_or(ptr::null(), ptr::from_ref));
    // SAFETY: whole sets, which are not changed before the last word is read.
    let words = unsafe { words(given, count) };
    let wanted = words.clone().map(|word| word.len()).sum();
    let fds = if wanted <= FEW {
        &mut few[..wanted]
    } else {
        many.try_reserve_exact(wanted).map_err(|_| Errno::ENOMEM)?;
        many.resize(wanted, NOTHING);
        &mut many[..]
    };
    for (entry, descriptor) in fds.iter_mut().zip(words.flat_map(Word::places)) {
        *entry = descriptor;
    }
    poll(caches, fds, timeout)?;
    if fds.iter().any(|entry| entry.revents & POLLNVAL != 0) {
        return Err(Errno::EBADF);
    }
    let asked = [POLLIN, POLLOUT, POLLPRI];
    let mut bits = 0;
    for (index, meaning) in [READ, WRITE, EXCEPT].into_iter().enumerate() {
        let Some(set) = sets[index].as_deref_mut() else { continue };
        for entry in &*fds {
            let is_ready = entry.events & asked[index] != 0 && entry.revents & meaning != 0;
            // SAFETY: `fd` is below FD_SETSIZE.
            unsafe {
                if is_ready {
                    bits += 1;
                } else {
                    libc::FD_CLR(entry.fd, set);
                }
            }
        }
    }
    Ok(bits)
}
