// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Packets of the UDP socket, which the service thread reads: datagrams, and numbers of queue
//! pairs.

use super::lookup::Lookup;
use super::packet::{self, PacketKind, SLOT, UdpHeader};
use super::peers::key;
use super::state::{Datagram, DatagramState, Queued, came_in};
use crate::rsocket::service::Handler;
use crate::types::SocketAddress;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::Errno;
use base::memory::try_copy;
use base::time::Instant;
use zerocopy::IntoBytes;

/// Packets that are read before other descriptors have their turn.
const PACKETS: usize = 64;
/// A header, a whole slot, and one byte that shows what is too long.
const SHORT: usize = SLOT + 28 + 1;
/// Words of control messages.
const CONTROL: usize = 32;
/// Any packet.
const LONG: usize = 65536;

impl Handler for Arc<Datagram> {
    fn on_readable(&self) {
        let mut short = [0; SHORT];
        let mut long = Vec::new();
        let room = if self.state.lock().as_udp && long.try_reserve_exact(LONG).is_ok() {
            long.resize(LONG, 0);
            &mut long[..]
        } else {
            &mut short[..]
        };
        for _ in 0..PACKETS {
            let mut control = [0_u64; CONTROL];
            let received = match self.state.lock().wanted.is_any() {
                true => self.udp.receive_with_control(room, &mut control),
                false => self.udp.receive(room).map(|(length, from)| (length, from, 0)),
            };
            match received {
                Ok((length, from, stored)) => {
                    let control = control.as_bytes().get(..stored).unwrap_or_default();
                    Datagram::packet(self, &room[..length], &from, control);
                }
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                Err(error) => {
                    // An ICMP answer to something that we sent.
                    let mut state = self.state.lock();
                    if let Some(peer) = state.connected {
                        state.peers.forget_route(&key(&peer));
                        if core::mem::take(&mut state.has_sent) {
                            state.error = Some(error);
                            state.wake();
                        }
                    }
                    return;
                }
            }
        }
    }

    fn on_timer(&self) {
        self.look_for_devices();
    }

    fn on_removal(&self, id: usize) {
        self.lose_port(id);
    }

    fn identity(&self) -> *const () {
        core::ptr::from_ref(&**self).cast()
    }
}

impl Datagram {
    fn packet(socket: &Arc<Datagram>, packet: &[u8], from: &SocketAddress, control: &[u8]) {
        let key = key(from);
        let as_udp = {
            let mut state = socket.state.lock();
            // Who answers is there.
            if state.connected.as_ref().is_some_and(|peer| peer.is_same(from)) {
                state.has_sent = false;
            }
            state.as_udp
        };
        let header = packet::decode_udp(packet)
            .filter(|header| !as_udp || socket.is_of_rsocket(header, packet, from));
        let Some(header) = header else {
            if as_udp {
                socket.state.lock().plain_packet(packet, from, control);
            }
            return;
        };
        let data = &packet[header.length..];
        if data.len() > SLOT && !as_udp {
            return;
        }
        let is_data = header.kind == PacketKind::Data;
        // A control packet answers one of ours; one of an unknown peer means nothing.
        if !is_data && socket.state.lock().peers.get(&key).is_none() {
            return;
        }
        let Ok(local) = socket.local_address_for(from) else { return };
        let (search, domain, number) = {
            let mut state = socket.state.lock();
            let number = state.number_at(&local);
            let domain = state.domain_at(&local);
            // Without a queue pair of our own there is no route to search for.
            let queue_pair = if domain.is_some() { header.queue_pair } else { 0 };
            let now = Instant::now();
            let search = if is_data {
                let search = state.peers.named_in_datagram(key, queue_pair, now);
                state.keep(data, from, control);
                search
            } else {
                state.peers.named_in_answer(key, queue_pair, now)
            };
            (search, domain, number)
        };
        if let (true, Some(domain)) = (search, domain) {
            if Lookup::start(socket, &local, from, domain).is_err() {
                socket.found(&key, None, 0);
            }
        }
        if is_data && number != 0 {
            // Never longer than what it answers.
            let answer = packet::encode_udp(PacketKind::Control, number, from);
            let _ = socket.udp.send(answer.bytes(), &[], from);
        }
    }
}

impl Datagram {
    /// Whether a packet with a header comes from an rsocket. Any program may send such bytes. Those
    /// of a peer that has sent none before are a header if they name one of the two addresses.
    fn is_of_rsocket(&self, header: &UdpHeader, packet: &[u8], from: &SocketAddress) -> bool {
        let is_data = header.kind == PacketKind::Data;
        if !is_data && packet.len() > header.length {
            return false;
        }
        {
            let state = self.state.lock();
            match state.peers.get(&key(from)) {
                Some(peer) if peer.is_rsocket => return true,
                Some(peer) if peer.is_surely_plain(Instant::now()) => return false,
                // Nothing was sent that it could answer.
                None if !is_data => return false,
                _ => {}
            }
        }
        header.names(from) || self.own_address_for(from).is_ok_and(|own| header.names(&own))
    }
}

impl DatagramState {
    /// A packet of a peer that is no rsocket; it is answered in kind.
    fn plain_packet(&mut self, packet: &[u8], from: &SocketAddress, control: &[u8]) {
        let now = Instant::now();
        if let Some(peer) = self.peers.entry(key(from), now) {
            peer.sent_plain(now);
        }
        self.keep(packet, from, control);
    }

    /// Keeps a packet for the program, unless too much waits already.
    fn keep(&mut self, data: &[u8], from: &SocketAddress, control: &[u8]) {
        let wanted = self.connected.as_ref().is_none_or(|connected| connected.is_same(from));
        let cost = data.len() + size_of::<Queued>();
        if !wanted || self.read_shut || self.held + cost > self.most_held {
            return;
        }
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(data.len()).is_err() || self.queue.try_reserve(1).is_err() {
            return;
        }
        // Without memory for it the program hears nothing of this packet but its data.
        let control = try_copy(control).unwrap_or_default();
        bytes.extend_from_slice(data);
        self.held += cost;
        came_in(data.len());
        self.queue.push_back(Queued::Packet { bytes, from: *from, control });
        self.edges.note_arrived();
        self.wake();
    }
}
