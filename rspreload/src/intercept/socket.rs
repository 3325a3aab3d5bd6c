// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! <sys/socket.h>, without what transfers data; and pthread_create.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::calls::{names, options};
use crate::carrier::{connect, listen};
use crate::start;
use crate::sys::config::{self, Taken};
use crate::sys::original::{self, StartRoutine};
use crate::sys::{guard, process};
use crate::table::decision::{Place, Reason, Way};
use crate::table::descriptors;
use crate::table::socket::{Mode, Socket};
use base::errno::{Result, preserve_errno};
use libc::{c_int, c_void, pthread_attr_t, pthread_t, sockaddr, socklen_t};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: no pointers.
    let fd = unsafe { original::socket(domain, kind, protocol) };
    if fd < 0 || !matches!(domain, libc::AF_INET | libc::AF_INET6) {
        return fd;
    }
    if guard::is_inside() {
        return fd;
    }
    let mode = match preserve_errno(|| config::get().takes(domain, kind, protocol)) {
        Taken::Yes => Mode::Open,
        Taken::LeftOut if config::get().reports() => Mode::Plain,
        _ => return fd,
    };
    if process::is_own_memory() {
        preserve_errno(start::once);
        // A socket that cannot be entered stays an ordinary one.
        let _ = preserve_errno(|| enter(fd, domain, kind, mode));
    }
    fd
}

fn enter(fd: c_int, domain: c_int, kind: c_int, mode: Mode) -> Result<()> {
    let socket = Socket::new(domain, kind, mode)?;
    descriptors::enter(fd, &socket)?;
    if mode == Mode::Plain {
        socket.decided(Way::Kernel(Reason::Configuration), Place::Unknown);
    }
    Ok(())
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
    preserve_errno(start::once);
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
    unsafe { names::getsockname(fd, address, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getpeername(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { names::getpeername(fd, address, length) }
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
    unsafe { options::setsockopt(fd, level, name, value, length) }
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
    unsafe { options::getsockopt(fd, level, name, value, length) }
}

/// A thread that librdmacm starts is inside librdmacm from its first call on.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: StartRoutine,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if guard::is_inside() {
            guard::start_inside(thread, attributes, routine, argument)
        } else {
            original::pthread_create(thread, attributes, routine, argument)
        }
    }
}
