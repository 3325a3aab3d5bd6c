// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rpoll: rsockets and ordinary descriptors in one array.
//!
//! An array that a thread knows is in its poll cache. Otherwise first everything is polled once;
//! then, with rsockets in the array, busy-polled; then the thread sleeps on the sockets' completion
//! events, on the ordinary descriptors, and on a waker of its own that everything else uses.
//!
//! # Safety
//! getrlimit(2).
#![allow(unsafe_code)]

use super::busy_poll::BusyPoll;
use super::poll_cache::{ALWAYS, PollCaches};
use super::source::{Identity, Pollable, Registration, Waiter};
use super::waker::{Borrowed, Waker};
use crate::lane;
use alloc::vec::Vec;
use base::arc::Arc;
use base::counters::{count, layout};
use base::deadline::{Deadline, Timeout, poll_until};
use base::errno::Result;
use base::time::Instant;
use base::{fail, trace};
use libc::{POLLIN, pollfd};

/// What a descriptor of the array is.
enum Descriptor<S> {
    /// Left to the kernel.
    Ordinary,
    Rsocket(Arc<S>),
}

/// EINVAL for more entries than the process may have descriptors, as in poll(2). Few entries are
/// always right.
pub(crate) fn check_count(count: u64) -> Result<()> {
    const FEW: u64 = 1024;
    if count <= FEW {
        return Ok(());
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a live struct.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    let most = limit.rlim_cur;
    if known && count > most {
        return Err(fail!(
            EINVAL,
            "rpoll: {count} entries, more than the {most} descriptors that the process may have \
             (RLIMIT_NOFILE)"
        ));
    }
    Ok(())
}

/// Fills `revents`; the number of entries with events.
pub(crate) fn poll<S: Pollable>(
    caches: &PollCaches<S>,
    fds: &mut [pollfd],
    timeout: Timeout,
) -> Result<usize> {
    if let Some(result) = caches.poll(fds, timeout) {
        return result;
    }
    match poll_rsockets::<S>(fds) {
        Some(ready) if ready > 0 || timeout.is_zero() => Ok(ready),
        _ if trace::is_on() => poll_on_traced::<S>(fds, timeout),
        _ => poll_on::<S>(fds, timeout),
    }
}

#[cold]
#[inline(never)]
fn poll_on_traced<S: Pollable>(fds: &mut [pollfd], timeout: Timeout) -> Result<usize> {
    let begin = Instant::now();
    let count = fds.len();
    let ready = poll_on::<S>(fds, timeout);
    lane::waited_for(begin, "wait in rpoll", count, ready)
}

/// When polling once was not enough.
#[inline(never)]
fn poll_on<S: Pollable>(fds: &mut [pollfd], timeout: Timeout) -> Result<usize> {
    let deadline = timeout.begin();
    let mut descriptors = base::memory::try_vec(fds.len())?;
    descriptors.extend(fds.iter().map(|entry| match S::find(entry.fd) {
        Some(socket) => Descriptor::Rsocket(socket),
        None => Descriptor::Ordinary,
    }));
    if !descriptors.iter().any(|descriptor| matches!(descriptor, Descriptor::Rsocket(_))) {
        return poll_until(fds, deadline);
    }
    let ready = poll_once(fds, &descriptors)?;
    if ready > 0 || deadline.has_passed() {
        return Ok(ready);
    }
    count(|words| words.add(layout::WAITS, 1));
    let busy_poll = BusyPoll::start();
    while busy_poll.goes_on() {
        let ready = poll_once(fds, &descriptors)?;
        if ready > 0 {
            busy_poll.found();
            return Ok(ready);
        }
        if deadline.has_passed() {
            return Ok(0);
        }
    }
    let borrowed = Borrowed::take()?;
    let waker = Arc::clone(borrowed.waker());
    let result = sleep(fds, &descriptors, &waker, deadline);
    drop(waker);
    busy_poll.slept();
    result
}

/// Polls an array that is all rsockets, which needs nothing but the array: how many of its entries
/// are ready. None when there is more to poll.
fn poll_rsockets<S: Pollable>(fds: &mut [pollfd]) -> Option<usize> {
    let mut ready = 0;
    for entry in fds {
        entry.revents = 0;
        if entry.fd >= 0 {
            entry.revents = S::find(entry.fd)?.readiness() & (entry.events | ALWAYS);
            ready += usize::from(entry.revents != 0);
        }
    }
    Some(ready)
}

/// What is true now, without waiting.
fn poll_once<S: Pollable>(fds: &mut [pollfd], descriptors: &[Descriptor<S>]) -> Result<usize> {
    let mut ready = 0;
    let mut ordinary = false;
    for (entry, descriptor) in fds.iter_mut().zip(descriptors) {
        entry.revents = 0;
        match descriptor {
            Descriptor::Ordinary => ordinary |= entry.fd >= 0,
            Descriptor::Rsocket(socket) => {
                entry.revents = socket.readiness() & (entry.events | ALWAYS);
                ready += usize::from(entry.revents != 0);
            }
        }
    }
    if ordinary {
        ready += poll_ordinary(fds, descriptors)?;
    }
    Ok(ready)
}

fn poll_ordinary<S>(fds: &mut [pollfd], descriptors: &[Descriptor<S>]) -> Result<usize> {
    let is_ordinary = |descriptor: &Descriptor<S>| matches!(descriptor, Descriptor::Ordinary);
    let mut copy = base::memory::try_vec(fds.len())?;
    copy.extend(
        fds.iter()
            .zip(descriptors)
            .filter(|(_, descriptor)| is_ordinary(descriptor))
            .map(|(fd, _)| *fd),
    );
    let ready = poll_until(&mut copy, Deadline::Now)?;
    let ordinary =
        fds.iter_mut().zip(descriptors).filter(|(_, descriptor)| is_ordinary(descriptor));
    for ((entry, _), copy) in ordinary.zip(copy) {
        entry.revents = copy.revents;
    }
    Ok(ready)
}

fn sleep<S: Pollable>(
    fds: &mut [pollfd],
    descriptors: &[Descriptor<S>],
    waker: &Arc<Waker>,
    deadline: Deadline,
) -> Result<usize> {
    let mut registered: Vec<Registration<'_>> = base::memory::try_vec(descriptors.len())?;
    let mut watched = base::memory::try_vec(fds.len().saturating_add(1))?;
    let watch = |fd| pollfd { fd, events: POLLIN, revents: 0 };
    watched.push(watch(waker.fd()));
    let mut ready = 0;
    for (entry, descriptor) in fds.iter_mut().zip(descriptors) {
        let Descriptor::Rsocket(socket) = descriptor else {
            watched.push(pollfd { revents: 0, ..*entry });
            continue;
        };
        let (registration, fd, events) =
            Registration::enlisted(socket.as_source()?, Waiter::Thread(waker.clone()))?;
        registered.push(registration);
        watched.push(watch(fd));
        entry.revents = events & (entry.events | ALWAYS);
        ready += usize::from(entry.revents != 0);
    }
    loop {
        if ready > 0 || deadline.has_passed() {
            return Ok(ready);
        }
        count(|words| words.add(layout::SLEEPS, 1));
        if poll_until(&mut watched, deadline)? == 0 {
            // What has completed without its event being there yet counts.
            return poll_once(fds, descriptors);
        }
        ready = woken(fds, descriptors, &watched, waker)?;
        if ready > 0 {
            return Ok(ready);
        }
        // The event was of no interest: armed again, then polled, for what has completed meanwhile.
        for (watched, descriptor) in watched[1..].iter_mut().zip(descriptors) {
            if let Descriptor::Rsocket(socket) = descriptor {
                watched.fd = socket.as_source()?.arm(Identity::of(&**waker))?;
            }
        }
        ready = poll_once(fds, descriptors)?;
    }
}

/// Polls the sockets whose events ended a sleep; all of them, where it was the waker.
fn woken<S: Pollable>(
    fds: &mut [pollfd],
    descriptors: &[Descriptor<S>],
    watched: &[pollfd],
    waker: &Waker,
) -> Result<usize> {
    let mut ready = 0;
    for ((entry, descriptor), watched) in fds.iter_mut().zip(descriptors).zip(&watched[1..]) {
        entry.revents = match descriptor {
            Descriptor::Ordinary => watched.revents,
            Descriptor::Rsocket(socket) if watched.revents != 0 => {
                socket.as_source()?.expect_event();
                socket.readiness() & (entry.events | ALWAYS)
            }
            Descriptor::Rsocket(_) => 0,
        };
        ready += usize::from(entry.revents != 0);
    }
    if watched[0].revents != 0 {
        waker.clear();
        return poll_once(fds, descriptors);
    }
    Ok(ready)
}
