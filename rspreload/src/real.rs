//! libc's own functions: the next ones in the dynamic linker's order. They are looked up when the
//! library is loaded, and by a call that comes before that.
//!
//! # Safety
//! Each function has the prototype of the libc function of its name, and its contract. A function that
//! this libc does not have fails with ENOSYS.
#![allow(unsafe_code)]

use crate::guard::Start;
use libc::{
    FILE, c_char, c_int, c_long, c_uint, c_ulong, c_void, epoll_event, fd_set, iovec, mmsghdr,
    msghdr, nfds_t, off_t, pollfd, pthread_attr_t, pthread_t, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec, timeval,
};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

extern "C" fn missing() -> c_long {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

fn look_up(name: &CStr, place: &AtomicPtr<c_void>) -> *mut c_void {
    // SAFETY: a C string.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        found = missing as extern "C" fn() -> c_long as *mut c_void;
    }
    place.store(found, Ordering::Relaxed);
    found
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        /// What stands in the places at first: a call that finds the function, and goes on to it.
        mod first {
            use super::*;

            $(
                pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                    look_up(name_of(concat!(stringify!($name), "\0")), &places::$name);
                    // SAFETY: the same contract.
                    unsafe { super::$name($($argument),*) }
                }
            )*
        }

        #[allow(non_upper_case_globals)]
        mod places {
            use super::*;
            $(
                pub(super) static $name: AtomicPtr<c_void> =
                    AtomicPtr::new(first::$name as *const () as *mut c_void);
            )*
        }

        $(
            #[inline]
            pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
                let found = places::$name.load(Ordering::Relaxed);
                // SAFETY: libc's function of that name, which has this prototype, or `missing`,
                // which takes no notice of its arguments.
                unsafe {
                    let call: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(found);
                    call($($argument),*)
                }
            }
        )*

        fn look_up_all() {
            $(look_up(name_of(concat!(stringify!($name), "\0")), &places::$name);)*
        }
    };
}

const fn name_of(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

functions! {
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
    fn pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void) -> c_int;
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

/// Functions that are gone on to with arguments of which only the first is known.
const PRINTING: [&CStr; 4] = [c"dprintf", c"vdprintf", c"__dprintf_chk", c"__vdprintf_chk"];
static PRINTING_PLACES: [AtomicPtr<c_void>; 4] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; 4];

pub(crate) fn printing(which: c_uint) -> *const c_void {
    let which = which as usize % PRINTING.len();
    let place = &PRINTING_PLACES[which];
    let found = place.load(Ordering::Relaxed);
    if found.is_null() { look_up(PRINTING[which], place) } else { found }
}

extern "C" fn at_load() {
    look_up_all();
    crate::process::at_load();
    // Some programs clean their environment later.
    crate::config::get();
}

/// Run when the library is loaded, before the program's own constructors.
#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// A symbol that librdmacm may or may not have.
pub(crate) fn optional(name: &CStr) -> *mut c_void {
    // SAFETY: a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}
