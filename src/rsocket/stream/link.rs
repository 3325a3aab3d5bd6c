//! A connection's moving parts: the endpoint, the books, and what is known of the peer.

use super::endpoint::Endpoint;
use super::options::Options;
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::memory::try_vec;
use crate::rsocket::armed::Armed;
use crate::rsocket::flow::{Event, Flow, Tag};
use crate::rsocket::wire::{ConnectionData, Message};
use crate::verbs::Completion;
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
    /// Room for what a look finds; empty between two.
    found: Vec<Completion>,
}

impl Link {
    pub(super) fn create(id: &'static Id, options: &Options) -> Result<Link> {
        let endpoint = Endpoint::create(id, options)?;
        let flow = Flow::new(endpoint.sizes());
        let found = try_vec(BATCH)?;
        Ok(Link {
            endpoint,
            flow,
            peer: Peer::Open,
            failure: None,
            flushed: false,
            armed: Armed::default(),
            found,
        })
    }

    pub(super) fn connect(&mut self, peer: &ConnectionData) {
        self.endpoint.connect(peer);
        self.flow.connect(peer);
    }

    /// Whether something can still be sent.
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

    pub(super) fn fail(&mut self, error: Errno) {
        if self.failure.is_none() {
            self.failure = Some(error);
            self.endpoint.fail();
        }
    }

    /// Takes what has completed and sends the credits that this allows.
    pub(super) fn progress(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        // An honest peer has no more under way than credits, and control messages, of which few; one
        // that sends on and on must not keep the caller here.
        let sizes = self.endpoint.sizes();
        let mut left = 2 * (sizes.send_queue + sizes.receive_queue) as usize;
        loop {
            let polled = self.endpoint.queue().poll::<BATCH>(|completion| found.push(*completion));
            let count = match polled {
                Ok(count) => count,
                Err(error) => {
                    self.fail(error);
                    break;
                }
            };
            if count > 0 {
                self.armed.expect_event();
            }
            for completion in found.drain(..) {
                self.completed(&completion);
            }
            if count < BATCH {
                break;
            }
            left = left.saturating_sub(count);
            if left == 0 {
                self.fail(Errno::EPROTO);
                break;
            }
        }
        self.found = found;
        self.grant();
        // Nothing to send to yet: look once more, should a device not tell lengths.
        if self.flow.needs_target() {
            self.take_target();
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

    fn completed(&mut self, completion: &Completion) {
        let tag = Tag::decode(completion.id);
        self.flow.completed(tag);
        // Behind a good-bye comes nothing that counts.
        if !self.is_alive() {
            return;
        }
        match completion.status {
            ibv_wc_status::IBV_WC_SUCCESS => {}
            ibv_wc_status::IBV_WC_WR_FLUSH_ERR => {
                self.flushed = true;
                return;
            }
            // What was received does not fit: no rsocket sends that.
            _ if matches!(tag, Tag::Receive(_)) => return self.fail(Errno::EPROTO),
            status => return self.fail(meaning(status)),
        }
        let Tag::Receive(slot) = tag else { return };
        let Some(raw) = self.endpoint.message_of(completion, slot) else {
            return self.fail(Errno::EPROTO);
        };
        let message = Message::decode(raw);
        match self.flow.message(message) {
            Ok(Event::Nothing) => {}
            Ok(Event::Shutdown) => self.peer = self.peer.max(Peer::ShutDown),
            Ok(Event::Disconnect) => self.peer = self.peer.max(Peer::Gone),
            Err(error) => return self.fail(error),
        }
        if matches!(message, Message::Credit(_)) && completion.length > 0 {
            self.take_target();
        }
        if self.peer < Peer::Gone {
            if let Err(error) = self.endpoint.post_receive(slot) {
                self.fail(error);
            }
        }
    }

    fn take_target(&mut self) {
        while let Some(place) = self.flow.awaited_target() {
            let Some(segment) = self.endpoint.take_target(place) else { break };
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
