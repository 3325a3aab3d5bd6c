//! The passive side of streams. The kernel's socket listens and decides the port; the process that
//! first waits for connections adds an RDMA listener of the same address and port. Where another
//! process has that (a worker's sibling), this one serves TCP and tries again now and then.
//!
//! # Safety
//! System calls on the program's descriptor, and with the program's places for addresses.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::carrier;
use crate::config;
use crate::connect;
use crate::counted::Counted;
use crate::descriptors;
use crate::error::{Errno, Result, quietly};
use crate::guard;
use crate::limit;
use crate::process;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket, open_rsocket};
use crate::wait::{self, Deadline, restarts_after_signal};
use libc::{
    POLLIN, SO_DOMAIN, SO_PROTOCOL, SO_RCVTIMEO, SO_TYPE, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM,
    c_int, pollfd, sockaddr, socklen_t,
};
use std::time::{Duration, Instant};

/// Between two tries for a port that another process has.
const AGAIN: Duration = Duration::from_secs(1);

/// # Safety
/// The caller's arguments of bind.
pub(crate) unsafe fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { real::bind(fd, address, length) };
    let Some(socket) = SOCKETS.get(fd) else { return kernel() };
    if is_connected(&socket) {
        return crate::export::fail(Errno::EINVAL);
    }
    if socket.mode() != Mode::Open {
        return kernel();
    }
    if !socket.is_stream() {
        // SAFETY: the caller's.
        let own = unsafe { Address::read(address, length) };
        return crate::datagram::bind(&socket, own, kernel);
    }
    let answer = kernel();
    if answer == 0 {
        socket.state.lock().bound = true;
    }
    answer
}

/// A connection is neither bound nor listened on, whatever the kernel's socket would take.
fn is_connected(socket: &Socket) -> bool {
    matches!(socket.mode(), Mode::Connecting | Mode::Rdma | Mode::Relayed) && socket.is_stream()
}

pub(crate) fn listen(fd: c_int, backlog: c_int) -> c_int {
    if SOCKETS.get(fd).is_some_and(|socket| is_connected(&socket)) {
        return crate::export::fail(Errno::EINVAL);
    }
    // SAFETY: no pointers.
    let answer = unsafe { real::listen(fd, backlog) };
    if answer != 0 {
        return answer;
    }
    let Some(socket) = SOCKETS.get(fd).or_else(|| quietly(|| adopt(fd))) else { return answer };
    socket.state.lock().backlog = backlog;
    match (socket.mode(), socket.rsocket()) {
        (Mode::Open, _) => {
            socket.set_mode(Mode::Listening);
            quietly(|| socket.moved());
        }
        (Mode::Listening, Some(rsocket)) => {
            // SAFETY: no pointers.
            let _ = quietly(|| unsafe { rsockets::rlisten(rsocket, backlog) });
        }
        _ => {}
    }
    answer
}

/// A socket that was made before this program was executed (socket activation) is ours when it listens.
fn adopt(fd: c_int) -> Option<Counted<Socket>> {
    if guard::is_inside() || !process::is_own_memory() {
        return None;
    }
    let [family, kind, protocol] =
        [SO_DOMAIN, SO_TYPE, SO_PROTOCOL].map(|name| crate::datagram::number_of(fd, name));
    if kind != SOCK_STREAM || !config::get().takes(family, kind, protocol) {
        return None;
    }
    // SAFETY: no pointers.
    let flags = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
    let non_blocking = if flags & libc::O_NONBLOCK != 0 { SOCK_NONBLOCK } else { 0 };
    let socket = Socket::new(family, kind | non_blocking, Mode::Open).ok()?;
    descriptors::enter(fd, &socket).ok()?;
    Some(socket)
}

/// Adds the RDMA listener where there is none; when it can be tried again, if at all.
pub(crate) fn prepare(socket: &Socket, fd: c_int) -> Option<Instant> {
    if socket.rsocket().is_some() {
        return None;
    }
    let backlog = {
        let mut state = socket.state.lock();
        let now = Instant::now();
        if state.never || socket.mode() != Mode::Listening {
            return None;
        }
        if let Some(later) = state.deadline.filter(|later| *later > now) {
            return Some(later);
        }
        state.deadline = Some(now + AGAIN);
        state.backlog
    };
    match quietly(|| make(socket, fd, backlog)) {
        Ok(rsocket) => {
            socket.set_rsocket(rsocket);
            socket.moved();
            None
        }
        Err(Errno::EADDRINUSE | Errno::EMFILE | Errno::ENOMEM) => socket.state.lock().deadline,
        Err(_) => {
            socket.state.lock().never = true;
            None
        }
    }
}

/// Adds all RDMA listeners that this process has not waited on yet.
pub(crate) fn prepare_all() {
    for fd in 0..descriptors::highest() {
        if let Some(socket) = SOCKETS.get(fd).filter(|socket| socket.mode() == Mode::Listening) {
            prepare(&socket, fd);
        }
    }
}

fn make(socket: &Socket, fd: c_int, backlog: c_int) -> Result<c_int> {
    // SAFETY: places that `asked` gives.
    let own = Address::asked(|raw, length| unsafe { real::getsockname(fd, raw, length) });
    let own = own.ok_or(Errno::EINVAL)?;
    connect::check_watched(socket)?;
    if !carrier::is_local(&own) {
        return Err(Errno::ENODEV);
    }
    // A wildcard stays what it is: IPv6 ones may take both families.
    let own = if own.is_wildcard() { own } else { own.unmapped() };
    let rsocket = open_rsocket(socket, own.family())?;
    let made = connect::bind(rsocket, &own).and_then(|()| {
        // SAFETY: no pointers.
        rsockets::checked(unsafe { rsockets::rlisten(rsocket, backlog) })
    });
    if let Err(error) = made {
        rsockets::close(rsocket);
        return Err(error);
    }
    Ok(rsocket)
}

/// # Safety
/// The caller's arguments of accept4.
pub(crate) unsafe fn accept(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { real::accept4(fd, address, length, flags) };
    let socket = SOCKETS.get(fd).filter(|socket| socket.mode() == Mode::Listening);
    let Some(socket) = socket else { return kernel() };
    if flags & !(SOCK_NONBLOCK | SOCK_CLOEXEC) != 0 {
        return kernel();
    }
    let mut limit = Limit::Unknown;
    loop {
        let again = prepare(&socket, fd);
        if let Some(rsocket) = socket.rsocket() {
            match quietly(|| take(&socket, rsocket, flags)) {
                Ok((accepted, peer)) => {
                    if let Some(peer) = peer {
                        // SAFETY: the caller's.
                        unsafe { peer.store(address, length) };
                    }
                    return accepted;
                }
                Err(error @ (Errno::EMFILE | Errno::ENOMEM)) => return crate::export::fail(error),
                Err(_) => {}
            }
        }
        let alone = socket.rsocket().is_none() && again.is_none();
        if alone || socket.is_non_blocking() {
            return counted(kernel());
        }
        let limit = limit.deadline(fd);
        if wait::has_passed(limit) {
            return crate::export::fail(Errno::EAGAIN);
        }
        let until = wait::earlier(limit, again);
        if let Some(answer) = wait_and_accept(&socket, fd, until, kernel) {
            return counted(answer);
        }
    }
}

/// SO_RCVTIMEO of a listener, asked for by the first call that waits.
enum Limit {
    Unknown,
    Known(Deadline),
}

impl Limit {
    fn deadline(&mut self, fd: c_int) -> Deadline {
        if let Limit::Known(deadline) = self {
            return *deadline;
        }
        let span = limit::of(fd, SO_RCVTIMEO);
        let deadline = span.and_then(|span| Instant::now().checked_add(span));
        *self = Limit::Known(deadline);
        deadline
    }
}

/// Waits for either side; the kernel's answer where it had one.
fn wait_and_accept(
    socket: &Socket,
    fd: c_int,
    until: Deadline,
    kernel: impl Fn() -> c_int,
) -> Option<c_int> {
    let place = |fd| pollfd { fd, events: POLLIN, revents: 0 };
    let mut fds = [place(fd), place(socket.rsocket().unwrap_or(-1))];
    match quietly(|| rsockets::poll(&mut fds, wait::timeout_until(until))) {
        Err(Errno::EINTR) if restarts_after_signal() => return None,
        Err(error) => return Some(crate::export::fail(error)),
        Ok(_) if fds[0].revents == 0 => return None,
        Ok(_) => {}
    }
    // Another process may have been faster: its gain must not make us blind to RDMA.
    let answer = limit::during(fd, SO_RCVTIMEO, Duration::from_millis(1), kernel);
    (answer >= 0 || Errno::last() != Errno::EAGAIN).then_some(answer)
}

/// An accepted TCP connection is looked at only where its bytes are counted.
fn counted(fd: c_int) -> c_int {
    if fd >= 0 && config::get().stats {
        let family = crate::datagram::family_of(fd);
        let socket = Socket::new(family, SOCK_STREAM, Mode::Plain);
        let _ = quietly(|| descriptors::enter(fd, &socket?));
    }
    fd
}

/// The next connection over RDMA, behind a descriptor of its own.
fn take(listener: &Socket, rsocket: c_int, flags: c_int) -> Result<(c_int, Option<Address>)> {
    if rsockets::readiness(rsocket, POLLIN) == 0 {
        return Err(Errno::EAGAIN);
    }
    // What may fail first: then the connection stays in the queue.
    let socket = Socket::new(listener.family, SOCK_STREAM | flags, Mode::Rdma)?;
    // SAFETY: no pointers.
    let fd = rsockets::checked(unsafe { real::socket(listener.family, SOCK_STREAM | flags, 0) })?;
    let null = std::ptr::null_mut();
    // SAFETY: no place for an address is given.
    let accepted = rsockets::checked(unsafe { rsockets::raccept(rsocket, null, null.cast()) });
    let accepted = accepted.inspect_err(|_| {
        // SAFETY: made above.
        unsafe { real::close(fd) };
    })?;
    rsockets::close_on_exec(accepted);
    socket.set_rsocket(accepted);
    rsockets::set_non_blocking(accepted, flags & SOCK_NONBLOCK != 0);
    socket.connected(accepted);
    {
        let state = listener.state.lock();
        for setting in &state.settings {
            setting.apply_to_kernel(fd);
        }
        socket.state.lock().settings.clone_from(&state.settings);
    }
    if let Err(error) = descriptors::enter(fd, &socket) {
        // SAFETY: made above.
        unsafe { real::close(fd) };
        return Err(error);
    }
    let peer = socket.state.lock().names.map(|(_, peer)| peer.in_family(listener.family));
    Ok((fd, peer))
}
