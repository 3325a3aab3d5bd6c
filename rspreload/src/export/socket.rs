//! <sys/socket.h>: making, naming, connecting.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::config;
use crate::connect;
use crate::descriptors;
use crate::error::quietly;
use crate::guard::{self, Start};
use crate::listen;
use crate::names;
use crate::options;
use crate::process;
use crate::real;
use crate::socket::{Mode, Socket};
use libc::{c_int, c_void, pthread_attr_t, pthread_t, sockaddr, socklen_t};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: no pointers.
    let fd = unsafe { real::socket(domain, kind, protocol) };
    if fd < 0 || !matches!(domain, libc::AF_INET | libc::AF_INET6) {
        return fd;
    }
    let is_ours = !guard::is_inside()
        && quietly(|| config::get().takes(domain, kind, protocol))
        && process::is_own_memory();
    if is_ours {
        let socket = Socket::new(domain, kind, Mode::Open);
        // A socket that cannot be entered is a plain one.
        let _ = quietly(|| descriptors::enter(fd, &socket?));
    }
    fd
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bind(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { listen::bind(fd, address, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn listen(fd: c_int, backlog: c_int) -> c_int {
    listen::listen(fd, backlog)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn accept(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { listen::accept(fd, address, length, 0) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn accept4(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { listen::accept(fd, address, length, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn connect(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { connect::connect(fd, address, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    names::shutdown(fd, how)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getsockname(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { names::own(fd, address, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getpeername(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { names::peer(fd, address, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { options::set(fd, level, name, value, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { options::get(fd, level, name, value, length) }
}

/// Threads that librdmacm starts are marked as its own.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if guard::is_inside() {
            guard::start_inside(thread, attributes, start, argument)
        } else {
            real::pthread_create(thread, attributes, start, argument)
        }
    }
}
