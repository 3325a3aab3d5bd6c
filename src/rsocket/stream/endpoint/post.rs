//! Posting: messages with their data, direct writes, grants.
//!
//! # Safety
//! As in the module above: posts work on its regions, or on inline data, which is read before a post returns.
#![allow(unsafe_code)]

use super::{Endpoint, MESSAGE};
use crate::error::Result;
use crate::rsocket::flow::{CONTROL, Grant, Share, Tag, Transfer};
use crate::rsocket::wire::{IOMAP_ENTRY, IomapEntry, Message, SEGMENT, Segment};
use crate::verbs::{Remote, Work};
use rdma_sys::{ibv_send_flags, ibv_sge, ibv_wr_opcode};

const INLINE: u32 = ibv_send_flags::IBV_SEND_INLINE.0;
const SIGNALED: u32 = ibv_send_flags::IBV_SEND_SIGNALED.0;

impl Endpoint {
    fn buffered(&self, at: u32, length: u32, entries: &mut [ibv_sge; 2]) -> usize {
        let mut count = 0;
        for (at, length) in self.around(at, length) {
            if length > 0 {
                entries[count] = self.send.entry(at as usize, length);
                count += 1;
            }
        }
        count
    }

    /// Sends bytes of the send buffer as one data message.
    pub(in crate::rsocket::stream) fn post_data(
        &self,
        transfer: &Transfer,
        bytes: u32,
    ) -> Result<()> {
        let mut entries = [EMPTY; 2];
        let count = self.buffered(transfer.from, bytes, &mut entries);
        let place = (transfer.address, transfer.key);
        self.post(Message::Data(bytes), transfer.tag, &entries[..count], 0, place)
    }

    /// Sends bytes of the caller's as one data message, inline.
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    #[inline]
    pub(in crate::rsocket::stream) unsafe fn post_inline(
        &self,
        transfer: &Transfer,
        from: *const u8,
        bytes: u32,
    ) -> Result<()> {
        let entries = [ibv_sge { addr: from as u64, length: bytes, lkey: 0 }];
        let place = (transfer.address, transfer.key);
        self.post(Message::Data(bytes), transfer.tag, &entries, INLINE, place)
    }

    /// Writes bytes of the send buffer to the peer's memory; the peer is not told.
    pub(in crate::rsocket::stream) fn post_direct(
        &self,
        (from, bytes): (u32, u32),
        tag: Option<Tag>,
        place: (u64, u32),
    ) -> Result<()> {
        let mut entries = [EMPTY; 2];
        let count = self.buffered(from, bytes, &mut entries);
        let work = Work {
            id: id_of(tag),
            entries: &entries[..count],
            opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE,
            flags: told(tag),
            immediate: 0,
            remote: Remote::Memory { address: place.0, key: place.1 },
        };
        // SAFETY: entries of the send region.
        unsafe { self.queue_pair.post_send(&work) }
    }

    pub(in crate::rsocket::stream) fn post_grant(&mut self, grant: &Grant) -> Result<()> {
        let message = Message::Credit(grant.limit);
        let Some((offset, place)) = grant.half else {
            return self.post_control(message, grant.tag);
        };
        let half = Segment {
            address: self.receive.address(self.receive_at + offset as usize),
            key: self.receive.remote_key(),
            length: self.sizes.receive_buffer / 2,
        };
        // Not more entries are on their way than control messages may be.
        let at = self.entries_at + self.next_entry * SEGMENT;
        self.next_entry = (self.next_entry + 1) % CONTROL as usize;
        self.send.write(at, &half.to_entry(self.peer_swapped));
        let entries = [self.send.entry(at, SEGMENT as u32)];
        let flags = if self.inline >= SEGMENT as u32 { INLINE } else { 0 };
        let address = self.peer_targets.address + u64::from(place) * SEGMENT as u64;
        let place = (address, self.peer_targets.key);
        self.post(message, Some(grant.tag), &entries, flags, place)
    }

    pub(in crate::rsocket::stream) fn post_control(
        &self,
        message: Message,
        tag: Tag,
    ) -> Result<()> {
        self.post(message, Some(tag), &[], 0, (0, 0))
    }

    /// Writes an entry into the peer's iomap table, by way of the send buffer.
    pub(in crate::rsocket::stream) fn post_iomap(
        &self,
        from: u32,
        tag: Option<Tag>,
        index: u16,
        entry: &IomapEntry,
    ) -> Result<()> {
        let bytes = entry.to_bytes(self.peer_swapped);
        let mut done = 0;
        for (at, length) in self.around(from, IOMAP_ENTRY as u32) {
            self.send.write(at as usize, &bytes[done..done + length as usize]);
            done += length as usize;
        }
        let mut entries = [EMPTY; 2];
        let count = self.buffered(from, IOMAP_ENTRY as u32, &mut entries);
        let table = u64::from(self.peer_targets.length) * SEGMENT as u64;
        let address = self.peer_targets.address + table + u64::from(index) * IOMAP_ENTRY as u64;
        self.post(
            Message::Iomap(u32::from(index)),
            tag,
            &entries[..count],
            0,
            (address, self.peer_targets.key),
        )
    }

    /// One message with its data: a write with immediate, or a write and then a send.
    #[inline(always)]
    fn post(
        &self,
        message: Message,
        tag: Option<Tag>,
        entries: &[ibv_sge],
        flags: u32,
        (address, key): (u64, u32),
    ) -> Result<()> {
        let work = Work {
            id: id_of(tag),
            entries,
            opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM,
            flags: flags | told(tag),
            immediate: message.encode(),
            remote: Remote::Memory { address, key },
        };
        if self.sizes.split {
            return self.post_in_two(work);
        }
        // SAFETY: entries of the send region, or inline.
        unsafe { self.queue_pair.post_send(&work) }
    }

    /// The same where there is no write with immediate.
    #[inline(never)]
    fn post_in_two(&self, work: Work<'_>) -> Result<()> {
        if !work.entries.is_empty() {
            // A grant's own write takes a slot for control messages too.
            let own = matches!(Tag::decode(work.id), Tag::Control(_))
                .then_some(Tag::Control(Share::default()));
            let write = Work {
                id: id_of(own),
                flags: work.flags & !SIGNALED | told(own),
                opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE,
                immediate: 0,
                ..work
            };
            // SAFETY: entries of the send region, or inline.
            unsafe { self.queue_pair.post_send(&write) }?;
        }
        let raw = work.immediate.to_ne_bytes();
        let entries = [ibv_sge { addr: raw.as_ptr() as u64, length: MESSAGE as u32, lkey: 0 }];
        let message = Work {
            entries: &entries,
            opcode: ibv_wr_opcode::IBV_WR_SEND,
            flags: work.flags | INLINE,
            immediate: 0,
            remote: Remote::Peer,
            ..work
        };
        // SAFETY: inline.
        unsafe { self.queue_pair.post_send(&message) }
    }
}

/// A request that fails completes without being asked to: with nothing to give back.
fn id_of(tag: Option<Tag>) -> u64 {
    tag.unwrap_or(Tag::Data(Share::default())).encode()
}

/// Only what has something to give back is told of.
fn told(tag: Option<Tag>) -> u32 {
    if tag.is_some() { SIGNALED } else { 0 }
}

const EMPTY: ibv_sge = ibv_sge { addr: 0, length: 0, lkey: 0 };
