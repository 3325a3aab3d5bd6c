// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A connection: its endpoint, its flow control, and how far the peer has closed it.

use super::endpoint::Endpoint;
use super::options::StreamOptions;
use crate::cm::id::Id;
use crate::rsocket::flow::{Effect, Flow, WrId};
use crate::rsocket::service;
use crate::rsocket::wait::event_queue::BATCH;
use crate::rsocket::wire::{ConnectionData, StreamMessage};
use crate::verbs::{Completion, Found, Room};
use base::counters::{self, layout};
use base::errno::{Errno, Result};
use base::fail;
use rdma_sys::ibv_wc_status;

/// How far the peer has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PeerState {
    Open,
    /// It will write no more.
    ShutDown,
    /// It is gone.
    Gone,
}

/// See the module text.
pub(super) struct Link {
    pub(super) endpoint: Endpoint,
    pub(super) flow: Flow,
    pub(super) peer: PeerState,
    /// Why nothing can be sent or received any more.
    pub(super) failure: Option<Errno>,
    /// The queue pair has ended, and not by us: the event with the reason may follow.
    pub(super) flushed: bool,
    /// What that means where no event follows.
    pub(super) flush_reason: Errno,
    /// The message of our end, which waits for a slot.
    unsent_end: Option<StreamMessage>,
    /// What was sent and received at the end of the last period.
    activity: (u16, u16),
}

impl Link {
    pub(super) fn create(id: &'static Id, options: &StreamOptions) -> Result<Link> {
        let endpoint = Endpoint::create(id, options)?;
        let flow = Flow::new(endpoint.sizes());
        Ok(Link {
            endpoint,
            flow,
            peer: PeerState::Open,
            failure: None,
            flushed: false,
            flush_reason: Errno::ECONNRESET,
            unsent_end: None,
            activity: (0, 0),
        })
    }

    pub(super) fn connect(&mut self, peer: &ConnectionData) {
        self.endpoint.connect(peer);
        self.flow.connect(peer);
    }

    /// Whether something can still be sent.
    #[inline]
    pub(super) fn is_alive(&self) -> bool {
        self.failure.is_none() && self.peer < PeerState::Gone
    }

    /// The connection is over. True for a peer that had not sent its end: it aborted, or died.
    pub(super) fn lose(&mut self) -> bool {
        let was_open = self.peer == PeerState::Open && self.failure.is_none();
        self.peer = PeerState::Gone;
        was_open
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, error: Errno) {
        if self.failure.is_none() {
            self.failure = Some(error);
            self.endpoint.fail();
        }
    }

    /// Ends the connection: no rsocket sends that.
    #[cold]
    #[inline(never)]
    fn break_off(&mut self, sent: &str) {
        let id = self.endpoint.id();
        self.fail(fail!(EPROTO, *id, "the peer violates the protocol of rsockets: it sent {sent}"));
    }

    /// Takes what has completed and sends the credits that this allows.
    #[inline(never)]
    pub(super) fn progress(&mut self) {
        let mut room = Room::new();
        let mut taken = 0;
        loop {
            let found = self.poll(&mut room);
            if found.len() > 0 {
                self.take(found);
            }
            if found.len() < BATCH {
                break;
            }
            // An honest peer has no more in flight than its credits and a few control messages; one
            // that never stops must not keep the caller here.
            let sizes = self.endpoint.sizes();
            taken += BATCH;
            if taken > 2 * (sizes.send_queue + sizes.receive_queue) as usize {
                self.break_off("messages without end, beyond its credits");
                break;
            }
        }
        if let Some(message) = self.unsent_end {
            self.send_end(message);
        }
        self.grant();
    }

    #[inline]
    fn poll<'a>(&mut self, room: &'a mut Room<BATCH>) -> Found<'a> {
        self.endpoint.queue.poll(room).unwrap_or_else(|error| {
            self.fail(error);
            Found::default()
        })
    }

    #[inline(always)]
    fn take(&mut self, found: Found<'_>) {
        self.endpoint.queue.expect_event();
        if counters::is_on() {
            self.count(found);
        }
        found.completions().for_each(|completion| self.completed(&completion));
    }

    /// Gives the peer the credits that are due; mostly none are.
    #[inline]
    pub(super) fn grant(&mut self) {
        if self.flow.owes_grant() {
            self.send_grants();
        }
    }

    #[cold]
    fn send_grants(&mut self) {
        while self.is_alive() && !self.flushed {
            let Some(grant) = self.flow.take_grant() else { break };
            if let Err(error) = self.endpoint.post_grant(&grant) {
                self.fail(error);
            }
        }
    }

    #[inline]
    fn completed(&mut self, completion: &Completion) {
        match WrId::decode(completion.id) {
            WrId::Receive(slot) if completion.is_success() => self.received(completion, slot),
            _ => self.sent(completion.id, completion.status),
        }
    }

    #[cold]
    #[inline(never)]
    fn count(&self, found: Found<'_>) {
        counters::count(|words| {
            words.add(layout::COMPLETIONS, found.len() as u64);
            for bytes in found.completions().filter_map(|completion| self.data_in(&completion)) {
                words.add(layout::MESSAGES_IN, 1);
                words.add(layout::BYTES_IN, bytes.into());
            }
        });
    }

    /// Bytes of a data message, for the counters.
    fn data_in(&self, completion: &Completion) -> Option<u32> {
        let WrId::Receive(slot) = WrId::decode(completion.id) else { return None };
        if !completion.is_success() {
            return None;
        }
        let raw =
            completion.immediate.or_else(|| self.endpoint.message_in(slot, completion.length))?;
        match StreamMessage::decode(raw) {
            StreamMessage::Data(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A message has arrived. What follows a disconnect does not count.
    #[inline]
    fn received(&mut self, completion: &Completion, slot: u32) {
        if !self.is_alive() {
            return;
        }
        let raw = match completion.immediate {
            Some(raw) => raw,
            None => match self.endpoint.message_in(slot, completion.length) {
                Some(raw) => raw,
                None => return self.break_off("a message without immediate data"),
            },
        };
        let accounted = match StreamMessage::decode(raw) {
            StreamMessage::Data(bytes) => self.flow.data(bytes),
            message => self.control(message, completion.length > 0),
        };
        match accounted {
            Ok(()) if self.peer < PeerState::Gone => {}
            Ok(()) => return,
            Err(_) => {
                return self.break_off("a message that its credits or its state do not allow");
            }
        }
        if let Err(error) = self.endpoint.post_receive(slot) {
            self.fail(error);
        }
    }

    #[inline(never)]
    fn control(&mut self, message: StreamMessage, with_entry: bool) -> Result<()> {
        match self.flow.message(message)? {
            Effect::Nothing => {}
            Effect::Shutdown => self.peer = self.peer.max(PeerState::ShutDown),
            Effect::Disconnect => self.peer = self.peer.max(PeerState::Gone),
        }
        if with_entry && matches!(message, StreamMessage::Credit(_)) {
            self.take_segment();
        }
        Ok(())
    }

    /// What we posted is done, or has failed.
    #[inline(never)]
    fn sent(&mut self, id: u64, status: ibv_wc_status::Type) {
        let wr_id = WrId::decode(id);
        self.flow.completed(wr_id);
        if !self.is_alive() {
            return;
        }
        match status {
            ibv_wc_status::IBV_WC_SUCCESS => {}
            ibv_wc_status::IBV_WC_WR_FLUSH_ERR => self.flushed = true,
            // The peer may be gone, and the event that says so on its way.
            ibv_wc_status::IBV_WC_RETRY_EXC_ERR => {
                (self.flushed, self.flush_reason) = (true, Errno::ETIMEDOUT);
            }
            // What was received does not fit: no rsocket sends that.
            _ if matches!(wr_id, WrId::Receive(_)) => {
                self.break_off("data that does not fit into a receive");
            }
            status => self.fail(error_of(status)),
        }
    }

    /// The entry that came with a credit. One that no credit has announced may be half written.
    fn take_segment(&mut self) {
        let Some(index) = self.flow.awaited_index() else { return };
        if let Some(segment) = self.endpoint.take_segment(index) {
            self.flow.add_segment(segment);
        }
    }

    /// Takes the event that made the descriptor readable. False when another thread was first.
    pub(super) fn take_event(&mut self) -> bool {
        self.endpoint.queue.take_event()
    }

    /// Takes the event, if something has completed since it was requested.
    pub(super) fn take_due(&mut self) -> bool {
        self.endpoint.queue.take_due()
    }

    pub(super) fn expect_event(&mut self) {
        self.endpoint.queue.expect_event();
    }

    /// Sends the message of our end, now or when a slot is free.
    pub(super) fn send_end(&mut self, message: StreamMessage) {
        let is_sent = !self.is_alive() || self.send_control(message);
        self.unsent_end = if is_sent { None } else { Some(message) };
    }

    /// The message of our end has no slot yet.
    pub(super) fn has_unsent_end(&self) -> bool {
        self.is_alive() && self.unsent_end.is_some()
    }

    /// All that was sent has left, or never will.
    pub(super) fn is_drained(&self) -> bool {
        !self.is_alive() || (self.unsent_end.is_none() && self.flow.is_drained())
    }

    /// Bytes that are registered for it.
    pub(super) fn registered(&self) -> usize {
        self.endpoint.registered()
    }

    pub(super) fn send_control(&mut self, message: StreamMessage) -> bool {
        let Some(wr_id) = self.flow.take_control() else { return false };
        if let Err(error) = self.endpoint.post_control(message, wr_id) {
            self.fail(error);
        }
        true
    }
}

/// The send ring.
impl Link {
    /// A large ring, where the small one has no room for so many bytes.
    #[inline]
    pub(super) fn make_room_for(&mut self, bytes: u64) {
        if self.flow.would_send_more(bytes) {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        if self.endpoint.grow().is_err() {
            return self.flow.stay_small();
        }
        self.flow.grow();
        // Without memory for it the ring stays large.
        let _ = service::get().and_then(|service| service.watch_idle(self.endpoint.fd()?));
    }

    /// At the end of a period: a small ring, where nothing has moved in it. Whether there is a large one
    /// still.
    pub(super) fn shrink(&mut self) -> bool {
        self.progress();
        let activity = self.flow.activity();
        let was_idle = core::mem::replace(&mut self.activity, activity) == activity;
        if was_idle && self.is_alive() {
            if self.flow.shrink() {
                self.endpoint.shrink();
            } else if self.flow.is_large() && self.flow.has_all_control() {
                // Its completion says that all before it has left.
                self.send_control(StreamMessage::KeepAlive);
            }
        }
        self.is_alive() && self.flow.is_large()
    }
}

/// The error of TCP for a failed work request.
fn error_of(status: ibv_wc_status::Type) -> Errno {
    match status {
        ibv_wc_status::IBV_WC_RNR_RETRY_EXC_ERR => Errno::ETIMEDOUT,
        ibv_wc_status::IBV_WC_REM_ACCESS_ERR
        | ibv_wc_status::IBV_WC_REM_INV_REQ_ERR
        | ibv_wc_status::IBV_WC_REM_OP_ERR => Errno::EPROTO,
        ibv_wc_status::IBV_WC_LOC_PROT_ERR
        | ibv_wc_status::IBV_WC_LOC_LEN_ERR
        | ibv_wc_status::IBV_WC_LOC_QP_OP_ERR => Errno::EIO,
        _ => Errno::ECONNRESET,
    }
}
