//! The device side of a datagram rsocket at one local address: a UD queue pair with slots to send from
//! and to receive into. Sends complete in a queue of their own, so that who waits for a datagram is not
//! woken by what it sent itself.
//!
//! # Safety
//! Posts work on regions that are dropped after the queue pair.
#![allow(unsafe_code)]

use super::packet::SLOT;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::memory::try_collect;
use crate::qp;
use crate::rsocket::armed::Armed;
use crate::rsocket::epoll::Epoll;
use crate::rsocket::owned_id::OwnedId;
use crate::rsocket::region::Region;
use crate::types::{RDMA_UDP_QKEY, SocketAddress};
use crate::verbs::{
    AddressHandle, Completion, CompletionQueue, Context, ProtectionDomain, QueuePair, Remote, Room,
    Work,
};
use crate::verbs_ext::LOCAL;
use rdma_sys::{ibv_qp_init_attr, ibv_qp_type, ibv_wc_status, ibv_wr_opcode};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

/// Room for the global routing header before each received datagram.
const ROUTE_HEADER: usize = 40;
const STRIDE: usize = (SLOT + ROUTE_HEADER).next_multiple_of(64);
const BATCH: usize = 16;

/// A received datagram that still lies in its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) slot: u32,
    pub(super) length: usize,
}

/// See the module text.
pub(super) struct Port {
    queue_pair: QueuePair,
    arrivals: Events,
    departures: Events,
    group: Epoll,
    receive: Region,
    send: Region,
    local: SocketAddress,
    /// Header and data together are not longer than this.
    longest: usize,
    free: Vec<u32>,
    /// Handles of datagrams on their way.
    in_use: Vec<Option<Counted<AddressHandle>>>,
    // The last to go: it keeps the device and its domain.
    id: OwnedId,
}

impl Port {
    /// ENODEV where the address belongs to no device.
    pub(super) fn open(local: &SocketAddress, (to_send, to_receive): (u32, u32)) -> Result<Port> {
        let id = OwnedId::for_datagrams()?;
        id.bind_anywhere(local)?;
        let context = id.context().map_err(|_| Errno::ENODEV)?;
        let domain = id.domain()?;
        let mtu = context.query_port(id.port_num())?.active_mtu;
        let receive = Region::map(domain, to_receive as usize * STRIDE, LOCAL)?;
        let send = Region::map(domain, to_send as usize * SLOT, LOCAL)?;
        let arrivals = Events::create(context, to_receive)?;
        let departures = Events::create(context, to_send)?;
        let free = try_collect(0..to_send)?.into_vec();
        let in_use = try_collect((0..to_send).map(|_| None))?.into_vec();
        let group = Epoll::group([arrivals.fd, departures.fd].into_iter())?;
        // SAFETY: pointers and integers: valid when zero.
        let mut attr: ibv_qp_init_attr = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.send_cq = departures.queue.as_ptr();
        attr.recv_cq = arrivals.queue.as_ptr();
        attr.qp_type = ibv_qp_type::IBV_QPT_UD;
        attr.sq_sig_all = 1;
        attr.cap.max_send_wr = to_send;
        attr.cap.max_recv_wr = to_receive;
        attr.cap.max_send_sge = 1;
        attr.cap.max_recv_sge = 1;
        // SAFETY: live queues of the id's device and its domain.
        unsafe { qp::create(&id, domain.as_ptr(), &mut attr) }?;
        let queue_pair = id.queue_pair().map(|pinned| *pinned).ok_or(Errno::EINVAL)?;
        let port = Port {
            queue_pair,
            arrivals,
            departures,
            group,
            receive,
            send,
            local: *local,
            // Sizes of the enumeration: 1 is 256 bytes, each next one twice as much.
            longest: SLOT.min(128 << mtu.min(5)),
            free,
            in_use,
            id,
        };
        for slot in 0..to_receive {
            port.post_receive(slot)?;
        }
        Ok(port)
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
        self.group.fd()
    }

    pub(super) fn has_free_slot(&self) -> bool {
        !self.free.is_empty()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.free.len() == self.in_use.len()
    }

    /// Takes what has completed; `arrived` gets each datagram with its first bytes, and says whether it
    /// keeps the slot.
    pub(super) fn progress(&mut self, mut arrived: impl FnMut(Arrival, &[u8; 64]) -> bool) {
        let Port { departures, in_use, free, .. } = self;
        let has_left = departures.drain(|completion| {
            let slot = completion.id as u32;
            if let Some(handle) = in_use.get_mut(slot as usize) {
                *handle = None;
                free.push(slot);
            }
        });
        if has_left {
            departures.armed.expect_event();
        }
        if self.arrivals.drain(|completion| self.arrived(completion, &mut arrived)) {
            self.arrivals.armed.expect_event();
        }
    }

    fn arrived(
        &self,
        completion: &Completion,
        arrived: &mut impl FnMut(Arrival, &[u8; 64]) -> bool,
    ) {
        let slot = completion.id as u32;
        let good = completion.status == ibv_wc_status::IBV_WC_SUCCESS;
        match (completion.length as usize).checked_sub(ROUTE_HEADER) {
            Some(length) if good && length <= SLOT => {
                let start = self.receive.read(slot as usize * STRIDE + ROUTE_HEADER);
                if !arrived(Arrival { slot, length }, &start) {
                    self.release(slot);
                }
            }
            _ if good => self.release(slot),
            // Flushed: the queue pair is at its end.
            _ => {}
        }
    }

    /// Bytes of a datagram behind its header.
    pub(super) fn data(&self, arrival: Arrival, skip: usize) -> *const u8 {
        let at = arrival.slot as usize * STRIDE + ROUTE_HEADER + skip;
        self.receive.pointer(at, arrival.length.saturating_sub(skip))
    }

    /// Gives a slot back to the device.
    pub(super) fn release(&self, slot: u32) {
        // A queue pair that takes no more receives has no use for the slot.
        let _ = self.post_receive(slot);
    }

    fn post_receive(&self, slot: u32) -> Result<()> {
        let length = (SLOT + ROUTE_HEADER) as u32;
        let entries = [self.receive.entry(slot as usize * STRIDE, length)];
        // SAFETY: a slot of the region.
        unsafe { self.queue_pair.post_receive(u64::from(slot), &entries) }
    }

    /// Sends one datagram; `fill` writes it, header and all, to the slot.
    pub(super) fn send(
        &mut self,
        length: usize,
        handle: &Counted<AddressHandle>,
        number: u32,
        fill: impl FnOnce(*mut u8),
    ) -> Result<()> {
        let slot = self.free.pop().ok_or(Errno::EAGAIN)?;
        let at = slot as usize * SLOT;
        fill(self.send.pointer(at, length));
        let entries = [self.send.entry(at, length as u32)];
        let work = Work {
            id: slot.into(),
            entries: &entries,
            opcode: ibv_wr_opcode::IBV_WR_SEND,
            flags: 0,
            immediate: 0,
            remote: Remote::Datagram { handle: handle.as_ptr(), number, key: RDMA_UDP_QKEY },
        };
        // SAFETY: a slot of the region; the handle is kept until the completion.
        let posted = unsafe { self.queue_pair.post_send(&work) };
        match posted {
            Ok(()) => self.in_use[slot as usize] = Some(Counted::clone(handle)),
            Err(_) => self.free.push(slot),
        }
        posted
    }

    /// Asks for an event with the next arrival; with the next departure only where somebody may wait
    /// for that.
    pub(super) fn arm(&mut self, is_closing: bool) -> Result<()> {
        if is_closing || !self.has_free_slot() {
            self.departures.arm()?;
        }
        self.arrivals.arm()
    }

    pub(super) fn take_event(&mut self) -> bool {
        // Both, whatever the first says; one that was not asked has none.
        (self.departures.armed.is_armed() && self.departures.take()) | self.arrivals.take()
    }

    pub(super) fn take_due(&mut self) -> bool {
        self.departures.take_due() | self.arrivals.take_due()
    }

    pub(super) fn expect_event(&mut self) {
        self.departures.armed.expect_event();
        self.arrivals.armed.expect_event();
    }
}

/// A completion queue and its events.
struct Events {
    queue: CompletionQueue,
    fd: RawFd,
    armed: Armed,
}

impl Events {
    fn create(context: Context, entries: u32) -> Result<Events> {
        let queue = CompletionQueue::create(context, entries, std::ptr::null_mut())?;
        let fd = queue.event_fd()?;
        Ok(Events { queue, fd, armed: Armed::default() })
    }

    /// Whether there was any.
    fn drain(&self, mut each: impl FnMut(&Completion)) -> bool {
        let mut any = false;
        let mut room = Room::<BATCH>::new();
        while let Ok(found) = self.queue.poll(&mut room) {
            any |= found.len() > 0;
            found.completions().for_each(|completion| each(&completion));
            if found.len() < BATCH {
                break;
            }
        }
        any
    }

    fn arm(&mut self) -> Result<()> {
        self.armed.arm(&self.queue)
    }

    /// Takes an event. False where there was none.
    fn take(&mut self) -> bool {
        self.armed.take_event(&self.queue)
    }

    fn take_due(&mut self) -> bool {
        self.armed.take_due(&self.queue)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // Before the queue and the regions.
        qp::destroy(&self.id);
    }
}
