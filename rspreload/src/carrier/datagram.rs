// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Datagram sockets. Both ends must use the same carrier, so each decides as late as it can: at the
//! first bind to an address of a device, or at the first peer that a device leads to. Everything
//! else (DNS, loopback, multicast) stays UDP.
//!
//! # Safety
//! System calls without pointers on the program's descriptors.
#![allow(unsafe_code)]

use super::{change, route, rsocket};
use crate::sys::address::Address;
use crate::sys::{librdmacm, original, process, socket_option};
use crate::table::counts::Direction;
use crate::table::decision::{Place, Reason, Way};
use crate::table::setting::Setting;
use crate::table::socket::{Mode, Socket};
use base::errno::{Errno, preserve_errno};
use base::lock::Mutex;
use libc::{F_GETFD, FD_CLOEXEC, O_CLOEXEC, SO_REUSEADDR, c_int};

/// Services whose peers never use rsockets: DNS, DHCP, TFTP, NTP, NetBIOS, SNMP, QUIC, IKE, syslog,
/// SSDP, multicast DNS.
const SERVICES: [u16; 16] =
    [53, 67, 68, 69, 123, 137, 138, 161, 162, 443, 500, 514, 546, 547, 1900, 5353];

/// bind(2) to `own`; `kernel` is the call on the kernel's socket.
pub(super) fn bind(socket: &Socket, own: Option<Address>, kernel: impl Fn() -> c_int) -> c_int {
    // The kernel refuses an address of another family.
    let Some(own) = own.filter(|own| own.family() == socket.family) else { return kernel() };
    // Any port of the wildcard address decides nothing.
    let is_open = own.is_wildcard() && own.port == 0;
    let place = Place::At(own);
    let reason = match is_open {
        true => None,
        false => preserve_errno(|| {
            check(own.port, || route::check_local(&own))
                .and_then(|()| adopt(socket, &own, own.family(), Port::Own, place))
                .err()
        }),
    };
    if !is_open && reason.is_none() {
        return 0;
    }
    let answer = kernel();
    if answer == 0 {
        socket.state.lock().bound = true;
        if let Some(reason) = reason {
            preserve_errno(|| leave(socket, reason, place));
        }
    }
    answer
}

/// Whether the port is no service's, and what `route` says.
fn check(port: u16, route: impl FnOnce() -> Result<(), Reason>) -> Result<(), Reason> {
    if SERVICES.contains(&port) {
        return Err(Reason::Service(port));
    }
    route()
}

/// It stays with UDP.
fn leave(socket: &Socket, reason: Reason, place: Place) {
    socket.decided(Way::Kernel(reason), place);
    change::to_plain(socket);
}

/// The port of an rsocket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    /// Not bound: librdmacm chooses one.
    Any,
    /// Bound to the program's port.
    Own,
    /// Bound to the program's port, which a kernel socket has, too.
    Shared,
}

/// Makes the rsocket, which carries the socket from then on.
fn adopt(
    socket: &Socket,
    own: &Address,
    family: c_int,
    port: Port,
    place: Place,
) -> Result<(), Reason> {
    let made = open(socket, own, family, port).map_err(Reason::Unavailable)?;
    socket.set_rsocket(made);
    socket.decided(Way::Rdma, place);
    change::to_rdma(socket);
    Ok(())
}

fn open(socket: &Socket, own: &Address, family: c_int, port: Port) -> base::errno::Result<c_int> {
    let made = rsocket::open(socket, family)?;
    if port != Port::Any {
        if port == Port::Shared {
            Setting::reuse_address(true).apply(made);
        }
        if let Err(error) = rsocket::bind(made, own) {
            librdmacm::close(made);
            return Err(error);
        }
        socket.state.lock().bound_address = rsocket::own_address(made);
    }
    Ok(made)
}

/// connect(2) to `peer`; `kernel` is the call on the kernel's socket.
pub(super) fn connect(
    socket: &Socket,
    fd: c_int,
    peer: &Address,
    kernel: impl Fn() -> c_int,
) -> c_int {
    decide(socket, fd, peer);
    let (Mode::Rdma, Some(rsocket)) = (socket.mode(), socket.rsocket()) else { return kernel() };
    if peer.port == 0 && peer.is_wildcard() {
        return kernel();
    }
    let answer = rsocket::connect(rsocket, &carried_address(socket, peer));
    if answer == 0 {
        socket.state.lock().destination = Some(*peer);
    }
    answer
}

/// Opens an rsocket of this process in place of an inherited one. If that has a port, only a reader
/// does so while the parent lives: the kernel gives datagrams to the socket that was bound last. A
/// writer sends by the parent's UDP socket, of which it has a copy.
pub(super) fn inherit(socket: &Socket, direction: Direction) {
    static INHERITING: Mutex<()> = Mutex::new(());
    preserve_errno(|| {
        let _inheriting = INHERITING.lock();
        if !socket.is_inherited() {
            return;
        }
        // The copy of librdmacm's UDP socket that this process inherited.
        let copy = socket.any_rsocket();
        let (own, peer, ipv4, waits) = {
            let mut state = socket.state.lock();
            let reads = direction == Direction::In;
            let waits = reads && !core::mem::replace(&mut state.waited_for_parent, true);
            (state.bound_address, state.destination, state.carried_ipv4, waits)
        };
        let own = own.or_else(|| rsocket::kernel_address(copy).filter(|own| own.port != 0));
        let is_fixed = own.is_some();
        if is_fixed && !process::has_lost_parent(waits) && direction == Direction::Out {
            return;
        }
        let family =
            if ipv4 { libc::AF_INET } else { own.map_or(socket.family, |own| own.family()) };
        let bound = own.unwrap_or_else(|| Address::any(family, 0));
        Setting::reuse_address(true).apply_to_kernel(copy);
        let port = if is_fixed { Port::Shared } else { Port::Any };
        if adopt(socket, &bound, family, port, Place::At(bound)).is_err() {
            return;
        }
        original::close_but_keep_number(copy);
        if let (Some(peer), Some(rsocket)) = (peer, socket.rsocket()) {
            rsocket::connect(rsocket, &carried_address(socket, &peer));
        }
    });
}

/// Before the first datagram arrives at a socket that is bound to the wildcard address: its sender
/// uses an rsocket if there is a device.
pub(crate) fn expect(socket: &Socket, fd: c_int) {
    if socket.is_stream() || socket.mode() != Mode::Open || !socket.state.lock().bound {
        return;
    }
    let any = Address::any(socket.family, 0);
    preserve_errno(|| {
        let own = rsocket::kernel_address(fd);
        let place = own.map_or(Place::Unknown, Place::At);
        let taken = route::check_local(&any).and_then(|()| take_over(socket, fd, &any, place));
        if let Err(reason) = taken {
            leave(socket, reason, place);
        }
    });
}

/// A peer's address in the family of the rsocket.
pub(crate) fn carried_address(socket: &Socket, peer: &Address) -> Address {
    if socket.state.lock().carried_ipv4 { peer.unmapped() } else { *peer }
}

/// The first peer decides what carries the socket.
pub(crate) fn decide(socket: &Socket, fd: c_int, peer: &Address) {
    let place = Place::To(*peer);
    match socket.mode() {
        // The kernel refuses it.
        Mode::Open if socket.family == libc::AF_INET && peer.family() != libc::AF_INET => return,
        Mode::Open => {}
        Mode::Plain => return change::note_place(socket, place),
        _ => return,
    }
    preserve_errno(|| {
        let taken = check(peer.port, || route::check_peer(peer))
            .and_then(|()| take_over(socket, fd, peer, place));
        if let Err(reason) = taken {
            leave(socket, reason, place);
        }
    });
}

/// Makes the rsocket in place of a kernel socket, which the program may have bound.
fn take_over(socket: &Socket, fd: c_int, peer: &Address, place: Place) -> Result<(), Reason> {
    let family = peer.unmapped().family();
    let bound = socket.state.lock().bound;
    socket.state.lock().carried_ipv4 = family == libc::AF_INET;
    if !bound {
        return adopt(socket, &Address::any(family, 0), family, Port::Any, place);
    }
    let own = rsocket::kernel_address(fd).ok_or(Reason::Unavailable(Errno::EINVAL))?;
    let own = if own.is_wildcard() { Address::any(family, own.port) } else { own.unmapped() };
    // Both have the port for a moment, or for longer if other processes have copies of the kernel's
    // socket. Datagrams go to the socket that was bound last.
    let reused = socket_option::number(fd, SO_REUSEADDR) != 0;
    Setting::reuse_address(true).apply_to_kernel(fd);
    let adopted = adopt(socket, &own, family, Port::Shared, place);
    if adopted.is_err() {
        Setting::reuse_address(reused).apply_to_kernel(fd);
        return adopted;
    }
    release_port(socket).map_err(Reason::Unavailable)
}

/// Puts a new kernel socket under the program's numbers, so that only the rsocket has the port.
fn release_port(socket: &Socket) -> base::errno::Result<()> {
    let kind = socket.kind | if socket.is_non_blocking() { libc::SOCK_NONBLOCK } else { 0 };
    let state = socket.state.lock();
    // SAFETY: no pointers; the new descriptor is closed here.
    unsafe {
        let fresh = original::socket(socket.family, kind | libc::SOCK_CLOEXEC, 0);
        if fresh < 0 {
            return Err(Errno::last());
        }
        for setting in &state.settings {
            setting.apply_to_kernel(fresh);
        }
        for fd in &state.fds {
            let flags = original::fcntl(*fd, F_GETFD, 0);
            original::dup3(fresh, *fd, if flags & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 });
        }
        original::close(fresh);
    }
    Ok(())
}
