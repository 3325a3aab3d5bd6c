// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The device side of a datagram rsocket at one local address: a UD queue pair with slots to send
//! from and to receive into. Sends complete in a queue of their own, so that a thread that waits
//! for a datagram is not woken by what it sent itself.
//!
//! # Safety
//! Posts work on regions that are dropped after the queue pair.
#![allow(unsafe_code)]

use super::ancillary::{self, ROUTE_HEADER};
use super::devices::{self, DeviceId};
use super::packet::SLOT;
use super::slots::Slots;
use crate::cm::qp;
use crate::rsocket::wait::cq_notify::NotifyState;
use crate::types::{RDMA_UDP_QKEY, SocketAddress};
use crate::verbs::{
    AddressHandle, Completion, CompletionQueue, ProtectionDomain, QueuePair, Remote, Room,
    SendRequest,
};
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;
use base::memory::try_reserve;
use core::mem::MaybeUninit;
use rdma_sys::{ibv_qp_init_attr, ibv_qp_type, ibv_wc_status, ibv_wr_opcode};

const STRIDE: usize = (SLOT + ROUTE_HEADER).next_multiple_of(64);
const BATCH: usize = 16;

/// Slots that a port begins with, to send from and to receive into. It gets more with use: as many
/// as a kernel's socket would hold small datagrams are there at once.
const FIRST_SENDS: u32 = 64;
const FIRST_RECEIVES: u32 = 256;

/// A received datagram that is still in its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivedSlot {
    pub(super) slot: u32,
    pub(super) length: usize,
}

/// See the module text.
pub(super) struct Port {
    queue_pair: QueuePair,
    // Its events come by the channel of `receives`, which is dropped after it.
    sends: Completions,
    receives: Completions,
    /// Of both queues.
    event_fd: RawFd,
    receive: Slots,
    send: Slots,
    /// Slots with datagrams that are not read yet.
    held: u32,
    local: SocketAddress,
    /// Of its interface; 0 until somebody asks.
    interface: u32,
    /// Header and data together are not longer than this.
    longest: usize,
    free: Vec<u32>,
    /// Handles of sends that have not completed.
    in_use: Vec<Option<Arc<AddressHandle>>>,
    // The last to go: it keeps the device and its domain.
    id: DeviceId,
}

impl Port {
    /// ENODEV where the address belongs to no device.
    /// For the socket of a descriptor.
    pub(super) fn open(
        local: &SocketAddress,
        (to_send, to_receive): (u32, u32),
        socket: RawFd,
    ) -> Result<Port> {
        let id = DeviceId::new(socket)?;
        id.bind_anywhere(local)?;
        let context = id.context().map_err(|_| Errno::ENODEV)?;
        let domain = id.domain()?;
        let mtu = context.query_port(id.port_num())?.active_mtu;
        let receive = Slots::new(STRIDE, FIRST_RECEIVES, to_receive);
        let send = Slots::new(SLOT, FIRST_SENDS, to_send);
        let receives = CompletionQueue::create(context, to_receive, core::ptr::null_mut())?;
        let event_fd = receives.event_fd()?;
        // In this order: what fails from here on ends `sends` before the channel of both.
        let receives = Completions::of(receives);
        let sends = CompletionQueue::create_beside(&receives.queue, context, to_send)?;
        let sends = Completions::of(sends);
        // SAFETY: pointers and integers: valid when zero.
        let mut attr: ibv_qp_init_attr = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.send_cq = sends.queue.as_ptr();
        attr.recv_cq = receives.queue.as_ptr();
        attr.qp_type = ibv_qp_type::IBV_QPT_UD;
        attr.sq_sig_all = 1;
        attr.cap.max_send_wr = to_send;
        attr.cap.max_recv_wr = to_receive;
        attr.cap.max_send_sge = 1;
        attr.cap.max_recv_sge = 1;
        // SAFETY: live queues of the id's device and its domain.
        unsafe { qp::create(&id, domain.as_ptr(), &mut attr) }?;
        let queue_pair =
            id.queue_pair().map(|pinned| *pinned).ok_or_else(|| id.without_queue_pair())?;
        let mut port = Port {
            queue_pair,
            sends,
            receives,
            event_fd,
            receive,
            send,
            held: 0,
            local: *local,
            interface: 0,
            // Sizes of the enumeration: 1 is 256 bytes, each next one twice as much.
            longest: SLOT.min(128 << mtu.min(5)),
            free: Vec::new(),
            in_use: Vec::new(),
            id,
        };
        port.grow_receives()?;
        port.grow_sends()?;
        Ok(port)
    }

    /// Twice as many slots to receive into, or as many as there may be.
    fn grow_receives(&mut self) -> Result<()> {
        for slot in self.receive.grow(self.id.domain()?)? {
            self.post_receive(slot)?;
        }
        Ok(())
    }

    /// As `grow_receives`, to send from.
    fn grow_sends(&mut self) -> Result<()> {
        let most = self.send.after_growth() as usize;
        let (free, all) = (self.free.len(), self.in_use.len());
        try_reserve(&mut self.free, most.saturating_sub(free))?;
        try_reserve(&mut self.in_use, most.saturating_sub(all))?;
        let fresh = self.send.grow(self.id.domain()?)?;
        self.in_use.extend(fresh.clone().map(|_| None));
        self.free.extend(fresh);
        Ok(())
    }

    /// Whether its id has that name.
    pub(super) fn is_of(&self, id: usize) -> bool {
        devices::name_of(&self.id) == id
    }

    pub(super) fn domain(&self) -> Result<ProtectionDomain> {
        self.id.domain()
    }

    pub(super) fn number(&self) -> u32 {
        self.queue_pair.number()
    }

    pub(super) fn local(&self) -> &SocketAddress {
        &self.local
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn event_fd(&self) -> RawFd {
        self.event_fd
    }

    pub(super) fn has_free_slot(&self) -> bool {
        !self.free.is_empty() || self.send.may_grow()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.free.len() == self.in_use.len()
    }

    /// Takes what has completed; `arrived` gets each datagram with its first bytes, and returns
    /// whether it keeps the slot.
    pub(super) fn progress(&mut self, mut arrived: impl FnMut(ReceivedSlot, &[u8; 64]) -> bool) {
        let Port { sends, in_use, free, .. } = self;
        let left = sends.drain(|completion| {
            let slot = completion.id as u32;
            if let Some(handle) = in_use.get_mut(slot as usize) {
                *handle = None;
                free.push(slot);
            }
        });
        if left > 0 {
            sends.notify.expect_event();
        }
        let mut kept = 0;
        let came = self.receives.drain(|completion| kept += self.arrived(completion, &mut arrived));
        if came > 0 {
            self.receives.notify.expect_event();
        }
        self.held += kept;
        let is_short = came.max(self.held) >= self.receive.count / 2;
        if came > 0 && is_short && self.receive.may_grow() {
            // Without memory it does with what there is.
            let _ = self.grow_receives();
        }
    }

    /// How many slots are kept: one, or none.
    fn arrived(
        &self,
        completion: &Completion,
        arrived: &mut impl FnMut(ReceivedSlot, &[u8; 64]) -> bool,
    ) -> u32 {
        let slot = completion.id as u32;
        let good = completion.status == ibv_wc_status::IBV_WC_SUCCESS;
        match (completion.length as usize).checked_sub(ROUTE_HEADER) {
            Some(length) if good && length <= SLOT => {
                let start = self.receive.read(slot, ROUTE_HEADER);
                if arrived(ReceivedSlot { slot, length }, &start) {
                    return 1;
                }
                self.recycle(slot);
            }
            _ if good => self.recycle(slot),
            // Flushed: the queue pair is at its end.
            _ => {}
        }
        0
    }

    /// Bytes of a datagram behind its header.
    pub(super) fn data(&self, received: ReceivedSlot, skip: usize) -> *const u8 {
        let length = received.length.saturating_sub(skip);
        self.receive.pointer(received.slot, ROUTE_HEADER + skip, length)
    }

    /// The route header that the device has stored before a datagram.
    pub(super) fn route_header(&self, received: ReceivedSlot) -> [u8; ROUTE_HEADER] {
        self.receive.read(received.slot, 0)
    }

    /// The index of the local address's interface.
    pub(super) fn interface(&mut self) -> u32 {
        if self.interface == 0 {
            self.interface = ancillary::interface_of(&self.local);
        }
        self.interface
    }

    /// A datagram was read: its slot goes back to the device.
    pub(super) fn release(&mut self, slot: u32) {
        self.held = self.held.saturating_sub(1);
        self.recycle(slot);
    }

    fn recycle(&self, slot: u32) {
        // A queue pair that takes no more receives has no use for the slot.
        let _ = self.post_receive(slot);
    }

    fn post_receive(&self, slot: u32) -> Result<()> {
        let length = (SLOT + ROUTE_HEADER) as u32;
        let entries = [self.receive.entry(slot, length).ok_or_else(|| outside(slot))?];
        // SAFETY: a slot of a region.
        unsafe { self.queue_pair.post_receive(u64::from(slot), (&entries).into()) }
    }

    /// Sends one datagram; `fill` writes it, header and all, to the slot.
    pub(super) fn send(
        &mut self,
        length: usize,
        handle: &Arc<AddressHandle>,
        number: u32,
        fill: impl FnOnce(*mut u8),
    ) -> Result<()> {
        if self.free.is_empty() && self.send.may_grow() {
            // Without memory it waits for what is sent.
            let _ = self.grow_sends();
        }
        let slot = self.free.pop().ok_or(Errno::EAGAIN)?;
        let Some(entry) = self.send.entry(slot, length as u32) else { return Err(outside(slot)) };
        fill(self.send.pointer(slot, 0, length));
        let entries = [entry];
        let work = SendRequest {
            wr_id: slot.into(),
            entries: (&entries).into(),
            opcode: ibv_wr_opcode::IBV_WR_SEND,
            flags: 0,
            immediate: 0,
            remote: Remote::Datagram { handle: handle.as_ptr(), number, key: RDMA_UDP_QKEY },
        };
        // SAFETY: a slot of the region; the handle is kept until the completion.
        let posted = unsafe { self.queue_pair.post_send(&work) };
        match posted {
            Ok(()) => self.in_use[slot as usize] = Some(Arc::clone(handle)),
            Err(_) => self.free.push(slot),
        }
        posted
    }

    /// Requests an event with the next receive; with the next send only where somebody may wait for
    /// that.
    pub(super) fn arm(&mut self, is_closing: bool) -> Result<()> {
        if is_closing || !self.has_free_slot() {
            self.sends.arm()?;
        }
        self.receives.arm()
    }

    /// Takes the events of both queues. False where there was none.
    pub(super) fn take_event(&mut self) -> bool {
        let mut any = false;
        while self.sends.notify.is_armed() || self.receives.notify.is_armed() {
            match self.receives.queue.take_event_of_two() {
                Ok(true) => self.receives.notify.taken(),
                Ok(false) => self.sends.notify.taken(),
                Err(_) => break,
            }
            any = true;
        }
        self.sends.notify.missed();
        self.receives.notify.missed();
        any
    }

    pub(super) fn take_due(&mut self) -> bool {
        (self.sends.notify.is_due() || self.receives.notify.is_due()) && self.take_event()
    }

    pub(super) fn expect_event(&mut self) {
        self.sends.notify.expect_event();
        self.receives.notify.expect_event();
    }
}

/// A completion queue and its events.
struct Completions {
    queue: CompletionQueue,
    notify: NotifyState,
}

impl Completions {
    fn of(queue: CompletionQueue) -> Completions {
        Completions { queue, notify: NotifyState::default() }
    }

    /// How many there were.
    fn drain(&self, mut each: impl FnMut(&Completion)) -> u32 {
        let mut count = 0;
        let mut room = Room::<BATCH>::new();
        while let Ok(found) = self.queue.poll(&mut room) {
            count += found.len() as u32;
            found.completions().for_each(|completion| each(&completion));
            if found.len() < BATCH {
                break;
            }
        }
        count
    }

    fn arm(&mut self) -> Result<()> {
        self.notify.arm(&self.queue)
    }
}

#[cold]
fn outside(slot: u32) -> Errno {
    fail!(EINVAL, "slot {slot} of a datagram is outside its memory")
}

impl Drop for Port {
    fn drop(&mut self) {
        // Before the queue and the regions.
        let _ = qp::destroy(&self.id);
    }
}
