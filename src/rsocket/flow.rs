// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Flow control of one stream: credits, ring and send-queue accounting. Pure arithmetic: no I/O, no
//! memory of its own.
//!
//! Bytes: the peer has the whole receive buffer at first. It is a ring of two halves, each granted
//! anew as soon as its bytes have been read. Messages: each consumes a posted receive of the other
//! side, so it needs a credit; credits are absolute 16-bit sequence numbers that wrap. Four work
//! requests are reserved for control messages, so that credits flow even when data may not.
//!
//! The send buffer begins as a small ring. A large one takes its place where a send is larger than
//! its room, and a small one again when the connection is idle.

use super::wire::{ConnectionData, REMOTE_SGL_ENTRIES, Segment, StreamMessage};
use base::errno::{Errno, Result};

/// Work requests that only control messages may use.
pub(crate) const CONTROL: u32 = 4;
/// The send ring that a connection begins with, where the buffer is at least twice as large.
pub(crate) const SMALL_RING: u32 = 16384;
/// A sender with less room than this is not called writable.
const LOW_WATER: u32 = 2048;
/// The most that one message carries.
pub(crate) const MAX_TRANSFER: u32 = 65536;

/// Sizes that were settled when the queue pair was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) receive_buffer: u32,
    pub(crate) send_buffer: u32,
    pub(crate) send_queue: u32,
    pub(crate) receive_queue: u32,
    pub(crate) iomap: u16,
    /// Without write-with-immediate (iWARP) a message takes a work request of its own.
    pub(crate) split: bool,
}

/// The size of the small ring of a send buffer.
pub(crate) fn small_ring(buffer: u32) -> u32 {
    if buffer >= 2 * SMALL_RING { SMALL_RING } else { buffer }
}

/// Work requests for data, and bytes of the send buffer. Requests complete in their order, so one
/// that has a completion gives back what those before it took that had none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) slots: u16,
    pub(crate) bytes: u32,
}

/// What a completed work request gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrId {
    /// Data messages or direct writes.
    Data(Share),
    /// A control message, and the data before it.
    Control(Share),
    /// The receive of this number.
    Receive(u32),
}

impl WrId {
    pub(crate) fn encode(self) -> u64 {
        let share = |share: Share| u64::from(share.slots) << 32 | u64::from(share.bytes);
        match self {
            WrId::Data(data) => share(data),
            WrId::Control(data) => 1 << 48 | share(data),
            WrId::Receive(number) => 2 << 48 | u64::from(number),
        }
    }

    pub(crate) fn decode(id: u64) -> WrId {
        let share = Share { slots: (id >> 32) as u16, bytes: id as u32 };
        match id >> 48 {
            0 => WrId::Data(share),
            1 => WrId::Control(share),
            _ => WrId::Receive(id as u32),
        }
    }
}

/// What a message means beyond flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    Shutdown,
    Disconnect,
}

/// A credit to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) limit: u16,
    /// Offset of a free half of the receive buffer, and the index in the peer's scatter list for
    /// it.
    pub(crate) half: Option<(u32, u32)>,
    pub(crate) wr_id: WrId,
}

/// Where the next data message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// Offset in the send buffer.
    pub(crate) from: u32,
    pub(crate) address: u64,
    pub(crate) key: u32,
    /// None: unsignaled.
    pub(crate) wr_id: Option<WrId>,
}

#[derive(Debug)]
pub(crate) struct Flow {
    sizes: Sizes,
    /// Work requests of a message.
    cost: u32,
    /// Free bytes of the send buffer below which nothing is sent.
    low_water: u32,
    read_at: u32,
    unread: u32,
    /// Messages with data that came until now.
    arrived: u64,
    /// Bytes that the peer may still write.
    granted: u32,
    /// Bytes that are read and not yet granted again.
    free: u32,
    grant_at: u32,
    /// Index of the next entry in the peer's scatter list.
    peer_index: u32,
    peer_entries: u32,
    received: u16,
    /// Once this many were received the peer needs new credit.
    due: u16,

    data_slots: u32,
    control_slots: u32,
    /// Of the ring that is sent from.
    send_size: u32,
    send_free: u32,
    send_at: u32,
    /// Bytes in flight of the ring that was sent from before.
    send_before: u32,
    can_send_more: bool,
    /// What was sent since the last signaled request.
    unsignaled: Share,
    sent: u16,
    limit: u16,
    remote_sgl: [Segment; REMOTE_SGL_ENTRIES as usize],
    /// Index of the next entry in our own scatter list.
    own_index: u32,
}

impl Flow {
    pub(crate) fn new(sizes: Sizes) -> Flow {
        let send = small_ring(sizes.send_buffer);
        Flow {
            sizes,
            cost: if sizes.split { 2 } else { 1 },
            low_water: LOW_WATER.min(send / 2),
            read_at: 0,
            unread: 0,
            arrived: 0,
            granted: sizes.receive_buffer,
            free: 0,
            grant_at: 0,
            peer_index: 1,
            peer_entries: REMOTE_SGL_ENTRIES,
            received: 0,
            due: (sizes.receive_queue / 2) as u16,
            data_slots: sizes.send_queue.saturating_sub(CONTROL),
            control_slots: CONTROL,
            send_size: send,
            send_free: send,
            send_at: 0,
            send_before: 0,
            can_send_more: send < sizes.send_buffer,
            unsignaled: Share::default(),
            sent: 0,
            limit: 0,
            remote_sgl: [Segment::default(); REMOTE_SGL_ENTRIES as usize],
            own_index: 1,
        }
    }

    /// Takes over what the peer offered.
    pub(crate) fn connect(&mut self, data: &ConnectionData) {
        self.limit = data.credits;
        self.remote_sgl[0] = data.first;
        self.peer_entries = data.remote_sgl.length;
    }

    fn half(&self) -> u32 {
        self.sizes.receive_buffer / 2
    }

    /// Accounts for received bytes; EPROTO for more than were offered.
    #[inline]
    pub(crate) fn data(&mut self, bytes: u32) -> Result<()> {
        self.granted = self.granted.checked_sub(bytes).ok_or(Errno::EPROTO)?;
        self.unread += bytes;
        self.arrived += 1;
        self.received = self.received.wrapping_add(1);
        Ok(())
    }

    /// Accounts for a received message; EPROTO for one that no honest peer sends.
    pub(crate) fn message(&mut self, message: StreamMessage) -> Result<Effect> {
        match message {
            StreamMessage::Data(bytes) => self.data(bytes).map(|()| Effect::Nothing),
            StreamMessage::Credit(limit) => {
                self.limit = limit;
                Ok(Effect::Nothing)
            }
            StreamMessage::Iomap(index) if index < u32::from(self.sizes.iomap) => {
                self.received = self.received.wrapping_add(1);
                Ok(Effect::Nothing)
            }
            StreamMessage::KeepAlive => Ok(Effect::Nothing),
            StreamMessage::Shutdown => Ok(Effect::Shutdown),
            StreamMessage::Disconnect => Ok(Effect::Disconnect),
            StreamMessage::Iomap(_) | StreamMessage::Unknown(_) => Err(Errno::EPROTO),
        }
    }

    pub(crate) fn unread(&self) -> u32 {
        self.unread
    }

    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Where the next `length` unread bytes lie: offset and length of two pieces, the second after
    /// the buffer's end, and mostly empty.
    #[inline]
    pub(crate) fn readable(&self, length: u32) -> [(u32, u32); 2] {
        let length = length.min(self.unread);
        let first = length.min(self.sizes.receive_buffer - self.read_at);
        [(self.read_at, first), (0, length - first)]
    }

    #[inline]
    pub(crate) fn consume(&mut self, bytes: u32) {
        let bytes = bytes.min(self.unread);
        self.unread -= bytes;
        self.free += bytes;
        self.read_at += bytes;
        if self.read_at >= self.sizes.receive_buffer {
            self.read_at -= self.sizes.receive_buffer;
        }
    }

    /// A credit is due; mostly none is.
    #[inline]
    pub(crate) fn owes_grant(&self) -> bool {
        self.free >= self.half() || (self.received.wrapping_sub(self.due) as i16) >= 0
    }

    /// The credit that is due, if a control message may go out; counts it as sent.
    pub(crate) fn take_grant(&mut self) -> Option<Grant> {
        if !self.owes_grant() {
            return None;
        }
        let has_half = self.free >= self.half();
        let cost = if has_half && self.sizes.split { 2 } else { 1 };
        self.control_slots = self.control_slots.checked_sub(cost)?;
        self.due = self.received.wrapping_add((self.sizes.receive_queue / 2) as u16);
        let half = has_half.then(|| {
            let half = (self.grant_at, self.peer_index);
            self.free -= self.half();
            self.granted += self.half();
            self.grant_at = if self.grant_at == 0 { self.half() } else { 0 };
            self.peer_index += 1;
            if self.peer_index >= self.peer_entries {
                self.peer_index = 0;
            }
            half
        });
        let limit = self.received.wrapping_add(self.sizes.receive_queue as u16);
        Some(Grant { limit, half, wr_id: self.control_id() })
    }

    /// Counts a control message without memory as sent.
    pub(crate) fn take_control(&mut self) -> Option<WrId> {
        self.control_slots = self.control_slots.checked_sub(1)?;
        Some(self.control_id())
    }

    fn control_id(&mut self) -> WrId {
        WrId::Control(core::mem::take(&mut self.unsignaled))
    }

    /// Accounts for what data takes, and decides whether it is signaled: one completion for each
    /// quarter of the room is enough, and one for the last before a sender has to wait, so that
    /// there always is one to wait for.
    #[inline(always)]
    fn take_share(&mut self, slots: u32, bytes: u32) -> Option<WrId> {
        self.data_slots -= slots;
        self.send_free -= bytes;
        self.unsignaled.slots += slots as u16;
        self.unsignaled.bytes += bytes;
        let is_due = u32::from(self.unsignaled.slots) >= self.sizes.send_queue / 4
            || self.unsignaled.bytes >= self.send_size / 4
            || !self.may_write_directly();
        is_due.then(|| WrId::Data(core::mem::take(&mut self.unsignaled)))
    }

    /// Index in our own scatter list where the peer's next entry is awaited.
    pub(crate) fn awaited_index(&self) -> Option<u32> {
        (self.remote_sgl[1].length == 0).then_some(self.own_index)
    }

    /// The peer's next entry.
    pub(crate) fn add_segment(&mut self, segment: Segment) {
        let free = if self.remote_sgl[0].length == 0 { 0 } else { 1 };
        self.remote_sgl[free] = segment;
        self.own_index = (self.own_index + 1) % REMOTE_SGL_ENTRIES;
    }

    /// Whether a data message may go out.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        self.may_write_directly() && self.sent != self.limit && self.remote_sgl[0].length > 0
    }

    /// Whether nothing was sent since the last signaled request: time to poll for its completion.
    #[inline]
    pub(crate) fn is_poll_due(&self) -> bool {
        self.unsignaled.slots == 0
    }

    /// Whether a direct write, which needs no credit, may go out.
    #[inline]
    pub(crate) fn may_write_directly(&self) -> bool {
        self.data_slots >= self.cost && self.send_free >= self.low_water
    }

    /// How much of `left` bytes the next data message may take.
    #[inline]
    pub(crate) fn transfer_size(&self, left: u64, at_most: u32) -> u32 {
        if !self.is_writable() {
            return 0;
        }
        let room = at_most.min(self.send_free).min(self.remote_sgl[0].length);
        u64::from(room).min(left) as u32
    }

    pub(crate) fn direct_size(&self, left: u64, at_most: u32) -> u32 {
        if !self.may_write_directly() {
            return 0;
        }
        u64::from(at_most.min(self.send_free)).min(left) as u32
    }

    /// Accounts for a data message of `bytes`, which `transfer_size` allowed; `buffered` bytes of
    /// them lie in the send buffer (all, or none for inline data).
    #[inline(always)]
    pub(crate) fn take_transfer(&mut self, bytes: u32, buffered: u32) -> Transfer {
        self.sent = self.sent.wrapping_add(1);
        let segment = self.remote_sgl[0];
        self.remote_sgl[0].address = segment.address.wrapping_add(u64::from(bytes));
        self.remote_sgl[0].length -= bytes;
        if self.remote_sgl[0].length == 0 {
            self.remote_sgl[0] = core::mem::take(&mut self.remote_sgl[1]);
        }
        Transfer {
            wr_id: self.take_share(self.cost, buffered),
            from: if buffered > 0 { self.take_buffer(buffered) } else { 0 },
            address: segment.address,
            key: segment.key,
        }
    }

    /// Accounts for a direct write without a message: one work request always.
    pub(crate) fn take_direct(&mut self, buffered: u32) -> (u32, Option<WrId>) {
        (self.take_buffer(buffered), self.take_share(1, buffered))
    }

    /// Accounts for an entry of the peer's iomap table, which costs a credit; offset in the send
    /// buffer.
    pub(crate) fn take_iomap(&mut self, bytes: u32) -> Option<(u32, Option<WrId>)> {
        if !self.may_write_directly() || self.sent == self.limit || self.send_free < bytes {
            return None;
        }
        self.sent = self.sent.wrapping_add(1);
        Some((self.take_buffer(bytes), self.take_share(self.cost, bytes)))
    }

    #[inline]
    fn take_buffer(&mut self, bytes: u32) -> u32 {
        let from = self.send_at;
        self.send_at += bytes;
        if self.send_at >= self.send_size {
            self.send_at -= self.send_size;
        }
        from
    }

    /// Accounts for a completed work request.
    pub(crate) fn completed(&mut self, wr_id: WrId) {
        let share = match wr_id {
            WrId::Data(share) => share,
            WrId::Control(share) => {
                self.control_slots = (self.control_slots + 1).min(CONTROL);
                share
            }
            WrId::Receive(_) => return,
        };
        let slots = self.data_slots.saturating_add(share.slots.into());
        self.data_slots = slots.min(self.sizes.send_queue - CONTROL);
        let before = share.bytes.min(self.send_before);
        self.send_before -= before;
        let free = self.send_free.saturating_add(share.bytes - before);
        self.send_free = free.min(self.send_size);
    }

    /// A larger ring would take more of `left` bytes at once.
    #[inline]
    pub(crate) fn would_send_more(&self, left: u64) -> bool {
        self.can_send_more && left > u64::from(self.send_free)
    }

    /// There is a large ring from now on; requests complete in their order, the small one's first.
    pub(crate) fn grow(&mut self) {
        self.send_before = self.send_size - self.send_free;
        self.set_send_ring(self.sizes.send_buffer);
    }

    /// There is no memory for a large ring.
    pub(crate) fn stay_small(&mut self) {
        self.can_send_more = false;
    }

    /// The small ring again. False while something is in flight, and where there is no large one.
    pub(crate) fn shrink(&mut self) -> bool {
        let shrinks = self.is_large() && self.is_drained();
        if shrinks {
            self.send_before = 0;
            self.set_send_ring(small_ring(self.sizes.send_buffer));
        }
        shrinks
    }

    fn set_send_ring(&mut self, size: u32) {
        (self.send_size, self.send_free, self.send_at) = (size, size, 0);
        self.can_send_more = size < self.sizes.send_buffer;
    }

    /// Sends from a large ring.
    pub(crate) fn is_large(&self) -> bool {
        self.send_size > small_ring(self.sizes.send_buffer)
    }

    /// Differs when something was sent or received.
    pub(crate) fn activity(&self) -> (u16, u16) {
        (self.sent, self.received)
    }

    /// No control message is on its way.
    pub(crate) fn has_all_control(&self) -> bool {
        self.control_slots == CONTROL
    }

    /// Everything that was posted has completed.
    pub(crate) fn is_drained(&self) -> bool {
        self.control_slots == CONTROL && self.data_slots == self.sizes.send_queue - CONTROL
    }
}

#[cfg(test)]
mod tests;
