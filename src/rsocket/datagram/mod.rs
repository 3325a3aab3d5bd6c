//! Datagram rsockets.
//!
//! Underneath is an ordinary UDP socket, whose descriptor is the program's, and a UD queue pair for
//! each local address in use (`port`). The first datagrams to a peer go by UDP and tell our queue pair;
//! the peer's answer tells its own; `lookup` finds the way, and from then on they go over the device.
//! Nothing waits for that. What is too long for the device's packets goes by UDP, too. The service
//! thread reads the UDP socket.

mod lookup;
pub(crate) mod packet;
mod peers;
mod port;
mod sockopt;
mod transfer;
mod udp;

use super::config;
use super::epoll::Epoll;
use super::service;
use super::socket::{self, Socket};
use super::wait::{Limit, Waiter};
use super::waiters::Waiters;
use super::waiting::{NOBODY, Source};
use crate::counted::Counted;
use crate::device;
use crate::error::{Errno, Result};
use crate::fork::Owner;
use crate::lock::Mutex;
use crate::types::SocketAddress;
use crate::verbs::AddressHandle;
use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDHUP, POLLRDNORM, POLLWRNORM, c_int, c_short,
};
pub(crate) use lookup::Lookup;
use peers::{Key, Peers};
use port::{Arrival, Port};
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use udp::UdpSocket;

/// How long a close waits for datagrams that are on their way.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);
/// Local addresses of one socket that get a queue pair.
const MOST_PORTS: usize = 16;

/// A datagram rsocket.
pub(crate) struct Datagram {
    owner: Owner,
    public: AtomicBool,
    udp: UdpSocket,
    inner: Mutex<Inner>,
}

/// A datagram that waits to be read.
enum Waiting {
    /// In a slot of the port of that place, behind a header of `skip` bytes.
    InSlot { port: usize, arrival: Arrival, skip: usize, from: SocketAddress },
    /// Came by UDP.
    Packet { bytes: Vec<u8>, from: SocketAddress },
}

struct Inner {
    non_blocking: bool,
    closed: bool,
    read_shut: bool,
    write_shut: bool,
    error: Option<Errno>,
    receive_timeout: Option<Duration>,
    send_timeout: Option<Duration>,
    /// Where datagrams without an address go.
    connected: Option<SocketAddress>,
    slots: (u32, u32),
    /// As the preload library wants it: peers may be no rsockets, and datagrams as long as UDP's.
    as_udp: bool,
    peers: Peers,
    ports: Vec<Port>,
    /// Addresses that belong to no device.
    without_port: Vec<SocketAddress>,
    group: Option<Epoll>,
    arrived: VecDeque<Waiting>,
    /// Bytes of packets in `arrived`.
    held: usize,
    most_held: usize,
    waiters: Waiters,
}

impl Inner {
    fn progress(&mut self) {
        let Inner { ports, arrived, connected, .. } = self;
        for (place, port) in ports.iter_mut().enumerate() {
            port.progress(|arrival, start| {
                let header = packet::decode_slot(&start[..arrival.length.min(start.len())]);
                let wanted = header.filter(|(from, _)| {
                    connected.as_ref().is_none_or(|connected| connected.is_same(from))
                });
                let wanted = wanted.filter(|_| arrived.try_reserve(1).is_ok());
                if let Some((from, skip)) = wanted {
                    arrived.push_back(Waiting::InSlot { port: place, arrival, skip, from });
                }
                wanted.is_some()
            });
        }
    }

    fn wake(&self) {
        self.waiters.wake();
    }

    fn readiness(&self) -> c_short {
        let mut events = 0;
        if !self.arrived.is_empty() || self.read_shut {
            events |= POLLIN | POLLRDNORM;
        }
        // Without a free slot there is still UDP.
        if self.ports.iter().all(Port::has_free_slot) || self.write_shut {
            events |= POLLOUT | POLLWRNORM;
        }
        if self.read_shut {
            events |= POLLRDHUP;
        }
        if self.read_shut && self.write_shut {
            events |= POLLHUP;
        }
        if self.error.is_some() {
            events |= POLLERR;
        }
        events
    }
}

impl Datagram {
    /// A new socket, entered in the table; ENODEV where there is no device at all.
    pub(crate) fn open(
        family: c_int,
        protocol: c_int,
        non_blocking: bool,
        close_on_exec: bool,
    ) -> Result<RawFd> {
        device::require_any()?;
        let udp = UdpSocket::open(family, protocol)?;
        let fd = udp.fd();
        super::descriptor::set_close_on_exec(fd, close_on_exec)?;
        let config = config::get();
        let slots = |buffer: u32, queue: u32| (buffer / packet::SLOT as u32).clamp(4, queue.max(4));
        let socket = Counted::try_new(Datagram {
            owner: Owner::current(),
            public: AtomicBool::new(false),
            udp,
            inner: Mutex::new(Inner {
                non_blocking,
                closed: false,
                read_shut: false,
                write_shut: false,
                error: None,
                receive_timeout: None,
                send_timeout: None,
                connected: None,
                slots: (
                    slots(config.send_buffer, config.send_queue),
                    slots(config.receive_buffer, config.receive_queue),
                ),
                as_udp: false,
                peers: Peers::default(),
                ports: Vec::new(),
                without_port: Vec::new(),
                group: None,
                arrived: VecDeque::new(),
                held: 0,
                most_held: config.receive_buffer as usize,
                waiters: Waiters::default(),
            }),
        })?;
        let service = service::get()?;
        socket::enter(fd, Socket::Datagram(Counted::clone(&socket)))?;
        if let Err(error) = service.watch(fd) {
            drop(socket::leave(fd));
            return Err(error);
        }
        socket.publish(true);
        Ok(fd)
    }

    /// Says whether the program knows the descriptor; whether it did before.
    pub(super) fn publish(&self, on: bool) -> bool {
        socket::publish(&self.public, on)
    }

    pub(super) fn is_public(&self) -> bool {
        self.public.load(Ordering::Acquire)
    }

    pub(super) fn fd(&self) -> RawFd {
        self.udp.fd()
    }

    pub(super) fn is_non_blocking(&self) -> bool {
        self.inner.lock().non_blocking
    }

    pub(super) fn set_non_blocking(&self, on: bool) {
        self.inner.lock().non_blocking = on;
    }

    pub(super) fn bind(&self, address: &SocketAddress) -> Result<()> {
        self.owner.check()?;
        self.udp.bind(address)?;
        if !address.is_wildcard() {
            // So that the first datagram does not wait for it.
            self.open_port(&self.udp.local_name()?);
        }
        Ok(())
    }

    pub(super) fn connect(&self, address: &SocketAddress) -> Result<()> {
        self.owner.check()?;
        self.udp.connect(address)?;
        self.inner.lock().connected = Some(*address);
        // What fails here is tried again with the first datagram, which tells the error.
        let _ = self.source_for(address);
        Ok(())
    }

    /// connect(2) to AF_UNSPEC.
    pub(super) fn disconnect(&self) -> Result<()> {
        self.owner.check()?;
        self.udp.disconnect()?;
        let mut inner = self.inner.lock();
        inner.connected = None;
        // The kernel may give it another port.
        inner.peers.forget_sources();
        Ok(())
    }

    pub(super) fn local_name(&self) -> Result<SocketAddress> {
        self.udp.local_name()
    }

    pub(super) fn peer_name(&self) -> Result<SocketAddress> {
        self.udp.peer_name()
    }

    pub(super) fn shutdown(&self, how: c_int) -> Result<()> {
        self.owner.check()?;
        self.udp.shutdown(how)?;
        let mut inner = self.inner.lock();
        inner.read_shut |= how != libc::SHUT_WR;
        inner.write_shut |= how != libc::SHUT_RD;
        inner.wake();
        Ok(())
    }

    pub(super) fn readiness(&self) -> c_short {
        if self.owner.check().is_err() {
            return POLLERR;
        }
        self.inner.lock().look()
    }

    /// Ends the calls of others at once, and waits for what was sent; what is left of the socket goes
    /// with its last user.
    pub(super) fn close(&self) {
        if !self.owner.is_ours() {
            return;
        }
        {
            let mut inner = self.inner.lock();
            inner.closed = true;
            inner.wake();
        }
        let deadline = Limit::from(Some(CLOSE_LIMIT)).begin();
        // Whatever ends the wait, there is nothing more to do about it.
        let _ = super::waiting::sleep_until(self, deadline, || {
            let mut inner = self.inner.lock();
            inner.progress();
            inner.ports.iter().all(Port::is_idle).then_some(Ok(()))
        });
        let waiters = std::mem::take(&mut self.inner.lock().waiters);
        waiters.close();
    }

    /// A search has ended.
    fn found(&self, peer: &Key, handle: Option<Counted<AddressHandle>>) {
        self.inner.lock().peers.found(peer, handle, Instant::now());
    }
}

impl Source for Datagram {
    fn add_waiter(&self, waiter: Waiter) -> Result<()> {
        self.owner.check()?;
        self.inner.lock().waiters.add(waiter)
    }

    fn enlist(&self, waiter: Waiter) -> Result<(RawFd, c_short)> {
        self.owner.check()?;
        let mut inner = self.inner.lock();
        let fd = inner.arm(NOBODY)?;
        inner.waiters.add(waiter)?;
        Ok((fd, inner.look()))
    }

    fn remove_waiter(&self, waiter: &Waiter) {
        self.inner.lock().waiters.remove(waiter);
    }

    fn arm(&self, own: *const ()) -> Result<RawFd> {
        self.inner.lock().arm(own)
    }

    fn take_event(&self, own: *const ()) {
        self.inner.lock().take_events(Port::take_event, own);
    }

    fn take_due(&self, own: *const ()) -> bool {
        self.inner.lock().take_events(Port::take_due, own)
    }

    fn expect_event(&self) {
        for port in &mut self.inner.lock().ports {
            port.expect_event();
        }
    }
}

impl Inner {
    fn look(&mut self) -> c_short {
        if self.closed {
            return POLLNVAL;
        }
        self.progress();
        self.readiness()
    }

    fn arm(&mut self, own: *const ()) -> Result<RawFd> {
        self.take_events(Port::take_due, own);
        for port in &mut self.ports {
            port.arm(self.closed)?;
        }
        match (&self.group, &self.ports[..]) {
            (Some(group), _) => Ok(group.fd()),
            (None, [only]) => Ok(only.event_fd()),
            (None, _) => Ok(-1),
        }
    }

    fn take_events(&mut self, event: impl Fn(&mut Port) -> bool, own: *const ()) -> bool {
        let taken = self.ports.iter_mut().fold(false, |taken, port| event(port) | taken);
        if taken {
            self.waiters.wake_others(own);
        }
        taken
    }
}

impl Drop for Datagram {
    fn drop(&mut self) {
        let inner = self.inner.get_mut();
        if !self.owner.is_ours() {
            // The queue pairs are the parent's.
            std::mem::forget(std::mem::take(&mut inner.peers));
            std::mem::forget(std::mem::take(&mut inner.ports));
            return;
        }
        service::forget(self.udp.fd());
        // Handles before the domain that they are in.
        inner.arrived.clear();
        inner.peers.clear();
        inner.ports.clear();
    }
}
