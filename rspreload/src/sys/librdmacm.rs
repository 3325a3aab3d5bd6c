// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! librdmacm's functions. While one runs, the thread is marked as inside librdmacm (`guard`).
//!
//! # Safety
//! Prototypes of <rdma/rsocket.h> and <rdma/rdma_cma.h>.
#![allow(unsafe_code)]

use super::guard::Inside;
use super::original;
use base::errno::{Errno, Result};
use base::once::OnceLock;
use libc::{
    SOCK_CLOEXEC, SOCK_NONBLOCK, c_int, c_long, c_void, iovec, msghdr, nfds_t, pollfd, size_t,
    sockaddr, socklen_t, ssize_t,
};

mod library {
    use super::*;

    #[link(name = "rdmacm")]
    unsafe extern "C" {
        pub(super) fn rsocket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
        pub(super) fn rbind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
        pub(super) fn rlisten(socket: c_int, backlog: c_int) -> c_int;
        pub(super) fn raccept(s: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
        pub(super) fn rconnect(socket: c_int, address: *const sockaddr, length: socklen_t)
        -> c_int;
        pub(super) fn rshutdown(socket: c_int, how: c_int) -> c_int;
        pub(super) fn rclose(socket: c_int) -> c_int;
        pub(super) fn rrecv(s: c_int, to: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
        pub(super) fn rrecvfrom(
            socket: c_int,
            to: *mut c_void,
            length: size_t,
            flags: c_int,
            address: *mut sockaddr,
            address_length: *mut socklen_t,
        ) -> ssize_t;
        pub(super) fn rrecvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
        pub(super) fn rsend(s: c_int, from: *const c_void, length: size_t, flags: c_int)
        -> ssize_t;
        pub(super) fn rsendto(
            socket: c_int,
            from: *const c_void,
            length: size_t,
            flags: c_int,
            address: *const sockaddr,
            address_length: socklen_t,
        ) -> ssize_t;
        pub(super) fn rsendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
        pub(super) fn rreadv(socket: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
        pub(super) fn rwritev(socket: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
        pub(super) fn rpoll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
        pub(super) fn rgetpeername(s: c_int, a: *mut sockaddr, length: *mut socklen_t) -> c_int;
        pub(super) fn rgetsockname(s: c_int, a: *mut sockaddr, length: *mut socklen_t) -> c_int;
        pub(super) fn rsetsockopt(
            socket: c_int,
            level: c_int,
            name: c_int,
            value: *const c_void,
            length: socklen_t,
        ) -> c_int;
        pub(super) fn rgetsockopt(
            socket: c_int,
            level: c_int,
            name: c_int,
            value: *mut c_void,
            length: *mut socklen_t,
        ) -> c_int;
        pub(super) fn rfcntl(socket: c_int, command: c_int, ...) -> c_int;
        pub(super) fn rdma_create_event_channel() -> *mut c_void;
        pub(super) fn rdma_destroy_event_channel(channel: *mut c_void);
        pub(super) fn rdma_create_id(
            channel: *mut c_void,
            id: *mut *mut Id,
            context: *mut c_void,
            port_space: c_int,
        ) -> c_int;
        pub(super) fn rdma_destroy_id(id: *mut Id) -> c_int;
        pub(super) fn rdma_bind_addr(id: *mut Id, address: *mut sockaddr) -> c_int;
        pub(super) fn rdma_get_devices(count: *mut c_int) -> *mut *mut c_void;
        pub(super) fn rdma_free_devices(list: *mut *mut c_void);
    }
}

/// The first member of struct rdma_cm_id.
#[repr(C)]
pub(crate) struct Id {
    verbs: *mut c_void,
}

/// Whether librdmacm is the one that this library is built with. The C library's rsocket() takes no
/// flags, and its repoll_ctl() ignores EPOLLET.
pub(crate) fn is_own() -> bool {
    static IS_OWN: OnceLock<bool> = OnceLock::new();
    // A function that the C library does not have.
    *IS_OWN.get_or_init(|| !original::optional(c"rdma_get_local_addr").is_null())
}

macro_rules! wrapped {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
                let _inside = Inside::enter();
                // SAFETY: the same contract.
                unsafe { library::$name($($argument),*) }
            }
        )*
    };
}

wrapped! {
    fn rsocket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn rbind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn rlisten(socket: c_int, backlog: c_int) -> c_int;
    fn raccept(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn rconnect(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn rshutdown(socket: c_int, how: c_int) -> c_int;
    fn rrecv(socket: c_int, to: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    fn rrecvfrom(socket: c_int, to: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr, address_length: *mut socklen_t) -> ssize_t;
    fn rrecvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    fn rsend(socket: c_int, from: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    fn rsendto(socket: c_int, from: *const c_void, length: size_t, flags: c_int, address: *const sockaddr, address_length: socklen_t) -> ssize_t;
    fn rsendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    fn rreadv(socket: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    fn rwritev(socket: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    fn rgetpeername(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn rgetsockname(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn rsetsockopt(socket: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int;
    fn rgetsockopt(socket: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int;
}

/// rfinish; ENOSYS where the library has none.
pub(crate) fn finish(timeout: c_int) -> Result<()> {
    static FINISH: OnceLock<Option<Finish>> = OnceLock::new();
    let found = FINISH.get_or_init(|| {
        let found = original::optional(c"rfinish");
        // SAFETY: the function of that name has this prototype.
        (!found.is_null()).then(|| unsafe { core::mem::transmute::<*mut c_void, Finish>(found) })
    });
    let finish = found.ok_or(Errno::ENOSYS)?;
    let _inside = Inside::enter();
    // SAFETY: no pointers.
    checked(unsafe { finish(timeout) }).map(drop)
}

type Finish = unsafe extern "C" fn(c_int) -> c_int;

/// Opens an rsocket that does not block and is closed by exec.
pub(crate) fn open(family: c_int, kind: c_int) -> Result<c_int> {
    let flags = if is_own() { SOCK_NONBLOCK | SOCK_CLOEXEC } else { 0 };
    // SAFETY: no pointers.
    let made = checked(unsafe { rsocket(family, kind | flags, 0) })?;
    if flags == 0 {
        close_on_exec(made);
        set_non_blocking(made, true);
    }
    Ok(made)
}

pub(crate) fn close_on_exec(socket: c_int) {
    // SAFETY: F_SETFD takes an integer.
    unsafe { original::fcntl(socket, libc::F_SETFD, libc::FD_CLOEXEC.into()) };
}

/// 0 or a count, and otherwise the thread's errno.
/// The result of a call that returns -1 and sets errno on failure.
pub(crate) fn checked(returned: c_int) -> Result<c_int> {
    if returned < 0 { Err(Errno::last()) } else { Ok(returned) }
}

/// Closes an rsocket or a set of rsockets. A failure cannot be handled.
pub(crate) fn close(socket: c_int) {
    let _inside = Inside::enter();
    // SAFETY: no pointers.
    let _ = unsafe { library::rclose(socket) };
}

/// Sets or clears O_NONBLOCK of an rsocket.
pub(crate) fn set_non_blocking(socket: c_int, on: bool) {
    let _inside = Inside::enter();
    let flags: c_long = if on { libc::O_NONBLOCK.into() } else { 0 };
    // SAFETY: F_SETFL takes an integer.
    let _ = unsafe { library::rfcntl(socket, libc::F_SETFL, flags) };
}

/// poll(2) on rsockets and descriptors; the number of those that are ready.
pub(crate) fn poll(fds: &mut [pollfd], timeout: c_int) -> Result<usize> {
    let _inside = Inside::enter();
    // SAFETY: a live array of that length.
    let ready = unsafe { library::rpoll(fds.as_mut_ptr(), fds.len() as nfds_t, timeout) };
    usize::try_from(ready).map_err(|_| Errno::last())
}

/// The events of one rsocket now: those in `events`, and POLLERR and POLLHUP.
pub(crate) fn readiness(socket: c_int, events: i16) -> i16 {
    let mut fds = [pollfd { fd: socket, events, revents: 0 }];
    match poll(&mut fds, 0) {
        Ok(_) => fds[0].revents,
        Err(_) => 0,
    }
}

/// An option that is a number.
fn option(socket: c_int, level: c_int, name: c_int) -> Result<c_int> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    // SAFETY: room of that length.
    let asked =
        unsafe { rgetsockopt(socket, level, name, (&raw mut value).cast(), &raw mut length) };
    checked(asked).map(|_| value)
}

/// An option that is a number; 0 if the rsocket does not have it.
pub(crate) fn number_of(socket: c_int, level: c_int, name: c_int) -> c_int {
    option(socket, level, name).unwrap_or(0)
}

/// SO_ERROR of an rsocket, which reading clears.
pub(crate) fn take_error(socket: c_int) -> Option<Errno> {
    match option(socket, libc::SOL_SOCKET, libc::SO_ERROR) {
        Ok(0) => None,
        Ok(error) => Some(Errno::of(error)),
        Err(error) => Some(error),
    }
}

/// Whether there is any RDMA device.
pub(crate) fn has_device() -> bool {
    let _inside = Inside::enter();
    let mut count = 0;
    // SAFETY: a live integer; the list is freed at once.
    unsafe {
        let list = library::rdma_get_devices(&raw mut count);
        if list.is_null() {
            return false;
        }
        library::rdma_free_devices(list);
    }
    count > 0
}

const PORT_SPACE_TCP: c_int = 0x0106;

/// Whether a local address belongs to an RDMA device.
///
/// # Safety
/// A sockaddr that is valid for its family.
pub(crate) unsafe fn is_on_device(address: *const sockaddr) -> bool {
    let _inside = Inside::enter();
    // SAFETY: the channel and the id are made and destroyed here; the address is only read.
    unsafe {
        let channel = library::rdma_create_event_channel();
        if channel.is_null() {
            return false;
        }
        let mut id: *mut Id = core::ptr::null_mut();
        let null = core::ptr::null_mut();
        let mut found = false;
        if library::rdma_create_id(channel, &raw mut id, null, PORT_SPACE_TCP) == 0 {
            found = library::rdma_bind_addr(id, address.cast_mut()) == 0 && !(*id).verbs.is_null();
            library::rdma_destroy_id(id);
        }
        library::rdma_destroy_event_channel(channel);
        found
    }
}
