// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What wakes the threads that wait in an instance besides its events: an eventfd, when another
//! thread finds something for them, and a timer, when listeners have to be tried again.
//!
//! # Safety
//! timerfd calls on live values and on a descriptor that is owned here.
#![allow(unsafe_code)]

use super::kernel::{self, TIMER, WAKE_UP};
use base::deadline::Deadline;
use base::errno::Result;
use base::eventfd::{self, EventFd};
use base::fd::{OwnedFd, RawFd};
use libc::{EPOLL_CTL_ADD, EPOLLIN, timespec};

/// Each descriptor is made when it is first needed, and stays in the instance.
#[derive(Default)]
pub(super) struct Wakeups {
    event: Option<EventFd>,
    is_notified: bool,
    timer: Option<OwnedFd>,
    timer_at: Deadline,
}

fn add_to(instance: Result<RawFd>, fd: RawFd, data: u64) -> Result<()> {
    kernel::control(instance?, EPOLL_CTL_ADD, fd, EPOLLIN as u32, data)
}

fn make_event(instance: Result<RawFd>) -> Result<EventFd> {
    let event = EventFd::new()?;
    add_to(instance, event.as_raw_fd(), WAKE_UP)?;
    Ok(event)
}

fn make_timer(instance: Result<RawFd>) -> Result<OwnedFd> {
    let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
    // SAFETY: no pointers.
    let timer = OwnedFd::made(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) })?;
    add_to(instance, timer.as_raw_fd(), TIMER)?;
    Ok(timer)
}

impl Wakeups {
    /// Wakes a thread that waits in the instance.
    pub(super) fn notify(&mut self, instance: Result<RawFd>) {
        if self.is_notified {
            return;
        }
        if self.event.is_none() {
            self.event = make_event(instance).ok();
        }
        // Without a descriptor the next call tries again.
        if let Some(event) = &self.event {
            event.notify();
            self.is_notified = true;
        }
    }

    /// A thread was woken by the eventfd.
    pub(super) fn take_notification(&mut self) {
        if let Some(event) = &self.event {
            event.clear();
        }
        self.is_notified = false;
    }

    pub(super) fn set_timer(&mut self, instance: Result<RawFd>, at: Deadline) {
        if at == self.timer_at {
            return;
        }
        if self.timer.is_none() {
            self.timer = make_timer(instance).ok();
        }
        let Some(timer) = &self.timer else { return };
        let zero = timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would stop it.
        let value = at
            .left_timespec()
            .map_or(zero, |left| timespec { tv_nsec: left.tv_nsec.max(1), ..left });
        let value = libc::itimerspec { it_interval: zero, it_value: value };
        // SAFETY: a live value.
        unsafe {
            libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const value, core::ptr::null_mut())
        };
        self.timer_at = at;
    }

    /// A thread was woken by the timer.
    pub(super) fn take_timer(&mut self) {
        if let Some(timer) = &self.timer {
            eventfd::clear(timer.as_raw_fd());
        }
        self.timer_at = Deadline::Never;
    }
}
