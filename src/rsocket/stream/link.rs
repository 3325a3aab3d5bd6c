//! A connection's moving parts: the endpoint, the books, and what is known of the peer.

use super::endpoint::Endpoint;
use super::options::Options;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::rsocket::armed::Armed;
use crate::rsocket::flow::{Event, Flow, Tag};
use crate::rsocket::wire::{ConnectionData, Message};
use crate::verbs::{Completion, Found, Room};
use rdma_sys::ibv_wc_status;

const BATCH: usize = 16;

/// How far the peer has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Peer {
    Open,
    /// It will write no more.
    ShutDown,
    /// It said good-bye.
    Gone,
    /// The connection ended without a word.
    Lost,
}

/// See the module text.
pub(super) struct Link {
    pub(super) endpoint: Endpoint,
    pub(super) flow: Flow,
    pub(super) peer: Peer,
    /// Why nothing can be sent or received any more.
    pub(super) failure: Option<Errno>,
    /// The queue pair has ended, and not by us: the news of it is on its way, if there is any.
    pub(super) flushed: bool,
    armed: Armed,
}

impl Link {
    pub(super) fn create(id: &'static Id, options: &Options) -> Result<Link> {
        let endpoint = Endpoint::create(id, options)?;
        let flow = Flow::new(endpoint.sizes());
        Ok(Link {
            endpoint,
            flow,
            peer: Peer::Open,
            failure: None,
            flushed: false,
            armed: Armed::default(),
        })
    }

    pub(super) fn connect(&mut self, peer: &ConnectionData) {
        self.endpoint.connect(peer);
        self.flow.connect(peer);
    }

    /// Whether something can still be sent.
    #[inline]
    pub(super) fn is_alive(&self) -> bool {
        self.failure.is_none() && self.peer < Peer::Gone
    }

    /// The connection is over. As TCP, a peer that had ended its own side is not missed; nor is one whose
    /// connection had failed before, of which the caller was told.
    pub(super) fn lose(&mut self) {
        self.peer = match self.peer {
            Peer::Open if self.failure.is_none() => Peer::Lost,
            Peer::Open | Peer::ShutDown => Peer::Gone,
            over => over,
        };
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, error: Errno) {
        if self.failure.is_none() {
            self.failure = Some(error);
            self.endpoint.fail();
        }
    }

    /// Takes what has completed and sends the credits that this allows. Mostly nothing has.
    #[inline]
    pub(super) fn progress(&mut self) {
        let mut room = Room::new();
        let found = self.look(&mut room);
        if found.len() > 0 {
            self.take(found);
        }
        self.grant();
    }

    #[inline]
    fn look<'a>(&mut self, room: &'a mut Room<BATCH>) -> Found<'a> {
        self.endpoint.queue().poll(room).unwrap_or_else(|error| {
            self.fail(error);
            Found::default()
        })
    }

    #[inline(never)]
    fn take(&mut self, first: Found<'_>) {
        self.armed.expect_event();
        // An honest peer has no more under way than credits, and control messages, of which few; one
        // that sends on and on must not keep the caller here.
        let sizes = self.endpoint.sizes();
        let mut left = 2 * (sizes.send_queue + sizes.receive_queue) as usize / BATCH;
        let mut room = Room::new();
        let mut found = first;
        loop {
            found.completions().for_each(|completion| self.completed(&completion));
            if found.len() < BATCH {
                break;
            }
            if left == 0 {
                self.fail(Errno::EPROTO);
                break;
            }
            left -= 1;
            found = self.look(&mut room);
        }
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
        match Tag::decode(completion.id) {
            Tag::Receive(slot) if completion.is_success() => self.received(completion, slot),
            _ => self.sent(completion.id, completion.status),
        }
    }

    /// A message has arrived. Behind a good-bye comes nothing that counts.
    #[inline]
    fn received(&mut self, completion: &Completion, slot: u32) {
        if !self.is_alive() {
            return;
        }
        let message =
            completion.immediate.or_else(|| self.endpoint.message_in(slot, completion.length));
        let Some(raw) = message else {
            return self.fail(Errno::EPROTO);
        };
        let booked = match Message::decode(raw) {
            Message::Data(bytes) => self.flow.data(bytes),
            message => self.control(message, completion.length > 0),
        };
        match booked {
            Ok(()) if self.peer < Peer::Gone => {}
            Ok(()) => return,
            Err(error) => return self.fail(error),
        }
        if let Err(error) = self.endpoint.post_receive(slot) {
            self.fail(error);
        }
    }

    #[inline(never)]
    fn control(&mut self, message: Message, with_entry: bool) -> Result<()> {
        match self.flow.message(message)? {
            Event::Nothing => {}
            Event::Shutdown => self.peer = self.peer.max(Peer::ShutDown),
            Event::Disconnect => self.peer = self.peer.max(Peer::Gone),
        }
        if with_entry && matches!(message, Message::Credit(_)) {
            self.take_target();
        }
        Ok(())
    }

    /// What we posted is done, or has failed.
    #[inline(never)]
    fn sent(&mut self, id: u64, status: ibv_wc_status::Type) {
        let tag = Tag::decode(id);
        self.flow.completed(tag);
        if !self.is_alive() {
            return;
        }
        match status {
            ibv_wc_status::IBV_WC_SUCCESS => {}
            ibv_wc_status::IBV_WC_WR_FLUSH_ERR => self.flushed = true,
            // What was received does not fit: no rsocket sends that.
            _ if matches!(tag, Tag::Receive(_)) => self.fail(Errno::EPROTO),
            status => self.fail(meaning(status)),
        }
    }

    /// The entry that came with a credit. One that none has told of may be half written.
    fn take_target(&mut self) {
        let Some(place) = self.flow.awaited_target() else { return };
        if let Some(segment) = self.endpoint.take_target(place) {
            self.flow.add_target(segment);
        }
    }

    /// Asks for an event with the next completion; progress must follow before any sleep.
    pub(super) fn arm(&mut self) -> Result<()> {
        self.armed.arm(self.endpoint.queue())
    }

    /// Takes the event that made the descriptor readable. False when another thread was first.
    pub(super) fn take_event(&mut self) -> bool {
        self.armed.take_event(self.endpoint.queue())
    }

    /// Takes the event of what has come since it was asked for.
    pub(super) fn take_due(&mut self) -> bool {
        self.armed.take_due(self.endpoint.queue())
    }

    pub(super) fn expect_event(&mut self) {
        self.armed.expect_event();
    }

    pub(super) fn send_control(&mut self, message: Message) -> bool {
        let Some(tag) = self.flow.take_control() else { return false };
        if let Err(error) = self.endpoint.post_control(message, tag) {
            self.fail(error);
        }
        true
    }
}

/// What a failed work request is in the words of TCP.
fn meaning(status: ibv_wc_status::Type) -> Errno {
    match status {
        ibv_wc_status::IBV_WC_RETRY_EXC_ERR | ibv_wc_status::IBV_WC_RNR_RETRY_EXC_ERR => {
            Errno::ETIMEDOUT
        }
        ibv_wc_status::IBV_WC_REM_ACCESS_ERR
        | ibv_wc_status::IBV_WC_REM_INV_REQ_ERR
        | ibv_wc_status::IBV_WC_REM_OP_ERR => Errno::EPROTO,
        ibv_wc_status::IBV_WC_LOC_PROT_ERR
        | ibv_wc_status::IBV_WC_LOC_LEN_ERR
        | ibv_wc_status::IBV_WC_LOC_QP_OP_ERR => Errno::EIO,
        _ => Errno::ECONNRESET,
    }
}
