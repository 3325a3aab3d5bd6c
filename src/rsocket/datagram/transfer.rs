//! Moving datagrams.
//!
//! # Safety
//! Copies between the caller's buffers and the slots, which never overlap: slots are mapped by us.
#![allow(unsafe_code)]

use super::lookup::Lookup;
use super::packet::{self, Operation, SLOT};
use super::peers::key;
use super::port::Port;
use super::udp;
use super::{Datagram, Inner, MOST_PORTS, Waiting};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::memory::try_push;
use crate::rsocket::buffers::Buffers;
use crate::rsocket::epoll::Epoll;
use crate::rsocket::socket::Received;
use crate::rsocket::waiting::{self, Patience};
use crate::types::SocketAddress;
use libc::{MSG_DONTWAIT, MSG_OOB, MSG_PEEK, MSG_TRUNC, c_int};
use std::time::{Duration, Instant};

/// Packets that one look at the UDP socket takes.
const PACKETS: usize = 64;
/// A header, a whole slot, and one byte that shows what is too long.
const ROOM: usize = SLOT + 28 + 1;
/// A UDP packet's data, less our header.
const LONGEST: usize = 65507 - 28;
/// Any packet.
const PACKET: usize = 65536;

impl Datagram {
    fn patience(&self, flags: c_int, limit: fn(&Inner) -> Option<Duration>) -> Patience {
        let inner = self.inner.lock();
        Patience {
            non_blocking: inner.non_blocking || flags & MSG_DONTWAIT != 0,
            limit: limit(&inner),
        }
    }

    pub(crate) fn receive(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<Received> {
        self.owner.check()?;
        if flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let patience = self.patience(flags, |inner| inner.receive_timeout);
        waiting::wait_for(self, patience, || {
            let mut inner = self.inner.lock();
            if inner.closed {
                return Some(Err(Errno::EBADF));
            }
            if let Some(error) = inner.error.take() {
                return Some(Err(error));
            }
            inner.progress();
            match inner.take(buffers, flags) {
                Some(received) => Some(Ok(received)),
                None if inner.read_shut => Some(Ok(Received::of_stream(0))),
                None => None,
            }
        })
    }

    pub(crate) fn send(
        &self,
        buffers: &mut Buffers<'_>,
        flags: c_int,
        to: Option<&SocketAddress>,
    ) -> Result<()> {
        self.owner.check()?;
        if flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let length = buffers.left();
        let to = {
            let inner = self.inner.lock();
            if inner.write_shut {
                return Err(Errno::EPIPE);
            }
            to.copied().or(inner.connected).ok_or(Errno::EDESTADDRREQ)?
        };
        let local = self.source_for(&to)?;
        let header = packet::encode_slot(&local);
        let whole = length.checked_add(header.bytes().len()).ok_or(Errno::EMSGSIZE)?;
        if whole > SLOT && (length > LONGEST || !self.inner.lock().as_udp) {
            return Err(Errno::EMSGSIZE);
        }
        let patience = self.patience(flags, |inner| inner.send_timeout);
        let posted = waiting::wait_for(self, patience, || {
            let mut inner = self.inner.lock();
            if inner.closed {
                return Some(Err(Errno::EBADF));
            }
            inner.progress();
            let now = Instant::now();
            let place = inner.ports.iter().position(|port| port.local().is_same_host(&local));
            let Inner { peers, ports, .. } = &mut *inner;
            let way = peers.entry(key(&to), now).and_then(|peer| peer.way(now));
            let (Some(place), Some((handle, number))) = (place, way) else {
                return Some(Ok(false));
            };
            let port = &mut ports[place];
            if whole > port.longest() {
                return Some(Ok(false));
            }
            let posted = port.send(whole, &handle, number, |slot| {
                if !slot.is_null() {
                    let bytes = header.bytes();
                    // SAFETY: `whole` bytes of a slot: the header and then the data.
                    unsafe {
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), slot, bytes.len());
                        buffers.gather(slot.add(bytes.len()), length);
                    }
                }
            });
            match posted {
                Ok(()) => Some(Ok(true)),
                Err(Errno::EAGAIN) => None,
                Err(error) => Some(Err(error)),
            }
        })?;
        if !posted {
            self.send_by_udp(buffers, &local, &to)?;
        }
        Ok(())
    }

    fn send_by_udp(
        &self,
        buffers: &mut Buffers<'_>,
        local: &SocketAddress,
        to: &SocketAddress,
    ) -> Result<()> {
        let mut data = crate::memory::try_vec(buffers.left())?;
        let length = buffers.left();
        // SAFETY: room for that many bytes, which are all written.
        unsafe {
            buffers.gather(data.as_mut_ptr(), length);
            data.set_len(length);
        }
        let (number, is_plain) = {
            let mut inner = self.inner.lock();
            let peer = inner.peers.entry(key(to), Instant::now());
            let is_plain = peer.is_some_and(|peer| peer.is_plain);
            (inner.number_at(local), is_plain)
        };
        let header = packet::encode_udp(Operation::Data, number, to);
        let header = if is_plain { &[] } else { header.bytes() };
        match self.udp.send(header, &data, to) {
            // A full socket buffer drops, as the network would.
            Err(Errno::EAGAIN) => Ok(()),
            other => other,
        }
    }

    /// The local address for a peer, and the queue pair there, made at first use.
    pub(super) fn source_for(&self, to: &SocketAddress) -> Result<SocketAddress> {
        let now = Instant::now();
        let known = self.inner.lock().peers.entry(key(to), now).and_then(|peer| peer.local);
        if let Some(local) = known {
            return Ok(local);
        }
        let mut local = self.udp.local_name()?;
        let port = local.port();
        if local.is_wildcard() {
            local = udp::source_for(to)?.with_port(port);
        }
        if port == 0 {
            // The first datagram of an unbound socket binds it.
            self.udp.bind(&SocketAddress::any(local.family()))?;
            local = local.with_port(self.udp.local_name()?.port());
        }
        self.open_port(&local);
        if let Some(peer) = self.inner.lock().peers.entry(key(to), now) {
            peer.local = Some(local);
        }
        Ok(local)
    }

    /// Makes the queue pair of a local address; without a device UDP has to do.
    pub(super) fn open_port(&self, local: &SocketAddress) {
        let slots = {
            let inner = self.inner.lock();
            let is_known = inner.ports.iter().any(|port| port.local().is_same_host(local))
                || inner.without_port.iter().any(|other| other.is_same_host(local));
            if is_known || inner.ports.len() + inner.without_port.len() >= MOST_PORTS {
                return;
            }
            inner.slots
        };
        let opened = Port::open(local, slots);
        let mut inner = self.inner.lock();
        match opened {
            Ok(port) if !inner.ports.iter().any(|other| other.local().is_same_host(local)) => {
                inner.add_port(port);
                // Whoever sleeps has to watch it, too.
                inner.wake();
            }
            Ok(_) => {}
            // Not remembered without memory: asked again with the next datagram.
            Err(_) => drop(try_push(&mut inner.without_port, *local)),
        }
    }

    /// Reads the UDP socket; only the service thread calls this.
    pub(crate) fn take_packets(socket: &Counted<Datagram>) {
        let mut short = [0; ROOM];
        let mut long = Vec::new();
        let room = if socket.inner.lock().as_udp && long.try_reserve_exact(PACKET).is_ok() {
            long.resize(PACKET, 0);
            &mut long[..]
        } else {
            &mut short[..]
        };
        for _ in 0..PACKETS {
            match socket.udp.receive(room) {
                Ok((length, from)) => Datagram::packet(socket, &room[..length], &from),
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                Err(error) => {
                    // An ICMP answer to something that we sent.
                    let mut inner = socket.inner.lock();
                    if inner.connected.is_some() {
                        inner.error = Some(error);
                        inner.wake();
                    }
                    return;
                }
            }
        }
    }

    fn packet(socket: &Counted<Datagram>, packet: &[u8], from: &SocketAddress) {
        let key = key(from);
        let as_udp = socket.inner.lock().as_udp;
        let Some(header) = packet::decode_udp(packet) else {
            if as_udp {
                socket.inner.lock().plain_packet(packet, from);
            }
            return;
        };
        let data = &packet[header.length..];
        if data.len() > SLOT && !as_udp {
            return;
        }
        let is_data = header.operation == Operation::Data;
        // A control packet answers one of ours; a stranger's means nothing.
        if !is_data && !socket.inner.lock().peers.knows(&key) {
            return;
        }
        let Ok(local) = socket.source_for(from) else { return };
        let (search, domain, number) = {
            let mut inner = socket.inner.lock();
            let number = inner.number_at(&local);
            let domain = inner.domain_at(&local);
            // Without a queue pair of our own there is no way to search for.
            let told = if domain.is_some() { header.queue_pair } else { 0 };
            let search = inner.peers.told(key, told, Instant::now());
            if let Some(peer) = inner.peers.entry(key, Instant::now()) {
                peer.is_plain = false;
            }
            if is_data {
                inner.keep(data, from);
            }
            (search, domain, number)
        };
        if let (true, Some(domain)) = (search, domain) {
            if Lookup::start(socket, &local, from, domain).is_err() {
                socket.found(&key, None);
            }
        }
        if is_data && number != 0 {
            // Never longer than what it answers.
            let answer = packet::encode_udp(Operation::Control, number, from);
            let _ = socket.udp.send(answer.bytes(), &[], from);
        }
    }
}

impl Inner {
    fn add_port(&mut self, port: Port) {
        if self.ports.try_reserve(1).is_ok() {
            self.ports.push(port);
            self.group = if self.ports.len() > 1 {
                Epoll::group(self.ports.iter().map(Port::event_fd)).ok()
            } else {
                None
            };
        }
    }

    /// Number of our queue pair at an address, zero for none.
    fn number_at(&self, local: &SocketAddress) -> u32 {
        self.ports.iter().find(|port| port.local().is_same_host(local)).map_or(0, Port::number)
    }

    fn domain_at(&self, local: &SocketAddress) -> Option<crate::verbs::ProtectionDomain> {
        let port = self.ports.iter().find(|port| port.local().is_same_host(local))?;
        port.domain().ok()
    }

    /// A packet of a peer that is no rsocket; it is answered in kind.
    fn plain_packet(&mut self, packet: &[u8], from: &SocketAddress) {
        if let Some(peer) = self.peers.entry(key(from), Instant::now()) {
            peer.is_plain = true;
        }
        self.keep(packet, from);
    }

    /// Keeps a packet for the program, unless too much waits already.
    fn keep(&mut self, data: &[u8], from: &SocketAddress) {
        let wanted = self.connected.as_ref().is_none_or(|connected| connected.is_same(from));
        let cost = data.len() + size_of::<Waiting>();
        if !wanted || self.read_shut || self.held + cost > self.most_held {
            return;
        }
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(data.len()).is_err() || self.arrived.try_reserve(1).is_err() {
            return;
        }
        bytes.extend_from_slice(data);
        self.held += cost;
        self.arrived.push_back(Waiting::Packet { bytes, from: *from });
        self.wake();
    }

    /// The next datagram, copied as far as there is room for it.
    fn take(&mut self, buffers: &mut Buffers<'_>, flags: c_int) -> Option<Received> {
        let (start, length, from) = match self.arrived.front()? {
            Waiting::InSlot { port, arrival, skip, from } => {
                let start = self.ports.get(*port).map(|port| port.data(*arrival, *skip));
                (start.unwrap_or(std::ptr::null()), arrival.length - skip, *from)
            }
            Waiting::Packet { bytes, from } => (bytes.as_ptr(), bytes.len(), *from),
        };
        let copied = length.min(buffers.left());
        if !start.is_null() {
            // SAFETY: `length` bytes of the slot or packet, which is no memory of the caller's.
            unsafe { buffers.scatter(start, copied) };
        }
        if flags & MSG_PEEK == 0 {
            match self.arrived.pop_front() {
                Some(Waiting::InSlot { port, arrival, .. }) => {
                    if let Some(port) = self.ports.get(port) {
                        port.release(arrival.slot);
                    }
                }
                Some(Waiting::Packet { bytes, .. }) => {
                    self.held = self.held.saturating_sub(bytes.len() + size_of::<Waiting>());
                }
                None => {}
            }
        }
        let count = if flags & MSG_TRUNC != 0 { length } else { copied };
        Some(Received { count, from: Some(from), truncated: copied < length })
    }
}
