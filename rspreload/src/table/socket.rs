// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A socket of the program: the kernel's socket, whose descriptor the program holds, and the
//! rsocket beside it once RDMA carries it. All copies of the descriptor share one `Socket`.

use super::counts::{Counts, Direction};
use super::decision::{Decision, Described, Place, Way};
use super::setting::Setting;
use crate::sys::address::Address;
use crate::sys::connection_name::ConnectionName;
use crate::sys::librdmacm;
use alloc::vec::Vec;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result, preserve_errno};
use base::fork::generation;
use base::lock::Mutex;
use base::log;
use base::once::OnceLock;
use base::time::Instant;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use libc::{SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, c_int};

/// What carries a socket's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Not decided yet.
    Open,
    /// The kernel's socket listens, and so does the rsocket if there is one.
    Listening,
    /// The rsocket has requested a connection.
    Connecting,
    Rdma,
    /// Another process's connection over RDMA, reached through a Unix socket.
    Relayed,
    /// The kernel's socket alone.
    Plain,
    /// RDMA was required and is not available.
    Failed,
}

impl Mode {
    fn of(value: u8) -> Mode {
        const ALL: [Mode; 7] = [
            Mode::Open,
            Mode::Listening,
            Mode::Connecting,
            Mode::Rdma,
            Mode::Relayed,
            Mode::Plain,
            Mode::Failed,
        ];
        ALL.get(usize::from(value)).copied().unwrap_or(Mode::Plain)
    }
}

/// A registration of the socket in an epoll instance: numbers that only the observer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Watch {
    pub(crate) instance: u64,
    pub(crate) key: u64,
}

/// What higher rooms learn about sockets. No lock of a socket is held during a call.
pub(crate) trait Observer: Sync {
    /// The events of a watched socket come from another descriptor now.
    fn carrier_changed(&self, _watches: &[Watch]) {}

    /// The kernel alone carries a watched socket from now on, and this library forgets it.
    fn left_to_kernel(&self, _watches: &[Watch]) {}

    /// The last descriptor of a watched socket was closed.
    fn closed(&self, _watches: &[Watch]) {}

    /// A descriptor number means nothing any more, whatever it meant.
    fn number_closed(&self, _fd: c_int) {}

    /// A socket is dropped. It still has its rsocket, which is closed next.
    fn dropped(&self, _socket: &Socket) {}
}

/// In the order in which they are called.
pub(crate) type Observers = &'static [&'static dyn Observer];

static OBSERVERS: OnceLock<Observers> = OnceLock::new();

/// Registers the observers, before the first socket is made.
pub(crate) fn observe(observers: Observers) {
    OBSERVERS.get_or_init(|| observers);
}

pub(super) fn observers() -> impl Iterator<Item = &'static dyn Observer> {
    OBSERVERS.get().into_iter().flat_map(|observers| observers.iter().copied())
}

/// What changes seldom.
#[derive(Default)]
pub(crate) struct SocketState {
    /// The program's descriptors for this socket.
    pub(crate) fds: Vec<c_int>,
    /// The last of them that was closed.
    pub(crate) closed_fd: c_int,
    /// What was decided last about the carrier.
    pub(crate) decision: Option<Decision>,
    /// Options that the program has set, for an rsocket that is made later.
    pub(crate) settings: Vec<Setting>,
    pub(crate) watches: Vec<Watch>,
    pub(crate) destination: Option<Address>,
    /// When the connection over RDMA was requested.
    pub(crate) connect_began: Option<Instant>,
    /// When the attempt to connect over RDMA ends, or when making the RDMA listener is tried again.
    pub(crate) deadline: Deadline,
    pub(crate) backlog: c_int,
    /// The program has bound the kernel's socket.
    pub(crate) bound: bool,
    /// What getsockname has said of a connection that is not established.
    pub(crate) name_told: Option<Address>,
    /// The connection is established, and no call of connect has reported that yet.
    pub(crate) unreported: bool,
    /// The program has given its connection up: the rsocket says how it ended, and the next connect, bind
    /// or listen is the first one again.
    pub(crate) dissolved: bool,
    /// The rsocket of this IPv6 datagram socket has IPv4 addresses.
    pub(crate) carried_ipv4: bool,
    /// An RDMA listener cannot be made.
    pub(crate) no_rdma_listener: bool,
    /// The generation of the process that gave the RDMA listener up, because it did not accept. It
    /// makes another one only when it calls accept.
    pub(crate) gave_up: u32,
    /// Of an inherited datagram rsocket: this process has waited for the end of its parent.
    pub(crate) waited_for_parent: bool,
    /// The local address of a datagram rsocket that the program has bound.
    pub(crate) bound_address: Option<Address>,
    /// Local and peer address of a connection over RDMA, for a child that cannot ask the rsocket.
    pub(crate) addresses: Option<(Address, Address)>,
    /// The value of SO_ERROR.
    pub(crate) error: Option<Errno>,
}

impl SocketState {
    /// Of a listener without an RDMA listener: whether one may still be made.
    pub(crate) fn may_add_rdma_listener(&self) -> bool {
        !self.no_rdma_listener && self.gave_up != generation()
    }
}

/// The calls of accept on a listener, in this process.
#[derive(Default)]
pub(crate) struct Accepts {
    /// Threads inside.
    inside: AtomicU32,
    /// Connections that were accepted.
    done: AtomicU32,
}

/// A thread is inside accept.
pub(crate) struct Accepting<'a>(&'a Accepts);

impl Accepts {
    pub(crate) fn enter(&self) -> Accepting<'_> {
        self.inside.fetch_add(1, Ordering::SeqCst);
        Accepting(self)
    }

    pub(crate) fn is_any_inside(&self) -> bool {
        self.inside.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn done(&self) -> u32 {
        self.done.load(Ordering::Relaxed)
    }
}

impl Accepting<'_> {
    pub(crate) fn count(&self) {
        self.0.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Accepting<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) struct Socket {
    pub(crate) family: c_int,
    pub(crate) kind: c_int,
    number: u64,
    mode: AtomicU8,
    /// O_NONBLOCK, as the program has set it.
    non_blocking: AtomicBool,
    rsocket: AtomicI32,
    /// The generation of the process that made the rsocket.
    generation: AtomicU32,
    pub(crate) accepts: Accepts,
    pub(crate) counts: Counts,
    pub(crate) state: Mutex<SocketState>,
}

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

impl Socket {
    /// `kind` may have the flags of socket(2).
    pub(crate) fn new(family: c_int, kind: c_int, mode: Mode) -> Result<Arc<Socket>> {
        base::counters::check();
        Arc::try_new(Socket {
            family,
            kind: kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC),
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            mode: AtomicU8::new(mode as u8),
            non_blocking: AtomicBool::new(kind & SOCK_NONBLOCK != 0),
            rsocket: AtomicI32::new(-1),
            generation: AtomicU32::new(generation()),
            accepts: Accepts::default(),
            counts: Counts::default(),
            state: Mutex::default(),
        })
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.kind == SOCK_STREAM
    }

    pub(crate) fn is_non_blocking(&self) -> bool {
        self.non_blocking.load(Ordering::Relaxed)
    }

    /// Stores O_NONBLOCK, also for the rsocket if there is a connection; before that it never
    /// blocks.
    pub(crate) fn set_non_blocking(&self, on: bool) {
        self.non_blocking.store(on, Ordering::Relaxed);
        if let (Mode::Rdma, Some(rsocket)) = (self.mode(), self.rsocket()) {
            librdmacm::set_non_blocking(rsocket, on);
        }
    }

    /// Tells sockets apart, in this process and in its children.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn mode(&self) -> Mode {
        Mode::of(self.mode.load(Ordering::Acquire))
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::Release);
    }

    /// The rsocket, if this process made it.
    pub(crate) fn rsocket(&self) -> Option<c_int> {
        let rsocket = self.rsocket.load(Ordering::Acquire);
        (rsocket >= 0 && self.generation.load(Ordering::Relaxed) == generation()).then_some(rsocket)
    }

    pub(crate) fn set_rsocket(&self, rsocket: c_int) {
        self.generation.store(generation(), Ordering::Relaxed);
        self.rsocket.store(rsocket, Ordering::Release);
    }

    /// The rsocket, whichever process made it.
    pub(crate) fn any_rsocket(&self) -> c_int {
        self.rsocket.load(Ordering::Acquire)
    }

    /// The generation of the process that made the rsocket.
    pub(crate) fn maker(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Whether an ancestor made the rsocket, so that this process cannot use it.
    pub(crate) fn is_inherited(&self) -> bool {
        self.mode() == Mode::Rdma && self.rsocket().is_none()
    }

    /// Takes the rsocket out of the socket, to be closed.
    pub(crate) fn take_rsocket(&self) -> Option<c_int> {
        let own = self.rsocket();
        let rsocket = self.rsocket.swap(-1, Ordering::AcqRel);
        own.filter(|own| *own == rsocket)
    }

    /// In a fork's child: no thread is in a call, and the RDMA listener is the parent's. Its
    /// descriptor, which the child has a copy of; with that copy the port would outlive the parent.
    pub(crate) fn listener_in_child(&self) -> Option<c_int> {
        self.accepts.inside.store(0, Ordering::Relaxed);
        let is_parents =
            self.mode() == Mode::Listening && self.maker() == generation().wrapping_sub(1);
        let rsocket = self.any_rsocket();
        (is_parents && rsocket >= 0).then_some(rsocket)
    }

    pub(crate) fn count(&self, direction: Direction, by_rdma: bool, result: isize) {
        self.counts.count(direction, by_rdma, result);
    }

    /// Of a connection over RDMA: what its Unix socket is called in another process.
    pub(crate) fn connection_name(&self) -> Option<ConnectionName> {
        let (own, peer) = self.state.lock().addresses?;
        let [own, peer] = [own, peer].map(|address| address.in_family(self.family));
        Some(ConnectionName { family: self.family, own, peer })
    }

    /// Writes the line of RS_STATS.
    pub(crate) fn report(&self) {
        self.counts.report(|| self.described());
    }

    /// Which way the socket went, as text.
    fn described(&self) -> Described {
        let state = self.state.lock();
        let fd = state.fds.first().copied().unwrap_or(state.closed_fd);
        let is_listener = self.is_stream() && self.mode() == Mode::Listening;
        let kind = match self.is_stream() {
            true if is_listener => "listener",
            true => "stream",
            false => "datagram",
        };
        Described { kind, number: self.number, fd, decision: state.decision }
    }

    /// Notes which way the socket goes, and logs it. Not to be called with the state locked.
    pub(crate) fn decided(&self, way: Way, place: Place) {
        let decision = Some(Decision { way, place });
        if core::mem::replace(&mut self.state.lock().decision, decision) != decision {
            way.count();
            match way {
                Way::Rdma => log!(Info, "socket: {}", self.described()),
                Way::Kernel(_) | Way::Failed(_) => log!(Warn, "socket: {}", self.described()),
            }
        }
    }

    /// As `decided`, about the peer that the program connects to.
    pub(crate) fn decided_for_peer(&self, way: Way) {
        let destination = self.state.lock().destination;
        self.decided(way, destination.map_or(Place::Unknown, Place::To));
    }

    /// As `decided`, about the same address as before.
    pub(crate) fn decided_again(&self, way: Way) {
        let before = self.state.lock().decision;
        self.decided(way, before.map_or(Place::Unknown, |before| before.place));
    }

    /// To be called after a change of mode or of the rsocket: observers move the registrations.
    pub(crate) fn carrier_changed(&self) {
        let mut last = None;
        while let Some(watch) = self.watch_after(last) {
            observers().for_each(|observer| observer.carrier_changed(&[watch]));
            last = Some(watch);
        }
    }

    /// The registrations one after the other, in the order of their numbers: the list may change
    /// meanwhile.
    fn watch_after(&self, last: Option<Watch>) -> Option<Watch> {
        let state = self.state.lock();
        let is_later = |watch: &&Watch| last.is_none_or(|last| **watch > last);
        state.watches.iter().filter(is_later).min().copied()
    }

    /// To be called when the socket leaves the table because the kernel alone carries it.
    pub(crate) fn left_to_kernel(&self) {
        let watches = core::mem::take(&mut self.state.lock().watches);
        if !watches.is_empty() {
            observers().for_each(|observer| observer.left_to_kernel(&watches));
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.report();
        observers().for_each(|observer| observer.dropped(self));
        if let Some(rsocket) = self.take_rsocket() {
            preserve_errno(|| librdmacm::close(rsocket));
        }
    }
}
