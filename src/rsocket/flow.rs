//! The books of one stream: what of the buffers and queues of both sides is in use.
//!
//! Pure arithmetic. Bytes: the receive buffer is a ring of two halves; a half is handed to the peer as
//! soon as its bytes were read. Messages: each takes a posted receive of the other side, so it needs
//! a credit, counted by absolute 16-bit sequence numbers that wrap. Four work requests are kept apart
//! for control messages, so that credits flow even when data may not.

use super::wire::{ConnectionData, Message, Segment, TARGETS};
use crate::error::{Errno, Result};

/// Work requests that only control messages may use.
pub(crate) const CONTROL: u32 = 4;
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

/// Work requests for data, and bytes of the send buffer. Requests complete in their order, so one that
/// has a completion gives back what those before it took that had none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) slots: u16,
    pub(crate) bytes: u32,
}

/// What a completed work request gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Data messages or direct writes.
    Data(Share),
    /// A control message, and the data before it.
    Control(Share),
    /// The receive of this number.
    Receive(u32),
}

impl Tag {
    pub(crate) fn encode(self) -> u64 {
        let share = |share: Share| u64::from(share.slots) << 32 | u64::from(share.bytes);
        match self {
            Tag::Data(data) => share(data),
            Tag::Control(data) => 1 << 48 | share(data),
            Tag::Receive(number) => 2 << 48 | u64::from(number),
        }
    }

    pub(crate) fn decode(id: u64) -> Tag {
        let share = Share { slots: (id >> 32) as u16, bytes: id as u32 };
        match id >> 48 {
            0 => Tag::Data(share),
            1 => Tag::Control(share),
            _ => Tag::Receive(id as u32),
        }
    }
}

/// What a message means beyond the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Nothing,
    Shutdown,
    Disconnect,
}

/// A credit to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) limit: u16,
    /// Offset of a free half of the receive buffer, and the place in the peer's target list for it.
    pub(crate) half: Option<(u32, u32)>,
    pub(crate) tag: Tag,
}

/// Where the next data message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// Offset in the send buffer.
    pub(crate) from: u32,
    pub(crate) address: u64,
    pub(crate) key: u32,
    /// Of its completion, where it is to have one.
    pub(crate) tag: Option<Tag>,
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
    /// Bytes that the peer may still write.
    granted: u32,
    /// Bytes that are read and not yet granted again.
    free: u32,
    grant_at: u32,
    /// Place of the next entry in the peer's target list.
    peer_place: u32,
    peer_places: u32,
    received: u16,
    /// Once this many were received the peer needs new credit.
    due: u16,

    data_slots: u32,
    control_slots: u32,
    send_free: u32,
    send_at: u32,
    /// What was sent since the last request with a completion.
    untold: Share,
    sent: u16,
    limit: u16,
    targets: [Segment; TARGETS as usize],
    /// Place of the next entry in our own target list.
    own_place: u32,
}

impl Flow {
    pub(crate) fn new(sizes: Sizes) -> Flow {
        let half = sizes.receive_buffer / 2;
        Flow {
            sizes,
            cost: if sizes.split { 2 } else { 1 },
            low_water: LOW_WATER.min(sizes.send_buffer / 2),
            read_at: 0,
            unread: 0,
            granted: half,
            free: sizes.receive_buffer - half,
            grant_at: half,
            peer_place: 1,
            peer_places: TARGETS,
            received: 0,
            due: (sizes.receive_queue / 2) as u16,
            data_slots: sizes.send_queue.saturating_sub(CONTROL),
            control_slots: CONTROL,
            send_free: sizes.send_buffer,
            send_at: 0,
            untold: Share::default(),
            sent: 0,
            limit: 0,
            targets: [Segment::default(); TARGETS as usize],
            own_place: 1,
        }
    }

    /// Takes over what the peer offered.
    pub(crate) fn connect(&mut self, data: &ConnectionData) {
        self.limit = data.credits;
        self.targets[0] = data.first;
        self.peer_places = data.targets.length;
    }

    fn half(&self) -> u32 {
        self.sizes.receive_buffer / 2
    }

    /// Books received bytes; EPROTO for more than were offered.
    #[inline]
    pub(crate) fn data(&mut self, bytes: u32) -> Result<()> {
        self.granted = self.granted.checked_sub(bytes).ok_or(Errno::EPROTO)?;
        self.unread += bytes;
        self.received = self.received.wrapping_add(1);
        Ok(())
    }

    /// Books a received message; EPROTO for one that no honest peer sends.
    pub(crate) fn message(&mut self, message: Message) -> Result<Event> {
        match message {
            Message::Data(bytes) => self.data(bytes).map(|()| Event::Nothing),
            Message::Credit(limit) => {
                self.limit = limit;
                Ok(Event::Nothing)
            }
            Message::Iomap(index) if index < u32::from(self.sizes.iomap) => {
                self.received = self.received.wrapping_add(1);
                Ok(Event::Nothing)
            }
            Message::KeepAlive => Ok(Event::Nothing),
            Message::Shutdown => Ok(Event::Shutdown),
            Message::Disconnect => Ok(Event::Disconnect),
            Message::Iomap(_) | Message::Unknown(_) => Err(Errno::EPROTO),
        }
    }

    pub(crate) fn unread(&self) -> u32 {
        self.unread
    }

    /// Where the next `length` unread bytes lie: offset and length of two pieces, the second after the
    /// buffer's end, and mostly empty.
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
            let half = (self.grant_at, self.peer_place);
            self.free -= self.half();
            self.granted += self.half();
            self.grant_at = if self.grant_at == 0 { self.half() } else { 0 };
            self.peer_place += 1;
            if self.peer_place >= self.peer_places {
                self.peer_place = 0;
            }
            half
        });
        let limit = self.received.wrapping_add(self.sizes.receive_queue as u16);
        Some(Grant { limit, half, tag: self.control_tag() })
    }

    /// Counts a control message without memory as sent.
    pub(crate) fn take_control(&mut self) -> Option<Tag> {
        self.control_slots = self.control_slots.checked_sub(1)?;
        Some(self.control_tag())
    }

    fn control_tag(&mut self) -> Tag {
        Tag::Control(std::mem::take(&mut self.untold))
    }

    /// Books what data takes, and settles whether it has a completion: one for each quarter of the room
    /// is enough, and the last before a sender has to wait, so that there always is one to wait for.
    #[inline]
    fn take_share(&mut self, slots: u32, bytes: u32) -> Option<Tag> {
        self.data_slots -= slots;
        self.send_free -= bytes;
        self.untold.slots += slots as u16;
        self.untold.bytes += bytes;
        let is_due = u32::from(self.untold.slots) >= self.sizes.send_queue / 4
            || self.untold.bytes >= self.sizes.send_buffer / 4
            || !self.may_write_directly();
        is_due.then(|| Tag::Data(std::mem::take(&mut self.untold)))
    }

    /// Place in our own target list where the peer's next entry is awaited.
    pub(crate) fn awaited_target(&self) -> Option<u32> {
        (self.targets[1].length == 0).then_some(self.own_place)
    }

    /// The peer's next entry.
    pub(crate) fn add_target(&mut self, segment: Segment) {
        let free = if self.targets[0].length == 0 { 0 } else { 1 };
        self.targets[free] = segment;
        self.own_place = (self.own_place + 1) % TARGETS;
    }

    /// Whether a data message may go out.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        self.may_write_directly() && self.sent != self.limit && self.targets[0].length > 0
    }

    /// Whether nothing was sent since a request that has a completion: time to look for that.
    #[inline]
    pub(crate) fn is_look_due(&self) -> bool {
        self.untold.slots == 0
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
        let room = at_most.min(self.send_free).min(self.targets[0].length);
        u64::from(room).min(left) as u32
    }

    pub(crate) fn direct_size(&self, left: u64, at_most: u32) -> u32 {
        if !self.may_write_directly() {
            return 0;
        }
        u64::from(at_most.min(self.send_free)).min(left) as u32
    }

    /// Books a data message of `bytes`, which `transfer_size` allowed; `buffered` bytes of them lie in
    /// the send buffer (all, or none for inline data).
    #[inline]
    pub(crate) fn take_transfer(&mut self, bytes: u32, buffered: u32) -> Transfer {
        self.sent = self.sent.wrapping_add(1);
        let target = self.targets[0];
        self.targets[0].address = target.address.wrapping_add(u64::from(bytes));
        self.targets[0].length -= bytes;
        if self.targets[0].length == 0 {
            self.targets[0] = std::mem::take(&mut self.targets[1]);
        }
        Transfer {
            tag: self.take_share(self.cost, buffered),
            from: if buffered > 0 { self.take_buffer(buffered) } else { 0 },
            address: target.address,
            key: target.key,
        }
    }

    /// Books a direct write without a message: one work request always.
    pub(crate) fn take_direct(&mut self, buffered: u32) -> (u32, Option<Tag>) {
        (self.take_buffer(buffered), self.take_share(1, buffered))
    }

    /// Books an entry for the peer's iomap table, which costs a credit; offset in the send buffer.
    pub(crate) fn take_iomap(&mut self, bytes: u32) -> Option<(u32, Option<Tag>)> {
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
        if self.send_at >= self.sizes.send_buffer {
            self.send_at -= self.sizes.send_buffer;
        }
        from
    }

    /// Books a completed work request.
    pub(crate) fn completed(&mut self, tag: Tag) {
        let share = match tag {
            Tag::Data(share) => share,
            Tag::Control(share) => {
                self.control_slots = (self.control_slots + 1).min(CONTROL);
                share
            }
            Tag::Receive(_) => return,
        };
        let slots = self.data_slots.saturating_add(share.slots.into());
        self.data_slots = slots.min(self.sizes.send_queue - CONTROL);
        let free = self.send_free.saturating_add(share.bytes);
        self.send_free = free.min(self.sizes.send_buffer);
    }

    /// Everything that was posted has completed.
    pub(crate) fn is_drained(&self) -> bool {
        self.control_slots == CONTROL && self.data_slots == self.sizes.send_queue - CONTROL
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
