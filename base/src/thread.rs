// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Threads of the library.
//!
//! std's spawn ends the process if memory is exhausted. These threads are made by pthread_create,
//! and a failure is an error.
//!
//! glibc puts a thread's static thread-local storage, of which a program may have megabytes, into
//! its stack. So a stack gets the size that the work needs, and that of the storage.
//!
//! # Safety
//! The calling thread's signal mask is changed and restored. What a thread works on is boxed, and
//! its alone. Program headers are read while the dynamic linker lends them.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use crate::memory::try_box;
use alloc::boxed::Box;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use libc::{c_int, c_void, dl_phdr_info, size_t};

/// Enough for a name server's question.
const USUAL_STACK: usize = 2 << 20;

/// For the thread's own descriptor, and for what dlopen(3) adds to the static storage later.
const THREAD_OVERHEAD: usize = 16 << 10;

static STATIC_TLS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn add_tls(object: *mut dl_phdr_info, _: size_t, total: *mut c_void) -> c_int {
    // SAFETY: the linker's description of an object, with as many headers as it says, and the sum
    // of `measure_tls`.
    unsafe {
        let object = &*object;
        let headers = core::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into());
        for header in headers.iter().filter(|header| header.p_type == libc::PT_TLS) {
            *total.cast::<usize>() += header.p_memsz as usize + header.p_align as usize;
        }
    }
    0
}

/// Run when the library is loaded: all objects that the program starts with are there, and no
/// thread can hold the linker's lock in a fork's child.
extern "C" fn measure_tls() {
    let mut total = 0_usize;
    // SAFETY: the callback's contract; the sum lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(add_tls), (&raw mut total).cast()) };
    STATIC_TLS.store(total, Ordering::Relaxed);
}

#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = measure_tls;

/// Starts a thread that no signal of the application is ever handled on. It is not waited for: it
/// has to hold what it needs, and at exit of the process it ends wherever it is.
pub fn spawn(name: &'static CStr, work: impl FnOnce() + Send + 'static) -> Result<()> {
    spawn_small(name, USUAL_STACK, work)
}

/// As `spawn`, for work that is known to need less than the usual stack.
pub fn spawn_small(
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
    let storage = STATIC_TLS.load(Ordering::Relaxed) + THREAD_OVERHEAD;
    let started = create(start, stack_size + storage);
    // SAFETY: the set that was in force.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    started
}

/// Tells the calling thread from others that live.
#[must_use]
pub fn current() -> usize {
    // SAFETY: no arguments.
    unsafe { libc::pthread_self() as usize }
}

/// The calling thread's name, as the kernel has it.
pub(crate) fn current_name(place: &mut [u8; 16]) -> &str {
    // SAFETY: room for the longest name with its zero byte.
    unsafe { libc::prctl(libc::PR_GET_NAME, place.as_mut_ptr()) };
    text_of(place)
}

/// The start of what is text, up to a zero byte or a line feed.
pub(crate) fn text_of(bytes: &[u8]) -> &str {
    let text = bytes.split(|byte| matches!(byte, 0 | b'\n')).next().unwrap_or_default();
    match core::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let valid = text.get(..error.valid_up_to()).unwrap_or_default();
            core::str::from_utf8(valid).unwrap_or_default()
        }
    }
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
