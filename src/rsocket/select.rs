//! rselect, in terms of rpoll.
//!
//! # Safety
//! Bits of descriptor sets are read and written with libc's macros, for descriptors below their size.
#![allow(unsafe_code)]

use super::poll;
use super::wait::Deadline;
use crate::error::{Errno, Result};
use libc::{FD_SETSIZE, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, fd_set, pollfd};

const READ: libc::c_short = POLLIN | POLLHUP | POLLERR;
const WRITE: libc::c_short = POLLOUT | POLLERR;
const EXCEPT: libc::c_short = POLLPRI;

fn has(set: Option<&fd_set>, fd: i32) -> bool {
    // SAFETY: `fd` is below FD_SETSIZE.
    set.is_some_and(|set| unsafe { libc::FD_ISSET(fd, set) })
}

/// The sets keep what is ready; untouched on error. The number of bits set.
pub(crate) fn select(
    count: i32,
    mut sets: [Option<&mut fd_set>; 3],
    deadline: Deadline,
) -> Result<usize> {
    if count < 0 {
        return Err(Errno::EINVAL);
    }
    let count = count.min(FD_SETSIZE as i32);
    let mut fds = Vec::new();
    for fd in 0..count {
        let mut events = 0;
        for (set, wanted) in sets.iter().zip([POLLIN, POLLOUT, POLLPRI]) {
            if has(set.as_deref(), fd) {
                events |= wanted;
            }
        }
        if events != 0 {
            fds.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            fds.push(pollfd { fd, events, revents: 0 });
        }
    }
    poll::poll(&mut fds, deadline)?;
    if fds.iter().any(|place| place.revents & POLLNVAL != 0) {
        return Err(Errno::EBADF);
    }
    let asked = [POLLIN, POLLOUT, POLLPRI];
    let mut bits = 0;
    for (index, meaning) in [READ, WRITE, EXCEPT].into_iter().enumerate() {
        let Some(set) = sets[index].as_deref_mut() else { continue };
        for place in &fds {
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
