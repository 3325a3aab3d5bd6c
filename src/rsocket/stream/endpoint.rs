// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The queue pair of a stream, its completion queue and its registered memory.
//!
//! # Safety
//! Posts work on regions that are given up after the queue pair. Inline data is read before a post
//! returns. What is given up is taken out of the endpoint once, when it is dropped.
#![allow(unsafe_code)]

use super::options::StreamOptions;
use crate::cm::id::Id;
use crate::cm::qp;
use crate::device::{Binding, Device};
use crate::rsocket::config;
use crate::rsocket::flow::{CONTROL, Sizes, WrId, small_ring};
use crate::rsocket::memory::region::Region;
use crate::rsocket::pool;
use crate::rsocket::wait::event_queue::EventQueue;
use crate::rsocket::wire::{
    ConnectionData, IOMAP_ENTRY_SIZE, IomapEntry, REMOTE_SGL_ENTRIES, SEGMENT_SIZE, Segment,
};
use crate::verbs::{OwnedDomain, QueuePair, REMOTE_WRITE};
use base::arc::Arc;
use base::errno::Result;
use base::fail;
use base::fd::RawFd;
use core::mem::{ManuallyDrop, MaybeUninit};
use rdma_sys::ibv_qp_init_attr;

/// Bytes of a message where it travels as data.
pub(super) const MESSAGE_SIZE: usize = 4;
const REMOTE_SGL_SIZE: usize = REMOTE_SGL_ENTRIES as usize * SEGMENT_SIZE;

/// See the module text.
pub(super) struct Endpoint {
    id: &'static Id,
    pub(super) queue_pair: QueuePair,
    pub(super) queue: ManuallyDrop<EventQueue>,
    /// Written by the peer: scatter list, iomap table, receive buffer.
    pub(super) receive: ManuallyDrop<Region>,
    pub(super) receive_at: usize,
    /// Small send ring, entries in flight, slots for messages that travel as data.
    pub(super) send: ManuallyDrop<Region>,
    /// The large send ring, while it is in use.
    large_send: Option<Region>,
    /// Of the ring that is sent from.
    send_size: u32,
    pub(super) entries_at: usize,
    messages_at: usize,
    pub(super) sizes: Sizes,
    pub(super) inline: u32,
    pub(super) next_entry: usize,
    pub(super) peer_swapped: bool,
    pub(super) remote_sgl: Segment,
    peer_iomap_size: u16,
    /// Where the connection does not share the device's. Dropped after what is in it.
    own_domain: Option<Arc<OwnedDomain>>,
}

/// The sizes that were requested, within the limits of the device.
fn settle(device: &Device, options: &StreamOptions) -> Result<Sizes> {
    let most = device.max_work_requests().clamp(1, 0xFFFE);
    let completions = device.max_completions();
    let (mut send_queue, mut receive_queue) =
        (options.send_queue.min(most), options.receive_queue.min(most));
    if send_queue + receive_queue > completions {
        send_queue = send_queue.min(completions / 2);
        receive_queue = receive_queue.min(completions / 2);
    }
    if send_queue <= CONTROL + 2 || receive_queue < 2 {
        return Err(fail!(
            ENOMEM,
            "the device takes {most} work requests and {completions} completions, too few for an rsocket"
        ));
    }
    Ok(Sizes {
        receive_buffer: options.receive_buffer & !1,
        send_buffer: options.send_buffer,
        send_queue,
        receive_queue,
        iomap: options.iomap_size,
        split: device.context()?.is_iwarp(),
    })
}

/// To send from: in the connection's own domain, or in the device's, where another one may have had it.
fn send_region(id: &Id, own_domain: Option<&OwnedDomain>, length: usize) -> Result<Region> {
    match own_domain {
        Some(own) => pool::region_in(own.get(), length),
        None => pool::send_region(&id.device()?, id.domain()?, length),
    }
}

impl Endpoint {
    /// Makes everything for an id that is bound to a device, and posts the receives.
    pub(super) fn create(id: &'static Id, options: &StreamOptions) -> Result<Endpoint> {
        pool::or_with_less(|| Endpoint::try_create(id, options))
    }

    fn try_create(id: &'static Id, options: &StreamOptions) -> Result<Endpoint> {
        let device = id.device()?;
        let sizes = settle(&device, options)?;
        let shared_domain = id.domain()?;
        let own_domain = match config::get().own_domains {
            true => Some(Arc::try_new(OwnedDomain::alloc(device.context()?)?)?),
            false => None,
        };
        let domain = own_domain.as_ref().map_or(shared_domain, |own| own.get());
        let receive_at = REMOTE_SGL_SIZE + usize::from(sizes.iomap) * IOMAP_ENTRY_SIZE;
        let receive_at = receive_at.next_multiple_of(64);
        let receive_length = receive_at + sizes.receive_buffer as usize;
        let send_size = small_ring(sizes.send_buffer);
        let entries_at = (send_size as usize).next_multiple_of(64);
        let messages_at = entries_at + CONTROL as usize * SEGMENT_SIZE;
        let slots = if sizes.split { sizes.receive_queue as usize * MESSAGE_SIZE } else { 0 };
        // A key that no earlier peer has heard of.
        let receive = Region::register(domain, pool::pages(receive_length)?, REMOTE_WRITE)?;
        let send = send_region(id, own_domain.as_deref(), messages_at + slots)?;
        let queue = pool::event_queue(&device, sizes.send_queue + sizes.receive_queue)?;
        // SAFETY: pointers and integers: valid when zero.
        let mut attr: ibv_qp_init_attr = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.send_cq = queue.queue().as_ptr();
        attr.recv_cq = queue.queue().as_ptr();
        attr.qp_type = id.qp_type();
        attr.cap.max_send_wr = sizes.send_queue;
        attr.cap.max_recv_wr = sizes.receive_queue;
        attr.cap.max_send_sge = 2;
        attr.cap.max_recv_sge = 1;
        attr.cap.max_inline_data =
            options.inline.max(if sizes.split { MESSAGE_SIZE as u32 } else { 0 });
        id.with(|state| state.peer_only_writes = true);
        // SAFETY: live queues of the id's device and its domain.
        let created = unsafe { qp::create(id, domain.as_ptr(), &mut attr) };
        // The id keeps the device's, which outlives the connection.
        id.public(|public| public.pd = shared_domain.as_ptr());
        created?;
        let Some(queue_pair) = id.queue_pair().map(|pinned| *pinned) else {
            return Err(id.without_queue_pair());
        };
        let endpoint = Endpoint {
            id,
            queue_pair,
            queue: ManuallyDrop::new(queue),
            receive: ManuallyDrop::new(receive),
            receive_at,
            send: ManuallyDrop::new(send),
            large_send: None,
            send_size,
            entries_at,
            messages_at,
            sizes,
            inline: attr.cap.max_inline_data,
            next_entry: 0,
            peer_swapped: false,
            remote_sgl: Segment::default(),
            peer_iomap_size: 0,
            own_domain,
        };
        if sizes.split && endpoint.inline < MESSAGE_SIZE as u32 {
            return Err(fail!(
                EOPNOTSUPP,
                *id,
                "the iWARP device sends {} bytes inline, rsockets need {MESSAGE_SIZE}",
                endpoint.inline
            ));
        }
        for slot in 0..sizes.receive_queue {
            endpoint.post_receive(slot)?;
        }
        Ok(endpoint)
    }

    pub(super) fn id(&self) -> &'static Id {
        self.id
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    pub(super) fn inline(&self) -> u32 {
        self.inline
    }

    /// Of the connection manager's events.
    pub(super) fn fd(&self) -> Result<RawFd> {
        self.id.fd()
    }

    pub(super) fn registered(&self) -> usize {
        let large = self.large_send.as_ref().map_or(0, Region::length);
        self.receive.length() + self.send.length() + large
    }

    pub(super) fn peer_iomap_size(&self) -> u16 {
        self.peer_iomap_size
    }

    /// The private data of connect or accept.
    pub(super) fn connection_data(&self) -> ConnectionData {
        let key = self.receive.remote_key();
        ConnectionData {
            big_endian: cfg!(target_endian = "big"),
            credits: self.sizes.receive_queue as u16,
            iomap_size: self.sizes.iomap,
            remote_sgl: Segment {
                address: self.receive.address(0),
                key,
                length: REMOTE_SGL_ENTRIES,
            },
            first: Segment {
                address: self.receive.address(self.receive_at),
                key,
                length: self.sizes.receive_buffer,
            },
        }
    }

    pub(super) fn connect(&mut self, peer: &ConnectionData) {
        self.peer_swapped = peer.big_endian != cfg!(target_endian = "big");
        self.remote_sgl = peer.remote_sgl;
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
        unsafe { self.queue_pair.post_receive(WrId::Receive(slot).encode(), (&[]).into()) }
    }

    #[inline(never)]
    fn post_slot(&self, slot: u32) -> Result<()> {
        let entries = [self.send.entry(self.message_at(slot), MESSAGE_SIZE as u32)];
        // SAFETY: a slot of the send region.
        unsafe { self.queue_pair.post_receive(WrId::Receive(slot).encode(), (&entries).into()) }
    }

    fn message_at(&self, slot: u32) -> usize {
        self.messages_at + slot as usize * MESSAGE_SIZE
    }

    /// The message that a receive without immediate data has brought.
    #[inline(never)]
    pub(super) fn message_in(&self, slot: u32, length: u32) -> Option<u32> {
        let whole =
            self.sizes.split && length as usize == MESSAGE_SIZE && slot < self.sizes.receive_queue;
        whole.then(|| {
            let raw = u32::from_ne_bytes(self.send.read(self.message_at(slot)));
            if self.peer_swapped { raw.swap_bytes() } else { raw }
        })
    }

    /// The entry at an index of our scatter list, which is then free for the peer's next one.
    pub(super) fn take_segment(&self, index: u32) -> Option<Segment> {
        let at = index as usize * SEGMENT_SIZE;
        let entry = Segment::from_bytes(self.receive.read(at));
        if entry.length == 0 {
            return None;
        }
        self.receive.write(at, &[0; SEGMENT_SIZE]);
        Some(entry)
    }

    /// An entry of our iomap table, as the peer wrote it.
    pub(super) fn iomap_entry(&self, index: u16) -> IomapEntry {
        let at = REMOTE_SGL_SIZE + usize::from(index) * IOMAP_ENTRY_SIZE;
        IomapEntry::from_bytes(self.receive.read(at))
    }

    /// Received bytes, for copying.
    pub(super) fn received(&self, at: u32, length: u32) -> *const u8 {
        self.receive.pointer(self.receive_at + at as usize, length as usize)
    }

    /// What is sent from.
    #[inline]
    pub(super) fn send_ring(&self) -> &Region {
        self.large_send.as_ref().unwrap_or(&self.send)
    }

    /// Part of the send ring, for filling.
    pub(super) fn sending(&self, at: u32, length: u32) -> *mut u8 {
        self.send_ring().pointer(at as usize, length as usize)
    }

    /// Makes the large send ring.
    pub(super) fn grow(&mut self) -> Result<()> {
        let length = self.sizes.send_buffer as usize;
        self.large_send = Some(send_region(self.id, self.own_domain.as_deref(), length)?);
        self.send_size = self.sizes.send_buffer;
        Ok(())
    }

    /// Nothing of the large send ring is in flight.
    pub(super) fn shrink(&mut self) {
        self.send_size = small_ring(self.sizes.send_buffer);
        let (region, device) = (self.large_send.take(), self.id.device());
        if let (Some(region), Ok(binding)) = (region, device.and_then(Binding::new)) {
            self.keep_send_region(region, binding);
        }
    }

    /// A region of the device's domain may be another connection's next.
    fn keep_send_region(&self, region: Region, binding: Binding) {
        if self.own_domain.is_none() {
            pool::keep_send_region(region, binding);
        }
    }

    pub(super) fn own_domain(&self) -> Option<Arc<OwnedDomain>> {
        self.own_domain.clone()
    }

    /// Pieces of the send ring that hold `length` bytes from `at` on, around its end.
    pub(super) fn around(&self, at: u32, length: u32) -> [(u32, u32); 2] {
        let first = length.min(self.send_size - at);
        [(at, first), (0, length - first)]
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // Before the queue and the regions.
        let ended = qp::destroy(self.id);
        // SAFETY: taken once, and not used after this.
        let (queue, receive, send) = unsafe {
            let queue = ManuallyDrop::take(&mut self.queue);
            let receive = ManuallyDrop::take(&mut self.receive);
            (queue, receive, ManuallyDrop::take(&mut self.send))
        };
        let binding = || Binding::new(self.id.device()?);
        // What a queue pair may still use is nobody else's.
        if let (Ok(()), Ok(first), Ok(second)) = (ended, binding(), binding()) {
            pool::keep_event_queue(queue, first);
            self.keep_send_region(send, second);
            if let Ok(pages) = receive.into_pages() {
                pool::keep_pages(pages);
            }
            self.shrink();
        }
    }
}
