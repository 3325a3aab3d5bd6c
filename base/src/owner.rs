// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Who may touch the kernel objects behind a descriptor after fork.
//!
//! A child inherits the descriptors of its parent, and a command on one of them acts on the
//! parent's own objects. So each owner records in which process it was made. A child is refused,
//! except where the maker has ended (daemon(3)): then there is nobody left to disturb and the child
//! takes the object over.
//!
//! # Safety
//! System calls without pointers.
#![allow(unsafe_code)]

use crate::deadline::{Deadline, Timeout, wait_ready};
use crate::errno::{Errno, Result, preserve_errno};
use crate::fd::{OwnedFd, RawFd};
use crate::fork::{ownership, process_id};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use core::time::Duration;

/// How long a refusal waits for a maker that may just be on its way out.
const PARTING: Duration = Duration::from_millis(100);

/// The process that a kernel object belongs to.
#[derive(Debug)]
pub struct Owner {
    ownership: AtomicU32,
    process: AtomicI32,
    refused: AtomicBool,
}

impl Owner {
    #[must_use]
    pub fn current() -> Owner {
        Owner {
            ownership: AtomicU32::new(ownership()),
            process: AtomicI32::new(process_id() as libc::pid_t),
            refused: AtomicBool::new(false),
        }
    }

    /// Whether this process made the object, or has taken it over already.
    #[inline]
    #[must_use]
    pub fn is_maker(&self) -> bool {
        self.ownership.load(Ordering::Relaxed) == ownership()
    }

    /// EPERM in a child whose parent still lives; EBADF where the program has closed the descriptors.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_maker() { Ok(()) } else { self.adopt_or_refuse() }
    }

    /// Whether the program has closed the descriptors of the object (`witness`). Their numbers may name
    /// other files by now.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        // SAFETY: no arguments.
        !self.is_maker() && self.process.load(Ordering::Relaxed) == unsafe { libc::getpid() }
    }

    /// Whether this process may act on the object, without waiting for anybody.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.is_maker() || self.adopt(Deadline::Now)
    }

    #[cold]
    #[inline(never)]
    fn adopt_or_refuse(&self) -> Result<()> {
        preserve_errno(|| self.adopt_or_tell())
    }

    fn adopt_or_tell(&self) -> Result<()> {
        if self.is_lost() {
            return Err(Errno::EBADF);
        }
        let was_refused = self.refused.load(Ordering::Relaxed);
        let deadline = if was_refused { Deadline::Now } else { Timeout::from(PARTING).begin() };
        if self.adopt(deadline) {
            return Ok(());
        }
        if !self.refused.swap(true, Ordering::Relaxed) {
            crate::fail!(
                EPERM,
                "the object belongs to process {}, of which this one is a fork, and which still runs: \
                 make it anew in the child",
                self.process.load(Ordering::Relaxed)
            );
        }
        Err(Errno::EPERM)
    }

    #[cold]
    fn adopt(&self, deadline: Deadline) -> bool {
        let ended = !self.is_lost() && has_ended(self.process.load(Ordering::Relaxed), deadline);
        if ended {
            // SAFETY: no arguments.
            self.process.store(unsafe { libc::getpid() }, Ordering::Relaxed);
            self.ownership.store(ownership(), Ordering::Relaxed);
        }
        ended
    }
}

fn has_ended(process: libc::pid_t, deadline: Deadline) -> bool {
    // SAFETY: no pointers.
    let made = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    match OwnedFd::made(made as RawFd) {
        Ok(process) => wait_ready(process.as_raw_fd(), libc::POLLIN, deadline).is_ok(),
        Err(_) => {
            // SAFETY: signal 0 only asks.
            let answer = unsafe { libc::kill(process, 0) };
            answer != 0 && Errno::last() == Errno::of(libc::ESRCH)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::tests::in_a_child;

    #[test]
    fn own_objects_are_ours() {
        let owner = Owner::current();
        assert_eq!(owner.check(), Ok(()));
        assert!(owner.is_ours());
    }

    #[test]
    fn a_living_process_is_not_taken_from() {
        // SAFETY: no arguments.
        let own = unsafe { libc::getpid() };
        assert!(!has_ended(own, Deadline::Now));
        // No process has the largest number.
        assert!(has_ended(libc::pid_t::MAX, Deadline::Now));
    }

    #[test]
    fn a_child_is_refused_while_the_maker_lives() {
        let owner = Owner::current();
        assert!(in_a_child(|| !owner.is_ours() && owner.check() == Err(Errno::EPERM)));
        // The process in between makes it, and has ended when its child asks.
        assert!(in_a_child(|| {
            let owner = Owner::current();
            // SAFETY: no child of this process; only `check` is asked for it.
            owner.process.store(libc::pid_t::MAX, Ordering::Relaxed);
            in_a_child(|| owner.check() == Ok(()) && owner.is_maker())
        }));
    }
}
