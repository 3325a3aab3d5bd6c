// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The passive side of streams: bind, listen and accept.
//!
//! # Safety
//! System calls on the program's descriptors, with the caller's room for addresses.
#![allow(unsafe_code)]

use super::{change, datagram, dissolve, rdma_listener, rsocket};
use crate::sys::address::{Address, check_room};
use crate::sys::config::{self, Taken};
use crate::sys::errno::fail;
use crate::sys::{guard, librdmacm, original, process, socket_option};
use crate::table::decision::{Decision, Place, Reason, Way};
use crate::table::descriptors::{self, SOCKETS};
use crate::table::setting::Setting;
use crate::table::socket::{Accepting, Mode, Socket};
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result, preserve_errno};
use base::memory::try_reserve;
use base::signal::restarts_after_signal;
use core::time::Duration;
use libc::{
    POLLIN, SO_DOMAIN, SO_PROTOCOL, SO_RCVTIMEO, SO_TYPE, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM,
    c_int, pollfd, sockaddr, socklen_t,
};

/// # Safety
/// The caller's arguments of bind.
pub(crate) unsafe fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { original::bind(fd, address, length) };
    let Some(socket) = SOCKETS.get(fd) else { return kernel() };
    if address.is_null() || length as usize > size_of::<libc::sockaddr_storage>() {
        return kernel();
    }
    // SAFETY: the caller's.
    let own = || unsafe { Address::read(address, length) };
    dissolve::renew(&socket);
    // The kernel looks at the family first.
    let is_foreign = || own().is_some_and(|own| own.family() != socket.family);
    if is_connection(&socket) && !is_foreign() || is_bound(&socket, own()) {
        return fail(Errno::EINVAL);
    }
    if socket.mode() != Mode::Open {
        return kernel();
    }
    if !socket.is_stream() {
        let own = own();
        return datagram::bind(&socket, own, kernel);
    }
    let answer = kernel();
    if answer == 0 {
        socket.state.lock().bound = true;
    }
    answer
}

/// A datagram rsocket has its port, although the kernel's socket has none. Of another family's
/// address the kernel says so first.
fn is_bound(socket: &Socket, own: Option<Address>) -> bool {
    socket.mode() == Mode::Rdma
        && !socket.is_stream()
        && own.is_some_and(|own| own.family() == socket.family)
}

/// A connection cannot be bound or listen, although its kernel socket could.
fn is_connection(socket: &Socket) -> bool {
    matches!(socket.mode(), Mode::Connecting | Mode::Rdma | Mode::Relayed) && socket.is_stream()
}

pub(crate) fn listen(fd: c_int, backlog: c_int) -> c_int {
    if let Some(socket) = SOCKETS.get(fd) {
        dissolve::renew(&socket);
        if is_connection(&socket) {
            return fail(Errno::EINVAL);
        }
    }
    // SAFETY: no pointers.
    let answer = unsafe { original::listen(fd, backlog) };
    if answer != 0 {
        return answer;
    }
    let Some(socket) = SOCKETS.get(fd).or_else(|| preserve_errno(|| adopt(fd))) else {
        return answer;
    };
    socket.state.lock().backlog = backlog;
    match (socket.mode(), socket.rsocket()) {
        (Mode::Open, _) => {
            socket.set_mode(Mode::Listening);
            preserve_errno(|| socket.carrier_changed());
        }
        (Mode::Plain, _) => {
            let own = preserve_errno(|| rsocket::kernel_address(fd));
            change::note_place(&socket, own.map_or(Place::Unknown, Place::At));
        }
        (Mode::Listening, Some(rsocket)) => {
            // SAFETY: no pointers.
            let _ = preserve_errno(|| unsafe { librdmacm::rlisten(rsocket, backlog) });
        }
        _ => {}
    }
    answer
}

/// Enters a socket that was made before this program was executed (socket activation).
fn adopt(fd: c_int) -> Option<Arc<Socket>> {
    if guard::is_inside() || !process::is_own_memory() {
        return None;
    }
    let [family, kind, protocol] =
        [SO_DOMAIN, SO_TYPE, SO_PROTOCOL].map(|name| socket_option::number(fd, name));
    if kind != SOCK_STREAM || config::get().takes(family, kind, protocol) != Taken::Yes {
        return None;
    }
    // SAFETY: no pointers.
    let flags = unsafe { original::fcntl(fd, libc::F_GETFL, 0) };
    let non_blocking = if flags & libc::O_NONBLOCK != 0 { SOCK_NONBLOCK } else { 0 };
    let socket = Socket::new(family, kind | non_blocking, Mode::Open).ok()?;
    descriptors::enter(fd, &socket).ok()?;
    Some(socket)
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
    let kernel = || unsafe { original::accept4(fd, address, length, flags) };
    let Some(socket) = SOCKETS.get(fd) else { return kernel() };
    match socket.mode() {
        Mode::Listening => {}
        Mode::Plain => return counted(&socket, &socket.accepts.enter(), kernel()),
        _ => return kernel(),
    }
    if flags & !(SOCK_NONBLOCK | SOCK_CLOEXEC) != 0 {
        return kernel();
    }
    // Before a connection is taken.
    // SAFETY: the caller's.
    if let Err(error) = unsafe { check_room(address, length) } {
        return fail(error);
    }
    let accepting = socket.accepts.enter();
    rdma_listener::allow(&socket);
    let mut timeout = ReceiveTimeout::NotRead;
    loop {
        let retry = rdma_listener::prepare(&socket, fd);
        if let Some(rsocket) = socket.rsocket() {
            match preserve_errno(|| take(&socket, rsocket, flags)) {
                Ok((accepted, peer)) => {
                    accepting.count();
                    if let Some(peer) = peer {
                        // SAFETY: the caller's.
                        unsafe { peer.store(address, length) };
                    }
                    return accepted;
                }
                Err(error @ (Errno::EMFILE | Errno::ENOMEM)) => return fail(error),
                Err(_) => {}
            }
        }
        let is_alone = socket.rsocket().is_none() && retry == Deadline::Never;
        if is_alone || socket.is_non_blocking() {
            return counted(&socket, &accepting, kernel());
        }
        let deadline = timeout.deadline(fd);
        if deadline.has_passed() {
            return fail(Errno::EAGAIN);
        }
        let until = deadline.earlier(retry);
        // A time limit turns restarting off.
        let restarts = deadline == Deadline::Never;
        if let Some(answer) = wait_and_accept(&socket, fd, until, restarts, kernel) {
            return counted(&socket, &accepting, answer);
        }
    }
}

/// SO_RCVTIMEO of a listener, which a call reads when it first has to wait.
enum ReceiveTimeout {
    NotRead,
    Ends(Deadline),
}

impl ReceiveTimeout {
    fn deadline(&mut self, fd: c_int) -> Deadline {
        if let ReceiveTimeout::Ends(deadline) = self {
            return *deadline;
        }
        let deadline = socket_option::timeout(fd, SO_RCVTIMEO).begin();
        *self = ReceiveTimeout::Ends(deadline);
        deadline
    }
}

/// Waits for a connection of either kind. Some is the answer of the kernel's accept.
fn wait_and_accept(
    socket: &Socket,
    fd: c_int,
    until: Deadline,
    restarts: bool,
    kernel: impl Fn() -> c_int,
) -> Option<c_int> {
    let polled = |fd| pollfd { fd, events: POLLIN, revents: 0 };
    let mut fds = [polled(fd), polled(socket.rsocket().unwrap_or(-1))];
    match preserve_errno(|| librdmacm::poll(&mut fds, until.left_millis())) {
        Err(Errno::EINTR) if restarts && restarts_after_signal() => return None,
        Err(error) => return Some(fail(error)),
        Ok(_) if fds[0].revents == 0 => return None,
        Ok(_) => {}
    }
    // Another process may have accepted it. This one must not block then, or it would miss
    // connections over RDMA.
    let answer = socket_option::with_timeout(fd, SO_RCVTIMEO, Duration::from_millis(1), kernel);
    (answer >= 0 || Errno::last() != Errno::EAGAIN).then_some(answer)
}

/// Enters an accepted TCP connection if it is reported.
fn counted(listener: &Socket, accepting: &Accepting<'_>, fd: c_int) -> c_int {
    if fd < 0 {
        return fd;
    }
    accepting.count();
    if config::get().reports() {
        let _ = preserve_errno(|| enter_plain(listener, fd));
    }
    fd
}

fn enter_plain(listener: &Socket, fd: c_int) -> Result<()> {
    let family = socket_option::number(fd, SO_DOMAIN);
    let socket = Socket::new(family, SOCK_STREAM, Mode::Plain)?;
    descriptors::enter(fd, &socket)?;
    let way = match listener.state.lock().decision {
        Some(Decision { way: way @ Way::Kernel(_), .. }) => way,
        _ => Way::Kernel(Reason::Client),
    };
    // SAFETY: room that `asked` gives.
    let peer = Address::asked(|raw, room| unsafe { original::getpeername(fd, raw, room) });
    socket.decided(way, peer.map_or(Place::Unknown, Place::From));
    Ok(())
}

/// Accepts the next connection over RDMA, under a descriptor of its own.
fn take(listener: &Socket, rsocket: c_int, flags: c_int) -> Result<(c_int, Option<Address>)> {
    if librdmacm::readiness(rsocket, POLLIN) == 0 {
        return Err(Errno::EAGAIN);
    }
    // What can fail comes first: then the connection stays in the queue.
    let socket = Socket::new(listener.family, SOCK_STREAM | flags, Mode::Rdma)?;
    {
        let state = listener.state.lock();
        let mut state_of_new = socket.state.lock();
        state_of_new.settings = Setting::copy_all(&state.settings)?;
        try_reserve(&mut state_of_new.fds, 1)?;
    }
    // SAFETY: no pointers.
    let fd = unsafe { original::socket(listener.family, SOCK_STREAM | flags, 0) };
    let fd = librdmacm::checked(fd)?;
    let null = core::ptr::null_mut();
    // SAFETY: no room for an address is given.
    let accepted = librdmacm::checked(unsafe { librdmacm::raccept(rsocket, null, null.cast()) });
    let accepted = accepted.inspect_err(|_| original::close_own(fd))?;
    // Ours has it from the listener.
    if !librdmacm::is_own() {
        librdmacm::close_on_exec(accepted);
    }
    socket.set_rsocket(accepted);
    librdmacm::set_non_blocking(accepted, flags & SOCK_NONBLOCK != 0);
    change::connected(&socket, accepted);
    for setting in &socket.state.lock().settings {
        setting.apply_to_kernel(fd);
    }
    if let Err(error) = descriptors::enter(fd, &socket) {
        original::close_own(fd);
        return Err(error);
    }
    rsocket::name_in_trace(&socket, accepted);
    let peer = socket.state.lock().addresses.map(|(_, peer)| peer);
    socket.decided(Way::Rdma, peer.map_or(Place::Unknown, Place::From));
    let peer = peer.map(|peer| peer.in_family(listener.family));
    Ok((fd, peer))
}
