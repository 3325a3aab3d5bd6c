//! rselect, in terms of rpoll.
//!
//! # Safety
//! Descriptor sets are arrays of words, which are read; bits below their size are cleared with libc's macro.
#![allow(unsafe_code)]

use super::poll;
use super::wait::Limit;
use crate::error::{Errno, Result};
use libc::{
    FD_SETSIZE, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, c_short, fd_set, pollfd,
};
use std::ptr;

const READ: c_short = POLLIN | POLLHUP | POLLERR;
const WRITE: c_short = POLLOUT | POLLERR;
const EXCEPT: c_short = POLLPRI;
/// So many need no memory.
const FEW: usize = 32;
const NOTHING: pollfd = pollfd { fd: -1, events: 0, revents: 0 };

/// Read, write, except.
pub(crate) type Sets<'a> = [Option<&'a mut fd_set>; 3];

/// A set's bits for 64 descriptors from `first` on.
fn word(set: Option<&fd_set>, first: usize) -> u64 {
    // SAFETY: `first` is a multiple of 64 below FD_SETSIZE, which is one too: an array of such words.
    set.map_or(0, |set| unsafe { *ptr::from_ref(set).cast::<u64>().add(first / 64) })
}

/// What of 64 descriptors is in any set, and in each. Descriptors from `count` on do not count.
fn asked(sets: &Sets<'_>, first: usize, count: usize) -> (u64, [u64; 3]) {
    let each = sets.each_ref().map(|set| word(set.as_deref(), first));
    let mask = u64::MAX >> (64 - (count - first).min(64));
    ((each[0] | each[1] | each[2]) & mask, each)
}

/// The descriptors of the sets, each with what is asked of it.
fn descriptors(sets: &Sets<'_>, count: usize) -> impl Iterator<Item = pollfd> {
    (0..count).step_by(64).flat_map(move |first| {
        let (mut any, each) = asked(sets, first, count);
        std::iter::from_fn(move || {
            let bit = any.trailing_zeros();
            any &= any.checked_sub(1)?;
            let event = |(set, event): (u64, c_short)| if set >> bit & 1 == 1 { event } else { 0 };
            let events = each.into_iter().zip([POLLIN, POLLOUT, POLLPRI]).map(event).sum();
            Some(pollfd { fd: first as i32 + bit as i32, events, revents: 0 })
        })
    })
}

/// The sets keep what is ready; untouched on error. The number of bits set.
pub(crate) fn select(count: i32, mut sets: Sets<'_>, limit: Limit) -> Result<usize> {
    if count < 0 {
        return Err(Errno::EINVAL);
    }
    let count = (count as usize).min(FD_SETSIZE);
    let mut few = [NOTHING; FEW];
    let mut many = Vec::new();
    let words = (0..count).step_by(64);
    let wanted: u32 = words.map(|first| asked(&sets, first, count).0.count_ones()).sum();
    let wanted = wanted as usize;
    let fds = if wanted <= FEW {
        &mut few[..wanted]
    } else {
        many.try_reserve_exact(wanted).map_err(|_| Errno::ENOMEM)?;
        many.resize(wanted, NOTHING);
        &mut many[..]
    };
    for (place, descriptor) in fds.iter_mut().zip(descriptors(&sets, count)) {
        *place = descriptor;
    }
    poll::poll(fds, limit)?;
    if fds.iter().any(|place| place.revents & POLLNVAL != 0) {
        return Err(Errno::EBADF);
    }
    let asked = [POLLIN, POLLOUT, POLLPRI];
    let mut bits = 0;
    for (index, meaning) in [READ, WRITE, EXCEPT].into_iter().enumerate() {
        let Some(set) = sets[index].as_deref_mut() else { continue };
        for place in &*fds {
            let is_ready = place.events & asked[index] != 0 && place.revents & meaning != 0;
            // SAFETY: `fd` is below FD_SETSIZE.
            unsafe {
                if is_ready {
                    bits += 1;
                } else {
                    libc::FD_CLR(place.fd, set);
                }
            }
        }
    }
    Ok(bits)
}
