// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Posting: messages with their data, direct writes, grants.
//!
//! # Safety
//! As in `endpoint`: posts work on its regions, or on inline data, which is read before a post
//! returns.
#![allow(unsafe_code)]

use super::endpoint::{Endpoint, MESSAGE_SIZE};
use crate::rsocket::flow::{CONTROL, Grant, Share, Transfer, WrId};
use crate::rsocket::wire::{IOMAP_ENTRY_SIZE, IomapEntry, SEGMENT_SIZE, Segment, StreamMessage};
use crate::verbs::{Remote, SendRequest};
use base::errno::Result;
use rdma_sys::{ibv_send_flags, ibv_sge, ibv_wr_opcode};

const INLINE: u32 = ibv_send_flags::IBV_SEND_INLINE.0;
const SIGNALED: u32 = ibv_send_flags::IBV_SEND_SIGNALED.0;

impl Endpoint {
    fn buffered(&self, at: u32, length: u32, entries: &mut [ibv_sge; 2]) -> usize {
        let mut count = 0;
        for (at, length) in self.around(at, length) {
            if length > 0 {
                entries[count] = self.send_ring().entry(at as usize, length);
                count += 1;
            }
        }
        count
    }

    /// Sends bytes of the send buffer as one data message.
    pub(super) fn post_data(&self, transfer: &Transfer, bytes: u32) -> Result<()> {
        let mut entries = [EMPTY; 2];
        let count = self.buffered(transfer.from, bytes, &mut entries);
        let remote = (transfer.address, transfer.key);
        self.post(StreamMessage::Data(bytes), transfer.wr_id, &entries[..count], 0, remote)
    }

    /// Sends bytes of the caller's as one data message, inline.
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    #[inline]
    pub(super) unsafe fn post_inline(
        &self,
        transfer: &Transfer,
        from: *const u8,
        bytes: u32,
    ) -> Result<()> {
        let entries = [ibv_sge { addr: from as u64, length: bytes, lkey: 0 }];
        let remote = (transfer.address, transfer.key);
        self.post(StreamMessage::Data(bytes), transfer.wr_id, &entries, INLINE, remote)
    }

    /// Writes bytes of the send buffer to the peer's memory; without a message to the peer.
    pub(super) fn post_direct(
        &self,
        (from, bytes): (u32, u32),
        wr_id: Option<WrId>,
        remote: (u64, u32),
    ) -> Result<()> {
        let mut entries = [EMPTY; 2];
        let count = self.buffered(from, bytes, &mut entries);
        let work = SendRequest {
            wr_id: id_of(wr_id),
            entries: (&entries[..count]).into(),
            opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE,
            flags: signaled(wr_id),
            immediate: 0,
            remote: Remote::Memory { address: remote.0, key: remote.1 },
        };
        // SAFETY: entries of the send region.
        unsafe { self.queue_pair.post_send(&work) }
    }

    pub(super) fn post_grant(&mut self, grant: &Grant) -> Result<()> {
        let message = StreamMessage::Credit(grant.limit);
        let Some((offset, index)) = grant.half else {
            return self.post_control(message, grant.wr_id);
        };
        let half = Segment {
            address: self.receive.address(self.receive_at + offset as usize),
            key: self.receive.remote_key(),
            length: self.sizes.receive_buffer / 2,
        };
        // No more entries are in flight than control messages may be.
        let at = self.entries_at + self.next_entry * SEGMENT_SIZE;
        self.next_entry = (self.next_entry + 1) % CONTROL as usize;
        self.send.write(at, &half.to_bytes(self.peer_swapped));
        let entries = [self.send.entry(at, SEGMENT_SIZE as u32)];
        let flags = if self.inline >= SEGMENT_SIZE as u32 { INLINE } else { 0 };
        let address = self.remote_sgl.address + u64::from(index) * SEGMENT_SIZE as u64;
        let remote = (address, self.remote_sgl.key);
        self.post(message, Some(grant.wr_id), &entries, flags, remote)
    }

    pub(super) fn post_control(&self, message: StreamMessage, wr_id: WrId) -> Result<()> {
        self.post(message, Some(wr_id), &[], 0, (0, 0))
    }

    /// Writes an entry into the peer's iomap table, by way of the send buffer.
    pub(super) fn post_iomap(
        &self,
        from: u32,
        wr_id: Option<WrId>,
        index: u16,
        entry: &IomapEntry,
    ) -> Result<()> {
        let bytes = entry.to_bytes(self.peer_swapped);
        let mut done = 0;
        for (at, length) in self.around(from, IOMAP_ENTRY_SIZE as u32) {
            self.send_ring().write(at as usize, &bytes[done..done + length as usize]);
            done += length as usize;
        }
        let mut entries = [EMPTY; 2];
        let count = self.buffered(from, IOMAP_ENTRY_SIZE as u32, &mut entries);
        let table = u64::from(self.remote_sgl.length) * SEGMENT_SIZE as u64;
        let address = self.remote_sgl.address + table + u64::from(index) * IOMAP_ENTRY_SIZE as u64;
        self.post(
            StreamMessage::Iomap(u32::from(index)),
            wr_id,
            &entries[..count],
            0,
            (address, self.remote_sgl.key),
        )
    }

    /// One message with its data: a write with immediate, or a write and then a send.
    #[inline(always)]
    fn post(
        &self,
        message: StreamMessage,
        wr_id: Option<WrId>,
        entries: &[ibv_sge],
        flags: u32,
        (address, key): (u64, u32),
    ) -> Result<()> {
        let work = SendRequest {
            wr_id: id_of(wr_id),
            entries: entries.into(),
            opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM,
            flags: flags | signaled(wr_id),
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
    fn post_in_two(&self, work: SendRequest<'_>) -> Result<()> {
        if !work.entries.is_empty() {
            // The write of a grant takes a slot for control messages too.
            let own = matches!(WrId::decode(work.wr_id), WrId::Control(_))
                .then_some(WrId::Control(Share::default()));
            let write = SendRequest {
                wr_id: id_of(own),
                flags: work.flags & !SIGNALED | signaled(own),
                opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE,
                immediate: 0,
                ..work
            };
            // SAFETY: entries of the send region, or inline.
            unsafe { self.queue_pair.post_send(&write) }?;
        }
        let raw = work.immediate.to_ne_bytes();
        let entries = [ibv_sge { addr: raw.as_ptr() as u64, length: MESSAGE_SIZE as u32, lkey: 0 }];
        let message = SendRequest {
            entries: (&entries).into(),
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

/// A request that fails completes even if unsignaled: with nothing to give back.
fn id_of(wr_id: Option<WrId>) -> u64 {
    wr_id.unwrap_or(WrId::Data(Share::default())).encode()
}

/// Only what has something to give back is signaled.
fn signaled(wr_id: Option<WrId>) -> u32 {
    if wr_id.is_some() { SIGNALED } else { 0 }
}

const EMPTY: ibv_sge = ibv_sge { addr: 0, length: 0, lkey: 0 };
