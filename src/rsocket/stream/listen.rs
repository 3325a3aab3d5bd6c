//! The passive side. The service thread answers requests and queues what is connected; raccept only
//! takes from the queue. While the queue is full requests stay in the kernel, which holds as many
//! again and refuses the rest.

use super::link::Link;
use super::{Inner, Phase, Stream};
use crate::conn::Parameters;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::event::{self, Channel, Message};
use crate::id::Id;
use crate::log;
use crate::memory::try_push;
use crate::rsocket::owned_id::SoleId;
use crate::rsocket::service;
use crate::rsocket::socket::{self, Socket};
use crate::rsocket::wire::{ConnectionData, IB_HEADER};
use crate::types::*;
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// As net.core.somaxconn.
const MAX_BACKLOG: usize = 4096;
/// How long a client may take between our answer and its confirmation.
const CONFIRM_LIMIT: Duration = Duration::from_secs(20);
const RETRIES: u8 = 7;

/// The accept queue of a listener, or whose queue an accepted stream is for.
#[derive(Default)]
pub(super) struct Accepting {
    queue: VecDeque<Counted<Stream>>,
    backlog: usize,
    /// Answered and not yet confirmed.
    pending: Vec<RawFd>,
    /// Requests are left in the kernel.
    paused: bool,
    listener: Option<RawFd>,
}

impl Accepting {
    pub(super) fn is_ready(&self) -> bool {
        !self.queue.is_empty()
    }

    fn has_room(&self) -> bool {
        self.queue.len() < self.backlog
    }

    /// The pending one that gives way to the next. An honest client confirms in one round trip, so that
    /// clients that never do stand in nobody's way for longer.
    fn crowded_out(&self) -> Option<RawFd> {
        let most = self.backlog * 2 + 16;
        if self.pending.len() < most { None } else { self.pending.first().copied() }
    }
}

impl Stream {
    pub(crate) fn listen(&self, backlog: i32) -> Result<()> {
        self.check()?;
        let backlog = usize::try_from(backlog).unwrap_or(0).clamp(1, MAX_BACKLOG);
        {
            let mut inner = self.inner.lock();
            match inner.phase {
                Phase::Idle | Phase::Bound => {}
                Phase::Listening => {
                    inner.accepting.backlog = backlog;
                    return Ok(());
                }
                _ => return Err(Errno::EINVAL),
            }
        }
        if self.inner.lock().phase == Phase::Idle {
            // The kernel binds an unbound id to an IPv4 address, whatever the socket's family.
            self.bind(&SocketAddress::any(self.family))?;
        }
        self.inner.lock().accepting.backlog = backlog;
        self.inner.lock().phase = Phase::Listening;
        if let Err(error) = self.id().listen(backlog as i32) {
            self.inner.lock().phase = Phase::Bound;
            return Err(error);
        }
        let local = self.id().addresses().0;
        self.inner.lock().local = local;
        Ok(())
    }

    /// The next connection's descriptor and its peer.
    pub(crate) fn accept(&self, close_on_exec: bool) -> Result<(RawFd, Option<SocketAddress>)> {
        self.check()?;
        if !matches!(self.inner.lock().phase, Phase::Listening | Phase::Failed) {
            return Err(Errno::EINVAL);
        }
        let patience = |inner: &Inner| inner.patience(0, inner.options.receive_timeout);
        let child = self.wait_for(patience, &mut |inner: &mut Inner| {
            if inner.phase != Phase::Listening {
                // A listener whose device was removed says so, once.
                return Some(Err(inner.take_error().err().unwrap_or(Errno::EINVAL)));
            }
            let child = inner.accepting.queue.pop_front()?;
            Some(Ok((child, std::mem::take(&mut inner.accepting.paused))))
        });
        let (child, was_paused) = child?;
        if was_paused {
            service::get()?.resume(self.fd);
        }
        crate::rsocket::descriptor::set_close_on_exec(child.fd, close_on_exec)?;
        let peer = child.inner.lock().peer;
        child.publish(true);
        Ok((child.fd, peer))
    }

    /// Answers requests while there is room for what comes of them.
    pub(super) fn take_requests(&self) {
        let file = self.id().file();
        loop {
            let oldest = {
                let mut inner = self.inner.lock();
                if !inner.accepting.has_room() {
                    inner.accepting.paused = true;
                    if let Ok(service) = service::get() {
                        service.pause(self.fd);
                    }
                    return;
                }
                inner.accepting.crowded_out()
            };
            if let Some(oldest) = oldest {
                self.give_up_pending(oldest);
            }
            match event::next(&file, None) {
                Ok(message) if message.event() == RDMA_CM_EVENT_CONNECT_REQUEST => {
                    self.take_request(&message);
                }
                Ok(message) if message.event() == RDMA_CM_EVENT_DEVICE_REMOVAL => {
                    self.inner.lock().fail(Errno::ENODEV);
                    return;
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    fn give_up_pending(&self, fd: RawFd) {
        self.inner.lock().accepting.pending.retain(|other| *other != fd);
        if let Some(Socket::Stream(child)) = socket::find_any(fd).as_deref() {
            // The number may be somebody else's by now.
            let is_ours = child.inner.lock().accepting.listener == Some(self.fd);
            if is_ours {
                child.give_up_accepting();
            }
        }
    }

    fn take_request(&self, message: &Message) {
        let Some(id) = message.child() else { return };
        if let Err(error) = self.answer(id, message) {
            log::line(format_args!("refused an rsocket connection: {error}"));
        }
    }

    /// Everything that is made here is undone by drops when a step fails; then the peer is refused.
    fn answer(&self, id: &'static Id, message: &Message) -> Result<()> {
        let prepared = Channel::create().and_then(|channel| {
            id.migrate(Some(&channel))?;
            Ok(channel)
        });
        let channel = match prepared {
            Ok(channel) => channel,
            Err(error) => {
                super::shutdown::refuse(id);
                return Err(error);
            }
        };
        let options = self.inner.lock().options;
        let mut inner = Inner::new(options, Phase::Accepting);
        inner.accepting.listener = Some(self.fd);
        let child = Stream::assemble(self.family, SoleId::of(id), channel, inner)?;
        child.share_port();
        let answered = self.keep_pending(child.fd).and_then(|()| child.answer_with(message));
        if answered.is_err() {
            self.inner.lock().accepting.pending.retain(|fd| *fd != child.fd);
            let _ = id.reject(&[], 0);
            drop(socket::leave(child.fd));
        }
        answered
    }

    /// Before the client hears of it: what needs memory comes first.
    fn keep_pending(&self, child: RawFd) -> Result<()> {
        {
            let accepting = &mut self.inner.lock().accepting;
            try_push(&mut accepting.pending, child)?;
            let confirmed_at_once = accepting.pending.len();
            accepting.queue.try_reserve(confirmed_at_once).map_err(|_| Errno::ENOMEM)?;
        }
        service::get()?.call_at(Instant::now() + CONFIRM_LIMIT, child)
    }

    /// A connection does not keep the port from a later listener, where its own listener shared it.
    fn share_port(&self) {
        if self.inner.lock().options.reuse_address {
            // Only the convenience of a restart is lost.
            let _ = self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &1_i32.to_ne_bytes());
        }
    }

    fn answer_with(&self, message: &Message) -> Result<()> {
        let skipped = if self.family == AF_IB { IB_HEADER } else { 0 };
        let data = message.private_data().get(skipped..).ok_or(Errno::EPROTO)?;
        let data = ConnectionData::decode(data)?;
        let options = self.inner.lock().options;
        let id = self.id();
        let mut link = Link::create(id.get(), &options)?;
        link.connect(&data);
        let own = link.endpoint.connection_data().encode();
        let (local, peer) = id.addresses();
        {
            let mut inner = self.inner.lock();
            (inner.local, inner.peer) = (local, peer);
            inner.link = Some(link);
        }
        let (responder_resources, initiator_depth) = message.depths();
        id.accept(Some(&Parameters {
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

    /// The client has confirmed: to the listener's queue.
    pub(super) fn accepted(&self) {
        let listener = {
            let mut inner = self.inner.lock();
            inner.phase = Phase::Connected;
            inner.accepting.listener.take()
        };
        let own = match socket::find_any(self.fd).as_deref() {
            Some(Socket::Stream(stream)) if std::ptr::eq(&**stream, self) => Counted::clone(stream),
            _ => return,
        };
        let queued = with_listener(listener, |inner| {
            inner.accepting.pending.retain(|fd| *fd != self.fd);
            // There is room since the client was answered.
            inner.accepting.queue.push_back(own);
            inner.wake();
        });
        if queued.is_none() {
            drop(socket::leave(self.fd));
            return;
        }
        self.start_keep_alive();
    }

    /// The client never confirmed, or went.
    pub(super) fn give_up_accepting(&self) {
        let listener = self.inner.lock().accepting.listener.take();
        let resume = with_listener(listener, |inner| {
            inner.accepting.pending.retain(|fd| *fd != self.fd);
            std::mem::take(&mut inner.accepting.paused)
        });
        if let (Some(true), Some(fd), Ok(service)) = (resume, listener, service::get()) {
            service.resume(fd);
        }
        drop(socket::leave(self.fd));
    }

    /// Connections that nobody will accept any more.
    pub(super) fn drop_unaccepted(&self) {
        let (queue, pending) = {
            let mut inner = self.inner.lock();
            (
                std::mem::take(&mut inner.accepting.queue),
                std::mem::take(&mut inner.accepting.pending),
            )
        };
        for child in queue {
            drop(socket::leave(child.fd));
            child.abort();
        }
        for fd in pending {
            // The number may be somebody else's by now.
            let is_ours = matches!(socket::find_any(fd).as_deref(),
                Some(Socket::Stream(stream)) if !stream.is_public());
            if is_ours {
                drop(socket::leave(fd));
            }
        }
    }
}

fn with_listener<R>(fd: Option<RawFd>, then: impl FnOnce(&mut Inner) -> R) -> Option<R> {
    let found = socket::find_any(fd?)?;
    let Ok(listener) = found.as_stream() else { return None };
    let mut inner = listener.inner.lock();
    (inner.phase == Phase::Listening && !inner.closed).then(|| then(&mut inner))
}
