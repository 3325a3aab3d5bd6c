// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! <sys/epoll.h>.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use super::poll::deadline as deadline_of;
use crate::carrier::claim::claim;
use crate::epoll::instance::{EPOLLS, Epoll, is_any, note_polled};
use crate::epoll::{control, kernel, sleepers};
use crate::sys::errno::answer;
use crate::sys::{guard, original};
use crate::table::descriptors::{self, SOCKETS};
use crate::table::socket::Mode;
use base::arc::Arc;
use base::deadline::{Deadline, Timeout};
use base::errno::Result;
use libc::{c_int, epoll_event, sigset_t, timespec};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_ctl(
    instance: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    if !descriptors::is_unused() && !guard::is_inside() {
        let socket = SOCKETS.get(fd).filter(|socket| socket.mode() != Mode::Plain);
        match &socket {
            Some(socket) => claim(socket),
            None if fd != instance => note_polled(fd),
            None => {}
        }
        // SAFETY: the caller's.
        let event = unsafe { event.as_ref() }.copied();
        if let Some(done) = control::control(instance, operation, fd, socket, event) {
            return answer(done.map(|()| 0));
        }
    }
    // SAFETY: the caller's.
    unsafe { original::epoll_ctl(instance, operation, fd, event) }
}

fn instance_of(fd: c_int) -> Option<Arc<Epoll>> {
    if is_any() { EPOLLS.get(fd) } else { None }
}

/// Waits in an instance that has sockets of this library; None if the call is libc's. An array
/// without room for an event is reported by libc, too.
unsafe fn wait_on(
    instance: c_int,
    events: *mut epoll_event,
    count: c_int,
    deadline: impl FnOnce() -> Result<Deadline>,
    mask: *const sigset_t,
) -> Option<c_int> {
    let epoll = instance_of(instance)?;
    let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
    if guard::is_inside() || events.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let events = unsafe { core::slice::from_raw_parts_mut(events, count) };
    let found = deadline().and_then(|deadline| epoll.wait(instance, events, deadline, mask));
    Some(answer(found.map(|found| found as c_int)))
}

/// The call is libc's, as long as the instance has no socket of this library. One may be added
/// while it waits, which wakes it: the entries of this library are not the program's events, and it
/// waits on.
unsafe fn wait_plainly(
    instance: c_int,
    events: *mut epoll_event,
    count: c_int,
    deadline: impl FnOnce() -> Result<Deadline>,
    mask: *const sigset_t,
    plainly: impl FnOnce() -> c_int,
) -> c_int {
    let deadline = deadline();
    let asleep = sleepers::in_instance(instance);
    // It may have been added just now, by a thread that did not see this one.
    // SAFETY: the caller's.
    if let Some(found) = unsafe { wait_on(instance, events, count, || deadline, mask) } {
        return found;
    }
    let found = plainly();
    drop(asleep);
    // SAFETY: the caller's.
    unsafe { own_events_left_out(instance, events, found) }
        .or_else(|| unsafe { wait_on(instance, events, count, || deadline, mask) })
        .unwrap_or(0)
}

/// What libc has found, without the entries of this library; None if nothing else was found.
unsafe fn own_events_left_out(
    instance: c_int,
    events: *mut epoll_event,
    found: c_int,
) -> Option<c_int> {
    let Some(length) = usize::try_from(found).ok().filter(|found| *found > 0) else {
        return Some(found);
    };
    if instance_of(instance).is_none() || guard::is_inside() {
        return Some(found);
    }
    // SAFETY: libc has filled them.
    let kept = kernel::keep_foreign(unsafe { core::slice::from_raw_parts_mut(events, length) });
    (kept > 0).then_some(kept as c_int)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_wait(
    instance: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { epoll_pwait(instance, events, count, timeout, core::ptr::null()) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_pwait(
    instance: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { epoll_known(instance, events, count, timeout, mask) }
}

#[inline(never)]
unsafe fn epoll_known(
    instance: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let deadline = || Ok(Timeout::from_millis(timeout).begin());
        wait_on(instance, events, count, deadline, mask).unwrap_or_else(|| {
            let plainly = || original::epoll_pwait(instance, events, count, timeout, mask);
            if timeout == 0 {
                return own_events_left_out(instance, events, plainly()).unwrap_or(0);
            }
            wait_plainly(instance, events, count, deadline, mask, plainly)
        })
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_pwait2(
    instance: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let deadline = || deadline_of(timeout.as_ref());
        wait_on(instance, events, count, deadline, mask).unwrap_or_else(|| {
            let plainly = || original::epoll_pwait2(instance, events, count, timeout, mask);
            wait_plainly(instance, events, count, deadline, mask, plainly)
        })
    }
}
