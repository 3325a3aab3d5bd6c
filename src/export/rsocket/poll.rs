// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: waiting for events.
#![allow(unsafe_code)]

use crate::export::arg;
use crate::export::ret::IntoC;
use crate::rsocket::table::{self, find};
use crate::rsocket::{at_once, check_count};
use base::deadline::Timeout;
use base::fail;
use base::time::Instant;
use libc::{c_int, epoll_event, fd_set, nfds_t, pollfd, timeval};

/// The longest array that is polled here: longer ones have caches.
const FEW: nfds_t = 15;

/// rpoll, where that is not all.
///
/// # Safety
/// `fds` has `nfds` places.
#[cold]
#[inline(never)]
unsafe fn poll(fds: *mut pollfd, nfds: nfds_t, timeout: c_int) -> c_int {
    let checked = check_count(nfds);
    // SAFETY: an array of `nfds` places, by the C contract.
    let ready = checked
        .and_then(|()| unsafe { arg::array(fds, nfds as usize) })
        .and_then(|fds| table::poll(fds, Timeout::from_millis(timeout)));
    ready.map(|count| count as c_int).into_c()
}

/// Waits for events on rsockets and other files.
///
/// # Arguments
///
/// - `fds`: rsockets and file descriptors of any type, with the events to wait for; `revents` is
///   set.
/// - `nfds`: number of entries in `fds`.
/// - `timeout`: limit in milliseconds; 0 returns immediately, a negative value waits without
///   limit.
///
/// # Description
///
/// Like poll(2). Before it sleeps, the call polls the completion queues for the time in
/// /etc/rdma/rsocket/polling_time, in microseconds (see rsocket(7)).
///
/// # Return value
///
/// The number of entries with nonzero `revents`, 0 if the timeout expired; -1 with `errno` set on
/// failure.
///
/// # Errors
///
/// - `EFAULT`: `fds` is NULL.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: `nfds` is too large.
/// - `EMFILE`: the process has too many open files.
/// - `ENOMEM`: out of memory.
///
/// {Errors: others}
///
/// {Thread safety: any thread}
///
/// # Examples
///
/// From the program in rsocket(7):
///
/// {Code: rsocket.c | relay}
///
/// # See also
///
/// rselect(3), repoll_wait(3), poll(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpoll(fds: *mut pollfd, nfds: nfds_t, timeout: c_int) -> c_int {
    // Few descriptors, which are mostly all there is.
    if !fds.is_null() && (1..=FEW).contains(&nfds) {
        // SAFETY: an array of `nfds` places, by the C contract.
        let fds = unsafe { core::slice::from_raw_parts_mut(fds, nfds as usize) };
        match at_once::poll(fds) {
            Some(ready) if ready > 0 || timeout == 0 => return ready as c_int,
            _ => {}
        }
    }
    // SAFETY: by the C contract.
    unsafe { poll(fds, nfds, timeout) }
}

/// Waits for events on sets of rsockets and other files.
///
/// # Arguments
///
/// - `nfds`: the highest file descriptor in the sets, plus 1.
/// - `readfds`: file descriptors to wait for input, or NULL; updated to those that are ready.
/// - `writefds`: file descriptors to wait for output, or NULL; updated to those that are ready.
/// - `exceptfds`: file descriptors to wait for exceptional conditions, or NULL; updated to those
///   that are ready.
/// - `timeout`: limit, or NULL for none; updated to the time that is left, as on Linux.
///
/// # Description
///
/// Like select(2).
///
/// # Return value
///
/// The number of ready file descriptors, 0 if the timeout expired; -1 with `errno` set on
/// failure.
///
/// # Errors
///
/// - `EBADF`: a file descriptor in a set is not open.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: `nfds` or the timeout is negative.
/// - `EMFILE`: the process has too many open files.
/// - `ENOMEM`: out of memory.
///
/// {Errors: others}
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rpoll(3), select(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rselect(
    nfds: c_int,
    readfds: *mut fd_set,
    writefds: *mut fd_set,
    exceptfds: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: sets and a time, each valid or NULL.
    let (sets, limit) = unsafe {
        ([readfds.as_mut(), writefds.as_mut(), exceptfds.as_mut()], arg::timeout(timeout))
    };
    let ready = limit.and_then(|limit| {
        let began = Instant::now();
        let ready = table::select(nfds, sets, limit);
        // SAFETY: a time or NULL.
        unsafe { arg::store_left(timeout, began.elapsed()) };
        ready
    });
    ready.map(|count| count as c_int).into_c()
}

/// Creates an epoll set for rsockets and other files.
///
/// # Arguments
///
/// - `flags`: EPOLL_CLOEXEC, or 0.
///
/// # Description
///
/// Like epoll_create1(2), for rsockets too.
///
/// # Return value
///
/// The epoll set, to be closed by rclose; -1 with `errno` set on failure.
///
/// # Errors
///
/// - `EINVAL`: `flags` is invalid.
/// - `EMFILE`: the process has too many open files.
/// - `ENODEV`: the system has no RDMA device.
/// - `ENOMEM`: out of memory.
///
/// {Errors: others}
///
/// {Thread safety: any thread}
///
/// # See also
///
/// repoll_ctl(3), repoll_wait(3), epoll_create1(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_create(flags: c_int) -> c_int {
    table::open_set(flags).into_c()
}

/// Changes an epoll set of repoll_create.
///
/// # Arguments
///
/// - `epfd`: the epoll set.
/// - `op`: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL.
/// - `fd`: an rsocket, or a file descriptor that epoll supports.
/// - `event`: the events to wait for, and the data to return with them; ignored for
///   EPOLL_CTL_DEL.
///
/// # Description
///
/// Like epoll_ctl(2). EPOLLET and EPOLLONESHOT work for rsockets too. Closing an rsocket removes
/// it from its epoll sets.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EBADF`: `epfd` is not an epoll set, or `fd` is not open.
/// - `EEXIST`: `fd` is in the set already.
/// - `EFAULT`: `event` is NULL.
/// - `EINVAL`: `op` is invalid, `epfd` is an rsocket, or `fd` is the set itself.
/// - `ENOENT`: `fd` is not in the set.
/// - `ENOMEM`: out of memory.
/// - `EPERM`: `fd` does not support epoll.
///
/// {Errors: others}
///
/// {Thread safety: any thread}
///
/// # See also
///
/// repoll_create(3), repoll_wait(3), epoll_ctl(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_ctl(
    epfd: c_int,
    op: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: a valid event or NULL.
    let event = unsafe { event.as_ref() }.copied();
    find(epfd).and_then(|set| table::control(&set, op, fd, event)).into_c()
}

/// Waits for events on an epoll set of repoll_create.
///
/// # Arguments
///
/// - `epfd`: the epoll set.
/// - `events`: array for the events.
/// - `maxevents`: number of entries in `events`.
/// - `timeout`: limit in milliseconds; 0 returns immediately, a negative value waits without
///   limit.
///
/// # Description
///
/// Like epoll_wait(2).
///
/// # Return value
///
/// The number of events, 0 if the timeout expired; -1 with `errno` set on failure.
///
/// # Errors
///
/// - `EBADF`: `epfd` is not an epoll set, or was closed during the call.
/// - `EFAULT`: `events` is NULL.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: `maxevents` is not positive, or `epfd` is an rsocket.
///
/// {Errors: others}
///
/// {Thread safety: any thread}
///
/// # See also
///
/// repoll_create(3), repoll_ctl(3), rpoll(3), epoll_wait(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_wait(
    epfd: c_int,
    events: *mut epoll_event,
    maxevents: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: an array of `maxevents` places, by the C contract.
    let events = usize::try_from(maxevents)
        .map_err(|_| fail!(EINVAL, "repoll_wait: room for {maxevents} events"))
        .and_then(|count| unsafe { arg::array(events, count) });
    let ready = find(epfd).and_then(|set| {
        set.as_set()?.wait(events?, Timeout::from_millis(timeout)).map(|count| count as c_int)
    });
    ready.into_c()
}
