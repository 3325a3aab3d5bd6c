//! rpoll: rsockets and ordinary descriptors in one array.
//!
//! An array that a thread knows is a `standing_set`. Otherwise first a look at everything; then, with
//! rsockets in the array, looks for a while (`looking`); then sleep on the sockets' completion events, on
//! the ordinary descriptors, and on a waker of our own that everything else uses.
//!
//! # Safety
//! The caller's array as plain bytes. getrlimit(2).
#![allow(unsafe_code)]

use super::looking::Looking;
use super::socket::{self, Socket};
use super::standing_set;
use super::wait::{self, Borrowed, Deadline, Limit, Waiter, Waker};
use super::waiting::{Registration, identity_of};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, c_short, pollfd};
use std::os::fd::RawFd;
use std::slice;

/// Events that are told whether or not they were asked for.
pub(super) const ALWAYS: c_short = POLLERR | POLLHUP | POLLNVAL;

/// One place of the array.
enum Place {
    /// Left to the kernel.
    Ordinary,
    Rsocket(Counted<Socket>),
}

/// EINVAL for more places than the process may have descriptors, as poll(2) has it. Few places are
/// always right.
pub(crate) fn check_count(count: u64) -> Result<()> {
    const FEW: u64 = 1024;
    if count <= FEW {
        return Ok(());
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a live struct.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    if known && count > limit.rlim_cur { Err(Errno::EINVAL) } else { Ok(()) }
}

/// Fills `revents`; the number of places with events.
pub(crate) fn poll(fds: &mut [pollfd], limit: Limit) -> Result<usize> {
    if let Some(result) = standing_set::poll(fds, limit) {
        return result;
    }
    match look_at_rsockets(fds) {
        Some(ready) if ready > 0 || limit.is_zero() => Ok(ready),
        _ => poll_on(fds, limit),
    }
}

/// When a first look was not enough.
#[inline(never)]
fn poll_on(fds: &mut [pollfd], limit: Limit) -> Result<usize> {
    let deadline = limit.begin();
    let mut places = crate::memory::try_vec(fds.len())?;
    places.extend(fds.iter().map(|place| match rsocket(place.fd) {
        Some(socket) => Place::Rsocket(socket),
        None => Place::Ordinary,
    }));
    if !places.iter().any(|place| matches!(place, Place::Rsocket(_))) {
        return wait::poll_until(fds, deadline);
    }
    let ready = look(fds, &places)?;
    if ready > 0 || deadline.has_passed() {
        return Ok(ready);
    }
    let looking = Looking::start();
    while looking.again() {
        let ready = look(fds, &places)?;
        if ready > 0 {
            looking.found();
            return Ok(ready);
        }
        if deadline.has_passed() {
            return Ok(0);
        }
    }
    let borrowed = Borrowed::take()?;
    let waker = Counted::clone(borrowed.waker());
    let result = sleep(fds, &places, &waker, deadline);
    drop(waker);
    looking.slept();
    result
}

/// What rpoll itself has to look at: also one that is being closed, of which the kernel would say nothing.
#[inline]
pub(super) fn rsocket(fd: RawFd) -> Option<Counted<Socket>> {
    socket::find_any(fd).filter(|socket| socket.is_source())
}

/// Whether an array asks what another did. Results are cleared on the way: this is all that an idle socket
/// of a known array costs, so it is one pass over whole places, without branches.
pub(super) fn asks_the_same(known: &[pollfd], given: &mut [pollfd]) -> bool {
    /// Descriptor and events, without the results behind them.
    const ASKED: u64 = u64::from_ne_bytes([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0]);
    const { assert!(size_of::<pollfd>() == 8 && std::mem::offset_of!(pollfd, revents) == 6) };
    if known.len() != given.len() {
        return false;
    }
    // SAFETY: places are eight bytes of integers without gaps, at any alignment.
    let (known, given) = unsafe {
        let known = slice::from_raw_parts(known.as_ptr().cast::<[u8; 8]>(), known.len());
        (known, slice::from_raw_parts_mut(given.as_mut_ptr().cast::<[u8; 8]>(), given.len()))
    };
    let mut difference = 0;
    for (known, given) in known.iter().zip(given) {
        let asked = u64::from_ne_bytes(*given) & ASKED;
        difference |= asked ^ u64::from_ne_bytes(*known);
        *given = asked.to_ne_bytes();
    }
    difference & ASKED == 0
}

/// A look at an array that is all rsockets, which needs nothing but the array: how many of its places are
/// ready. None when there is more to look at.
fn look_at_rsockets(fds: &mut [pollfd]) -> Option<usize> {
    let mut ready = 0;
    for place in fds {
        place.revents = 0;
        if place.fd >= 0 {
            place.revents = rsocket(place.fd)?.readiness() & (place.events | ALWAYS);
            ready += usize::from(place.revents != 0);
        }
    }
    Some(ready)
}

/// What is true now, without waiting.
fn look(fds: &mut [pollfd], places: &[Place]) -> Result<usize> {
    let mut ready = 0;
    let mut ordinary = false;
    for (place, kind) in fds.iter_mut().zip(places) {
        place.revents = 0;
        match kind {
            Place::Ordinary => ordinary |= place.fd >= 0,
            Place::Rsocket(socket) => {
                place.revents = socket.readiness() & (place.events | ALWAYS);
                ready += usize::from(place.revents != 0);
            }
        }
    }
    if ordinary {
        ready += look_at_ordinary(fds, places)?;
    }
    Ok(ready)
}

fn look_at_ordinary(fds: &mut [pollfd], places: &[Place]) -> Result<usize> {
    let is_ordinary = |kind: &Place| matches!(kind, Place::Ordinary);
    let mut copy = crate::memory::try_vec(fds.len())?;
    copy.extend(fds.iter().zip(places).filter(|(_, kind)| is_ordinary(kind)).map(|(fd, _)| *fd));
    let ready = wait::poll_until(&mut copy, Deadline::Now)?;
    let ordinary = fds.iter_mut().zip(places).filter(|(_, kind)| is_ordinary(kind));
    for ((place, _), copy) in ordinary.zip(copy) {
        place.revents = copy.revents;
    }
    Ok(ready)
}

fn sleep(
    fds: &mut [pollfd],
    places: &[Place],
    waker: &Counted<Waker>,
    deadline: Deadline,
) -> Result<usize> {
    let mut registered: Vec<Registration<'_>> = crate::memory::try_vec(places.len())?;
    let mut watched = crate::memory::try_vec(fds.len().saturating_add(1))?;
    let watch = |fd| pollfd { fd, events: POLLIN, revents: 0 };
    watched.push(watch(waker.fd()));
    let mut ready = 0;
    for (place, kind) in fds.iter_mut().zip(places) {
        let Place::Rsocket(socket) = kind else {
            watched.push(pollfd { revents: 0, ..*place });
            continue;
        };
        let (registration, fd, events) =
            Registration::enlisted(socket.as_source()?, Waiter::Thread(waker.clone()))?;
        registered.push(registration);
        watched.push(watch(fd));
        place.revents = events & (place.events | ALWAYS);
        ready += usize::from(place.revents != 0);
    }
    loop {
        if ready > 0 || deadline.has_passed() {
            return Ok(ready);
        }
        if wait::poll_until(&mut watched, deadline)? == 0 {
            // What has completed without its event being there yet counts.
            return look(fds, places);
        }
        ready = woken(fds, places, &watched, waker)?;
        if ready > 0 {
            return Ok(ready);
        }
        // Something that nobody asked for: armed anew, then looked at, for what came in between.
        for (watched, kind) in watched[1..].iter_mut().zip(places) {
            if let Place::Rsocket(socket) = kind {
                watched.fd = socket.as_source()?.arm(identity_of(waker))?;
            }
        }
        ready = look(fds, places)?;
    }
}

/// Looks at the sockets whose events ended a sleep; at all, where it was the waker.
fn woken(fds: &mut [pollfd], places: &[Place], watched: &[pollfd], waker: &Waker) -> Result<usize> {
    let mut ready = 0;
    for ((place, kind), watched) in fds.iter_mut().zip(places).zip(&watched[1..]) {
        place.revents = match kind {
            Place::Ordinary => watched.revents,
            Place::Rsocket(socket) if watched.revents != 0 => {
                socket.as_source()?.expect_event();
                socket.readiness() & (place.events | ALWAYS)
            }
            Place::Rsocket(_) => 0,
        };
        ready += usize::from(place.revents != 0);
    }
    if watched[0].revents != 0 {
        waker.clear();
        return look(fds, places);
    }
    Ok(ready)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(count: i32) -> Vec<pollfd> {
        (0..count).map(|fd| pollfd { fd, events: POLLIN, revents: 0 }).collect()
    }

    #[test]
    fn what_an_array_asks_is_its_descriptors_and_events() {
        for count in [0, 1, 2, 15, 16, 33] {
            let known = array(count);
            let mut given = array(count);
            given.iter_mut().for_each(|place| place.revents = !0);
            assert!(asks_the_same(&known, &mut given));
            assert!(given.iter().all(|place| place.revents == 0 && place.events == POLLIN));
            assert!(!asks_the_same(&array(count + 1), &mut given));
            for place in 0..count as usize {
                given[place].events = !POLLIN;
                assert!(!asks_the_same(&known, &mut given));
                given[place].events = POLLIN;
                given[place].fd |= 1 << 30;
                assert!(!asks_the_same(&known, &mut given));
                given[place].fd = place as i32;
                assert!(asks_the_same(&known, &mut given));
            }
        }
    }
}
