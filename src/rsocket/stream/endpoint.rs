//! The queue pair of a stream, its completion queue and its registered memory.
//!
//! # Safety
//! Posts work on regions that are dropped after the queue pair. Inline data is read before a post
//! returns.
#![allow(unsafe_code)]

mod post;

use super::options::Options;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::qp;
use crate::rsocket::flow::{CONTROL, Sizes, Tag};
use crate::rsocket::region::Region;
use crate::rsocket::wire::{ConnectionData, IOMAP_ENTRY, IomapEntry, SEGMENT, Segment, TARGETS};
use crate::verbs::{CompletionQueue, QueuePair};
use crate::verbs_ext::{LOCAL, REMOTE_WRITE};
use rdma_sys::ibv_qp_init_attr;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

/// Bytes of a message where it travels as data.
const MESSAGE: usize = 4;
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

    #[inline]
    pub(super) fn post_receive(&self, slot: u32) -> Result<()> {
        if self.sizes.split {
            return self.post_slot(slot);
        }
        // SAFETY: no memory.
        unsafe { self.queue_pair.post_receive(Tag::Receive(slot).encode(), &[]) }
    }

    #[inline(never)]
    fn post_slot(&self, slot: u32) -> Result<()> {
        let entries = [self.send.entry(self.message_at(slot), MESSAGE as u32)];
        // SAFETY: a slot of the send region.
        unsafe { self.queue_pair.post_receive(Tag::Receive(slot).encode(), &entries) }
    }

    fn message_at(&self, slot: u32) -> usize {
        self.messages_at + slot as usize * MESSAGE
    }

    /// The message that a receive without immediate data has brought.
    #[inline(never)]
    pub(super) fn message_in(&self, slot: u32, length: u32) -> Option<u32> {
        let whole =
            self.sizes.split && length as usize == MESSAGE && slot < self.sizes.receive_queue;
        whole.then(|| {
            let raw = u32::from_ne_bytes(self.send.read(self.message_at(slot)));
            if self.peer_swapped { raw.swap_bytes() } else { raw }
        })
    }

    /// The entry at a place of our target list, which is then free for the peer's next one.
    pub(super) fn take_target(&self, place: u32) -> Option<Segment> {
        let at = place as usize * SEGMENT;
        let entry = Segment::from_entry(&self.receive.read(at));
        if entry.length == 0 {
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
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // Before the queue and the regions.
        qp::destroy(self.id);
    }
}
