// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! epoll_ctl(2) on the program's instances, and the entries that this library adds to them.
//!
//! # Safety
//! epoll_ctl(2) with a live event.
#![allow(unsafe_code)]

use crate::sys::{librdmacm, original};
use base::errno::Result;
use libc::{c_int, epoll_event};

/// The data of the entry for the set of rsockets. No pointer of the program has these upper bits.
pub(super) const SET: u64 = 0x5DC3_97A1_0000_0000;
/// The data of the entries for wake-ups.
pub(super) const WAKE_UP: u64 = SET | 1;
pub(super) const TIMER: u64 = SET | 2;

/// Keeps the program's events, from the first place on; their number. For a thread that has waited
/// in the instance since before the first entry of this library.
pub(crate) fn keep_foreign(events: &mut [epoll_event]) -> usize {
    let mut kept = 0;
    for index in 0..events.len() {
        let event = events[index];
        let data = event.u64;
        if !matches!(data, SET | WAKE_UP | TIMER) {
            events[kept] = event;
            kept += 1;
        }
    }
    kept
}

pub(super) fn control(
    instance: c_int,
    operation: c_int,
    fd: c_int,
    events: u32,
    data: u64,
) -> Result<()> {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: a live event.
    let answer = unsafe { original::epoll_ctl(instance, operation, fd, &raw mut event) };
    librdmacm::checked(answer).map(drop)
}
