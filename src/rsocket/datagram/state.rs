// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A datagram rsocket: its state, and what poll reports of it.

use super::ancillary::Wanted;
use super::packet;
use super::peers::{self, PeerKey, Peers};
use super::port::{Port, ReceivedSlot};
use super::udp::{self, UdpSocket};
use crate::lane::{Lane, Traffic};
use crate::rsocket::config;
use crate::rsocket::epoll::Epoll;
use crate::rsocket::service;
use crate::rsocket::wait::source::{Edges, Identity, Source, Waiter, Waiters};
use crate::types::SocketAddress;
use crate::verbs::{AddressHandle, ProtectionDomain};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use base::arc::Arc;
use base::counters::{count, layout};
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::lock::Mutex;
use base::memory::try_push;
use base::owner::Owner;
use base::time::Instant;
use core::time::Duration;
use libc::{
    AF_INET6, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDHUP, POLLRDNORM, POLLWRBAND,
    POLLWRNORM, c_int, c_short,
};

/// Local addresses of one socket that get a queue pair.
const MOST_PORTS: usize = 16;

/// A datagram rsocket.
pub(crate) struct Datagram {
    pub(super) owner: Owner,
    pub(super) udp: UdpSocket,
    /// Its life in the trace.
    pub(super) lane: Lane,
    pub(super) state: Mutex<DatagramState>,
}

/// A datagram that waits to be read.
pub(super) enum Queued {
    /// In a slot of the port of that index, behind a header of `skip` bytes.
    InSlot { port: usize, received: ReceivedSlot, skip: usize, from: SocketAddress },
    /// Came by UDP.
    Packet { bytes: Vec<u8>, from: SocketAddress, control: Vec<u8> },
}

pub(super) struct DatagramState {
    /// Of the addresses that the program gives and gets.
    family: c_int,
    pub(super) nonblock: bool,
    pub(super) closed: bool,
    pub(super) read_shut: bool,
    pub(super) write_shut: bool,
    pub(super) error: Option<Errno>,
    /// The program has sent something by UDP, so that an ICMP error may be about that. What the
    /// socket itself sends to peers is not the program's to hear of.
    pub(super) has_sent: bool,
    pub(super) receive_timeout: Option<Duration>,
    pub(super) send_timeout: Option<Duration>,
    /// Where datagrams without an address go.
    pub(super) connected: Option<SocketAddress>,
    /// Slots of a new queue pair: to send from, to receive into.
    pub(super) slots: (u32, u32),
    /// Ancillary data that the program asked for.
    pub(super) wanted: Wanted,
    /// As the preload library wants it: peers may be no rsockets, and datagrams as long as UDP's.
    pub(super) as_udp: bool,
    pub(super) peers: Peers,
    pub(super) ports: Vec<Port>,
    /// Addresses that belong to no device.
    pub(super) without_port: Vec<SocketAddress>,
    /// Addresses whose device has gone.
    pub(super) lost: Vec<SocketAddress>,
    /// Readable when one of several ports has an event.
    pub(super) group: Option<Epoll>,
    pub(super) queue: VecDeque<Queued>,
    /// Bytes of packets in the queue.
    pub(super) held: usize,
    pub(super) most_held: usize,
    pub(super) waiters: Waiters,
    /// Counted where there is a trace.
    pub(super) traffic: Traffic,
    pub(super) edges: Edges,
}

/// A datagram for the program, in the counters.
pub(super) fn came_in(bytes: usize) {
    count(|words| {
        words.add(layout::MESSAGES_IN, 1);
        words.add(layout::BYTES_IN, bytes as u64);
    });
}

impl DatagramState {
    pub(super) fn new(family: c_int, nonblock: bool) -> DatagramState {
        let config = config::get();
        let slots = |buffer: u32, queue: u32| (buffer / packet::SLOT as u32).clamp(4, queue.max(4));
        DatagramState {
            family,
            nonblock,
            closed: false,
            read_shut: false,
            write_shut: false,
            error: None,
            has_sent: false,
            receive_timeout: None,
            send_timeout: None,
            connected: None,
            slots: (
                slots(config.send_buffer, config.send_queue),
                slots(config.receive_buffer, config.receive_queue),
            ),
            wanted: Wanted::default(),
            as_udp: false,
            peers: Peers::default(),
            ports: Vec::new(),
            without_port: Vec::new(),
            lost: Vec::new(),
            group: None,
            queue: VecDeque::new(),
            held: 0,
            most_held: config.receive_buffer as usize,
            waiters: Waiters::default(),
            traffic: Traffic::default(),
            edges: Edges::default(),
        }
    }

    pub(super) fn progress(&mut self) {
        let DatagramState { family, ports, queue, connected, edges, .. } = self;
        for (index, port) in ports.iter_mut().enumerate() {
            port.progress(|received, start| {
                let header = packet::decode_slot(&start[..received.length.min(start.len())]);
                // An IPv6 socket names IPv4 peers so.
                let header = match *family {
                    AF_INET6 => header.map(|(from, skip)| (from.mapped(), skip)),
                    _ => header,
                };
                let wanted = header.filter(|(from, _)| {
                    connected.as_ref().is_none_or(|connected| connected.is_same(from))
                });
                let wanted = wanted.filter(|_| queue.try_reserve(1).is_ok());
                if let Some((from, skip)) = wanted {
                    came_in(received.length - skip);
                    queue.push_back(Queued::InSlot { port: index, received, skip, from });
                    edges.note_arrived();
                }
                wanted.is_some()
            });
        }
    }

    pub(super) fn wake(&self) {
        self.waiters.wake();
    }

    fn add_port(&mut self, port: Port) {
        if self.ports.try_reserve(1).is_ok() {
            self.ports.push(port);
            self.make_group();
        }
    }

    pub(super) fn make_group(&mut self) {
        self.group = if self.ports.len() > 1 {
            Epoll::group(self.ports.iter().map(Port::event_fd)).ok()
        } else {
            None
        };
    }

    /// Number of our queue pair at an address, zero for none.
    pub(super) fn number_at(&self, local: &SocketAddress) -> u32 {
        self.ports.iter().find(|port| port.local().is_same_host(local)).map_or(0, Port::number)
    }

    pub(super) fn domain_at(&self, local: &SocketAddress) -> Option<ProtectionDomain> {
        let port = self.ports.iter().find(|port| port.local().is_same_host(local))?;
        port.domain().ok()
    }

    fn poll(&mut self) -> c_short {
        if self.closed {
            return POLLNVAL;
        }
        self.progress();
        let events = self.readiness();
        self.edges.note_idle(events & POLLIN == 0, events & POLLOUT == 0);
        events
    }

    fn readiness(&self) -> c_short {
        let mut events = 0;
        if !self.queue.is_empty() || self.read_shut {
            events |= POLLIN | POLLRDNORM;
        }
        // Without a free slot there is still UDP.
        if self.ports.iter().all(Port::has_free_slot) || self.write_shut {
            events |= POLLOUT | POLLWRNORM | POLLWRBAND;
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

    fn arm(&mut self, own: Identity) -> Result<RawFd> {
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

    fn take_events(&mut self, event: impl Fn(&mut Port) -> bool, own: Identity) -> bool {
        let taken = self.ports.iter_mut().fold(false, |taken, port| event(port) | taken);
        if taken {
            self.waiters.wake_others(own);
        }
        taken
    }
}

impl Datagram {
    pub(crate) fn fd(&self) -> RawFd {
        self.udp.fd()
    }

    pub(crate) fn is_nonblock(&self) -> bool {
        self.state.lock().nonblock
    }

    pub(crate) fn set_nonblock(&self, on: bool) {
        self.state.lock().nonblock = on;
    }

    pub(crate) fn local_name(&self) -> Result<SocketAddress> {
        self.udp.local_name()
    }

    pub(crate) fn peer_name(&self) -> Result<SocketAddress> {
        self.udp.peer_name()
    }

    pub(crate) fn readiness(&self) -> c_short {
        if self.owner.check().is_err() { POLLERR } else { self.state.lock().poll() }
    }

    pub(crate) fn look(&self) -> (c_short, Edges) {
        if self.owner.check().is_err() {
            return (POLLERR, Edges::default());
        }
        let mut state = self.state.lock();
        let events = state.poll();
        (events, state.edges)
    }

    /// A call has moved so many bytes. Called where there is a trace.
    #[cold]
    pub(crate) fn count(&self, is_send: bool, bytes: usize) {
        self.state.lock().traffic.count(is_send, bytes);
    }

    /// A search has ended, with a handle in that domain. Its device may be gone by now, and with it
    /// the queue pair.
    pub(super) fn found(&self, peer: &PeerKey, handle: Option<Arc<AddressHandle>>, domain: usize) {
        let mut state = self.state.lock();
        let mut domains = state.ports.iter().filter_map(|port| port.domain().ok());
        let is_there = domains.any(|of_port| of_port.as_ptr().addr() == domain);
        state.peers.found(peer, handle.filter(|_| is_there), Instant::now());
    }

    /// Makes the queue pair of a local address; without a device UDP has to do. Whether there is one.
    pub(super) fn open_port(&self, local: &SocketAddress) -> bool {
        let slots = {
            let state = self.state.lock();
            if state.ports.iter().any(|port| port.local().is_same_host(local)) {
                return true;
            }
            let is_known = state.without_port.iter().any(|other| other.is_same_host(local));
            if is_known || state.ports.len() + state.without_port.len() >= MOST_PORTS {
                return false;
            }
            state.slots
        };
        let opened = Port::open(local, slots, self.fd());
        let mut state = self.state.lock();
        match opened {
            Ok(port) if !state.ports.iter().any(|other| other.local().is_same_host(local)) => {
                state.add_port(port);
                // Whoever sleeps has to watch it, too.
                state.wake();
            }
            Ok(_) => {}
            Err(_) => {
                // Not remembered without memory: tried again with the next datagram.
                let _ = try_push(&mut state.without_port, *local);
                return false;
            }
        }
        true
    }

    /// The local address that packets to a peer leave from. Its port is zero as long as the socket
    /// is not bound.
    pub(super) fn own_address_for(&self, to: &SocketAddress) -> Result<SocketAddress> {
        let own = self.udp.local_name()?;
        if own.is_wildcard() {
            return Ok(udp::local_address_for(to)?.with_port(own.port()));
        }
        Ok(own)
    }

    /// The local address for a peer, and the queue pair there, made at first use. For devices the
    /// IPv4 addresses of an IPv6 socket are IPv4 addresses.
    pub(super) fn local_address_for(&self, to: &SocketAddress) -> Result<SocketAddress> {
        let now = Instant::now();
        let key = peers::key(to);
        let known = self.state.lock().peers.entry(key, now).and_then(|peer| peer.local);
        if let Some(local) = known {
            return Ok(local);
        }
        let mut local = self.own_address_for(to)?;
        if local.port() == 0 {
            // The first datagram of an unbound socket binds it.
            self.udp.bind(&SocketAddress::any(local.family()))?;
            local = local.with_port(self.udp.local_name()?.port());
        }
        let local = local.unmapped();
        self.open_port(&local);
        if let Some(peer) = self.state.lock().peers.entry(key, now) {
            peer.local = Some(local);
        }
        Ok(local)
    }
}

impl Source for Datagram {
    fn add_waiter(&self, waiter: Waiter) -> Result<()> {
        self.owner.check()?;
        self.state.lock().waiters.add(waiter)
    }

    fn enlist(&self, waiter: Waiter) -> Result<(RawFd, c_short)> {
        self.owner.check()?;
        let mut state = self.state.lock();
        let fd = state.arm(Identity::NOBODY)?;
        state.waiters.add(waiter)?;
        Ok((fd, state.poll()))
    }

    fn remove_waiter(&self, waiter: Identity) {
        self.state.lock().waiters.remove(waiter);
    }

    fn arm(&self, own: Identity) -> Result<RawFd> {
        self.state.lock().arm(own)
    }

    fn take_event(&self, own: Identity) {
        self.state.lock().take_events(Port::take_event, own);
    }

    fn take_due(&self, own: Identity) -> bool {
        self.state.lock().take_events(Port::take_due, own)
    }

    fn expect_event(&self) {
        for port in &mut self.state.lock().ports {
            port.expect_event();
        }
    }

    fn note_wait(&self, since: Instant) {
        let moved = self.state.lock().traffic.count_wait(since);
        if moved.is_some() {
            self.lane.waited(since, "wait", moved);
        }
    }
}

impl Drop for Datagram {
    fn drop(&mut self) {
        // As of a stream: no timer, no watch for the descriptor's next owner.
        service::forget(self.udp.fd(), self);
        self.lane.end();
        let is_ours = self.owner.is_ours();
        let state = self.state.get_mut();
        if !is_ours {
            // The queue pairs are the parent's.
            core::mem::forget(core::mem::take(&mut state.peers));
            core::mem::forget(core::mem::take(&mut state.ports));
            return;
        }
        // Handles before the domain that they are in.
        state.queue.clear();
        state.peers.clear();
        state.ports.clear();
    }
}
