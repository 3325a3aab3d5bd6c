// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The table of rsockets: which descriptor of the program is which, and the calls that name
//! several.

use super::datagram::Datagram;
use super::service;
use super::socket::{Kind, Socket};
use super::stream::{Stream, at_once};
use super::wait::source::{Edges, Pollable, Source};
use super::wait::{self, PollCaches, Set, Sets};
use crate::device;
use crate::types::{AF_IB, SocketAddress};
use base::arc::Arc;
use base::deadline::{Deadline, Timeout};
use base::descriptor_table::Table;
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use core::time::Duration;
use libc::{
    AF_INET, AF_INET6, EPOLL_CLOEXEC, IPPROTO_TCP, IPPROTO_UDP, SOCK_CLOEXEC, SOCK_DGRAM,
    SOCK_NONBLOCK, SOCK_STREAM, c_int, c_short, epoll_event, pollfd,
};

/// How long a close waits for those who are still in a call.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_micros(50);

static SOCKETS: Table<Socket> = Table::new();
/// Changes with each answer of `find` that changes.
static CHANGES: AtomicU64 = AtomicU64::new(0);
/// The highest descriptor that ever was a socket.
static HIGHEST: AtomicI32 = AtomicI32::new(-1);
static POLL_CACHES: PollCaches<Socket> = PollCaches::new();

fn changed() {
    CHANGES.fetch_add(1, Ordering::AcqRel);
}

/// Makes a socket known to the program.
fn enter(kind: Kind) -> Result<RawFd> {
    let fd = kind.fd();
    if let Some(stale) = SOCKETS.remove(fd) {
        at_once::forget(fd);
        Socket::abandon_number(stale);
    }
    let socket = Arc::try_new(Socket::new(kind))?;
    SOCKETS.insert(fd, Arc::clone(&socket))?;
    socket.stream().into_iter().for_each(|stream| at_once::enter(fd, stream));
    HIGHEST.fetch_max(fd, Ordering::AcqRel);
    changed();
    Ok(fd)
}

/// The same for one that has just been made, which is closed where there is no memory for it.
fn enter_new(kind: Kind) -> Result<RawFd> {
    enter(kind.clone()).inspect_err(|_| kind.close())
}

/// EBADF for what is no rsocket.
#[inline]
pub(crate) fn find(fd: RawFd) -> Result<Arc<Socket>> {
    SOCKETS.get(fd).filter(|socket| socket.is_open()).ok_or(Errno::EBADF)
}

/// Makes a socket; its descriptor.
pub(crate) fn open(family: c_int, kind: c_int, protocol: c_int) -> Result<RawFd> {
    if !matches!(family, AF_INET | AF_INET6 | AF_IB) {
        return Err(fail!(
            EAFNOSUPPORT,
            "rsocket: family {family} is not AF_INET, AF_INET6 or AF_IB"
        ));
    }
    let (nonblock, close_on_exec) = (kind & SOCK_NONBLOCK != 0, kind & SOCK_CLOEXEC != 0);
    match kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC) {
        SOCK_STREAM if protocol == 0 || protocol == IPPROTO_TCP => {
            enter_new(Kind::Stream(Stream::open(family, nonblock, close_on_exec)?))
        }
        SOCK_DGRAM if family != AF_IB && (protocol == 0 || protocol == IPPROTO_UDP) => {
            enter_new(Kind::Datagram(Datagram::open(family, protocol, nonblock, close_on_exec)?))
        }
        SOCK_STREAM | SOCK_DGRAM => Err(fail!(
            EPROTONOSUPPORT,
            "rsocket: type {kind:#x} of family {family} has no protocol {protocol}"
        )),
        _ => Err(fail!(
            ESOCKTNOSUPPORT,
            "rsocket: type {kind:#x} is neither SOCK_STREAM nor SOCK_DGRAM"
        )),
    }
}

/// repoll_create.
pub(crate) fn open_set(flags: c_int) -> Result<RawFd> {
    if flags & !EPOLL_CLOEXEC != 0 {
        return Err(fail!(EINVAL, "repoll_create: {flags:#x} has other flags than EPOLL_CLOEXEC"));
    }
    device::require_any()?;
    enter_new(Kind::Set(Set::new(flags)?))
}

/// raccept: the next connection's descriptor and its peer.
pub(crate) fn accept(
    listener: &Socket,
    close_on_exec: bool,
) -> Result<(RawFd, Option<SocketAddress>)> {
    listener
        .as_stream()?
        .accept(close_on_exec, |child| enter(Kind::Stream(Arc::clone(child))).map(drop))
}

/// Ends a socket and frees its descriptor.
pub(crate) fn close(fd: RawFd) -> Result<()> {
    let socket = find(fd)?;
    // Of several callers one gets it.
    if !socket.retire() {
        return Err(Errno::EBADF);
    }
    changed();
    socket.close();
    let deadline = Deadline::after(LEAVE_TIMEOUT);
    // A call that begins meanwhile finds it in the table, and reports that it is closed.
    wait_for_others(&socket, 2, deadline);
    drop(SOCKETS.remove(fd));
    changed();
    wait_for_others(&socket, 1, deadline);
    socket.send_rest(Socket::users(&socket) == 1);
    Ok(())
}

/// Calls `each` for every stream of the table.
pub(super) fn for_each_stream(mut each: impl FnMut(&Arc<Stream>)) {
    for fd in 0..=HIGHEST.load(Ordering::Acquire) {
        SOCKETS.get(fd).iter().filter_map(|socket| socket.stream()).for_each(&mut each);
    }
}

/// Others that were in a call have been woken and leave now. When the last is out, the descriptor
/// and the kernel's objects go; a program that binds the same port next must not come too early.
fn wait_for_others(socket: &Arc<Socket>, own: usize, deadline: Deadline) {
    while Socket::users(socket) > own && !deadline.has_passed() {
        // Mostly the service thread, which has just handled the last event.
        if !service::await_turn(deadline) {
            base::time::sleep(POLL_INTERVAL);
        }
    }
}

/// rpoll.
pub(crate) fn poll(fds: &mut [pollfd], timeout: Timeout) -> Result<usize> {
    wait::poll(&POLL_CACHES, fds, timeout)
}

/// rselect.
pub(crate) fn select(count: c_int, sets: Sets<'_>, timeout: Timeout) -> Result<usize> {
    wait::select(&POLL_CACHES, count, sets, timeout)
}

/// repoll_ctl.
pub(crate) fn control(
    set: &Socket,
    operation: c_int,
    fd: RawFd,
    event: Option<epoll_event>,
) -> Result<()> {
    Set::control(set.as_set()?, operation, fd, event)
}

impl Pollable for Socket {
    #[inline]
    fn find(fd: RawFd) -> Option<Arc<Socket>> {
        SOCKETS.get(fd).filter(|socket| socket.is_source())
    }

    fn changes() -> u64 {
        CHANGES.load(Ordering::Acquire)
    }

    #[inline]
    fn is_open(&self) -> bool {
        Socket::is_open(self)
    }

    #[inline]
    fn readiness(&self) -> c_short {
        Socket::readiness(self)
    }

    #[inline]
    fn look(&self) -> (c_short, Edges) {
        Socket::look(self)
    }

    fn as_source(&self) -> Result<&dyn Source> {
        Socket::as_source(self)
    }
}
