//! What a descriptor of the table can be, and what can be asked of it.

use super::buffers::Buffers;
use super::datagram::{Datagram, Lookup};
use super::descriptor;
use super::epoll::Set;
use super::stream::Stream;
use super::table::Table;
use super::waiting::Source;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::types::{AF_IB, SocketAddress};
use libc::{
    AF_INET, AF_INET6, F_GETFD, F_GETFL, F_SETFD, F_SETFL, IPPROTO_TCP, IPPROTO_UDP, O_NONBLOCK,
    O_RDWR, POLLNVAL, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_STREAM, c_int, c_long, c_short,
};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a receive brought.
pub(crate) struct Received {
    pub(crate) count: usize,
    /// The sender, where it is told per message.
    pub(crate) from: Option<SocketAddress>,
    /// There was more than the caller had room for, and it is gone.
    pub(crate) truncated: bool,
}

impl Received {
    pub(super) fn of_stream(count: usize) -> Received {
        Received { count, from: None, truncated: false }
    }
}

/// A socket of any kind.
#[derive(Clone)]
pub(crate) enum Socket {
    Stream(Counted<Stream>),
    Datagram(Counted<Datagram>),
    /// A set of repoll_create, which is no socket.
    Set(Counted<Set>),
    /// A search of a datagram socket, which the program knows nothing of.
    Lookup(Counted<Lookup>),
}

/// How long a close waits for those who are still in a call.
const LEAVING: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_micros(50);

static SOCKETS: Table<Socket> = Table::new();
/// Changes with each answer of `lookup` that changes.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// A descriptor that meant the same at two times means it still when this is the same.
pub(super) fn changes() -> u64 {
    CHANGES.load(Ordering::Acquire)
}

fn changed() {
    CHANGES.fetch_add(1, Ordering::AcqRel);
}

/// Says whether the program knows a socket; what it was before.
pub(super) fn publish(public: &AtomicBool, on: bool) -> bool {
    let before = public.swap(on, Ordering::AcqRel);
    changed();
    before
}

/// Enters a new socket, which the program does not know yet.
pub(super) fn enter(fd: RawFd, socket: Socket) -> Result<()> {
    SOCKETS.insert(fd, Counted::try_new(socket)?)?;
    changed();
    Ok(())
}

/// Takes a socket out of the table. Its descriptor is still open.
pub(super) fn leave(fd: RawFd) -> Option<Counted<Socket>> {
    let socket = SOCKETS.remove(fd);
    changed();
    socket
}

/// Any socket, also one that waits to be accepted.
pub(super) fn find_any(fd: RawFd) -> Option<Counted<Socket>> {
    SOCKETS.get(fd)
}

/// The socket that a program means by a descriptor, if it is an rsocket at all.
#[inline]
pub(super) fn lookup(fd: RawFd) -> Option<Counted<Socket>> {
    SOCKETS.get(fd).filter(|socket| socket.is_public())
}

/// EBADF for what is no rsocket.
#[inline]
pub(crate) fn find(fd: RawFd) -> Result<Counted<Socket>> {
    lookup(fd).ok_or(Errno::EBADF)
}

/// Makes a socket; its descriptor.
pub(crate) fn open(family: c_int, kind: c_int, protocol: c_int) -> Result<RawFd> {
    if !matches!(family, AF_INET | AF_INET6 | AF_IB) {
        return Err(Errno::EAFNOSUPPORT);
    }
    let (non_blocking, close_on_exec) = (kind & SOCK_NONBLOCK != 0, kind & SOCK_CLOEXEC != 0);
    match kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC) {
        SOCK_STREAM if protocol == 0 || protocol == IPPROTO_TCP => {
            Stream::open(family, non_blocking, close_on_exec)
        }
        SOCK_DGRAM if family != AF_IB && (protocol == 0 || protocol == IPPROTO_UDP) => {
            Datagram::open(family, protocol, non_blocking, close_on_exec)
        }
        SOCK_STREAM | SOCK_DGRAM => Err(Errno::EPROTONOSUPPORT),
        _ => Err(Errno::of(libc::ESOCKTNOSUPPORT)),
    }
}

/// Ends a socket and frees its descriptor.
pub(crate) fn close(fd: RawFd) -> Result<()> {
    let socket = find(fd)?;
    // Of several callers one gets it.
    if !socket.retire(fd) {
        return Err(Errno::EBADF);
    }
    // In the table until its end: the service thread still brings it what happens.
    match &*socket {
        Socket::Stream(stream) => stream.close(),
        Socket::Datagram(datagram) => datagram.close(),
        Socket::Set(set) => set.close(),
        Socket::Lookup(_) => {}
    }
    let limit = Instant::now() + LEAVING;
    // A call that begins meanwhile finds it there, and says that it is closed.
    wait_for_others(&socket, 2, limit);
    drop(leave(fd));
    wait_for_others(&socket, 1, limit);
    Ok(())
}

/// Others that were in a call have been woken and leave now. When the last is out, the descriptor and
/// the kernel's objects go; a program that binds the same port next must not come too early.
fn wait_for_others(socket: &Counted<Socket>, own: usize, limit: Instant) {
    while Socket::users(socket) > own && Instant::now() < limit {
        std::thread::sleep(LOOK);
    }
}

impl Socket {
    /// References to the socket and to its entry, less the one inside the entry.
    fn users(socket: &Counted<Socket>) -> usize {
        let inside = match &**socket {
            Socket::Stream(stream) => Counted::owners(stream),
            Socket::Datagram(datagram) => Counted::owners(datagram),
            Socket::Set(set) => Counted::owners(set),
            Socket::Lookup(lookup) => Counted::owners(lookup),
        };
        (Counted::owners(socket) + inside).saturating_sub(1)
    }

    /// Takes the descriptor from the program; false when another caller was first.
    fn retire(&self, fd: RawFd) -> bool {
        match self {
            Socket::Stream(stream) => stream.publish(false),
            Socket::Datagram(datagram) => datagram.publish(false),
            Socket::Set(_) => leave(fd).is_some(),
            Socket::Lookup(_) => false,
        }
    }

    #[inline]
    pub(super) fn is_public(&self) -> bool {
        match self {
            Socket::Stream(stream) => stream.is_public(),
            other => other.is_other_public(),
        }
    }

    // Out of line: most are streams.
    #[inline(never)]
    fn is_other_public(&self) -> bool {
        match self {
            Socket::Stream(stream) => stream.is_public(),
            Socket::Datagram(datagram) => datagram.is_public(),
            Socket::Set(_) => true,
            Socket::Lookup(_) => false,
        }
    }

    pub(super) fn on_readable(&self) {
        match self {
            Socket::Stream(stream) => stream.take_events(),
            Socket::Datagram(datagram) => Datagram::take_packets(datagram),
            Socket::Lookup(lookup) => lookup.take_events(),
            Socket::Set(_) => {}
        }
    }

    pub(super) fn on_timer(&self) {
        if let Socket::Stream(stream) = self {
            stream.on_timer();
        }
    }

    #[inline]
    pub(super) fn readiness(&self) -> c_short {
        if !self.is_public() {
            return POLLNVAL;
        }
        match self {
            Socket::Stream(stream) => stream.readiness(),
            Socket::Datagram(datagram) => datagram.readiness(),
            Socket::Set(_) | Socket::Lookup(_) => 0,
        }
    }

    /// Something that calls wait for; a set's descriptor is one that the kernel can poll.
    pub(super) fn is_source(&self) -> bool {
        matches!(self, Socket::Stream(_) | Socket::Datagram(_))
    }

    /// What waits need; sets have none.
    pub(super) fn as_source(&self) -> Result<&dyn Source> {
        match self {
            Socket::Stream(stream) => Ok(&**stream),
            Socket::Datagram(datagram) => Ok(&**datagram),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn as_set(&self) -> Result<&Counted<Set>> {
        match self {
            Socket::Set(set) => Ok(set),
            _ => Err(Errno::EINVAL),
        }
    }

    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        match self {
            Socket::Stream(stream) => stream.bind(address),
            Socket::Datagram(datagram) => datagram.bind(address),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn connect(&self, address: &SocketAddress) -> Result<()> {
        match self {
            Socket::Stream(stream) => stream.connect(address),
            Socket::Datagram(datagram) => datagram.connect(address),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// Forgets the peer of a datagram socket.
    pub(crate) fn disconnect(&self) -> Result<()> {
        match self {
            Socket::Datagram(datagram) => datagram.disconnect(),
            _ => Err(Errno::EINVAL),
        }
    }

    pub(crate) fn shutdown(&self, how: c_int) -> Result<()> {
        match self {
            Socket::Stream(stream) => stream.shutdown(how),
            Socket::Datagram(datagram) => datagram.shutdown(how),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// Receives; how many bytes.
    #[inline(always)]
    pub(crate) fn read(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<usize> {
        let Socket::Stream(stream) = self else {
            return self.receive(buffers, flags).map(|received| received.count);
        };
        let wanted = buffers.left();
        stream.receive(buffers, flags).map(|()| wanted - buffers.left())
    }

    /// Receives; where the kind of socket tells it per message, the sender.
    pub(crate) fn receive(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<Received> {
        match self {
            Socket::Stream(_) => self.read(buffers, flags).map(Received::of_stream),
            Socket::Datagram(datagram) => datagram.receive(buffers, flags),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// Sends; how many bytes.
    #[inline(always)]
    pub(crate) fn send(
        &self,
        buffers: &mut Buffers<'_>,
        flags: c_int,
        to: Option<&SocketAddress>,
    ) -> Result<usize> {
        let wanted = buffers.left();
        match self {
            // As TCP, a stream takes no notice of an address.
            Socket::Stream(stream) => stream.send(buffers, flags)?,
            other => other.as_datagram()?.send(buffers, flags, to)?,
        }
        Ok(wanted - buffers.left())
    }

    pub(crate) fn local_name(&self) -> Result<SocketAddress> {
        match self {
            Socket::Stream(stream) => stream.local_name(),
            Socket::Datagram(datagram) => datagram.local_name(),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn peer_name(&self) -> Result<SocketAddress> {
        match self {
            Socket::Stream(stream) => stream.peer_name(),
            Socket::Datagram(datagram) => datagram.peer_name(),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn set_option(&self, level: c_int, name: c_int, bytes: &[u8]) -> Result<()> {
        match self {
            Socket::Stream(stream) => stream.set_option(level, name, bytes),
            Socket::Datagram(datagram) => datagram.set_option(level, name, bytes),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn option(&self, level: c_int, name: c_int) -> Result<Vec<u8>> {
        match self {
            Socket::Stream(stream) => stream.option(level, name),
            Socket::Datagram(datagram) => datagram.option(level, name),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// rfcntl: status flags are the socket's own (the descriptor itself never blocks), those of the
    /// descriptor are the kernel's.
    pub(crate) fn control(&self, command: c_int, argument: c_long) -> Result<c_int> {
        let fd = self.fd()?;
        match command {
            F_GETFL => Ok(O_RDWR | if self.is_non_blocking() { O_NONBLOCK } else { 0 }),
            F_SETFL => {
                self.set_non_blocking(argument as c_int & O_NONBLOCK != 0);
                Ok(0)
            }
            F_GETFD => descriptor::control(fd, F_GETFD, 0),
            F_SETFD => descriptor::control(fd, F_SETFD, argument as c_int),
            _ => Err(Errno::EINVAL),
        }
    }

    fn fd(&self) -> Result<RawFd> {
        match self {
            Socket::Stream(stream) => Ok(stream.fd()),
            Socket::Datagram(datagram) => Ok(datagram.fd()),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    fn is_non_blocking(&self) -> bool {
        match self {
            Socket::Stream(stream) => stream.is_non_blocking(),
            Socket::Datagram(datagram) => datagram.is_non_blocking(),
            Socket::Set(_) | Socket::Lookup(_) => false,
        }
    }

    fn set_non_blocking(&self, on: bool) {
        match self {
            Socket::Stream(stream) => stream.set_non_blocking(on),
            Socket::Datagram(datagram) => datagram.set_non_blocking(on),
            Socket::Set(_) | Socket::Lookup(_) => {}
        }
    }

    fn as_datagram(&self) -> Result<&Counted<Datagram>> {
        match self {
            Socket::Datagram(datagram) => Ok(datagram),
            Socket::Stream(_) | Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn as_stream(&self) -> Result<&Stream> {
        match self {
            Socket::Stream(stream) => Ok(stream),
            Socket::Datagram(_) => Err(Errno::EOPNOTSUPP),
            Socket::Set(_) | Socket::Lookup(_) => Err(Errno::ENOTSOCK),
        }
    }
}
