//! Threads of the library.
//!
//! std's own end the process where memory is at its end; these are made by pthread_create.
//!
//! # Safety
//! Changes the calling thread's signal mask and restores it. What a thread works on is boxed, and its alone.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::memory::try_box;
use libc::c_void;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;

/// Enough for a name server's question.
const USUAL_STACK: usize = 2 << 20;

/// Starts a thread that no signal of the application is ever handled on. It is not waited for: it has
/// to hold what it needs, and at exit of the process it ends wherever it is.
pub(crate) fn spawn(name: &'static CStr, work: impl FnOnce() + Send + 'static) -> Result<()> {
    spawn_small(name, USUAL_STACK, work)
}

/// As `spawn`, for work that is known to need less than the usual stack.
pub(crate) fn spawn_small(
    name: &'static CStr,
    stack_size: usize,
    work: impl FnOnce() + Send + 'static,
) -> Result<()> {
    let start = try_box(Start { name, work })?;
    let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: live sets; a thread starts with the mask of the one that makes it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let started = create(start, stack_size);
    // SAFETY: the set that was in force.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    started
}

struct Start<W> {
    /// At most fifteen bytes, as the kernel has it.
    name: &'static CStr,
    work: W,
}

fn create<W: FnOnce() + Send + 'static>(start: Box<Start<W>>, stack_size: usize) -> Result<()> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::zeroed();
    let mut thread = MaybeUninit::<libc::pthread_t>::zeroed();
    let start = Box::into_raw(start);
    // SAFETY: attributes that live until they are destroyed. A thread that was made owns the box.
    let code = unsafe {
        let attributes = attributes.as_mut_ptr();
        libc::pthread_attr_init(attributes);
        libc::pthread_attr_setdetachstate(attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(attributes, stack_size);
        let code = libc::pthread_create(thread.as_mut_ptr(), attributes, begin::<W>, start.cast());
        libc::pthread_attr_destroy(attributes);
        code
    };
    if code != 0 {
        // SAFETY: made above, and no thread has it.
        drop(unsafe { Box::from_raw(start) });
    }
    Errno::check(code)
}

extern "C" fn begin<W: FnOnce()>(start: *mut c_void) -> *mut c_void {
    // SAFETY: the box that `create` gave this thread.
    let start = unsafe { Box::from_raw(start.cast::<Start<W>>()) };
    // SAFETY: a C string.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), start.name.as_ptr()) };
    (start.work)();
    ptr::null_mut()
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
        assert_eq!(spawn(c"test", work), Ok(()));
        assert_eq!(told.recv(), Ok(true));
        assert_eq!(blocked(libc::SIGUSR1), before);
    }
}
