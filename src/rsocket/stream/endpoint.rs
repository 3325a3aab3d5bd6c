//! The queue pair of a stream, its completion queue and its registered memory.
//!
//! # Safety
//! Posts work on regions that are dropped after the queue pair. Inline data is read before a post
//! returns.
#![allow(unsafe_code)]

use super::options::Options;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::qp;
use crate::rsocket::flow::{CONTROL, Grant, Sizes, Tag, Transfer};
use crate::rsocket::region::Region;
use crate::rsocket::wire::{
    ConnectionData, IOMAP_ENTRY, IomapEntry, Message, SEGMENT, Segment, TARGETS,
};
use crate::verbs::{Completion, CompletionQueue, QueuePair, Remote, Work};
use crate::verbs_ext::{LOCAL, REMOTE_WRITE};
use rdma_sys::{ibv_qp_init_attr, ibv_send_flags, ibv_sge, ibv_wr_opcode};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

/// Bytes of a message where it travels as data.
const MESSAGE: usize = 4;
const INLINE: u32 = ibv_send_flags::IBV_SEND_INLINE.0;
const TARGET_LIST: usize = TARGETS as usize * SEGMENT;

/// See the module text.
pub(super) struct Endpoint {
    id: &'static Id,
    queue_pair: QueuePair,
    queue: CompletionQueue,
    event_fd: RawFd,
    /// Written by the peer: target list, iomap table, receive buffer.
    receive: Region,
    receive_at: usize,
    /// Send buffer, entries on their way, slots for messages that travel as data.
    send: Region,
    entries_at: usize,
    messages_at: usize,
    sizes: Sizes,
    inline: u32,
    next_entry: usize,
    peer_swapped: bool,
    peer_targets: Segment,
    peer_iomap_size: u16,
}

/// Limits of the device, applied to what was asked for.
fn settle(id: &Id, options: &Options) -> Result<Sizes> {
    let context = id.context()?;
    let device = context.query_device()?;
    let most = u32::try_from(device.max_qp_wr).unwrap_or(0).clamp(1, 0xFFFE);
    let completions = u32::try_from(device.max_cqe).unwrap_or(0);
    let (mut send_queue, mut receive_queue) =
        (options.send_queue.min(most), options.receive_queue.min(most));
    if send_queue + receive_queue > completions {
        send_queue = send_queue.min(completions / 2);
        receive_queue = receive_queue.min(completions / 2);
    }
    if send_queue <= CONTROL + 2 || receive_queue < 2 {
        return Err(Errno::ENOMEM);
    }
    Ok(Sizes {
        receive_buffer: options.receive_buffer & !1,
        send_buffer: options.send_buffer,
        send_queue,
        receive_queue,
        iomap: options.iomap_size,
        split: context.is_iwarp(),
    })
}

impl Endpoint {
    /// Makes everything for an id that is bound to a device, and posts the receives.
    pub(super) fn create(id: &'static Id, options: &Options) -> Result<Endpoint> {
        let sizes = settle(id, options)?;
        let domain = id.domain()?;
        let receive_at = TARGET_LIST + usize::from(sizes.iomap) * IOMAP_ENTRY;
        let receive_at = receive_at.next_multiple_of(64);
        let receive_length = receive_at + sizes.receive_buffer as usize;
        let entries_at = (sizes.send_buffer as usize).next_multiple_of(64);
        let messages_at = entries_at + CONTROL as usize * SEGMENT;
        let slots = if sizes.split { sizes.receive_queue as usize * MESSAGE } else { 0 };
        let receive = Region::map(domain, receive_length, REMOTE_WRITE)?;
        let send = Region::map(domain, messages_at + slots, LOCAL)?;
        let queue = CompletionQueue::create(
            id.context()?,
            sizes.send_queue + sizes.receive_queue,
            std::ptr::null_mut(),
        )?;
        let event_fd = queue.event_fd()?;
        // SAFETY: pointers and integers: valid when zero.
        let mut attr: ibv_qp_init_attr = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.send_cq = queue.as_ptr();
        attr.recv_cq = queue.as_ptr();
        attr.qp_type = id.qp_type();
        attr.sq_sig_all = 1;
        attr.cap.max_send_wr = sizes.send_queue;
        attr.cap.max_recv_wr = sizes.receive_queue;
        attr.cap.max_send_sge = 2;
        attr.cap.max_recv_sge = 1;
        attr.cap.max_inline_data = options.inline.max(if sizes.split { MESSAGE as u32 } else { 0 });
        // SAFETY: live queues of the id's device and its domain.
        unsafe { qp::create(id, domain.as_ptr(), &mut attr) }?;
        let Some(queue_pair) = id.queue_pair().map(|pinned| *pinned) else {
            return Err(Errno::EINVAL);
        };
        let endpoint = Endpoint {
            id,
            queue_pair,
            queue,
            event_fd,
            receive,
            receive_at,
            send,
            entries_at,
            messages_at,
            sizes,
            inline: attr.cap.max_inline_data,
            next_entry: 0,
            peer_swapped: false,
            peer_targets: Segment::default(),
            peer_iomap_size: 0,
        };
        if sizes.split && endpoint.inline < MESSAGE as u32 {
            return Err(Errno::EOPNOTSUPP);
        }
        for slot in 0..sizes.receive_queue {
            endpoint.post_receive(slot)?;
        }
        Ok(endpoint)
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    pub(super) fn inline(&self) -> u32 {
        self.inline
    }

    pub(super) fn event_fd(&self) -> RawFd {
        self.event_fd
    }

    pub(super) fn queue(&self) -> &CompletionQueue {
        &self.queue
    }

    pub(super) fn peer_iomap_size(&self) -> u16 {
        self.peer_iomap_size
    }

    /// What to tell the peer in connect or accept.
    pub(super) fn connection_data(&self) -> ConnectionData {
        let key = self.receive.remote_key();
        ConnectionData {
            big_endian: cfg!(target_endian = "big"),
            credits: self.sizes.receive_queue as u16,
            iomap_size: self.sizes.iomap,
            targets: Segment { address: self.receive.address(0), key, length: TARGETS },
            first: Segment {
                address: self.receive.address(self.receive_at),
                key,
                length: self.sizes.receive_buffer / 2,
            },
        }
    }

    pub(super) fn connect(&mut self, peer: &ConnectionData) {
        self.peer_swapped = peer.big_endian != cfg!(target_endian = "big");
        self.peer_targets = peer.targets;
        self.peer_iomap_size = peer.iomap_size;
    }

    /// Puts the queue pair in the error state: the peer can reach the memory no more.
    pub(super) fn fail(&self) {
        // It may be in that state already.
        let _ = self.queue_pair.fail();
    }

    pub(super) fn post_receive(&self, slot: u32) -> Result<()> {
        let id = Tag::Receive(slot).encode();
        let slot = [self.send.entry(self.message_at(slot), MESSAGE as u32)];
        let entries = if self.sizes.split { &slot[..] } else { &[] };
        // SAFETY: a slot of the send region, or none.
        unsafe { self.queue_pair.post_receive(id, entries) }
    }

    fn message_at(&self, slot: u32) -> usize {
        if self.sizes.split { self.messages_at + slot as usize * MESSAGE } else { 0 }
    }

    /// The message of a receive that succeeded.
    pub(super) fn message_of(&self, completion: &Completion, slot: u32) -> Option<u32> {
        if completion.immediate.is_some() {
            return completion.immediate;
        }
        let whole = self.sizes.split
            && completion.length as usize == MESSAGE
            && slot < self.sizes.receive_queue;
        whole.then(|| {
            let raw = u32::from_ne_bytes(self.send.read(self.message_at(slot)));
            if self.peer_swapped { raw.swap_bytes() } else { raw }
        })
    }

    /// The entry at a place of our target list, which is then free for the peer's next one.
    pub(super) fn take_target(&self, place: u32) -> Option<Segment> {
        let at = place as usize * SEGMENT;
        let entry = Segment::from_entry(&self.receive.read(at));
        // A second look: an entry that is just being written is taken later.
        if entry.length == 0 || entry != Segment::from_entry(&self.receive.read(at)) {
            return None;
        }
        self.receive.write(at, &[0; SEGMENT]);
        Some(entry)
    }

    /// An entry of our iomap table, as the peer wrote it.
    pub(super) fn iomap_entry(&self, index: u16) -> IomapEntry {
        let at = TARGET_LIST + usize::from(index) * IOMAP_ENTRY;
        IomapEntry::from_bytes(&self.receive.read(at))
    }

    /// Received bytes, for copying.
    pub(super) fn received(&self, at: u32, length: u32) -> *const u8 {
        self.receive.pointer(self.receive_at + at as usize, length as usize)
    }

    /// Part of the send buffer, for filling.
    pub(super) fn sending(&self, at: u32, length: u32) -> *mut u8 {
        self.send.pointer(at as usize, length as usize)
    }

    /// Pieces of the send buffer that hold `length` bytes from `at` on, around its end.
    pub(super) fn around(&self, at: u32, length: u32) -> [(u32, u32); 2] {
        let first = length.min(self.sizes.send_buffer - at);
        [(at, first), (0, length - first)]
    }

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
    pub(super) fn post_data(&self, transfer: &Transfer, bytes: u32) -> Result<()> {
        let mut entries = [EMPTY; 2];
        let count = self.buffered(transfer.from, bytes, &mut entries);
        let place = (transfer.address, transfer.key);
        self.post(Message::Data(bytes), Tag::Data(bytes), &entries[..count], 0, place)
    }

    /// Sends bytes of the caller's as one data message, inline.
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    pub(super) unsafe fn post_inline(
        &self,
        transfer: &Transfer,
        from: *const u8,
        bytes: u32,
    ) -> Result<()> {
        let entries = [ibv_sge { addr: from as u64, length: bytes, lkey: 0 }];
        let place = (transfer.address, transfer.key);
        self.post(Message::Data(bytes), Tag::Data(0), &entries, INLINE, place)
    }

    /// Writes bytes of the send buffer to the peer's memory; the peer is not told.
    pub(super) fn post_direct(&self, from: u32, bytes: u32, address: u64, key: u32) -> Result<()> {
        let mut entries = [EMPTY; 2];
        let count = self.buffered(from, bytes, &mut entries);
        self.post_write(Tag::Data(bytes), &entries[..count], 0, (address, key))
    }

    pub(super) fn post_grant(&mut self, grant: &Grant) -> Result<()> {
        let message = Message::Credit(grant.limit);
        let Some((offset, place)) = grant.half else {
            return self.post_control(message);
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
        self.post(message, Tag::Control, &entries, flags, place)
    }

    pub(super) fn post_control(&self, message: Message) -> Result<()> {
        self.post(message, Tag::Control, &[], 0, (0, 0))
    }

    /// Writes an entry into the peer's iomap table, by way of the send buffer.
    pub(super) fn post_iomap(&self, from: u32, index: u16, entry: &IomapEntry) -> Result<()> {
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
            Tag::Data(IOMAP_ENTRY as u32),
            &entries[..count],
            0,
            (address, self.peer_targets.key),
        )
    }

    /// One message with its data: a write with immediate, or a write and then a send.
    fn post(
        &self,
        message: Message,
        tag: Tag,
        entries: &[ibv_sge],
        flags: u32,
        (address, key): (u64, u32),
    ) -> Result<()> {
        if !self.sizes.split {
            let work = Work {
                id: tag.encode(),
                entries,
                opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM,
                flags,
                immediate: message.encode(),
                remote: Remote::Memory { address, key },
            };
            // SAFETY: entries of the send region, or inline.
            return unsafe { self.queue_pair.post_send(&work) };
        }
        if !entries.is_empty() {
            self.post_write(tag, entries, flags, (address, key))?;
        }
        let raw = message.encode().to_ne_bytes();
        let entries = [ibv_sge { addr: raw.as_ptr() as u64, length: MESSAGE as u32, lkey: 0 }];
        let tag = if tag == Tag::Control { tag } else { Tag::Data(0) };
        let work = Work {
            id: tag.encode(),
            entries: &entries,
            opcode: ibv_wr_opcode::IBV_WR_SEND,
            flags: INLINE,
            immediate: 0,
            remote: Remote::Peer,
        };
        // SAFETY: inline.
        unsafe { self.queue_pair.post_send(&work) }
    }

    fn post_write(
        &self,
        tag: Tag,
        entries: &[ibv_sge],
        flags: u32,
        (address, key): (u64, u32),
    ) -> Result<()> {
        let work = Work {
            id: tag.encode(),
            entries,
            opcode: ibv_wr_opcode::IBV_WR_RDMA_WRITE,
            flags,
            immediate: 0,
            remote: Remote::Memory { address, key },
        };
        // SAFETY: entries of the send region, or inline.
        unsafe { self.queue_pair.post_send(&work) }
    }
}

const EMPTY: ibv_sge = ibv_sge { addr: 0, length: 0, lkey: 0 };

impl Drop for Endpoint {
    fn drop(&mut self) {
        // Before the queue and the regions.
        qp::destroy(self.id);
    }
}
