// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! <poll.h> and <sys/select.h>.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::calls::{poll, select};
use crate::epoll::sleepers::{self, Asleep};
use crate::sys::errno::{answer, fail};
use crate::sys::{guard, original};
use crate::table::descriptors;
use base::deadline::{Deadline, Timeout};
use base::errno::{Errno, Result};
use libc::{c_int, fd_set, nfds_t, pollfd, sigset_t, suseconds_t, time_t, timespec, timeval};

/// The thread may sleep on what is an instance, and is counted before the array is looked through.
unsafe fn asleep(fds: *const pollfd, count: nfds_t) -> Option<Asleep> {
    // SAFETY: the caller's.
    (!fds.is_null() && count > 0).then(|| sleepers::in_poll(unsafe { (*fds).fd }))
}

/// The caller's array; None if the call is libc's.
unsafe fn entries<'a>(fds: *mut pollfd, count: nfds_t) -> Option<&'a mut [pollfd]> {
    if fds.is_null() || guard::is_inside() {
        return None;
    }
    // SAFETY: the caller's.
    let entries = unsafe { core::slice::from_raw_parts_mut(fds, count as usize) };
    poll::any_needs_rpoll(entries).then_some(entries)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if timeout != 0 {
            return poll_asleep(fds, count, timeout);
        }
        poll_now(fds, count, timeout)
    }
}

#[inline(never)]
unsafe fn poll_asleep(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let _asleep = asleep(fds, count);
        poll_now(fds, count, timeout)
    }
}

#[inline(always)]
unsafe fn poll_now(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if descriptors::is_unused() {
            return original::poll(fds, count, timeout);
        }
        poll_known(fds, count, timeout)
    }
}

#[inline(never)]
unsafe fn poll_known(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    match unsafe { entries(fds, count) } {
        Some(entries) => {
            let ready = poll::poll(entries, Timeout::from_millis(timeout).begin(), None);
            answer(ready.map(|ready| ready as c_int))
        }
        // SAFETY: the caller's.
        None => unsafe { original::poll(fds, count, timeout) },
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let _asleep = asleep(fds, count);
        if descriptors::is_unused() {
            return original::ppoll(fds, count, timeout, mask);
        }
        match entries(fds, count) {
            Some(entries) => {
                let Ok(deadline) = deadline(timeout.as_ref()) else {
                    return fail(Errno::EINVAL);
                };
                let ready = poll::poll(entries, deadline, mask.as_ref());
                answer(ready.map(|ready| ready as c_int))
            }
            None => original::ppoll(fds, count, timeout, mask),
        }
    }
}

/// The end of a caller's timeout; NULL is no limit.
pub(super) fn deadline(timeout: Option<&timespec>) -> Result<Deadline> {
    timeout.map_or(Ok(Deadline::Never), |time| Timeout::from_timespec(time).map(Timeout::begin))
}

/// How many bits of the sets are read; none if the call is libc's.
fn bits_of(count: c_int) -> c_int {
    if guard::is_inside() { 0 } else { select::bits_in_use(count) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if timeout.as_ref().is_none_or(|time| time.tv_sec != 0 || time.tv_usec != 0) {
            return select_asleep(count, [read, write, except], timeout);
        }
        if descriptors::is_unused() {
            return original::select(count, read, write, except, timeout);
        }
        select_known(count, [read, write, except], timeout)
    }
}

#[inline(never)]
unsafe fn select_asleep(count: c_int, sets: [*mut fd_set; 3], timeout: *mut timeval) -> c_int {
    let _asleep = sleepers::in_poll(count);
    // SAFETY: the caller's.
    unsafe {
        if descriptors::is_unused() {
            let [read, write, except] = sets;
            return original::select(count, read, write, except, timeout);
        }
        select_known(count, sets, timeout)
    }
}

#[inline(never)]
unsafe fn select_known(count: c_int, sets: [*mut fd_set; 3], timeout: *mut timeval) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let bits = bits_of(count);
        let Some(entries) = select::entries_of(bits, sets) else {
            let [read, write, except] = sets;
            return original::select(count, read, write, except, timeout);
        };
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return fail(error),
        };
        let given = timeout.as_ref().map_or(Ok(Timeout::NONE), Timeout::from_timeval);
        let Ok(deadline) = given.map(Timeout::begin) else { return fail(Errno::EINVAL) };
        let ready = select::select(bits, sets, &mut entries, deadline, None);
        if let (Some(timeout), Some(left)) = (timeout.as_mut(), deadline.left()) {
            timeout.tv_sec = left.as_secs() as time_t;
            timeout.tv_usec = suseconds_t::from(left.subsec_micros());
        }
        answer(ready)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let _asleep = sleepers::in_poll(count);
        if descriptors::is_unused() {
            return original::pselect(count, read, write, except, timeout, mask);
        }
        let sets = [read, write, except];
        let bits = bits_of(count);
        let Some(entries) = select::entries_of(bits, sets) else {
            return original::pselect(count, read, write, except, timeout, mask);
        };
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return fail(error),
        };
        let Ok(deadline) = deadline(timeout.as_ref()) else {
            return fail(Errno::EINVAL);
        };
        answer(select::select(bits, sets, &mut entries, deadline, mask.as_ref()))
    }
}
