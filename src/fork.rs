//! Who may touch the kernel objects behind a descriptor after fork.
//!
//! A child inherits the descriptors of its parent, and a command on one of them acts on the parent's
//! own objects. So each owner records in which process generation it was made. A child is refused,
//! except where the maker has ended (daemon(3)): then there is nobody left to disturb and the child
//! takes the object over.
//!
//! # Safety
//! pthread_atfork and system calls without pointers into Rust data.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::log;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// How long a refusal waits for a maker that may just be on its way out.
const PARTING_MS: libc::c_int = 100;

static GENERATION: AtomicU32 = AtomicU32::new(1);

/// Calls that no fork may interrupt, and forks that wait for them or are being made.
static CALLS: AtomicU32 = AtomicU32::new(0);
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Each side waits for the other in steps, and after a second goes on: then somebody hangs already.
const STEP: Duration = Duration::from_micros(200);
const STEPS: u32 = 5000;

/// Other libraries hold locks of their own in a call; a child born meanwhile would find them held for
/// ever. No fork of this process happens while this lives, so it must be short.
pub(crate) struct HeldOff;

pub(crate) fn hold_off() -> HeldOff {
    for _ in 0..STEPS {
        CALLS.fetch_add(1, Ordering::SeqCst);
        if FORKS.load(Ordering::SeqCst) == 0 {
            return HeldOff;
        }
        CALLS.fetch_sub(1, Ordering::SeqCst);
        thread::sleep(STEP);
    }
    CALLS.fetch_add(1, Ordering::SeqCst);
    HeldOff
}

impl Drop for HeldOff {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

extern "C" fn before() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    for _ in 0..STEPS {
        if CALLS.load(Ordering::SeqCst) == 0 {
            return;
        }
        thread::sleep(STEP);
    }
}

extern "C" fn in_parent() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

extern "C" fn in_child() {
    // The threads that counted are not here.
    CALLS.store(0, Ordering::SeqCst);
    FORKS.store(0, Ordering::SeqCst);
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn register() {
    // SAFETY: the handlers only touch atomics and sleep; the library is linked with -z nodelete. A
    // failed registration (no memory) leaves the rules unenforced, as they are in the C library.
    let _ = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

/// Run when the library is loaded, before any call can make something to inherit.
#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = register;

/// Number of forks between the process that loaded the library and this one.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// The process that a kernel object belongs to.
#[derive(Debug)]
pub(crate) struct Owner {
    generation: AtomicU32,
    process: libc::pid_t,
    refused: AtomicBool,
}

impl Owner {
    pub(crate) fn current() -> Owner {
        Owner {
            generation: AtomicU32::new(generation()),
            // SAFETY: no arguments.
            process: unsafe { libc::getpid() },
            refused: AtomicBool::new(false),
        }
    }

    /// Whether this process made the object, or has taken it over already.
    #[inline]
    pub(crate) fn is_maker(&self) -> bool {
        self.generation.load(Ordering::Relaxed) == generation()
    }

    /// EPERM in a child whose parent still lives.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_maker() {
            return Ok(());
        }
        self.adopt(PARTING_MS)
    }

    /// Whether this process may act on the object, without waiting for anybody.
    pub(crate) fn is_ours(&self) -> bool {
        self.is_maker() || self.adopt(0).is_ok()
    }

    #[cold]
    fn adopt(&self, patience_ms: libc::c_int) -> Result<()> {
        let patience = if self.refused.load(Ordering::Relaxed) { 0 } else { patience_ms };
        if has_ended(self.process, patience) {
            self.generation.store(generation(), Ordering::Relaxed);
            return Ok(());
        }
        if patience_ms > 0 && !self.refused.swap(true, Ordering::Relaxed) {
            log::line(format_args!(
                "refused: the object belongs to process {}, which still runs",
                self.process
            ));
        }
        Err(Errno::EPERM)
    }
}

fn has_ended(process: libc::pid_t, patience_ms: libc::c_int) -> bool {
    // SAFETY: no pointers.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    let Ok(pidfd) = libc::c_int::try_from(pidfd) else { return false };
    if pidfd < 0 {
        // SAFETY: signal 0 only asks.
        return unsafe { libc::kill(process, 0) } != 0 && Errno::last() == Errno::of(libc::ESRCH);
    }
    let mut poll = libc::pollfd { fd: pidfd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one live pollfd; the descriptor is ours to close.
    let ready = unsafe {
        let ready = libc::poll(&raw mut poll, 1, patience_ms);
        libc::close(pidfd);
        ready
    };
    ready == 1
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!has_ended(own, 0));
        // No process has the largest number.
        assert!(has_ended(libc::pid_t::MAX, 0));
    }
}
