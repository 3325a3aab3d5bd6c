// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Descriptors that a thread makes readable for another one (eventfd(2)).
//!
//! # Safety
//! Eight bytes of a local are read or written.
#![allow(unsafe_code)]

use crate::errno::Result;
use crate::fd::{OwnedFd, RawFd};
use crate::system_call::system_call;

/// An eventfd that does not block and is closed by exec(2).
#[derive(Debug)]
pub struct EventFd(OwnedFd);

impl EventFd {
    pub fn new() -> Result<EventFd> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        OwnedFd::made(fd).map(EventFd)
    }

    #[must_use]
    pub fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Gives the descriptor away.
    #[must_use]
    pub fn into_raw_fd(self) -> RawFd {
        self.0.into_raw_fd()
    }

    /// Makes it readable. One whose count is full is readable already.
    pub fn notify(&self) {
        notify(self.as_raw_fd());
    }

    /// Takes all notifications, if there are any.
    pub fn clear(&self) {
        clear(self.as_raw_fd());
    }
}

/// As the method, for a descriptor that somebody else owns.
pub fn notify(fd: RawFd) {
    let one = 1_u64;
    let arguments = [fd as usize, (&raw const one).expose_provenance(), size_of::<u64>(), 0];
    // SAFETY: eight bytes of a local.
    let _ = unsafe { system_call(libc::SYS_write, arguments) };
}

/// As the method, for a descriptor that somebody else owns; a timerfd will do, too.
pub fn clear(fd: RawFd) {
    let mut count = 0_u64;
    let arguments = [fd as usize, (&raw mut count).expose_provenance(), size_of::<u64>(), 0];
    // SAFETY: eight bytes of a local.
    let _ = unsafe { system_call(libc::SYS_read, arguments) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::{Deadline, wait_ready};
    use crate::errno::Errno;

    #[test]
    fn notifications_are_taken_together() {
        let Ok(event) = EventFd::new() else { return };
        let ready = || wait_ready(event.as_raw_fd(), libc::POLLIN, Deadline::Now);
        assert_eq!(ready(), Err(Errno::ETIMEDOUT));
        event.notify();
        event.notify();
        assert_eq!(ready(), Ok(()));
        event.clear();
        assert_eq!(ready(), Err(Errno::ETIMEDOUT));
        event.clear();
    }
}
