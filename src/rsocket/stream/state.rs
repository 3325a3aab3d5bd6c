// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A stream rsocket: its state, and what every call checks first.
//!
//! One lock per stream, held for the few steps of a call and never while something is waited for.

use super::accept_queue::AcceptQueue;
use super::iomap_list::IomapList;
use super::link::{Link, PeerState};
use super::options::StreamOptions;
use crate::cm::channel::Channel;
use crate::cm::option;
use crate::lane::{self, Traffic};
use crate::rsocket::owned_id::SoleId;
use crate::rsocket::service;
use crate::rsocket::wait::Blocking;
use crate::rsocket::wait::blocking::wait_for;
use crate::rsocket::wait::source::{Edges, Waiters};
use crate::rsocket::wire::ConnectionData;
use crate::types::{RDMA_OPTION_ID, SocketAddress};
use alloc::vec::Vec;
use base::arc::{Arc, Weak};
use base::counters::{count, layout};
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::gate::{Gated, Gates};
use base::lock::Mutex;
use base::owner::Owner;
use base::time::Instant;
use base::{because, fail, log};
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use core::time::Duration;
use libc::{MSG_DONTWAIT, c_int};
use probe::probe;

/// How long a queue pair in the error state waits for the connection manager's event with the
/// reason: the peer or the device is gone. Without an event the peer violated the transport's
/// rules.
const EVENT_TIMEOUT: Duration = Duration::from_millis(300);
/// How long rgetsockname waits for the address of a connection that is being made: longer than it takes
/// without a question to the network.
const RESOLUTION_WAIT: Duration = Duration::from_millis(50);

/// The states of streams that the program knows, by descriptor.
pub(super) static STATES: Gates<StreamState> = Gates::new();

/// A stream rsocket; the descriptor is the one of its event channel.
pub(crate) struct Stream {
    /// Another one for what is still sent after a close.
    pub(super) fd: AtomicI32,
    pub(super) family: c_int,
    pub(super) owner: Owner,
    /// The descriptor's flag, until the program has it.
    pub(super) close_on_exec: AtomicBool,
    /// An id makes one connection request: a connect that follows a failed one takes another.
    pub(super) id: Mutex<Arc<SoleId>>,
    // Outlives the id; its end closes the descriptor.
    pub(super) channel: Arc<Channel>,
    pub(super) state: Gated<StreamState>,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Bound,
    Listening,
    /// Asked for a connection.
    Connecting,
    /// Answered a request, not yet confirmed.
    Accepting,
    Connected,
    /// A connection could not be made, and no connect has reported that.
    Failed,
}

/// A connection that is being made.
#[derive(Default)]
pub(super) struct ConnectAttempt {
    pub(super) destination: Option<SocketAddress>,
    pub(super) retries: u32,
    /// No connect has reported that the connection is made.
    pub(super) success_unreported: bool,
    /// It was shut down after it had failed: only AF_UNSPEC makes the stream new.
    pub(super) is_given_up: bool,
}

/// The id of a stream makes one request, for a connection or to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdState {
    Fresh,
    /// As the program has bound the stream.
    Bound,
    Spent,
    /// Another one takes its place: events are of the one that goes.
    Replaced,
}

pub(super) struct StreamState {
    /// As the stream's; -1 before that has one.
    pub(super) fd: RawFd,
    pub(super) phase: Phase,
    pub(super) options: StreamOptions,
    /// A path record for the connection, as `struct ibv_path_data`.
    pub(super) route: Vec<u8>,
    pub(super) nonblock: bool,
    /// The first error that has not been reported (SO_ERROR).
    pub(super) error: Option<Errno>,
    pub(super) link: Option<Link>,
    pub(super) id: IdState,
    /// The link's failure has been made the error.
    pub(super) failure_reported: bool,
    /// The queue pair has ended; `EVENT_TIMEOUT` is running.
    pub(super) awaits_event: bool,
    /// As with TCP these are also of a stream without a connection.
    pub(super) read_shut: bool,
    pub(super) write_shut: bool,
    /// The peer has been sent that nothing more is sent or read.
    pub(super) sent_disconnect: bool,
    pub(super) closed: bool,
    /// Sets have let go of it: the descriptor of its events may be another connection's next.
    pub(super) is_left: bool,
    /// The service thread sends the message of our end, when there is a slot.
    pub(super) sends_end: bool,
    /// Until when what was sent before a close goes on in the background.
    pub(super) unsent_until: Deadline,
    /// What the program has bound it to; port 0 for any.
    pub(super) bound: Option<SocketAddress>,
    pub(super) local: Option<SocketAddress>,
    pub(super) peer: Option<SocketAddress>,
    pub(super) attempt: ConnectAttempt,
    /// Connects so far: who waits for one must not take another's outcome for its own.
    pub(super) attempts: u32,
    /// A connection was requested, now or before.
    pub(super) was_connecting: bool,
    /// Of a listener.
    pub(super) accept_queue: AcceptQueue<Stream>,
    /// Of a request: responder resources and initiator depth for its answer.
    pub(super) depths: (u8, u8),
    /// Of a request: the peer's data.
    pub(super) request: Option<ConnectionData>,
    /// Whose queue an accepted stream is for.
    pub(super) listener: Option<Weak<Stream>>,
    pub(super) iomaps: IomapList,
    pub(super) waiters: Waiters,
    /// Counted where there is a trace.
    pub(super) traffic: Traffic,
    /// Without what has arrived, and the ends.
    pub(super) edges: Edges,
}

impl StreamState {
    pub(super) fn new(options: StreamOptions, phase: Phase) -> StreamState {
        StreamState {
            fd: -1,
            phase,
            options,
            route: Vec::new(),
            nonblock: false,
            error: None,
            link: None,
            // The one of a child has made a request.
            id: if phase == Phase::Accepting { IdState::Spent } else { IdState::Fresh },
            failure_reported: false,
            awaits_event: false,
            read_shut: false,
            write_shut: false,
            sent_disconnect: false,
            closed: false,
            is_left: false,
            sends_end: false,
            unsent_until: Deadline::Now,
            bound: None,
            local: None,
            peer: None,
            attempt: ConnectAttempt::default(),
            attempts: 0,
            was_connecting: false,
            accept_queue: AcceptQueue::default(),
            depths: (0, 0),
            request: None,
            listener: None,
            iomaps: IomapList::default(),
            waiters: Waiters::default(),
            traffic: Traffic::default(),
            edges: Edges::default(),
        }
    }

    /// Takes what has completed on the connection.
    #[inline]
    pub(super) fn progress(&mut self) {
        if self.phase != Phase::Connected {
            return;
        }
        let Some(link) = &mut self.link else { return };
        link.progress();
        if link.failure.is_some() || link.flushed {
            self.note_end();
        }
    }

    /// Makes a failure of the link the error, once, and waits for the event that follows the end of
    /// a queue pair.
    #[cold]
    fn note_end(&mut self) {
        let Some(link) = &mut self.link else { return };
        if let (Some(failure), false) = (link.failure, self.failure_reported) {
            self.failure_reported = true;
            self.error.get_or_insert(failure);
        }
        if link.flushed && link.is_alive() && !self.awaits_event {
            self.awaits_event = true;
            let limit = Instant::now() + EVENT_TIMEOUT;
            let timer = service::get().and_then(|service| service.call_at(limit, self.fd));
            if timer.is_err() {
                self.lose(Errno::ECONNRESET);
            }
        }
    }

    /// The connection is over. What arrived before is still read; then `reason` is reported once, unless
    /// the peer had sent its end, or been sent ours.
    #[cold]
    pub(super) fn lose(&mut self, reason: Errno) {
        let sent_disconnect = self.sent_disconnect;
        let Some(link) = &mut self.link else { return };
        if link.lose() && !sent_disconnect {
            link.fail(reason);
            self.failure_reported = true;
            self.error.get_or_insert(reason);
            probe!(rdmacm, rsocket__lost, self.fd, reason.raw());
            count(|words| words.error(layout::RSOCKETS_LOST, reason));
            link.endpoint.id().lane().mark("lost", &[lane::failure(reason)]);
            because!(
                reason,
                "rsocket {}{}: the connection is lost, the peer has not closed it: its program ended, or \
                 the network or the device failed (large messages alone: the MTU of both sides and the switches)",
                self.fd,
                Names(self)
            );
        }
    }

    /// Ends the connection for an error that this call reports, and no later one.
    #[cold]
    pub(super) fn end_with(&mut self, error: Errno) -> Errno {
        if let Some(link) = &mut self.link {
            link.fail(error);
            self.failure_reported = true;
        }
        error
    }

    pub(super) fn wake(&self) {
        self.waiters.wake();
    }

    pub(super) fn fail(&mut self, error: Errno) {
        log!(Info, "rsocket {}: no connection: {error}", self.fd);
        probe!(rdmacm, rsocket__connect__done, self.fd, error.raw());
        count(|words| words.error(layout::RSOCKETS_FAILED, error));
        self.phase = Phase::Failed;
        self.edges.note_change();
        self.error.get_or_insert(error);
        (self.read_shut, self.write_shut) = (true, true);
        self.wake();
    }

    pub(super) fn take_error(&mut self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// How a call waits that was given these flags.
    pub(super) fn blocking(&self, flags: c_int, timeout: Option<Duration>) -> Blocking {
        Blocking { nonblock: self.nonblock || flags & MSG_DONTWAIT != 0, timeout }
    }

    /// Whether there is a connection yet; ENOTCONN for what has none and waits for none, unless
    /// there is an error to report first.
    #[inline]
    pub(super) fn check_connected(&self) -> Result<bool> {
        if self.phase == Phase::Connected { Ok(true) } else { self.check_connecting() }
    }

    #[cold]
    #[inline(never)]
    fn check_connecting(&self) -> Result<bool> {
        match self.phase {
            Phase::Connected => Ok(true),
            Phase::Connecting | Phase::Accepting => Ok(false),
            Phase::Failed => Err(self.error.unwrap_or(Errno::ENOTCONN)),
            Phase::Idle | Phase::Bound | Phase::Listening => Err(fail!(
                ENOTCONN,
                "rsocket {}: it has no connection, and rconnect was not called: {:?}",
                self.fd,
                self.phase
            )),
        }
    }

    /// What a receive says without a connection that it could wait for.
    #[cold]
    pub(super) fn receive_unconnected(&mut self) -> Result<()> {
        if self.phase == Phase::Listening {
            return Err(Errno::ENOTCONN);
        }
        self.take_error()?;
        if self.read_shut { Ok(()) } else { Err(Errno::ENOTCONN) }
    }

    /// What a send says without a connection that it could wait for: ENOTCONN where there never was one.
    /// As in the C library, and not as with TCP, why an attempt failed is kept for SO_ERROR.
    #[cold]
    pub(super) fn send_unconnected(&mut self) -> Errno {
        let error = if self.phase == Phase::Failed { self.error } else { self.error.take() };
        error.unwrap_or(if self.was_connecting { Errno::EPIPE } else { Errno::ENOTCONN })
    }

    pub(super) fn is_drained(&mut self) -> bool {
        self.progress();
        self.link.as_ref().is_none_or(Link::is_drained)
    }

    pub(super) fn check_writable(&mut self) -> Result<()> {
        // As TCP: what happened comes before what follows from it.
        self.take_error()?;
        if self.write_shut {
            return Err(Errno::EPIPE);
        }
        let Some(link) = &self.link else { return Err(Errno::ENOTCONN) };
        if link.is_alive() { Ok(()) } else { Err(Errno::EPIPE) }
    }

    /// Nothing more will come.
    pub(super) fn at_end(&self) -> bool {
        let Some(link) = &self.link else { return true };
        let no_more = self.read_shut || link.peer > PeerState::Open;
        link.flow.unread() == 0 && (no_more || (link.failure.is_some() && self.error.is_none()))
    }

    /// Nothing goes either way any more.
    pub(super) fn has_ended(&self) -> bool {
        let Some(link) = &self.link else { return true };
        link.failure.is_some() || (self.write_shut && link.peer > PeerState::Open)
    }
}

/// Local and remote address, for the log.
pub(super) struct Names<'a>(pub(super) &'a StreamState);

impl core::fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(local) = &self.0.local {
            write!(f, " {local}")?;
        }
        match &self.0.peer {
            Some(peer) => write!(f, " -> {peer}"),
            None => Ok(()),
        }
    }
}

impl Stream {
    pub(super) fn id(&self) -> Arc<SoleId> {
        Arc::clone(&self.id.lock())
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.fd.load(Ordering::Relaxed)
    }

    /// EPERM in a child whose parent has the connection.
    pub(super) fn check(&self) -> Result<()> {
        self.owner.check()
    }

    pub(crate) fn is_nonblock(&self) -> bool {
        self.state.lock().nonblock
    }

    pub(crate) fn set_nonblock(&self, on: bool) {
        self.state.lock().nonblock = on;
    }

    pub(super) fn set_id_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        option::set(&self.id(), RDMA_OPTION_ID, name, bytes.as_ptr().cast(), bytes.len())
    }

    /// TCP knows its address as soon as it connects: that of a connection that is being made is waited
    /// for, while its address is resolved.
    pub(crate) fn local_name(&self) -> Result<SocketAddress> {
        self.check()?;
        let is_known = || {
            let state = self.state.lock();
            (state.phase != Phase::Connecting || state.local.is_some()).then_some(Ok(()))
        };
        let blocking = Blocking { nonblock: false, timeout: Some(RESOLUTION_WAIT) };
        // Then it has none yet.
        let _ = wait_for(self, blocking, is_known);
        Ok(self.state.lock().local.unwrap_or_else(|| SocketAddress::any(self.family)))
    }

    pub(crate) fn peer_name(&self) -> Result<SocketAddress> {
        self.check()?;
        let state = self.state.lock();
        match state.phase {
            Phase::Connected => state.peer.ok_or(Errno::ENOTCONN),
            _ => Err(Errno::ENOTCONN),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A timer that was set while others still used it must not meet the descriptor's next
        // owner.
        service::forget(self.fd(), self);
        let is_ours = self.owner.is_ours();
        let state = self.state.get_mut();
        if !is_ours {
            // The connection is the parent's; only our copy of the descriptor goes.
            core::mem::forget(state.link.take());
            core::mem::forget(core::mem::take(&mut state.iomaps));
        }
        state.iomaps.clear();
        // Before the id.
        drop(state.link.take());
    }
}

impl core::fmt::Debug for Stream {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsocket {}", self.fd())
    }
}
