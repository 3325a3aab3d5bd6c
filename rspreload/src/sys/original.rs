// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! libc's own functions: the next definitions in the dynamic linker's search order (RTLD_NEXT). All
//! are looked up when the library is loaded; a call that comes before that looks its own function
//! up.
//!
//! # Safety
//! Each function has the prototype and the contract of the libc function of its name. A function
//! that this libc does not have fails with ENOSYS.
#![allow(unsafe_code)]

use super::errno::fail;
use base::errno::Errno;
use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, Ordering};
use libc::{
    FILE, c_char, c_int, c_long, c_uint, c_ulong, c_void, epoll_event, fd_set, iovec, mmsghdr,
    msghdr, nfds_t, off_t, pollfd, pthread_attr_t, pthread_t, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec, timeval,
};

/// Stands in for a function that this libc does not have.
extern "C" fn missing() -> c_long {
    fail(Errno::ENOSYS).into()
}

fn look_up(name: &CStr, slot: &AtomicPtr<c_void>) -> *mut c_void {
    // SAFETY: a C string.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        found = missing as extern "C" fn() -> c_long as *mut c_void;
    }
    slot.store(found, Ordering::Relaxed);
    found
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        /// The initial value of each slot: looks the function up and calls it.
        mod first {
            use super::*;

            $(
                pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                    look_up(name_of(concat!(stringify!($name), "\0")), &slots::$name);
                    // SAFETY: the same contract.
                    unsafe { super::$name($($argument),*) }
                }
            )*
        }

        #[allow(non_upper_case_globals)]
        mod slots {
            use super::*;
            $(
                pub(super) static $name: AtomicPtr<c_void> =
                    AtomicPtr::new(first::$name as *const () as *mut c_void);
            )*
        }

        $(
            #[inline]
            pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
                let found = slots::$name.load(Ordering::Relaxed);
                // SAFETY: libc's function of that name, which has this prototype, or `missing`,
                // which reads no arguments.
                unsafe {
                    let call: unsafe extern "C" fn($($type),*) -> $result = core::mem::transmute(found);
                    call($($argument),*)
                }
            }
        )*

        /// Looks all functions up, so that no later call has to: dlsym(3) is not async-signal-safe.
        pub(crate) fn look_up_all() {
            $(look_up(name_of(concat!(stringify!($name), "\0")), &slots::$name);)*
        }
    };
}

const fn name_of(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// The start routine of a thread.
pub(crate) type StartRoutine = extern "C" fn(*mut c_void) -> *mut c_void;

functions! {
    fn syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long;
    fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn listen(fd: c_int, backlog: c_int) -> c_int;
    fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
    fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn shutdown(fd: c_int, how: c_int) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    fn dup(fd: c_int) -> c_int;
    fn dup2(fd: c_int, to: c_int) -> c_int;
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int;
    fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int;
    fn read(fd: c_int, to: *mut c_void, length: size_t) -> ssize_t;
    fn readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    fn recv(fd: c_int, to: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(fd: c_int, to: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr, address_length: *mut socklen_t) -> ssize_t;
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec) -> c_int;
    fn write(fd: c_int, from: *const c_void, length: size_t) -> ssize_t;
    fn preadv2(fd: c_int, pieces: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t;
    fn pwritev2(fd: c_int, pieces: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t;
    fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    fn send(fd: c_int, from: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    fn sendto(fd: c_int, from: *const c_void, length: size_t, flags: c_int, address: *const sockaddr, address_length: socklen_t) -> ssize_t;
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    fn sendfile(to: c_int, from: c_int, offset: *mut off_t, count: size_t) -> ssize_t;
    fn splice(from: c_int, from_offset: *mut i64, to: c_int, to_offset: *mut i64, length: size_t, flags: c_uint) -> ssize_t;
    fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    fn ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *mut timeval) -> c_int;
    fn pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn epoll_ctl(instance: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    fn epoll_pwait(instance: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t) -> c_int;
    fn epoll_pwait2(instance: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int;
    fn getsockname(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn getpeername(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE;
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: CookieFunctions) -> *mut FILE;
    fn pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, start: StartRoutine, argument: *mut c_void) -> c_int;
}

/// `cookie_io_functions_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CookieFunctions {
    pub(crate) read: extern "C" fn(*mut c_void, *mut c_char, size_t) -> ssize_t,
    pub(crate) write: extern "C" fn(*mut c_void, *const c_char, size_t) -> ssize_t,
    pub(crate) seek: extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int,
    pub(crate) close: extern "C" fn(*mut c_void) -> c_int,
}

/// Variadic functions, which are jumped to with their arguments as they are.
const PRINTING: [&CStr; 4] = [c"dprintf", c"vdprintf", c"__dprintf_chk", c"__vdprintf_chk"];
static PRINTING_SLOTS: [AtomicPtr<c_void>; 4] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; 4];

/// The address of a function of `PRINTING`.
pub(crate) fn printing(index: c_uint) -> *const c_void {
    let index = index as usize % PRINTING.len();
    let slot = &PRINTING_SLOTS[index];
    let found = slot.load(Ordering::Relaxed);
    if found.is_null() { look_up(PRINTING[index], slot) } else { found }
}

/// Closes a descriptor of this library's own; -1 is none.
pub(crate) fn close_own(fd: c_int) {
    if fd >= 0 {
        // SAFETY: no pointers.
        unsafe { close(fd) };
    }
}

/// In a fork's child: closes its copy of an rsocket of the parent. The number stays taken, because
/// librdmacm still knows it. Async-signal-safe.
pub(crate) fn close_but_keep_number(fd: c_int) {
    // SAFETY: a C string; the new descriptor is closed here.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if nothing >= 0 {
            dup3(nothing, fd, libc::O_CLOEXEC);
            close(nothing);
        }
    }
}

/// A symbol that librdmacm may or may not have; NULL if not.
pub(crate) fn optional(name: &CStr) -> *mut c_void {
    // SAFETY: a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}
