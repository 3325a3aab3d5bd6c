//! <poll.h>, <sys/select.h>, <sys/epoll.h>.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use super::{answer, fail};
use crate::descriptors;
use crate::epoll::{self, EPOLLS};
use crate::error::Errno;
use crate::fork;
use crate::guard;
use crate::real;
use crate::select;
use crate::socket::{Mode, SOCKETS};
use crate::wait::{self, Deadline};
use libc::{
    c_int, epoll_event, fd_set, nfds_t, pollfd, sigset_t, suseconds_t, time_t, timespec, timeval,
};
use std::time::{Duration, Instant};

/// The caller's places, where one of them needs us.
unsafe fn places<'a>(fds: *mut pollfd, count: nfds_t) -> Option<&'a mut [pollfd]> {
    if fds.is_null() || guard::is_inside() {
        return None;
    }
    // SAFETY: the caller's.
    let places = unsafe { std::slice::from_raw_parts_mut(fds, count as usize) };
    wait::any_needs_us(places).then_some(places)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if descriptors::is_unused() {
            return real::poll(fds, count, timeout);
        }
        poll_known(fds, count, timeout)
    }
}

#[inline(never)]
unsafe fn poll_known(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    match unsafe { places(fds, count) } {
        Some(places) => {
            let ready = wait::poll(places, wait::deadline_ms(timeout), None);
            answer(ready.map(|ready| ready as c_int))
        }
        // SAFETY: the caller's.
        None => unsafe { real::poll(fds, count, timeout) },
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
        if descriptors::is_unused() {
            return real::ppoll(fds, count, timeout, mask);
        }
        match places(fds, count) {
            Some(places) => {
                let Ok(deadline) = deadline(timeout.as_ref()) else { return fail(Errno::EINVAL) };
                let ready = wait::poll(places, deadline, mask.as_ref());
                answer(ready.map(|ready| ready as c_int))
            }
            None => real::ppoll(fds, count, timeout, mask),
        }
    }
}

fn deadline(span: Option<&timespec>) -> Result<Deadline, Errno> {
    match span {
        None => Ok(None),
        Some(span) if span.tv_sec < 0 || !(0..1_000_000_000).contains(&span.tv_nsec) => {
            Err(Errno::EINVAL)
        }
        Some(span) => Ok(wait::deadline_of(span)),
    }
}

/// Bits that are looked at; none where the call is libc's affair.
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
        if descriptors::is_unused() {
            return real::select(count, read, write, except, timeout);
        }
        select_known(count, [read, write, except], timeout)
    }
}

#[inline(never)]
unsafe fn select_known(count: c_int, sets: [*mut fd_set; 3], timeout: *mut timeval) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let bits = bits_of(count);
        let Some(mut places) = select::places_of(bits, sets) else {
            let [read, write, except] = sets;
            return real::select(count, read, write, except, timeout);
        };
        let span = timeout.as_ref().map(|time| timespec {
            tv_sec: time.tv_sec + time.tv_usec / 1_000_000,
            tv_nsec: time.tv_usec % 1_000_000 * 1000,
        });
        let Ok(deadline) = deadline(span.as_ref()) else { return fail(Errno::EINVAL) };
        let ready = select::select(bits, sets, &mut places, deadline, None);
        if let Some(timeout) = timeout.as_mut() {
            let left = deadline.map_or(Duration::ZERO, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
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
        if descriptors::is_unused() {
            return real::pselect(count, read, write, except, timeout, mask);
        }
        let sets = [read, write, except];
        let bits = bits_of(count);
        let Some(mut places) = select::places_of(bits, sets) else {
            return real::pselect(count, read, write, except, timeout, mask);
        };
        let Ok(deadline) = deadline(timeout.as_ref()) else { return fail(Errno::EINVAL) };
        answer(select::select(bits, sets, &mut places, deadline, mask.as_ref()))
    }
}

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
            Some(socket) => fork::claim(socket),
            None if fd != instance => epoll::waited_for(fd),
            None => {}
        }
        // SAFETY: the caller's.
        let event = unsafe { event.as_ref() }.copied();
        if let Some(done) = epoll::control(instance, operation, fd, socket, event) {
            return answer(done.map(|()| 0));
        }
    }
    // SAFETY: the caller's.
    unsafe { real::epoll_ctl(instance, operation, fd, event) }
}

/// epoll_wait where the instance has sockets of ours; None where it has none. The caller has a place for
/// at least one event, or it is libc's affair.
unsafe fn wait_on(
    instance: c_int,
    events: *mut epoll_event,
    most: c_int,
    deadline: impl FnOnce() -> Result<Deadline, Errno>,
    mask: *const sigset_t,
) -> Option<c_int> {
    let epoll = EPOLLS.get(instance)?;
    let most = usize::try_from(most).ok().filter(|most| *most > 0)?;
    if guard::is_inside() || events.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let events = unsafe { std::slice::from_raw_parts_mut(events, most) };
    let found = deadline().and_then(|deadline| epoll.wait(instance, events, deadline, mask));
    Some(answer(found.map(|count| count as c_int)))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_wait(
    instance: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { epoll_pwait(instance, events, most, timeout, std::ptr::null()) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_pwait(
    instance: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if descriptors::is_unused() {
            return real::epoll_pwait(instance, events, most, timeout, mask);
        }
        epoll_known(instance, events, most, timeout, mask)
    }
}

#[inline(never)]
unsafe fn epoll_known(
    instance: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        wait_on(instance, events, most, || Ok(wait::deadline_ms(timeout)), mask)
            .unwrap_or_else(|| real::epoll_pwait(instance, events, most, timeout, mask))
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_pwait2(
    instance: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if descriptors::is_unused() {
            return real::epoll_pwait2(instance, events, most, timeout, mask);
        }
        wait_on(instance, events, most, || deadline(timeout.as_ref()), mask)
            .unwrap_or_else(|| real::epoll_pwait2(instance, events, most, timeout, mask))
    }
}
