// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Sending and receiving.
//!
//! # Safety
//! Copies between the caller's buffers and the slots, which never overlap: slots are mapped by us.
#![allow(unsafe_code)]

use super::ancillary;
use super::packet::{self, PacketKind, SLOT};
use super::peers::{Peer, key};
use super::state::{Datagram, DatagramState, Queued};
use crate::rsocket::memory::buffers::Buffers;
use crate::rsocket::wait::Blocking;
use crate::rsocket::wait::blocking::wait_for;
use crate::types::SocketAddress;
use alloc::vec::Vec;
use base::counters::{count, layout};
use base::errno::{Errno, Result};
use base::fail;
use base::lock::was_left_locked;
use base::time::Instant;
use core::time::Duration;
use libc::{MSG_DONTWAIT, MSG_ERRQUEUE, MSG_OOB, MSG_PEEK, MSG_TRUNC, c_int};

/// A UDP packet's data, less our header.
const LONGEST: usize = 65507 - 28;

#[cold]
fn without_urgent_data() -> Errno {
    fail!(EOPNOTSUPP, "MSG_OOB, and datagrams are never urgent")
}

#[cold]
fn without_destination() -> Errno {
    fail!(EDESTADDRREQ, "rsend: a datagram without an address, and rconnect has set none")
}

#[cold]
fn too_long(length: usize) -> Errno {
    fail!(
        EMSGSIZE,
        "a datagram of {length} bytes: it has room for {} on a queue pair, and for {LONGEST} where the \
         socket stands for a UDP socket",
        SLOT - 28
    )
}

/// What a receive brought.
pub(crate) struct Received {
    pub(crate) count: usize,
    /// The sender, where each message has one.
    pub(crate) from: Option<SocketAddress>,
    /// There was more than the caller had room for, and it is gone.
    pub(crate) truncated: bool,
    /// Control messages, as recvmsg(2) stores them.
    pub(crate) control: Vec<u8>,
}

impl Received {
    /// So many bytes of no particular sender.
    pub(crate) fn of_bytes(count: usize) -> Received {
        Received { count, from: None, truncated: false, control: Vec::new() }
    }
}

impl Datagram {
    fn blocking(&self, flags: c_int, timeout: fn(&DatagramState) -> Option<Duration>) -> Blocking {
        let state = self.state.lock();
        Blocking { nonblock: state.nonblock || flags & MSG_DONTWAIT != 0, timeout: timeout(&state) }
    }

    pub(crate) fn receive(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<Received> {
        self.owner.check()?;
        if flags & MSG_ERRQUEUE != 0 {
            return Err(Errno::EAGAIN);
        }
        if flags & MSG_OOB != 0 {
            return Err(without_urgent_data());
        }
        let blocking = self.blocking(flags, |state| state.receive_timeout);
        let nonblock = blocking.nonblock;
        wait_for(self, blocking, || {
            let mut state = self.state.lock();
            if state.closed {
                return Some(Err(Errno::EBADF));
            }
            if let Some(error) = state.error.take() {
                return Some(Err(error));
            }
            state.progress();
            match state.take(buffers, flags) {
                Some(received) => Some(Ok(received)),
                // As UDP: EAGAIN for a call that would not wait.
                None if state.read_shut && !nonblock => Some(Ok(Received::of_bytes(0))),
                None => None,
            }
        })
    }

    /// A receive without memory: only an empty datagram needs none.
    pub(crate) fn receive_nowhere(&self, flags: c_int) -> Result<usize> {
        let nowhere = || Buffers::discard(0);
        match self.receive(&mut nowhere(), flags | MSG_PEEK | MSG_TRUNC)?.count {
            0 => self.receive(&mut nowhere(), flags).map(|received| received.count),
            _ => Err(Errno::EFAULT),
        }
    }

    /// What a send reports before it looks at its data; where it goes.
    pub(crate) fn check_send(&self, to: Option<&SocketAddress>) -> Result<SocketAddress> {
        let mut state = self.state.lock();
        // That nobody is there, which an earlier datagram has brought to light.
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        if state.write_shut {
            return Err(Errno::EPIPE);
        }
        let to = to.copied().or(state.connected);
        drop(state);
        to.ok_or_else(|| {
            // As with UDP it has a port from then on.
            let error = self.udp.send_to_nobody();
            if error == Errno::EDESTADDRREQ { without_destination() } else { error }
        })
    }

    pub(crate) fn send(
        &self,
        buffers: &mut Buffers<'_>,
        flags: c_int,
        to: Option<&SocketAddress>,
    ) -> Result<()> {
        if !self.owner.is_maker() {
            if let Some(sent) = self.send_for_parent(buffers, flags, to) {
                return sent;
            }
        }
        self.owner.check()?;
        if flags & MSG_OOB != 0 {
            return Err(without_urgent_data());
        }
        let length = buffers.left();
        let to = self.check_send(to)?;
        let local = self.local_address_for(&to)?;
        let header = packet::encode_slot(&local);
        let whole = length.checked_add(header.bytes().len()).ok_or_else(|| too_long(length))?;
        if whole > SLOT && (length > LONGEST || !self.state.lock().as_udp) {
            return Err(too_long(length));
        }
        let blocking = self.blocking(flags, |state| state.send_timeout);
        let posted = wait_for(self, blocking, || {
            let mut state = self.state.lock();
            if state.closed {
                return Some(Err(Errno::EBADF));
            }
            state.progress();
            let now = Instant::now();
            let index = state.ports.iter().position(|port| port.local().is_same_host(&local));
            let DatagramState { peers, ports, .. } = &mut *state;
            let route = peers.entry(key(&to), now).and_then(|peer| peer.route(now));
            let (Some(index), Some((handle, number))) = (index, route) else {
                return Some(Ok(false));
            };
            let port = &mut ports[index];
            if whole > port.longest() {
                return Some(Ok(false));
            }
            let posted = port.send(whole, &handle, number, |slot| {
                if !slot.is_null() {
                    let bytes = header.bytes();
                    // SAFETY: `whole` bytes of a slot: the header and then the data.
                    unsafe {
                        core::ptr::copy_nonoverlapping(bytes.as_ptr(), slot, bytes.len());
                        buffers.gather(slot.add(bytes.len()), length);
                    }
                }
            });
            match posted {
                Ok(()) => Some(Ok(true)),
                Err(Errno::EAGAIN) => {
                    state.edges.note_idle(false, true);
                    None
                }
                Err(error) => Some(Err(error)),
            }
        })?;
        if !posted {
            self.send_by_udp(buffers, &local, &to)?;
        }
        count(|words| {
            words.add(layout::MESSAGES_OUT, 1);
            words.add(layout::BYTES_OUT, length as u64);
        });
        Ok(())
    }

    fn send_by_udp(
        &self,
        buffers: &mut Buffers<'_>,
        local: &SocketAddress,
        to: &SocketAddress,
    ) -> Result<()> {
        let (number, is_plain) = {
            let mut state = self.state.lock();
            let now = Instant::now();
            let is_plain = state.peers.entry(key(to), now).is_some_and(|peer| {
                if !peer.is_plain() {
                    peer.asks(now);
                }
                peer.is_plain()
            });
            (state.number_at(local), is_plain)
        };
        self.send_packet(buffers, to, (!is_plain).then_some(number))
    }

    /// In a fork's child whose parent has the queue pairs, of a socket that stands for a UDP socket:
    /// the datagram goes by UDP, from the same address as the parent's. `None` for other sockets,
    /// and where the child takes the socket over.
    #[cold]
    fn send_for_parent(
        &self,
        buffers: &mut Buffers<'_>,
        flags: c_int,
        to: Option<&SocketAddress>,
    ) -> Option<Result<()>> {
        // What a thread of the parent was about to change cannot be read.
        let is_whole = !was_left_locked(&self.state);
        let (as_udp, connected) = if is_whole {
            let state = self.state.lock();
            (state.as_udp, state.connected)
        } else {
            (true, self.udp.peer_name().ok())
        };
        if !as_udp || self.owner.is_ours() {
            return None;
        }
        if flags & MSG_OOB != 0 {
            return Some(Err(without_urgent_data()));
        }
        let Some(to) = to.copied().or(connected) else {
            return Some(Err(without_destination()));
        };
        let is_plain =
            is_whole && self.state.lock().peers.get(&key(&to)).is_some_and(Peer::is_plain);
        // Without a queue pair the peer answers by UDP, too: to whoever reads there.
        Some(self.send_packet(buffers, &to, (!is_plain).then_some(0)))
    }

    /// Sends a packet by UDP: with the number of our queue pair in a header, or without a header.
    fn send_packet(
        &self,
        buffers: &mut Buffers<'_>,
        to: &SocketAddress,
        number: Option<u32>,
    ) -> Result<()> {
        let length = buffers.left();
        if length > LONGEST {
            return Err(too_long(length));
        }
        let mut data = base::memory::try_vec(length)?;
        // SAFETY: room for that many bytes, which are all written.
        unsafe {
            buffers.gather(data.as_mut_ptr(), length);
            data.set_len(length);
        }
        let header = number.map(|number| packet::encode_udp(PacketKind::Data, number, to));
        let header = header.as_ref().map_or(&[][..], packet::EncodedHeader::bytes);
        // In a fork's child the parent's lock may be nobody's to release.
        let has_state = self.owner.is_maker();
        let had_sent = has_state && core::mem::replace(&mut self.state.lock().has_sent, true);
        let sent = match self.udp.send(header, &data, to) {
            // About what the socket itself had sent. The program's datagram did not leave.
            Err(Errno::ECONNREFUSED) if has_state && !had_sent => self.udp.send(header, &data, to),
            other => other,
        };
        let is_over = match sent {
            Ok(()) => false,
            Err(Errno::ECONNREFUSED) => true,
            // Says nothing of what was sent before.
            Err(_) => !had_sent,
        };
        if has_state && is_over {
            self.state.lock().has_sent = false;
        }
        match sent {
            // A full socket buffer drops, as the network would.
            Err(Errno::EAGAIN) => Ok(()),
            other => other,
        }
    }
}

impl DatagramState {
    /// The next datagram, copied as far as there is room for it.
    fn take(&mut self, buffers: &mut Buffers<'_>, flags: c_int) -> Option<Received> {
        let (start, length, from) = match self.queue.front()? {
            Queued::InSlot { port, received, skip, from } => {
                let start = self.ports.get(*port).map(|port| port.data(*received, *skip));
                (start.unwrap_or(core::ptr::null()), received.length - skip, *from)
            }
            Queued::Packet { bytes, from, .. } => (bytes.as_ptr(), bytes.len(), *from),
        };
        let control = self.control_of_next();
        let copied = length.min(buffers.left());
        if !start.is_null() {
            // SAFETY: `length` bytes of the slot or packet, which is no memory of the caller's.
            unsafe { buffers.scatter(start, copied) };
        }
        if flags & MSG_PEEK == 0 {
            match self.queue.pop_front() {
                Some(Queued::InSlot { port, received, .. }) => {
                    if let Some(port) = self.ports.get_mut(port) {
                        port.release(received.slot);
                    }
                }
                Some(Queued::Packet { bytes, .. }) => {
                    self.held = self.held.saturating_sub(bytes.len() + size_of::<Queued>());
                }
                None => {}
            }
        }
        let count = if flags & MSG_TRUNC != 0 { length } else { copied };
        Some(Received { count, from: Some(from), truncated: copied < length, control })
    }

    /// The control messages of the next datagram. Without memory there are none.
    fn control_of_next(&mut self) -> Vec<u8> {
        let wanted = self.wanted;
        if !wanted.is_any() {
            return Vec::new();
        }
        let made = match self.queue.front() {
            Some(Queued::InSlot { port, received, .. }) => {
                let received = *received;
                self.ports.get_mut(*port).map(|port| {
                    let interface = if wanted.has_interface() { port.interface() } else { 0 };
                    let header = port.route_header(received);
                    ancillary::of_device(wanted, port.local(), interface, &header)
                })
            }
            Some(Queued::Packet { control, .. }) => Some(base::memory::try_copy(control)),
            None => None,
        };
        made.and_then(Result::ok).unwrap_or_default()
    }
}
