// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The kernel's epoll instances.
//!
//! # Safety
//! epoll(7) calls on live arrays and an instance that is owned here.
#![allow(unsafe_code)]

use base::deadline::{Deadline, poll_until};
use base::errno::{Errno, Result};
use base::fd::{OwnedFd, RawFd};
use libc::{EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLLIN, c_int, epoll_event};

/// See the module text.
pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    pub(crate) fn new(flags: c_int) -> Result<Epoll> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::epoll_create1(flags) };
        OwnedFd::made(fd).map(Epoll)
    }

    /// One that is readable when one of several descriptors is.
    pub(crate) fn group(fds: impl Iterator<Item = RawFd>) -> Result<Epoll> {
        let group = Epoll::new(EPOLL_CLOEXEC)?;
        for fd in fds {
            group.control(EPOLL_CTL_ADD, fd, EPOLLIN as u32, 0)?;
        }
        Ok(group)
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub(crate) fn control(&self, operation: c_int, fd: RawFd, events: u32, key: u64) -> Result<()> {
        let mut event = epoll_event { events, u64: key };
        // SAFETY: a live event.
        match unsafe { libc::epoll_ctl(self.fd(), operation, fd, &raw mut event) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    /// Waits for so many milliseconds, -1 for ever.
    pub(crate) fn wait(&self, events: &mut [epoll_event], timeout: c_int) -> Result<usize> {
        let room = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
        // SAFETY: a live array of that length.
        let count = unsafe { libc::epoll_wait(self.fd(), events.as_mut_ptr(), room, timeout) };
        usize::try_from(count).map_err(|_| Errno::last())
    }

    /// Waits until a deadline that does not move.
    pub(crate) fn wait_until(
        &self,
        events: &mut [epoll_event],
        deadline: Deadline,
    ) -> Result<usize> {
        match deadline {
            Deadline::Never => return self.wait(events, -1),
            Deadline::Now => return self.wait(events, 0),
            Deadline::At(_) => {}
        }
        // ppoll counts finer than epoll_wait does.
        let mut fds = [libc::pollfd { fd: self.fd(), events: libc::POLLIN, revents: 0 }];
        match poll_until(&mut fds, deadline)? {
            0 => Ok(0),
            _ => self.wait(events, 0),
        }
    }
}
