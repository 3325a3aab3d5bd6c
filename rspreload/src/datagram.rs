//! When a datagram socket becomes an rsocket: as late as possible, because both ends must agree. The
//! first bind to an address of a device or the first peer behind one decides; what else there is (DNS,
//! the loop-back, multicast) stays UDP.
//!
//! # Safety
//! System calls on the program's descriptors, without pointers of the program's.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::carrier;
use crate::connect;
use crate::error::{Errno, Result, quietly};
use crate::fork;
use crate::lock::Lock;
use crate::options::Setting;
use crate::process;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, Socket, open_rsocket};
use crate::stats::Way;
use libc::{F_GETFD, FD_CLOEXEC, O_CLOEXEC, SO_DOMAIN, SOL_SOCKET, c_int, socklen_t};

/// Services whose peers are never rsockets: DNS, DHCP, TFTP, NTP, NetBIOS, SNMP, QUIC, IKE, syslog, SSDP,
/// multicast DNS.
const SERVICES: [u16; 16] =
    [53, 67, 68, 69, 123, 137, 138, 161, 162, 443, 500, 514, 546, 547, 1900, 5353];

fn is_service(port: u16) -> bool {
    SERVICES.contains(&port)
}

pub(crate) fn bind(socket: &Socket, own: Option<Address>, kernel: impl Fn() -> c_int) -> c_int {
    let Some(own) = own else { return kernel() };
    // Any port of any address says nothing yet.
    let is_open = own.is_wildcard() && own.port == 0;
    let by_rdma = !is_open && !is_service(own.port) && quietly(|| carrier::is_local(&own));
    if by_rdma && quietly(|| adopt(socket, &own, own.family(), true, false)).is_ok() {
        return 0;
    }
    let answer = kernel();
    if answer == 0 {
        socket.state.lock().bound = true;
        if !is_open {
            quietly(|| socket.become_plain());
        }
    }
    answer
}

/// Makes the rsocket, bound to the address if `is_bound`; `shares` it with a kernel socket.
fn adopt(
    socket: &Socket,
    own: &Address,
    family: c_int,
    is_bound: bool,
    shares: bool,
) -> Result<()> {
    let rsocket = open_rsocket(socket, family)?;
    if is_bound {
        if shares {
            Setting::reuse_address(true).apply(rsocket);
        }
        if let Err(error) = connect::bind(rsocket, own) {
            rsockets::close(rsocket);
            return Err(error);
        }
        // SAFETY: places that `asked` gives.
        let name =
            Address::asked(|raw, room| unsafe { rsockets::rgetsockname(rsocket, raw, room) });
        socket.state.lock().own = name;
    }
    socket.set_rsocket(rsocket);
    socket.become_rdma();
    Ok(())
}

pub(crate) fn connect(
    socket: &Socket,
    fd: c_int,
    peer: &Address,
    kernel: impl Fn() -> c_int,
) -> c_int {
    if socket.mode() == Mode::Open {
        decide(socket, fd, peer);
    }
    let (Mode::Rdma, Some(rsocket)) = (socket.mode(), socket.rsocket()) else { return kernel() };
    if peer.port == 0 && peer.is_wildcard() {
        return kernel();
    }
    let answer = connect_rsocket(socket, rsocket, peer);
    if answer == 0 {
        socket.state.lock().destination = Some(*peer);
    }
    answer
}

fn connect_rsocket(socket: &Socket, rsocket: c_int, peer: &Address) -> c_int {
    // SAFETY: an address in C's form.
    peer_of(socket, peer)
        .with_raw(|raw, length| unsafe { rsockets::rconnect(rsocket, raw, length) })
}

/// A fork's child gets an rsocket of its own in place of its parent's. On a port that the program has chosen
/// that is for readers alone while the parent lives: datagrams go to the one that was bound last.
pub(crate) fn inherit(socket: &Socket, way: Way) {
    static INHERITING: Lock<()> = Lock::new(());
    quietly(|| {
        let _one = INHERITING.lock();
        if !fork::is_foreign(socket) {
            return;
        }
        let (own, peer, ipv4, waits) = {
            let mut state = socket.state.lock();
            let waits = !std::mem::replace(&mut state.never, true);
            (state.own, state.destination, state.carried_ipv4, waits)
        };
        if own.is_some() && !process::has_lost_parent(waits) && way == Way::Out {
            return;
        }
        let family =
            if ipv4 { libc::AF_INET } else { own.map_or(socket.family, |own| own.family()) };
        let bound = own.unwrap_or_else(|| Address::any(family, 0));
        // Our copy of librdmacm's descriptor, which is the UDP socket.
        let copy = socket.any_rsocket();
        Setting::reuse_address(true).apply_to_kernel(copy);
        if adopt(socket, &bound, family, own.is_some(), true).is_err() {
            return;
        }
        fork::close(copy);
        if let (Some(peer), Some(rsocket)) = (peer, socket.rsocket()) {
            connect_rsocket(socket, rsocket, &peer);
        }
    });
}

/// A socket that is bound to any address waits for its first datagram: whoever sends it is an rsocket,
/// or there is no device.
pub(crate) fn expect(socket: &Socket, fd: c_int) {
    if socket.is_stream() || socket.mode() != Mode::Open || !socket.state.lock().bound {
        return;
    }
    let any = Address::any(socket.family, 0);
    quietly(|| {
        if !carrier::is_local(&any) || take_over(socket, fd, &any).is_err() {
            socket.become_plain();
        }
    });
}

/// The peer's address as the rsocket wants it.
pub(crate) fn peer_of(socket: &Socket, peer: &Address) -> Address {
    if socket.state.lock().carried_ipv4 { peer.unmapped() } else { *peer }
}

/// The first peer decides.
pub(crate) fn decide(socket: &Socket, fd: c_int, peer: &Address) {
    quietly(|| {
        let by_rdma = !is_service(peer.port) && carrier::reaches(peer);
        if !by_rdma || take_over(socket, fd, peer).is_err() {
            socket.become_plain();
        }
    });
}

/// An rsocket in place of a kernel socket that may have been bound already.
fn take_over(socket: &Socket, fd: c_int, peer: &Address) -> Result<()> {
    let family = peer.unmapped().family();
    let bound = socket.state.lock().bound;
    socket.state.lock().carried_ipv4 = family == libc::AF_INET;
    if !bound {
        return adopt(socket, &Address::any(family, 0), family, false, false);
    }
    // SAFETY: places that `asked` gives.
    let own = Address::asked(|raw, length| unsafe { real::getsockname(fd, raw, length) });
    let own = own.ok_or(Errno::EINVAL)?;
    let own = if own.is_wildcard() { Address::any(family, own.port) } else { own.unmapped() };
    // Both have the port for a moment, or for longer where other processes have the kernel's socket;
    // datagrams go to the one that was bound last.
    let before = reuses_address(fd);
    Setting::reuse_address(true).apply_to_kernel(fd);
    let adopted = adopt(socket, &own, family, true, true);
    if adopted.is_err() {
        Setting::reuse_address(before).apply_to_kernel(fd);
        return adopted;
    }
    vacate(socket)
}

fn reuses_address(fd: c_int) -> bool {
    number_of(fd, libc::SO_REUSEADDR) != 0
}

/// Puts a fresh kernel socket under the program's numbers, so that the port is the rsocket's alone.
fn vacate(socket: &Socket) -> Result<()> {
    let kind = socket.kind | if socket.is_non_blocking() { libc::SOCK_NONBLOCK } else { 0 };
    let state = socket.state.lock();
    // SAFETY: no pointers; the fresh descriptor is closed here.
    unsafe {
        let fresh = real::socket(socket.family, kind | libc::SOCK_CLOEXEC, 0);
        if fresh < 0 {
            return Err(Errno::last());
        }
        for setting in &state.settings {
            setting.apply_to_kernel(fresh);
        }
        for fd in &state.fds {
            let flags = real::fcntl(*fd, F_GETFD, 0);
            real::dup3(fresh, *fd, if flags & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 });
        }
        real::close(fresh);
    }
    Ok(())
}

pub(crate) fn family_of(fd: c_int) -> c_int {
    number_of(fd, SO_DOMAIN)
}

/// A socket option of the kernel's that is a number.
pub(crate) fn number_of(fd: c_int, name: c_int) -> c_int {
    let mut number: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    // SAFETY: room of that length.
    unsafe { real::getsockopt(fd, SOL_SOCKET, name, (&raw mut number).cast(), &raw mut length) };
    number
}
