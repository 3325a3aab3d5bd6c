// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The active side: address, route, request, each step when the event of the one before arrives.

use super::link::Link;
use super::state::{ConnectAttempt, IdState, Names, Phase, Stream, StreamState};
use crate::cm::conn::Parameters;
use crate::cm::id::CmEvent;
use crate::cm::option;
use crate::rsocket::wire::{CONNECTION_DATA_SIZE, ConnectionData, IB_HEADER_SIZE};
use crate::types::*;
use base::counters::{count, layout};
use base::errno::{Errno, Result};
use base::memory::try_copy;
use base::{because, fail, log};
use core::cell::Cell;
use probe::probe;

/// Address resolution starts with this limit and doubles it with each further try.
const FIRST_TIMEOUT_MS: i32 = 1000;
const MAX_RETRIES: u32 = 6;
/// Retries of the transport, and of a receiver that is not ready.
const RETRIES: u8 = 7;

impl ConnectAttempt {
    fn to(destination: &SocketAddress) -> ConnectAttempt {
        ConnectAttempt {
            destination: Some(*destination),
            success_unreported: true,
            ..ConnectAttempt::default()
        }
    }

    fn timeout_ms(&self) -> i32 {
        FIRST_TIMEOUT_MS << self.retries
    }
}

impl Stream {
    pub(crate) fn connect(&self, destination: &SocketAddress) -> Result<()> {
        self.check()?;
        if destination.family() != self.family {
            return Err(fail!(
                EAFNOSUPPORT,
                "{self:?} is of family {}, {destination} is not",
                self.family
            ));
        }
        let (nonblock, attempt) = {
            let mut state = self.state.lock();
            if state.closed {
                return Err(Errno::EBADF);
            }
            let phase = state.phase;
            match phase {
                Phase::Idle | Phase::Bound if state.id == IdState::Replaced => {
                    return Err(Errno::EALREADY);
                }
                Phase::Idle | Phase::Bound => {}
                // As with TCP, one connect more reports what another one did not wait for.
                Phase::Connected if core::mem::take(&mut state.attempt.success_unreported) => {
                    return Ok(());
                }
                Phase::Connected => return Err(Errno::EISCONN),
                Phase::Connecting if state.nonblock => return Err(Errno::EALREADY),
                Phase::Connecting => {
                    let attempt = state.attempts;
                    drop(state);
                    return match self.begin_and_settle(attempt, || Ok(())) {
                        Err(Errno::EINPROGRESS) => Err(Errno::EALREADY),
                        settled => settled,
                    };
                }
                Phase::Failed if state.attempt.is_given_up => return Err(Errno::EINVAL),
                Phase::Failed => return Err(state.take_connect_error()),
                Phase::Listening | Phase::Accepting => {
                    return Err(fail!(EISCONN, "rconnect: {self:?} listens, or was accepted"));
                }
            }
            state.phase = Phase::Connecting;
            state.attempt = ConnectAttempt::to(destination);
            (state.error, state.was_connecting) = (None, true);
            // Until its address is resolved.
            state.local = state.local.filter(|_| state.bound.is_some());
            state.attempts = state.attempts.wrapping_add(1);
            (state.nonblock, state.attempts)
        };
        if let Err(error) = self.prepare_id() {
            self.state.lock().give_up(attempt);
            return Err(error);
        }
        let has_begun = Cell::new(false);
        let begin = || {
            probe!(rdmacm, rsocket__connect__start, self.fd());
            self.state.lock().id = IdState::Spent;
            self.id().resolve_address(None, destination, FIRST_TIMEOUT_MS)?;
            has_begun.set(true);
            Ok(())
        };
        let result = if nonblock {
            begin().and(Err(Errno::EINPROGRESS))
        } else {
            self.begin_and_settle(attempt, begin)
        };
        if !has_begun.get() {
            self.state.lock().give_up(attempt);
        }
        result
    }

    /// Waits until the connection is made or has failed, or another thread has given the attempt up.
    fn begin_and_settle(&self, attempt: u32, begin: impl FnOnce() -> Result<()>) -> Result<()> {
        let settled = self.begin_and_wait(begin, |state| match state.phase {
            // What the stream does now is another thread's.
            _ if state.attempts != attempt => Some(Err(Errno::ECONNABORTED)),
            Phase::Connecting => None,
            Phase::Connected => {
                state.attempt.success_unreported = false;
                Some(Ok(()))
            }
            Phase::Failed => Some(Err(state.take_connect_error())),
            Phase::Idle | Phase::Bound => {
                Some(Err(state.error.take().unwrap_or(Errno::ECONNABORTED)))
            }
            Phase::Listening | Phase::Accepting => Some(Err(Errno::ECONNABORTED)),
        });
        match settled {
            // SO_SNDTIMEO.
            Err(Errno::EAGAIN) => Err(Errno::EINPROGRESS),
            other => other,
        }
    }

    /// The next step of a connection that is being made.
    pub(super) fn connect_event(&self, message: &CmEvent) -> Result<()> {
        match message.event() {
            RDMA_CM_EVENT_ADDR_RESOLVED => self.resolve_route(),
            RDMA_CM_EVENT_ROUTE_RESOLVED => self.request(),
            RDMA_CM_EVENT_ESTABLISHED => self.established(message),
            RDMA_CM_EVENT_ADDR_ERROR | RDMA_CM_EVENT_ROUTE_ERROR => {
                self.retry_resolution(connect_error(message))
            }
            event if is_end(event) => Err(connect_error(message)),
            _ => Ok(()),
        }
    }

    fn resolve_route(&self) -> Result<()> {
        let local = self.id().addresses().0;
        let (route, timeout) = {
            let mut state = self.state.lock();
            if !state.is_connecting() {
                return Ok(());
            }
            state.note_address(local);
            (try_copy(&state.route)?, state.attempt.timeout_ms())
        };
        if route.is_empty() {
            self.id().resolve_route(timeout)
        } else {
            let (level, name) = (RDMA_OPTION_IB, RDMA_OPTION_IB_PATH);
            option::set(&self.id(), level, name, route.as_ptr().cast(), route.len())
        }
    }

    /// Address and route resolution lose packets: once more, with a longer timeout.
    fn retry_resolution(&self, error: Errno) -> Result<()> {
        let (destination, timeout) = {
            let mut state = self.state.lock();
            if !state.is_connecting() {
                return Ok(());
            }
            if error != Errno::ETIMEDOUT {
                return Err(error);
            }
            if state.attempt.retries >= MAX_RETRIES {
                let tries = MAX_RETRIES + 1;
                return Err(because!(
                    error,
                    **self.id(),
                    "rconnect: no answer, tried {tries} times"
                ));
            }
            // The first failure has its line in the log, the others would only repeat it.
            self.id().with(|state| state.is_resolved_again = true);
            state.attempt.retries += 1;
            (state.attempt.destination.ok_or(error)?, state.attempt.timeout_ms())
        };
        self.id().resolve_address(None, &destination, timeout)
    }

    fn request(&self) -> Result<()> {
        let options = self.state.lock().options;
        let id = self.id();
        let link = Link::create(id.get(), &options)?;
        let own = link.endpoint.connection_data().encode();
        // Native addresses leave room for a header of their own.
        let mut data = [0; IB_HEADER_SIZE + CONNECTION_DATA_SIZE];
        data[IB_HEADER_SIZE..].copy_from_slice(&own);
        let unused = if self.family == AF_IB { 0 } else { IB_HEADER_SIZE };
        let split = link.endpoint.sizes().split;
        let local = id.addresses().0;
        {
            let mut state = self.state.lock();
            if !state.is_connecting() {
                drop(state);
                drop(link);
                return Ok(());
            }
            state.note_address(local);
            state.link = Some(link);
        }
        id.connect(Some(Parameters {
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

    fn established(&self, message: &CmEvent) -> Result<()> {
        let data = ConnectionData::decode(message.private_data()).map_err(|error| {
            because!(error, **self.id(), "the server speaks no rsockets, or another version")
        })?;
        let (local, peer) = self.id().addresses();
        let mut state = self.state.lock();
        if !state.is_connecting() {
            return Ok(());
        }
        (state.local, state.peer) = (local, peer);
        state.link.as_mut().ok_or(Errno::EIO)?.connect(&data);
        state.phase = Phase::Connected;
        state.edges.note_change();
        state.attempt = ConnectAttempt {
            success_unreported: state.attempt.success_unreported,
            ..ConnectAttempt::default()
        };
        log!(Info, "rsocket {}{}: connected", state.fd, Names(&state));
        probe!(rdmacm, rsocket__connect__done, state.fd, 0);
        count(|words| words.add(layout::RSOCKETS_CONNECTED, 1));
        state.wake();
        drop(state);
        self.start_keep_alive();
        Ok(())
    }
}

impl StreamState {
    /// Where the request goes out, once that is known.
    fn note_address(&mut self, local: Option<SocketAddress>) {
        if let Some(local) = local.filter(|local| !local.is_wildcard()) {
            self.local = Some(local);
            self.wake();
        }
    }

    /// That attempt could not begin.
    fn give_up(&mut self, attempt: u32) {
        if self.attempts == attempt && self.phase == Phase::Connecting {
            self.back_to_start();
        }
    }

    /// The attempt whose event is handled goes on: the program has not given it up.
    pub(super) fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting && self.id != IdState::Replaced
    }
}

/// Whether an event ends a connection, or the attempt to make one.
pub(super) fn is_end(event: rdma_cm_event_type) -> bool {
    matches!(
        event,
        RDMA_CM_EVENT_CONNECT_ERROR
            | RDMA_CM_EVENT_UNREACHABLE
            | RDMA_CM_EVENT_REJECTED
            | RDMA_CM_EVENT_DISCONNECTED
            | RDMA_CM_EVENT_DEVICE_REMOVAL
    )
}

/// A failed step as an error of connect(2).
fn connect_error(message: &CmEvent) -> Errno {
    match (message.event(), message.status()) {
        (RDMA_CM_EVENT_REJECTED, _) => Errno::ECONNREFUSED,
        (RDMA_CM_EVENT_DISCONNECTED, _) => Errno::ECONNRESET,
        (RDMA_CM_EVENT_UNREACHABLE, 0) => Errno::ETIMEDOUT,
        // The peer has answered and gone, so that the last step found nobody.
        (RDMA_CM_EVENT_CONNECT_ERROR, 0) => Errno::ECONNREFUSED,
        (RDMA_CM_EVENT_CONNECT_ERROR, status) if Errno::of(status) == Errno::EINVAL => {
            Errno::ECONNREFUSED
        }
        (RDMA_CM_EVENT_DEVICE_REMOVAL, 0) => Errno::ENODEV,
        (_, 0) => Errno::EHOSTUNREACH,
        (_, status) => Errno::of(status),
    }
}
