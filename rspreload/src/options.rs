//! Socket options: set on the kernel's socket, which decides whether they are right, and then on the
//! rsocket, which may not know them.
//!
//! # Safety
//! The caller's values and lengths; values that are copied here.
#![allow(unsafe_code)]

use crate::config;
use crate::connect;
use crate::counted::Counted;
use crate::error::{Errno, quietly};
use crate::fork;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket};
use libc::{IPPROTO_TCP, SO_ERROR, SOL_SOCKET, TCP_INFO, TCP_MAXSEG, c_int, c_void, socklen_t};

const SOL_RDMA: c_int = 0x10000;
const RDMA_SQSIZE: c_int = 0;
const RDMA_RQSIZE: c_int = 1;
const RDMA_INLINE: c_int = 2;
/// Ours: peers may be plain UDP sockets, and datagrams as long as UDP's.
const RDMA_AS_UDP: c_int = 0x100;
/// What TCP has on Ethernet: programs take it for the size of their datagrams.
const SEGMENT: c_int = 1448;
/// Longer values are none that an rsocket knows.
const LONGEST: usize = 128;

/// An option that was set.
#[derive(Clone)]
pub(crate) struct Setting {
    level: c_int,
    name: c_int,
    value: Vec<u8>,
}

impl Setting {
    /// Options that an rsocket does not have are the kernel socket's alone.
    pub(crate) fn apply(&self, rsocket: c_int) {
        let length = self.value.len() as socklen_t;
        let value = self.value.as_ptr().cast();
        // SAFETY: live bytes of that length.
        let _ = unsafe { rsockets::rsetsockopt(rsocket, self.level, self.name, value, length) };
    }

    /// SO_REUSEADDR.
    pub(crate) fn reuse_address(on: bool) -> Setting {
        let value = c_int::from(on).to_ne_bytes().to_vec();
        Setting { level: SOL_SOCKET, name: libc::SO_REUSEADDR, value }
    }

    /// To a kernel socket, for one that had it before.
    pub(crate) fn apply_to_kernel(&self, fd: c_int) {
        let length = self.value.len() as socklen_t;
        // SAFETY: live bytes of that length.
        let _ = unsafe {
            real::setsockopt(fd, self.level, self.name, self.value.as_ptr().cast(), length)
        };
    }
}

/// As much as the kernel gives a UDP socket, and as the queues hold.
const DATAGRAM_BUFFER: c_int = 384 * 2048;

/// What a datagram rsocket starts with.
pub(crate) fn make_room(rsocket: c_int) {
    for name in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
        let value = DATAGRAM_BUFFER.to_ne_bytes().to_vec();
        Setting { level: SOL_SOCKET, name, value }.apply(rsocket);
    }
    let value = 1_i32.to_ne_bytes().to_vec();
    Setting { level: SOL_RDMA, name: RDMA_AS_UDP, value }.apply(rsocket);
}

/// What the environment says about queues.
pub(crate) fn configure(rsocket: c_int) {
    let config = config::get();
    let values = [
        (RDMA_SQSIZE, config.send_queue),
        (RDMA_RQSIZE, config.receive_queue),
        (RDMA_INLINE, config.inline),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            Setting { level: SOL_RDMA, name, value: value.to_ne_bytes().to_vec() }.apply(rsocket);
        }
    }
}

/// # Safety
/// The caller's arguments of setsockopt.
pub(crate) unsafe fn set(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let socket = SOCKETS.get(fd);
    if let Some(socket) = &socket {
        fork::claim(socket);
        if socket.mode() == Mode::Relayed && level != SOL_SOCKET {
            // What the connection is made of is the parent's affair.
            return 0;
        }
    }
    if let (Some(socket), SOL_RDMA) = (&socket, level) {
        // The kernel knows nothing of these.
        let Some(rsocket) = socket.rsocket() else {
            // SAFETY: the caller's.
            return unsafe { real::setsockopt(fd, level, name, value, length) };
        };
        // SAFETY: the caller's.
        return unsafe { rsockets::rsetsockopt(rsocket, level, name, value, length) };
    }
    if (level, name) == (SOL_SOCKET, libc::SO_ZEROCOPY) && socket.is_some() {
        // Its notices come by the kernel's socket: a program that gets it waits for them.
        return crate::export::fail(Errno::EOPNOTSUPP);
    }
    // SAFETY: the caller's.
    let answer = unsafe { real::setsockopt(fd, level, name, value, length) };
    let Some(socket) = socket.filter(|_| answer == 0 && !value.is_null()) else { return answer };
    if length as usize <= LONGEST {
        // SAFETY: readable for `length` bytes: the kernel has read them.
        let value =
            unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length as usize) }.to_vec();
        quietly(|| remember(&socket, Setting { level, name, value }));
    }
    answer
}

fn remember(socket: &Socket, setting: Setting) {
    if let Some(rsocket) = socket.rsocket() {
        setting.apply(rsocket);
    }
    let mut state = socket.state.lock();
    state.settings.retain(|other| (other.level, other.name) != (setting.level, setting.name));
    state.settings.push(setting);
}

/// # Safety
/// The caller's arguments of getsockopt.
pub(crate) unsafe fn get(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { real::getsockopt(fd, level, name, value, length) };
    let Some(socket) = SOCKETS.get(fd) else { return kernel() };
    fork::claim(&socket);
    if let (Mode::Relayed, Some(number)) = (socket.mode(), of_relayed(&socket, level, name)) {
        // SAFETY: the caller's.
        return unsafe { store(number, value, length) };
    }
    if (level, name) == (SOL_SOCKET, SO_ERROR) {
        return match pending_error(&socket) {
            // SAFETY: the caller's.
            Some(error) => unsafe { store(error, value, length) },
            None => kernel(),
        };
    }
    let by_rdma = socket.mode() == Mode::Rdma;
    if by_rdma && socket.is_stream() && (level, name) == (IPPROTO_TCP, TCP_MAXSEG) {
        // SAFETY: the caller's.
        return unsafe { store(SEGMENT, value, length) };
    }
    let of_connection = level == IPPROTO_TCP && name == TCP_INFO;
    match (socket.mode(), socket.rsocket()) {
        (Mode::Rdma, Some(rsocket)) if of_connection || level == SOL_RDMA => {
            // SAFETY: the caller's.
            unsafe { rsockets::rgetsockopt(rsocket, level, name, value, length) }
        }
        _ => kernel(),
    }
}

/// What a Unix socket would answer otherwise than the one it stands for.
fn of_relayed(socket: &Socket, level: c_int, name: c_int) -> Option<c_int> {
    match (level, name) {
        (SOL_SOCKET, libc::SO_DOMAIN) => Some(socket.family),
        (SOL_SOCKET, libc::SO_PROTOCOL) => Some(IPPROTO_TCP),
        (SOL_SOCKET, _) => None,
        (IPPROTO_TCP, TCP_MAXSEG) => Some(SEGMENT),
        _ => Some(0),
    }
}

/// SO_ERROR where the kernel's socket does not know it; 0 for none.
fn pending_error(socket: &Counted<Socket>) -> Option<c_int> {
    quietly(|| connect::drive(socket));
    match (socket.mode(), socket.rsocket()) {
        (Mode::Rdma, Some(rsocket)) => {
            Some(quietly(|| rsockets::take_error(rsocket)).map_or(0, Errno::raw))
        }
        (Mode::Failed, _) => Some(socket.state.lock().error.take().map_or(0, Errno::raw)),
        _ => None,
    }
}

/// # Safety
/// The caller's places of getsockopt.
unsafe fn store(number: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int {
    if value.is_null() || length.is_null() {
        // SAFETY: the location is valid for the life of the thread.
        unsafe { *libc::__errno_location() = libc::EFAULT };
        return -1;
    }
    // SAFETY: not more bytes than the caller has room for.
    unsafe {
        let room = (*length as usize).min(size_of::<c_int>());
        std::ptr::copy_nonoverlapping((&raw const number).cast::<u8>(), value.cast(), room);
        *length = room as socklen_t;
    }
    0
}
