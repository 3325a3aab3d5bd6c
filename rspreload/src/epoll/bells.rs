//! What wakes an instance besides its events: an alarm for those who sleep while others find something, and a
//! timer for listeners that have to be tried again.
//!
//! # Safety
//! eventfd and timerfd calls on live values and on descriptors that are owned here.
#![allow(unsafe_code)]

use super::state::State;
use super::{ALARM, TIMER, kernel};
use crate::error::Result;
use crate::real;
use crate::rsockets;
use crate::wait::Deadline;
use libc::{EPOLL_CTL_ADD, EPOLLIN, c_int, timespec};
use std::time::Instant;

/// Each is made when it is first needed, and is in the instance from then on.
#[derive(Default)]
pub(super) struct Bells {
    alarm: Option<c_int>,
    rings: bool,
    timer: Option<c_int>,
    timer_at: Deadline,
}

impl Bells {
    pub(super) fn close(&mut self) {
        for fd in [self.alarm.take(), self.timer.take()].into_iter().flatten() {
            // SAFETY: ours.
            unsafe { real::close(fd) };
        }
    }
}

fn take_count(fd: c_int) {
    let mut count = 0_u64;
    // SAFETY: eight bytes of a local.
    unsafe { real::read(fd, (&raw mut count).cast(), 8) };
}

impl State {
    /// Enters a descriptor of our own in the instance; it is closed where that fails.
    fn enter_own(&self, made: c_int, data: u64) -> Result<c_int> {
        let fd = rsockets::checked(made)?;
        let instance = self.instance();
        let entered =
            instance.and_then(|instance| kernel(instance, EPOLL_CTL_ADD, fd, EPOLLIN as u32, data));
        if let Err(error) = entered {
            // SAFETY: made by the caller, and nobody else's.
            unsafe { real::close(fd) };
            return Err(error);
        }
        Ok(fd)
    }

    /// Wakes one who sleeps in the instance.
    pub(super) fn ring(&mut self) {
        if self.bells.rings {
            return;
        }
        if self.bells.alarm.is_none() {
            // SAFETY: no pointers.
            let made = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
            self.bells.alarm = self.enter_own(made, ALARM).ok();
        }
        // Without a descriptor to spare the next one tries again.
        if let Some(alarm) = self.bells.alarm {
            let one = 1_u64;
            // SAFETY: eight bytes of a local.
            unsafe { real::write(alarm, (&raw const one).cast(), 8) };
            self.bells.rings = true;
        }
    }

    pub(super) fn alarm_rang(&mut self) {
        if let Some(alarm) = self.bells.alarm {
            take_count(alarm);
        }
        self.bells.rings = false;
    }

    pub(super) fn set_timer(&mut self, at: Deadline) {
        if at == self.bells.timer_at {
            return;
        }
        if self.bells.timer.is_none() {
            let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
            // SAFETY: no pointers.
            let made = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
            self.bells.timer = self.enter_own(made, TIMER).ok();
        }
        let Some(timer) = self.bells.timer else { return };
        let zero = timespec { tv_sec: 0, tv_nsec: 0 };
        let value = at.map_or(zero, |at| {
            let left = at.saturating_duration_since(Instant::now());
            timespec {
                tv_sec: left.as_secs() as libc::time_t,
                // Zero would stop it.
                tv_nsec: libc::c_long::from(left.subsec_nanos().max(1)),
            }
        });
        let value = libc::itimerspec { it_interval: zero, it_value: value };
        // SAFETY: a live value.
        unsafe { libc::timerfd_settime(timer, 0, &raw const value, std::ptr::null_mut()) };
        self.bells.timer_at = at;
    }

    pub(super) fn timer_rang(&mut self) {
        if let Some(timer) = self.bells.timer {
            take_count(timer);
        }
        self.bells.timer_at = None;
    }
}
