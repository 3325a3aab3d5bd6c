//! The active side: address, route, request, each step when the event of the one before arrives.

use super::link::Link;
use super::{Phase, Stream};
use crate::conn::Parameters;
use crate::error::{Errno, Result};
use crate::event::{self, Message};
use crate::memory::try_copy;
use crate::option;
use crate::rsocket::wire::{CONNECTION_DATA, ConnectionData, IB_HEADER};
use crate::types::*;
use std::cell::Cell;

/// Address resolution starts with this limit and doubles it with each further try.
const FIRST_TIMEOUT_MS: i32 = 1000;
const MAX_RETRIES: u32 = 6;
/// Retries of the transport, and of a receiver that is not ready.
const RETRIES: u8 = 7;

/// A connection that is being made.
#[derive(Default)]
pub(super) struct Attempt {
    pub(super) destination: Option<SocketAddress>,
    retries: u32,
    /// Its id is being put in the place of the one before.
    pub(super) changes_id: bool,
    /// A connect has said that it failed: the next one is another attempt.
    pub(super) failure_told: bool,
}

impl Attempt {
    fn to(destination: &SocketAddress, changes_id: bool) -> Attempt {
        Attempt { destination: Some(*destination), changes_id, ..Attempt::default() }
    }

    fn timeout(&self) -> i32 {
        FIRST_TIMEOUT_MS << self.retries
    }
}

impl Stream {
    pub(crate) fn connect(&self, destination: &SocketAddress) -> Result<()> {
        self.check()?;
        if destination.family() != self.family {
            return Err(Errno::EAFNOSUPPORT);
        }
        let (non_blocking, is_again) = {
            let mut inner = self.inner.lock();
            let is_again = match inner.phase {
                Phase::Idle | Phase::Bound => false,
                Phase::Connected => return Err(Errno::EISCONN),
                Phase::Connecting => return Err(Errno::EALREADY),
                Phase::Failed if inner.attempt.failure_told => true,
                Phase::Failed => return Err(inner.told()),
                Phase::Listening | Phase::Accepting => return Err(Errno::EISCONN),
            };
            inner.phase = Phase::Connecting;
            inner.attempt = Attempt::to(destination, is_again);
            (inner.non_blocking, is_again)
        };
        if is_again {
            self.begin_again()?;
        }
        let has_begun = Cell::new(false);
        let begin = || {
            self.id().resolve_address(None, destination, FIRST_TIMEOUT_MS)?;
            has_begun.set(true);
            Ok(())
        };
        let result = if non_blocking {
            begin().and(Err(Errno::EINPROGRESS))
        } else {
            self.begin_and_wait(begin, |inner| match inner.phase {
                Phase::Connecting => None,
                Phase::Connected => Some(Ok(())),
                _ => Some(Err(inner.told())),
            })
        };
        if !has_begun.get() {
            let mut inner = self.inner.lock();
            inner.phase = if inner.local.is_some() { Phase::Bound } else { Phase::Idle };
            return result;
        }
        match result {
            // SO_SNDTIMEO.
            Err(Errno::EAGAIN) => Err(Errno::EINPROGRESS),
            other => other,
        }
    }

    /// Events of a stream that connects, is being accepted, or is connected.
    pub(super) fn take_connection_events(&self) {
        let file = self.id().file();
        loop {
            match event::next(&file, None) {
                Ok(message) => self.connection_event(&message),
                Err(Errno::EAGAIN) => return,
                Err(Errno::EINTR | Errno::ENOMEM) => return,
                Err(error) => return self.inner.lock().fail(error),
            }
        }
    }

    fn connection_event(&self, message: &Message) {
        if let Some(child) = message.child() {
            // Nobody listens any more.
            return super::shutdown::refuse(child);
        }
        let phase = {
            let inner = self.inner.lock();
            if inner.attempt.changes_id {
                // Of the id that goes.
                return;
            }
            inner.phase
        };
        let step = match (phase, message.event()) {
            (Phase::Connecting, RDMA_CM_EVENT_ADDR_RESOLVED) => self.find_route(),
            (Phase::Connecting, RDMA_CM_EVENT_ROUTE_RESOLVED) => self.ask(),
            (Phase::Connecting, RDMA_CM_EVENT_ESTABLISHED) => self.established(message),
            (Phase::Connecting, RDMA_CM_EVENT_ADDR_ERROR | RDMA_CM_EVENT_ROUTE_ERROR) => {
                self.try_again(failure(message))
            }
            (Phase::Connecting, _) if is_end(message.event()) => Err(failure(message)),
            (Phase::Accepting, RDMA_CM_EVENT_ESTABLISHED) => {
                self.accepted();
                Ok(())
            }
            (Phase::Accepting, _) if is_end(message.event()) => {
                self.give_up_accepting();
                Ok(())
            }
            (Phase::Connected, RDMA_CM_EVENT_DEVICE_REMOVAL) => {
                self.lost(Some(Errno::ENODEV));
                Ok(())
            }
            (Phase::Connected, _) if is_end(message.event()) => {
                self.lost(None);
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(error) = step {
            self.inner.lock().fail(error);
        }
    }

    fn find_route(&self) -> Result<()> {
        let (route, timeout) = {
            let inner = self.inner.lock();
            (try_copy(&inner.route)?, inner.attempt.timeout())
        };
        if route.is_empty() {
            self.id().resolve_route(timeout)
        } else {
            let (level, name) = (RDMA_OPTION_IB, RDMA_OPTION_IB_PATH);
            option::set(&self.id(), level, name, route.as_ptr().cast(), route.len())
        }
    }

    /// Address and route resolution lose packets: once more, with more patience.
    fn try_again(&self, error: Errno) -> Result<()> {
        let (destination, timeout) = {
            let mut inner = self.inner.lock();
            if error != Errno::ETIMEDOUT || inner.attempt.retries >= MAX_RETRIES {
                return Err(error);
            }
            inner.attempt.retries += 1;
            (inner.attempt.destination.ok_or(error)?, inner.attempt.timeout())
        };
        self.id().resolve_address(None, &destination, timeout)
    }

    fn ask(&self) -> Result<()> {
        let options = self.inner.lock().options;
        let id = self.id();
        let link = Link::create(id.get(), &options)?;
        let own = link.endpoint.connection_data().encode();
        // Native addresses leave room for a header of their own.
        let mut data = [0; IB_HEADER + CONNECTION_DATA];
        data[IB_HEADER..].copy_from_slice(&own);
        let unused = if self.family == AF_IB { 0 } else { IB_HEADER };
        let split = link.endpoint.sizes().split;
        self.inner.lock().link = Some(link);
        id.connect(Some(&Parameters {
            private_data: &data[unused..],
            responder_resources: 0,
            initiator_depth: u8::from(split),
            flow_control: 1,
            retry_count: RETRIES,
            rnr_retry_count: RETRIES,
            srq: 0,
            qp_num: 0,
        }))
    }

    fn established(&self, message: &Message) -> Result<()> {
        let data = ConnectionData::decode(message.private_data())?;
        let (local, peer) = self.id().addresses();
        let mut inner = self.inner.lock();
        (inner.local, inner.peer) = (local, peer);
        inner.link.as_mut().ok_or(Errno::EIO)?.connect(&data);
        inner.phase = Phase::Connected;
        inner.attempt = Attempt::default();
        inner.wake();
        drop(inner);
        self.start_keep_alive();
        Ok(())
    }

    /// The connection has ended, by the peer's good-bye or without one.
    pub(super) fn lost(&self, error: Option<Errno>) {
        {
            let mut inner = self.inner.lock();
            // What arrived before counts.
            inner.progress();
            if let Some(link) = &mut inner.link {
                link.lose();
            }
            if let Some(error) = error {
                inner.error.get_or_insert(error);
            }
            inner.wake();
        }
        // Answers the peer; a connection that is gone needs no answer.
        let _ = self.id().disconnect();
    }
}

fn is_end(event: rdma_cm_event_type) -> bool {
    matches!(
        event,
        RDMA_CM_EVENT_CONNECT_ERROR
            | RDMA_CM_EVENT_UNREACHABLE
            | RDMA_CM_EVENT_REJECTED
            | RDMA_CM_EVENT_DISCONNECTED
            | RDMA_CM_EVENT_DEVICE_REMOVAL
    )
}

/// What a failed step is in the words of connect(2).
fn failure(message: &Message) -> Errno {
    match (message.event(), message.status()) {
        (RDMA_CM_EVENT_REJECTED, _) => Errno::ECONNREFUSED,
        (RDMA_CM_EVENT_DISCONNECTED, _) => Errno::ECONNRESET,
        (RDMA_CM_EVENT_UNREACHABLE, 0) => Errno::ETIMEDOUT,
        (RDMA_CM_EVENT_DEVICE_REMOVAL, 0) => Errno::ENODEV,
        (_, 0) => Errno::EHOSTUNREACH,
        (_, status) => Errno::of(status),
    }
}
