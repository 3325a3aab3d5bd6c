// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A child in namespaces of its own, which a program makes by the system call clone, as fork cannot.
//! glibc does not know of such a child, and takes the threads of this library for threads there. So
//! the process forks, and the process in between, which has no threads, makes the child and ends.
//!
//! The child is not the process that librdmacm knows, and cannot look for its parent by number. So
//! the connections are handed over before, and the child's sockets are those of the kernel.
//!
//! # Safety
//! System calls without pointers but to live values; fork as the program's own.
#![allow(unsafe_code)]

use super::ancillary::hand_over;
use crate::sys::errno::fail;
use crate::sys::{guard, original, process};
use crate::table::descriptors;
use base::errno::Errno;
use libc::{CLONE_PARENT, O_CLOEXEC, SIG_BLOCK, SIG_SETMASK, SIGCHLD, c_int, c_long, sigset_t};

/// The flags that make a namespace, beside the signal of a child's end.
const NAMESPACES: c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWCGROUP;

/// clone with these flags and without a stack; None if the call is the kernel's.
pub(crate) fn clone(flags: c_int) -> Option<c_long> {
    let is_like_fork = flags & !NAMESPACES == SIGCHLD && flags & NAMESPACES != 0;
    if !is_like_fork || descriptors::is_unused() || guard::is_inside() || !process::is_own_memory()
    {
        return None;
    }
    for (fd, _) in descriptors::all() {
        // On failure the parent alone can use it.
        let _ = hand_over(fd);
    }
    // SAFETY: live sets and descriptors.
    unsafe {
        let mut ends: [c_int; 2] = [-1; 2];
        if libc::pipe2(ends.as_mut_ptr(), O_CLOEXEC) != 0 {
            return Some(-1);
        }
        // The end of the process in between is not for the program's handler.
        let (mut of_child, mut before): (sigset_t, sigset_t) = core::mem::zeroed();
        libc::sigemptyset(&raw mut of_child);
        libc::sigaddset(&raw mut of_child, SIGCHLD);
        libc::pthread_sigmask(SIG_BLOCK, &raw const of_child, &raw mut before);
        let answer = match libc::fork() {
            0 => make_child(flags, ends),
            process => take_answer(process, ends),
        };
        libc::pthread_sigmask(SIG_SETMASK, &raw const before, core::ptr::null_mut());
        Some(match answer {
            Ok(child) => child,
            Err(error) => fail(error).into(),
        })
    }
}

/// In the process in between, which does not return; its child, which is the program's, does.
unsafe fn make_child(flags: c_int, [from, to]: [c_int; 2]) -> Result<c_long, Errno> {
    // SAFETY: no pointers but to a live number.
    unsafe {
        let flags = c_long::from(flags | CLONE_PARENT);
        let child = original::syscall(libc::SYS_clone, flags, 0, 0, 0, 0, 0);
        if child == 0 {
            original::close_own(from);
            original::close_own(to);
            descriptors::forget_all();
            return Ok(0);
        }
        let answer = if child < 0 { -c_long::from(Errno::last().raw()) } else { child };
        original::write(to, (&raw const answer).cast(), size_of::<c_long>());
        loop {
            original::syscall(libc::SYS_exit_group, 0, 0, 0, 0, 0, 0);
        }
    }
}

/// What the process in between says: the number of the child, or an error.
unsafe fn take_answer(process: c_int, [from, to]: [c_int; 2]) -> Result<c_long, Errno> {
    let forked = if process < 0 { Err(Errno::last()) } else { Ok(process) };
    original::close_own(to);
    let answer = forked.and_then(|process| {
        let mut answer: c_long = 0;
        // SAFETY: room for a number; no status is asked for.
        unsafe {
            let size = size_of::<c_long>() as isize;
            let is_interrupted = || Errno::last() == Errno::EINTR;
            let mut read = || original::read(from, (&raw mut answer).cast(), size as usize);
            let mut count = read();
            while count < 0 && is_interrupted() {
                count = read();
            }
            while libc::waitpid(process, core::ptr::null_mut(), 0) < 0 && is_interrupted() {}
            match answer {
                _ if count != size => Err(Errno::EAGAIN),
                1.. => Ok(answer),
                _ => Err(Errno::of(-answer as c_int)),
            }
        }
    });
    original::close_own(from);
    answer
}
