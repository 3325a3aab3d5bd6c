//! The functions of librdmacm. Each is called with the thread marked as inside it.
//!
//! # Safety
//! Prototypes of <rdma/rsocket.h> and <rdma/rdma_cma.h>. What repoll_* have is found at run time,
//! because the C library has them only since version 65.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::guard::Inside;
use crate::real;
use libc::{
    SOCK_CLOEXEC, SOCK_NONBLOCK, c_int, c_long, c_void, epoll_event, iovec, msghdr, nfds_t, pollfd,
    size_t, sockaddr, socklen_t, ssize_t,
};
use std::sync::OnceLock;

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

/// Whether the library is ours. The C library's sockets take no flags, and its sets no notice of EPOLLET.
pub(crate) fn are_ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    // A function that only ours exports.
    *OURS.get_or_init(|| !real::optional(c"rdma_get_local_addr").is_null())
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

/// An rsocket that never blocks, close-on-exec.
pub(crate) fn open(family: c_int, kind: c_int) -> Result<c_int> {
    let flags = if are_ours() { SOCK_NONBLOCK | SOCK_CLOEXEC } else { 0 };
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
    unsafe { real::fcntl(socket, libc::F_SETFD, libc::FD_CLOEXEC.into()) };
}

/// 0 or a count, and otherwise the thread's errno.
pub(crate) fn checked(returned: c_int) -> Result<c_int> {
    if returned < 0 { Err(Errno::last()) } else { Ok(returned) }
}

/// Ends an rsocket or a set. There is nothing to do about a failure.
pub(crate) fn close(socket: c_int) {
    let _inside = Inside::enter();
    // SAFETY: no pointers.
    let _ = unsafe { library::rclose(socket) };
}

/// O_NONBLOCK of an rsocket.
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

/// What one rsocket has now, of `events` and what is always told.
pub(crate) fn readiness(socket: c_int, events: i16) -> i16 {
    let mut fds = [pollfd { fd: socket, events, revents: 0 }];
    match poll(&mut fds, 0) {
        Ok(_) => fds[0].revents,
        Err(_) => 0,
    }
}

/// The error of an rsocket, taken from it.
pub(crate) fn take_error(socket: c_int) -> Option<Errno> {
    let mut error: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    // SAFETY: room of that length.
    let asked = unsafe {
        rgetsockopt(
            socket,
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut error).cast(),
            &raw mut length,
        )
    };
    if asked != 0 {
        return Some(Errno::last());
    }
    (error != 0).then(|| Errno::of(error))
}

/// Whether there is any RDMA device at all.
pub(crate) fn has_device() -> bool {
    let _inside = Inside::enter();
    let mut count = 0;
    // SAFETY: a place for the number; the list goes at once.
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

/// Whether a local address belongs to a device.
///
/// # Safety
/// A sockaddr that is valid for its family.
pub(crate) unsafe fn is_on_device(address: *const sockaddr) -> bool {
    let _inside = Inside::enter();
    // SAFETY: the objects are made and destroyed here; the address is only read.
    unsafe {
        let channel = library::rdma_create_event_channel();
        if channel.is_null() {
            return false;
        }
        let mut id: *mut Id = std::ptr::null_mut();
        let null = std::ptr::null_mut();
        let mut found = false;
        if library::rdma_create_id(channel, &raw mut id, null, PORT_SPACE_TCP) == 0 {
            found = library::rdma_bind_addr(id, address.cast_mut()) == 0 && !(*id).verbs.is_null();
            library::rdma_destroy_id(id);
        }
        library::rdma_destroy_event_channel(channel);
        found
    }
}

type Control = unsafe extern "C" fn(c_int, c_int, c_int, *mut epoll_event) -> c_int;
type Wait = unsafe extern "C" fn(c_int, *mut epoll_event, c_int, c_int) -> c_int;
type Create = unsafe extern "C" fn(c_int) -> c_int;

struct Sets {
    create: Create,
    control: Control,
    wait: Wait,
}

fn sets() -> Result<&'static Sets> {
    static SETS: OnceLock<Option<Sets>> = OnceLock::new();
    let found = SETS.get_or_init(|| {
        let [create, control, wait] =
            [c"repoll_create", c"repoll_ctl", c"repoll_wait"].map(real::optional);
        if create.is_null() || control.is_null() || wait.is_null() {
            return None;
        }
        // SAFETY: the functions of those names have these prototypes.
        Some(unsafe {
            Sets {
                create: std::mem::transmute::<*mut c_void, Create>(create),
                control: std::mem::transmute::<*mut c_void, Control>(control),
                wait: std::mem::transmute::<*mut c_void, Wait>(wait),
            }
        })
    });
    found.as_ref().ok_or(Errno::ENOSYS)
}

/// Whether rsockets can be in sets, and so in epoll instances.
pub(crate) fn has_sets() -> bool {
    sets().is_ok()
}

/// A set of rsockets, a descriptor that can itself be waited for; ENOSYS on old libraries.
pub(crate) fn create_set() -> Result<c_int> {
    let sets = sets()?;
    let _inside = Inside::enter();
    // SAFETY: no pointers.
    checked(unsafe { (sets.create)(libc::EPOLL_CLOEXEC) })
}

pub(crate) fn control_set(
    set: c_int,
    operation: c_int,
    socket: c_int,
    events: u32,
    data: u64,
) -> Result<()> {
    let sets = sets()?;
    let _inside = Inside::enter();
    let mut event = epoll_event { events, u64: data };
    // SAFETY: a live event.
    match unsafe { (sets.control)(set, operation, socket, &raw mut event) } {
        0 => Ok(()),
        -1 => Err(Errno::last()),
        // The C library's way.
        error => Err(Errno::of(error)),
    }
}

/// What is ready in a set now.
pub(crate) fn look_at_set(set: c_int, events: &mut [epoll_event]) -> Result<usize> {
    let sets = sets()?;
    let most = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
    let _inside = Inside::enter();
    // SAFETY: a live array of that length.
    let count = unsafe { (sets.wait)(set, events.as_mut_ptr(), most, 0) };
    match usize::try_from(count) {
        Ok(count) if count <= events.len() => Ok(count),
        Ok(error) => Err(Errno::of(error as i32)),
        Err(_) => Err(Errno::last()),
    }
}
