//! Stream rsockets.
//!
//! `connect` and `listen` set connections up, driven by the service thread; `transfer` moves bytes;
//! `shutdown` ends them; `endpoint`, `link` are the connection itself; `ready` is what poll asks;
//! `sockopt` the options; `iomap` the direct writes.
//!
//! One lock per stream, held for the few steps of a call and never while something is waited for.

mod again;
mod connect;
mod endpoint;
mod iomap;
mod keepalive;
mod link;
mod listen;
mod name;
mod options;
mod ready;
mod shutdown;
mod sockopt;
mod transfer;
mod waiting;

use super::owned_id::SoleId;
use super::service;
use super::socket::{self, Socket};
use super::waiters::Waiters;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::event::Channel;
use crate::fork::Owner;
use crate::lock::Mutex;
use crate::types::SocketAddress;
use iomap::Iomaps;
use link::Link;
use listen::Accepting;
pub(crate) use options::Options;
pub(crate) use sockopt::{RDMA_INLINE, RDMA_IOMAPSIZE, RDMA_RQSIZE, RDMA_SQSIZE, SOL_RDMA};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a queue pair that has ended may wait for the event that says why: a peer that is gone, or
/// a device. Without one the peer broke the transport's rules.
const NEWS_LIMIT: Duration = Duration::from_millis(300);

/// A stream rsocket; the descriptor is the one of its event channel.
pub(crate) struct Stream {
    fd: RawFd,
    family: i32,
    owner: Owner,
    /// The program knows the descriptor.
    public: AtomicBool,
    /// One is good for one request: a connect that comes after a failed one takes another.
    id: Mutex<Counted<SoleId>>,
    // Outlives the id; its end closes the descriptor.
    channel: Box<Channel>,
    inner: Mutex<Inner>,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Bound,
    Listening,
    /// Asked for a connection.
    Connecting,
    /// Answered a request, not yet confirmed.
    Accepting,
    Connected,
    /// A connection could not be made.
    Failed,
}

struct Inner {
    /// As the stream's; -1 before that has one.
    fd: RawFd,
    phase: Phase,
    options: Options,
    /// A path record for the connection, as `struct ibv_path_data`.
    route: Vec<u8>,
    non_blocking: bool,
    /// The first error that nobody has been told of (SO_ERROR).
    error: Option<Errno>,
    link: Option<Link>,
    /// The link's failure has been made the error.
    failure_told: bool,
    /// The time for news of a queue pair that has ended is running.
    awaits_news: bool,
    read_shut: bool,
    write_shut: bool,
    /// The peer has been told that nothing more is sent or read.
    said_good_bye: bool,
    closed: bool,
    local: Option<SocketAddress>,
    peer: Option<SocketAddress>,
    attempt: connect::Attempt,
    accepting: Accepting,
    iomaps: Iomaps,
    waiters: Waiters,
}

impl Inner {
    fn new(options: Options, phase: Phase) -> Inner {
        Inner {
            fd: -1,
            phase,
            options,
            route: Vec::new(),
            non_blocking: false,
            error: None,
            link: None,
            failure_told: false,
            awaits_news: false,
            read_shut: false,
            write_shut: false,
            said_good_bye: false,
            closed: false,
            local: None,
            peer: None,
            attempt: connect::Attempt::default(),
            accepting: Accepting::default(),
            iomaps: Iomaps::default(),
            waiters: Waiters::default(),
        }
    }

    /// Takes what has completed on the connection.
    #[inline]
    fn progress(&mut self) {
        if self.phase != Phase::Connected {
            return;
        }
        let Some(link) = &mut self.link else { return };
        link.progress();
        if link.failure.is_some() || link.flushed {
            self.note_end();
        }
    }

    /// Makes a failure of the link the error, once, and waits for news of a queue pair that has ended.
    #[cold]
    fn note_end(&mut self) {
        let Some(link) = &mut self.link else { return };
        if let (Some(failure), false) = (link.failure, self.failure_told) {
            self.failure_told = true;
            self.error.get_or_insert(failure);
        }
        if link.flushed && link.is_alive() && !self.awaits_news {
            self.awaits_news = true;
            let limit = Instant::now() + NEWS_LIMIT;
            let timer = service::get().and_then(|service| service.call_at(limit, self.fd));
            if timer.is_err() {
                link.lose();
            }
        }
    }

    /// Ends the connection for an error that the caller is told now, and nobody again.
    #[cold]
    fn broken(&mut self, error: Errno) -> Errno {
        if let Some(link) = &mut self.link {
            link.fail(error);
            self.failure_told = true;
        }
        error
    }

    fn wake(&self) {
        self.waiters.wake();
    }

    fn fail(&mut self, error: Errno) {
        self.phase = Phase::Failed;
        self.error.get_or_insert(error);
        self.wake();
    }

    fn take_error(&mut self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl Stream {
    /// A new, unconnected stream, entered in the table.
    pub(crate) fn open(family: i32, non_blocking: bool, close_on_exec: bool) -> Result<RawFd> {
        let channel = Channel::create()?;
        let id = SoleId::for_stream(&channel)?;
        let stream = Stream::assemble(family, id, channel, Inner::new(Options::new(), Phase::Idle));
        let stream = stream?;
        stream.inner.lock().non_blocking = non_blocking;
        super::descriptor::set_close_on_exec(stream.fd, close_on_exec)?;
        stream.publish(true);
        Ok(stream.fd)
    }

    /// Enters the table and the care of the service thread.
    fn assemble(
        family: i32,
        id: SoleId,
        channel: Box<Channel>,
        mut inner: Inner,
    ) -> Result<Counted<Stream>> {
        let fd = channel.file().fd()?;
        inner.fd = fd;
        let stream = Counted::try_new(Stream {
            fd,
            family,
            owner: Owner::current(),
            public: AtomicBool::new(false),
            id: Mutex::new(Counted::try_new(id)?),
            channel,
            inner: Mutex::new(inner),
        })?;
        super::descriptor::set_non_blocking(fd)?;
        let service = service::get()?;
        socket::enter(fd, Socket::Stream(Counted::clone(&stream)))?;
        if let Err(error) = service.watch(fd) {
            drop(socket::leave(fd));
            return Err(error);
        }
        Ok(stream)
    }

    fn id(&self) -> Counted<SoleId> {
        Counted::clone(&self.id.lock())
    }

    pub(super) fn fd(&self) -> RawFd {
        self.fd
    }

    /// Says whether the program knows the descriptor; whether it did before.
    pub(super) fn publish(&self, on: bool) -> bool {
        socket::publish(&self.public, on)
    }

    pub(super) fn is_public(&self) -> bool {
        self.public.load(Ordering::Acquire)
    }

    /// EPERM in a child whose parent has the connection.
    pub(super) fn check(&self) -> Result<()> {
        self.owner.check()
    }

    pub(crate) fn is_non_blocking(&self) -> bool {
        self.inner.lock().non_blocking
    }

    pub(crate) fn set_non_blocking(&self, on: bool) {
        self.inner.lock().non_blocking = on;
    }

    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        self.check()?;
        if address.family() != self.family {
            return Err(Errno::EAFNOSUPPORT);
        }
        if self.inner.lock().phase != Phase::Idle {
            return Err(Errno::EINVAL);
        }
        let id = self.id();
        id.bind(address)?;
        let local = id.addresses().0;
        let mut inner = self.inner.lock();
        inner.phase = Phase::Bound;
        inner.local = local;
        Ok(())
    }

    /// Takes the connection manager's events; only the service thread calls this.
    pub(super) fn take_events(&self) {
        let phase = self.inner.lock().phase;
        match phase {
            Phase::Listening => self.take_requests(),
            _ => self.take_connection_events(),
        }
    }

    pub(super) fn on_timer(&self) {
        let phase = self.inner.lock().phase;
        match phase {
            Phase::Accepting => self.give_up_accepting(),
            Phase::Connected if self.inner.lock().awaits_news => self.lost(None),
            Phase::Connected => self.keep_alive(),
            _ => {}
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.owner.is_ours() {
            // The connection is the parent's; only our copy of the descriptor goes.
            std::mem::forget(self.inner.get_mut().link.take());
            std::mem::forget(std::mem::take(&mut self.inner.get_mut().iomaps));
        } else {
            service::forget(self.fd);
        }
        let inner = self.inner.get_mut();
        inner.iomaps.clear();
        // Before the id.
        drop(inner.link.take());
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rsocket {}", self.fd)
    }
}
