//! A socket of the program: the kernel's socket, whose number the program holds, and an rsocket beside
//! it once RDMA carries it. All copies of the descriptor share one.
//!
//! # Safety
//! fcntl(2) without pointers.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::config;
use crate::counted::{Counted, Weak};
use crate::epoll::Epoll;
use crate::error::{Errno, Result, quietly};
use crate::fork;
use crate::lock::Lock;
use crate::options::Setting;
use crate::process;
use crate::rsockets;
use crate::stats::{Counts, Way};
use crate::table::Table;
use libc::{SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, c_int};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Who carries a socket's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Nobody yet.
    Open,
    /// The kernel's socket listens, and an rsocket beside it where there is one.
    Listening,
    /// The rsocket has asked for a connection.
    Connecting,
    Rdma,
    /// A parent's connection, by way of a Unix socket.
    Relayed,
    /// The kernel's socket alone.
    Plain,
    /// RDMA was demanded and could not be had.
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

/// What changes seldom.
#[derive(Default)]
pub(crate) struct State {
    /// The program's descriptors, which all mean this socket.
    pub(crate) fds: Vec<c_int>,
    /// Options that the program has set, for an rsocket that is made later.
    pub(crate) settings: Vec<Setting>,
    /// Registrations in epoll instances.
    pub(crate) watches: Vec<(Weak<Epoll>, u64)>,
    pub(crate) destination: Option<Address>,
    /// When a connection over RDMA was asked for.
    pub(crate) asked: Option<Instant>,
    /// When a connection over RDMA is given up, or the listener is tried again.
    pub(crate) deadline: Option<Instant>,
    pub(crate) backlog: c_int,
    /// The program has bound it.
    pub(crate) bound: bool,
    /// A connection was made that no connect has returned yet.
    pub(crate) uncollected: bool,
    /// The rsocket of this IPv6 datagram socket speaks IPv4.
    pub(crate) carried_ipv4: bool,
    /// No RDMA listener can be made, or no datagram rsocket in place of the parent's.
    pub(crate) never: bool,
    /// Where a datagram rsocket was bound by the program.
    pub(crate) own: Option<Address>,
    /// Own and peer's address of a connection over RDMA, for a fork's child.
    pub(crate) names: Option<(Address, Address)>,
    /// What SO_ERROR has to tell.
    pub(crate) error: Option<Errno>,
}

/// See the module text.
pub(crate) struct Socket {
    pub(crate) family: c_int,
    pub(crate) kind: c_int,
    number: u64,
    mode: AtomicU8,
    /// O_NONBLOCK, as the program has set it.
    non_blocking: AtomicBool,
    rsocket: AtomicI32,
    /// The process that made the rsocket.
    generation: AtomicU32,
    pub(crate) counts: Counts,
    pub(crate) state: Lock<State>,
}

pub(crate) static SOCKETS: Table<Socket> = Table::new();

static NUMBER: AtomicU64 = AtomicU64::new(1);

impl Socket {
    /// `kind` with the flags of socket(2).
    pub(crate) fn new(family: c_int, kind: c_int, mode: Mode) -> Result<Counted<Socket>> {
        Counted::try_new(Socket {
            family,
            kind: kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC),
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            mode: AtomicU8::new(mode as u8),
            non_blocking: AtomicBool::new(kind & SOCK_NONBLOCK != 0),
            rsocket: AtomicI32::new(-1),
            generation: AtomicU32::new(process::generation()),
            counts: Counts::default(),
            state: Lock::default(),
        })
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.kind == SOCK_STREAM
    }

    pub(crate) fn is_non_blocking(&self) -> bool {
        self.non_blocking.load(Ordering::Relaxed)
    }

    /// The rsocket blocks as the program wants. Before there is a connection it never does.
    pub(crate) fn set_non_blocking(&self, on: bool) {
        self.non_blocking.store(on, Ordering::Relaxed);
        if let (Mode::Rdma, Some(rsocket)) = (self.mode(), self.rsocket()) {
            rsockets::set_non_blocking(rsocket, on);
        }
    }

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
        (rsocket >= 0 && self.generation.load(Ordering::Relaxed) == process::generation())
            .then_some(rsocket)
    }

    pub(crate) fn set_rsocket(&self, rsocket: c_int) {
        self.generation.store(process::generation(), Ordering::Relaxed);
        self.rsocket.store(rsocket, Ordering::Release);
    }

    /// The rsocket, whoever made it.
    pub(crate) fn any_rsocket(&self) -> c_int {
        self.rsocket.load(Ordering::Acquire)
    }

    /// The process that made the rsocket.
    pub(crate) fn maker(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Takes the rsocket away, to be closed.
    pub(crate) fn take_rsocket(&self) -> Option<c_int> {
        let own = self.rsocket();
        let rsocket = self.rsocket.swap(-1, Ordering::AcqRel);
        own.filter(|own| *own == rsocket)
    }

    pub(crate) fn count(&self, way: Way, by_rdma: bool, result: isize) {
        self.counts.count(way, by_rdma, result);
    }

    pub(crate) fn tell(&self) {
        self.counts.tell(if self.is_stream() { "stream" } else { "datagram" }, self.number);
    }

    /// The registrations move to where the socket's events come from now.
    pub(crate) fn moved(&self) {
        let watches = self.state.lock().watches.clone();
        for (epoll, key) in watches {
            if let Some(epoll) = epoll.upgrade() {
                epoll.place(key);
            }
        }
    }

    /// From now on the kernel's socket is all there is.
    pub(crate) fn become_plain(&self) {
        self.set_mode(Mode::Plain);
        self.moved();
        if !config::get().stats {
            let watches = std::mem::take(&mut self.state.lock().watches);
            for (epoll, key) in watches {
                if let Some(epoll) = epoll.upgrade() {
                    epoll.release(key);
                }
            }
            for fd in self.state.lock().fds.clone() {
                SOCKETS.remove(fd);
            }
        }
    }

    /// The connection, or the datagrams, go over the rsocket from now on.
    pub(crate) fn become_rdma(&self) {
        if let Some(rsocket) = self.rsocket() {
            rsockets::set_non_blocking(rsocket, self.is_non_blocking());
            self.connected(rsocket);
        }
        self.set_mode(Mode::Rdma);
        self.moved();
    }

    /// A stream has its connection over RDMA.
    pub(crate) fn connected(&self, rsocket: c_int) {
        if self.is_stream() {
            fork::connected();
            self.state.lock().names = crate::names::of_rsocket(rsocket);
        }
    }
}

/// A new rsocket with the socket's options, for a family that need not be the program's.
pub(crate) fn open_rsocket(socket: &Socket, family: c_int) -> Result<c_int> {
    let rsocket = rsockets::open(family, socket.kind)?;
    if !socket.is_stream() {
        crate::options::make_room(rsocket);
    }
    crate::options::configure(rsocket);
    for setting in &socket.state.lock().settings {
        setting.apply(rsocket);
    }
    Ok(rsocket)
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.tell();
        if self.mode() == Mode::Rdma && self.is_stream() {
            match self.rsocket() {
                Some(_) => fork::disconnected(),
                None => fork::forget(self),
            }
        }
        if self.mode() == Mode::Connecting {
            quietly(|| crate::connect::abandoned(self));
        }
        if let Some(rsocket) = self.take_rsocket() {
            quietly(|| rsockets::close(rsocket));
        }
    }
}
