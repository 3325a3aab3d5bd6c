// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The passive side. The service thread answers requests and queues what is connected; raccept only
//! takes from the queue. With `ON_DEMAND` the service thread prepares what a request needs, and
//! raccept answers it. While the queue is full requests stay in the kernel, whose queue is long: a
//! request that it has no room for is dropped, and repeated by its sender seconds later.

use super::accept_queue::{CONFIRM_TIMEOUT, Request, Room};
use super::link::Link;
use super::state::{IdState, Names, Phase, Stream, StreamState};
use crate::cm::channel::Channel;
use crate::cm::conn::Parameters;
use crate::cm::event;
use crate::cm::id::CmEvent;
use crate::rsocket::descriptor;
use crate::rsocket::owned_id::{SoleId, refuse};
use crate::rsocket::pool;
use crate::rsocket::service;
use crate::rsocket::wire::{ConnectionData, IB_HEADER_SIZE};
use crate::types::*;
use base::arc::{Arc, Weak};
use base::counters::{count, layout};
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::time::Instant;
use base::{because, fail, log};
use core::sync::atomic::Ordering;
use core::time::Duration;
use probe::probe;

/// As net.core.somaxconn.
const MAX_BACKLOG: usize = 4096;
/// As rdma_ucm's own limit, unless the administrator has changed it.
const KERNEL_BACKLOG: i32 = 1024;
const RETRIES: u8 = 7;
/// Requests that are answered in one go: confirmations of others wait meanwhile.
const REQUESTS_AT_ONCE: usize = 8;

/// How long a request may wait for descriptors or memory, and the time between two attempts.
const SHORTAGE_TIMEOUT: Duration = CONFIRM_TIMEOUT;
const SHORTAGE_PAUSE: Duration = Duration::from_millis(100);

/// What is no request of an rsocket is refused.
fn request_of(listener: &Stream, message: &CmEvent) -> Option<Request<Stream>> {
    let id = message.child()?;
    let skipped = if listener.family == AF_IB { IB_HEADER_SIZE } else { 0 };
    let data = message.private_data().get(skipped..).ok_or(Errno::EPROTO);
    match data.and_then(ConnectionData::decode) {
        Ok(data) => Some(Request::Id(SoleId::of(id), data, message.depths())),
        Err(error) => {
            log_refusal(error);
            refuse(id);
            None
        }
    }
}

fn refuse_request(request: Request<Stream>) {
    match request {
        Request::Id(id, ..) => {
            let _ = id.reject(&[], 0);
        }
        Request::Child(child) => child.refuse(),
    }
}

/// Others may give back what is missing.
fn is_shortage(error: Errno) -> bool {
    matches!(error, Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM)
}

impl Stream {
    pub(crate) fn listen(&self, backlog: i32) -> Result<()> {
        self.check()?;
        let backlog = usize::try_from(backlog).unwrap_or(0).clamp(1, MAX_BACKLOG);
        {
            let mut state = self.state.lock();
            match state.phase {
                Phase::Idle | Phase::Bound => {}
                Phase::Listening => {
                    state.accept_queue.backlog = backlog;
                    return Ok(());
                }
                phase => return Err(fail!(EINVAL, "rlisten: {self:?} is {phase:?}")),
            }
        }
        self.prepare_id()?;
        if self.state.lock().bound.is_none() {
            // The kernel binds an unbound id to an IPv4 address, whatever the socket's family.
            self.bind(&SocketAddress::any(self.family))?;
        }
        self.state.lock().accept_queue.backlog = backlog;
        self.state.lock().phase = Phase::Listening;
        // Before it listens: a shutdown meanwhile has to end that.
        self.state.lock().id = IdState::Spent;
        if let Err(error) = self.id().listen(KERNEL_BACKLOG.max(backlog as i32)) {
            self.state.lock().phase = Phase::Bound;
            return Err(error);
        }
        let local = self.id().addresses().0;
        log!(Info, **self.id(), "{self:?} listens, backlog {backlog}");
        self.state.lock().local = local;
        Ok(())
    }

    /// Takes some requests while there is room for what comes of them.
    pub(super) fn take_requests(listener: &Arc<Stream>) {
        let file = listener.id().file();
        for _ in 0..REQUESTS_AT_ONCE {
            let room = {
                let state = listener.state.lock();
                state.accept_queue.room(Instant::now(), state.options.registered())
            };
            if !listener.make_room(&room) {
                return;
            }
            let short = listener.state.lock().accept_queue.short.take();
            let (request, since) = match short {
                Some(short) => short,
                None => match event::next(&file, Deadline::Never) {
                    Ok(message) if message.event() == RDMA_CM_EVENT_CONNECT_REQUEST => {
                        match request_of(listener, &message) {
                            Some(request) => (request, Instant::now()),
                            None => continue,
                        }
                    }
                    Ok(message) if message.event() == RDMA_CM_EVENT_DEVICE_REMOVAL => {
                        return listener.state.lock().fail(Errno::ENODEV);
                    }
                    Ok(_) => continue,
                    Err(_) => return,
                },
            };
            if let Err((error, request)) = Stream::admit(listener, request) {
                let waits = is_shortage(error) && since + SHORTAGE_TIMEOUT > Instant::now();
                if !waits {
                    refuse_request(request);
                    log_refusal(error);
                    continue;
                }
                listener.state.lock().accept_queue.short = Some((request, since));
                let room = listener.state.lock().accept_queue.room_of_late(Instant::now());
                if !listener.make_room(&room) {
                    return;
                }
            }
        }
        if listener.state.lock().accept_queue.short.is_some() {
            listener.pause_requests(None);
        }
    }

    /// Evicts where that is the way to have room. False where requests have to wait.
    fn make_room(&self, room: &Room<Stream>) -> bool {
        match room {
            Room::Free => true,
            // It may have confirmed: then its event waits to be taken.
            Room::Evict(child) => {
                child.take_connection_events();
                if child.is_pending() {
                    self.state.lock().accept_queue.note_eviction(child);
                    child.abandon();
                }
                true
            }
            Room::Full(until) => {
                self.pause_requests(*until);
                false
            }
        }
    }

    /// Leaves requests in the kernel until the time given, or until a confirmation or a raccept makes
    /// room. One that is short of memory or descriptors is tried again soon: others free them.
    fn pause_requests(&self, until: Option<Instant>) {
        let Ok(service) = service::get() else { return };
        let mut state = self.state.lock();
        state.accept_queue.is_paused = true;
        let soon = Instant::now() + SHORTAGE_PAUSE;
        let until = match &state.accept_queue.short {
            Some(_) => Some(until.map_or(soon, |until| until.min(soon))),
            None => until,
        };
        service.pause(self.fd());
        // Without memory for the timer the next confirmation resumes.
        let _ = until.map_or(Ok(()), |until| service.call_at(until, self.fd()));
    }

    /// The time of `pause_requests` has come.
    pub(super) fn try_requests_again(listener: &Arc<Stream>) {
        listener.resume_requests();
        let is_short = {
            let state = listener.state.lock();
            Stream::is_listening(&state) && state.accept_queue.short.is_some()
        };
        if is_short {
            Stream::take_requests(listener);
        }
    }

    /// Makes what a request needs, and answers it or queues it for raccept. A failure gives the request
    /// back.
    fn admit(
        listener: &Arc<Stream>,
        request: Request<Stream>,
    ) -> core::result::Result<(), (Errno, Request<Stream>)> {
        let child = match request {
            Request::Child(child) => child,
            Request::Id(id, data, depths) => {
                let close_on_exec = listener.state.lock().accept_queue.close_on_exec;
                let channel = || Channel::create_non_blocking(close_on_exec);
                let channel = match pool::or_with_less(channel) {
                    Ok(channel) => channel,
                    Err(error) => return Err((error, Request::Id(id, data, depths))),
                };
                if let Err(error) = id.migrate(Some(&channel)) {
                    return Err((error, Request::Id(id, data, depths)));
                }
                let mut state = StreamState::new(listener.state.lock().options, Phase::Accepting);
                state.listener = Some(Arc::downgrade(listener));
                (state.request, state.depths) = (Some(data), depths);
                match Stream::assemble(listener.family, id, channel, close_on_exec, state) {
                    Ok(child) => child,
                    // Refused by the drop of its id.
                    Err(error) => {
                        log_refusal(error);
                        return Ok(());
                    }
                }
            }
        };
        child.share_port();
        let taken = child.prepare().and_then(|()| {
            let mut state = listener.state.lock();
            if !state.accept_queue.on_demand {
                drop(state);
                return listener.answer(&child);
            }
            state.accept_queue.add_request(Arc::clone(&child))?;
            state.wake();
            Ok(())
        });
        taken.map_err(|error| (error, Request::Child(child)))
    }

    /// Answers the request of a child, which is pending from then on.
    pub(super) fn answer(&self, child: &Arc<Stream>) -> Result<()> {
        let answered = self.keep_pending(child).and_then(|()| child.send_answer());
        if answered.is_err() {
            drop(self.state.lock().accept_queue.remove_pending(child));
        }
        answered
    }

    /// Refuses the request of a child that is in no queue.
    pub(super) fn refuse(&self) {
        let _ = self.id().reject(&[], 0);
        service::forget(self.fd(), self);
    }

    /// Of a connection that no program knows yet.
    pub(super) fn set_close_on_exec(&self, on: bool) -> Result<()> {
        if self.close_on_exec.load(Ordering::Relaxed) != on {
            descriptor::set_close_on_exec(self.fd(), on)?;
            self.close_on_exec.store(on, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Before the client is answered: what needs memory comes first.
    fn keep_pending(&self, child: &Arc<Stream>) -> Result<()> {
        self.state.lock().accept_queue.add_pending(Arc::clone(child), Instant::now())?;
        service::get()?.call_at(Instant::now() + CONFIRM_TIMEOUT, child.fd())
    }

    /// A connection does not keep the port from a later listener, where its own listener shared it.
    fn share_port(&self) {
        if self.state.lock().options.reuse_address {
            // Only the convenience of a restart is lost.
            let _ = self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &1_i32.to_ne_bytes());
        }
    }

    /// Makes what a connection needs, before the request is answered.
    fn prepare(&self) -> Result<()> {
        let (data, options) = {
            let state = self.state.lock();
            if state.link.is_some() {
                return Ok(());
            }
            (state.request.ok_or(Errno::EIO)?, state.options)
        };
        let id = self.id();
        let mut link = Link::create(id.get(), &options)?;
        link.connect(&data);
        let (local, peer) = id.addresses();
        let mut state = self.state.lock();
        (state.local, state.peer) = (local, peer);
        state.link = Some(link);
        Ok(())
    }

    fn send_answer(&self) -> Result<()> {
        let (own, (responder_resources, initiator_depth)) = {
            let state = self.state.lock();
            let link = state.link.as_ref().ok_or(Errno::EIO)?;
            (link.endpoint.connection_data().encode(), state.depths)
        };
        self.id().accept(Some(Parameters {
            private_data: &own,
            responder_resources,
            initiator_depth,
            flow_control: 1,
            retry_count: RETRIES,
            rnr_retry_count: RETRIES,
            srq: 0,
            qp_num: 0,
        }))
    }

    fn take_listener(&self) -> Option<Arc<Stream>> {
        let listener = self.state.lock().listener.take();
        listener.as_ref().and_then(Weak::upgrade)
    }

    fn is_listening(state: &StreamState) -> bool {
        state.phase == Phase::Listening && !state.closed
    }

    fn is_pending(&self) -> bool {
        self.state.lock().phase == Phase::Accepting
    }

    /// Requests that were left in the kernel, where there is room again.
    pub(super) fn resume_requests(&self) {
        let was_paused = {
            let mut state = self.state.lock();
            Stream::is_listening(&state) && core::mem::take(&mut state.accept_queue.is_paused)
        };
        if let (true, Ok(service)) = (was_paused, service::get()) {
            service.resume(self.fd());
        }
    }

    /// The client has confirmed: to the listener's queue.
    pub(super) fn accepted(&self) {
        {
            let mut state = self.state.lock();
            state.phase = Phase::Connected;
            log!(Info, "rsocket {}{}: accepted", state.fd, Names(&state));
            probe!(rdmacm, rsocket__accept, state.fd);
            count(|words| words.add(layout::RSOCKETS_ACCEPTED, 1));
        }
        let listener = self.take_listener();
        let is_queued = listener.as_ref().is_some_and(|listener| {
            let mut state = listener.state.lock();
            let is_queued =
                Stream::is_listening(&state) && state.accept_queue.confirm(self, Instant::now());
            if is_queued {
                state.wake();
            }
            is_queued
        });
        if let (true, Some(listener)) = (is_queued, &listener) {
            self.start_keep_alive();
            listener.resume_requests();
        } else {
            self.leave(listener.as_deref());
        }
    }

    /// The client never confirmed, or went.
    pub(super) fn abandon(&self) {
        let listener = self.take_listener();
        self.leave(listener.as_deref());
        if let Some(listener) = listener {
            listener.resume_requests();
        }
    }

    /// A child that nobody will accept.
    fn leave(&self, listener: Option<&Stream>) {
        let own = listener.and_then(|other| {
            let mut state = other.state.lock();
            let queue = &mut state.accept_queue;
            let own = queue.remove_pending(self).or_else(|| queue.remove_request(self));
            // A raccept that waits for this child answers another request.
            state.wake();
            own
        });
        service::forget(self.fd(), self);
        drop(own);
    }

    /// The stream listens no more: its clients are told as by its close.
    pub(super) fn stop_listening(&self) {
        self.drop_unaccepted();
        let was_paused = core::mem::take(&mut self.state.lock().accept_queue.is_paused);
        if let (true, Ok(service)) = (was_paused, service::get()) {
            service.resume(self.fd());
        }
    }

    /// Ends connections that nobody will accept any more.
    pub(super) fn drop_unaccepted(&self) {
        let short = self.state.lock().accept_queue.short.take();
        if let Some((request, _)) = short {
            refuse_request(request);
        }
        loop {
            let request = self.state.lock().accept_queue.take_request();
            let Some(request) = request else { break };
            request.refuse();
        }
        loop {
            let child = self.state.lock().accept_queue.take_any();
            let Some(child) = child else { return };
            service::forget(child.fd(), &*child);
            child.abort();
        }
    }
}

/// The peer is told, and the reason goes to the log.
pub(super) fn log_refusal(error: Errno) {
    because!(error, "refused an rsocket connection: {}", why_refused(error));
}

fn why_refused(error: Errno) -> &'static str {
    match error {
        Errno::EPROTO => "the client speaks no rsockets, or another version",
        Errno::ENOMEM => "no memory, or not as much may be locked (RLIMIT_MEMLOCK)",
        Errno::EMFILE | Errno::ENFILE => "no descriptor is left (RLIMIT_NOFILE)",
        _ => "the client sees ECONNREFUSED",
    }
}
