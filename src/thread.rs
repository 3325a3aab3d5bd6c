//! Threads of the library.
//!
//! # Safety
//! Changes the calling thread's signal mask and restores it.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use std::mem::MaybeUninit;
use std::ptr;
use std::thread::Builder;

/// Starts a thread that no signal of the application is ever handled on. It is not waited for: it has
/// to hold what it needs, and at exit of the process it ends wherever it is.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    start(Builder::new().name(name.to_owned()), work)
}

/// As `spawn`, for work that is known to need less than the usual stack.
pub(crate) fn spawn_small(
    name: &str,
    stack_size: usize,
    work: impl FnOnce() + Send + 'static,
) -> Result<()> {
    start(Builder::new().name(name.to_owned()).stack_size(stack_size), work)
}

fn start(builder: Builder, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: live sets; a thread starts with the mask of the one that makes it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let started = builder.spawn(work);
    // SAFETY: the set that was in force.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    started.map(drop).map_err(Errno::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn blocked(signal: libc::c_int) -> bool {
        let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: a live set; a NULL set changes nothing.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr());
            libc::sigismember(mask.as_ptr(), signal) == 1
        }
    }

    #[test]
    fn signals_are_blocked_there_and_only_there() {
        let (tell, told) = channel();
        let before = blocked(libc::SIGUSR1);
        let work = move || {
            let _ = tell.send(blocked(libc::SIGUSR1));
        };
        assert_eq!(spawn("test", work), Ok(()));
        assert_eq!(told.recv(), Ok(true));
        assert_eq!(blocked(libc::SIGUSR1), before);
    }
}
