// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! An rsocket of any kind: each call goes to the stream, the datagram socket or the set that it is.

use super::datagram::{Datagram, Received};
use super::descriptor;
use super::memory::buffers::Buffers;
use super::stream::Stream;
use super::wait::Set;
use super::wait::source::{Edges, Source};
use crate::types::SocketAddress;
use alloc::vec::Vec;
use base::arc::Arc;
use base::counters::{Live, layout};
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;
use base::trace;
use core::sync::atomic::{AtomicBool, Ordering};
use libc::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFL, F_SETFL, O_ACCMODE, O_NONBLOCK, O_RDWR, POLLNVAL, c_int,
    c_long, c_short,
};

/// What a descriptor of the table is.
pub(crate) struct Socket {
    /// Not being closed.
    is_open: AtomicBool,
    counted: Live,
    kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    Stream(Arc<Stream>),
    Datagram(Arc<Datagram>),
    /// A set of repoll_create, which is no socket.
    Set(Arc<Set<Socket>>),
}

impl Kind {
    pub(super) fn fd(&self) -> RawFd {
        match self {
            Kind::Stream(stream) => stream.fd(),
            Kind::Datagram(datagram) => datagram.fd(),
            Kind::Set(set) => set.fd(),
        }
    }

    /// Ends what it does; the descriptor is closed with its last user.
    pub(super) fn close(&self) {
        match self {
            Kind::Stream(stream) => stream.close(),
            Kind::Datagram(datagram) => datagram.close(),
            Kind::Set(set) => set.close(),
        }
    }
}

impl Socket {
    pub(super) fn new(kind: Kind) -> Socket {
        let counted = Live::of(layout::RSOCKETS_NOW);
        if !matches!(kind, Kind::Set(_)) {
            counted.begin(layout::RSOCKETS_OPENED);
        }
        Socket { is_open: AtomicBool::new(true), counted, kind }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Refuses all further calls; false where another caller was first.
    pub(super) fn retire(&self) -> bool {
        self.is_open.swap(false, Ordering::AcqRel)
    }

    pub(super) fn close(&self) {
        self.counted.end();
        self.kind.close();
    }

    /// After `close`, see `Stream::send_rest`.
    pub(super) fn send_rest(&self, is_alone: bool) {
        if let Kind::Stream(stream) = &self.kind {
            Stream::send_rest(stream, is_alone);
        }
    }

    pub(super) fn stream(&self) -> Option<&Arc<Stream>> {
        match &self.kind {
            Kind::Stream(stream) => Some(stream),
            Kind::Datagram(_) | Kind::Set(_) => None,
        }
    }

    /// The program has closed the descriptor by close(2), and its number is another socket's: it must not
    /// be closed again.
    pub(super) fn abandon_number(socket: Arc<Socket>) {
        // What it had of the device may be gone as well, with other numbers that the program has
        // closed.
        socket.counted.end();
        core::mem::forget(socket);
    }

    /// References to the socket and to its entry, less the one inside the entry.
    pub(super) fn users(socket: &Arc<Socket>) -> usize {
        let inside = match &socket.kind {
            Kind::Stream(stream) => Arc::strong_count(stream),
            Kind::Datagram(datagram) => Arc::strong_count(datagram),
            Kind::Set(set) => Arc::strong_count(set),
        };
        (Arc::strong_count(socket) + inside).saturating_sub(1)
    }

    #[inline]
    pub(super) fn readiness(&self) -> c_short {
        if !self.is_open() {
            return POLLNVAL;
        }
        match &self.kind {
            Kind::Stream(stream) => stream.readiness(),
            Kind::Datagram(datagram) => datagram.readiness(),
            Kind::Set(_) => 0,
        }
    }

    #[inline]
    pub(super) fn look(&self) -> (c_short, Edges) {
        if !self.is_open() {
            return (POLLNVAL, Edges::default());
        }
        match &self.kind {
            Kind::Stream(stream) => stream.look(),
            Kind::Datagram(datagram) => datagram.look(),
            Kind::Set(_) => (0, Edges::default()),
        }
    }

    /// Something that calls wait for; a set's descriptor is one that the kernel can poll.
    #[inline]
    pub(super) fn is_source(&self) -> bool {
        matches!(self.kind, Kind::Stream(_) | Kind::Datagram(_))
    }

    /// What waits need; sets have none.
    pub(super) fn as_source(&self) -> Result<&dyn Source> {
        match &self.kind {
            Kind::Stream(stream) => Ok(&**stream),
            Kind::Datagram(datagram) => Ok(&**datagram),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn as_set(&self) -> Result<&Arc<Set<Socket>>> {
        match &self.kind {
            Kind::Set(set) => Ok(set),
            _ => Err(fail!(EINVAL, "the descriptor is a socket, not one of repoll_create")),
        }
    }

    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        match &self.kind {
            Kind::Stream(stream) => stream.bind(address),
            Kind::Datagram(datagram) => datagram.bind(address),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn connect(&self, address: &SocketAddress) -> Result<()> {
        match &self.kind {
            Kind::Stream(stream) => stream.connect(address),
            Kind::Datagram(datagram) => datagram.connect(address),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// Forgets the peer of a datagram socket, dissolves a stream's connection.
    pub(crate) fn disconnect(&self) -> Result<()> {
        match &self.kind {
            Kind::Stream(stream) => stream.dissolve(),
            Kind::Datagram(datagram) => datagram.disconnect(),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn shutdown(&self, how: c_int) -> Result<()> {
        match &self.kind {
            Kind::Stream(stream) => Stream::shutdown(stream, how),
            Kind::Datagram(datagram) => datagram.shutdown(how),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// Receives; how many bytes.
    #[inline(always)]
    pub(crate) fn read(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<usize> {
        let Kind::Stream(stream) = &self.kind else {
            return self.receive(buffers, flags).map(|received| received.count);
        };
        let wanted = buffers.left();
        stream.receive(buffers, flags).map(|()| wanted - buffers.left())
    }

    /// Receives; where each message has a sender, with the sender.
    pub(crate) fn receive(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<Received> {
        match &self.kind {
            Kind::Stream(_) => self.read(buffers, flags).map(Received::of_bytes),
            Kind::Datagram(datagram) => {
                let received = datagram.receive(buffers, flags);
                if let (true, Ok(received)) = (trace::is_on(), &received) {
                    datagram.count(false, received.count);
                }
                received
            }
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// A receive that was given no memory: EFAULT where there is something to receive. With
    /// MSG_TRUNC as many as `length` bytes of a stream are thrown away; how many.
    #[cold]
    pub(crate) fn receive_nowhere(&self, length: usize, flags: c_int) -> Result<usize> {
        match &self.kind {
            Kind::Stream(stream) => stream.receive_nowhere(length, flags),
            Kind::Datagram(datagram) => datagram.receive_nowhere(flags),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// What a send would report before it reads the caller's memory.
    #[cold]
    pub(crate) fn check_send(&self, flags: c_int, to: Option<&SocketAddress>) -> Result<()> {
        match &self.kind {
            Kind::Stream(stream) => stream.check_send(flags),
            _ => self.as_datagram()?.check_send(to).map(drop),
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
        match &self.kind {
            // As TCP, a stream takes no notice of an address.
            Kind::Stream(stream) => stream.send(buffers, flags)?,
            _ => {
                let datagram = self.as_datagram()?;
                datagram.send(buffers, flags, to)?;
                if trace::is_on() {
                    datagram.count(true, wanted);
                }
            }
        }
        Ok(wanted - buffers.left())
    }

    pub(crate) fn local_name(&self) -> Result<SocketAddress> {
        match &self.kind {
            Kind::Stream(stream) => stream.local_name(),
            Kind::Datagram(datagram) => datagram.local_name(),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn peer_name(&self) -> Result<SocketAddress> {
        match &self.kind {
            Kind::Stream(stream) => stream.peer_name(),
            Kind::Datagram(datagram) => datagram.peer_name(),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn set_option(&self, level: c_int, name: c_int, bytes: &[u8]) -> Result<()> {
        match &self.kind {
            Kind::Stream(stream) => stream.set_option(level, name, bytes),
            Kind::Datagram(datagram) => datagram.set_option(level, name, bytes),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn option(&self, level: c_int, name: c_int) -> Result<Vec<u8>> {
        match &self.kind {
            Kind::Stream(stream) => stream.option(level, name),
            Kind::Datagram(datagram) => datagram.option(level, name),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    /// rfcntl: the kernel's word on the descriptor, but O_NONBLOCK, which is the socket's own (the
    /// descriptor itself never blocks). A duplicate would be no rsocket.
    pub(crate) fn control(&self, command: c_int, argument: c_long) -> Result<c_int> {
        let fd = self.fd()?;
        match command {
            F_GETFL => {
                let flags = descriptor::control(fd, F_GETFL, 0)? & !(O_NONBLOCK | O_ACCMODE);
                Ok(flags | O_RDWR | if self.is_nonblock() { O_NONBLOCK } else { 0 })
            }
            F_SETFL => {
                let flags = argument | c_long::from(O_NONBLOCK);
                descriptor::control(fd, F_SETFL, flags)?;
                self.set_nonblock(argument as c_int & O_NONBLOCK != 0);
                Ok(0)
            }
            F_DUPFD | F_DUPFD_CLOEXEC => {
                Err(fail!(EINVAL, "rfcntl: an rsocket cannot be duplicated by command {command}"))
            }
            _ => descriptor::control(fd, command, argument),
        }
    }

    fn fd(&self) -> Result<RawFd> {
        match &self.kind {
            Kind::Stream(stream) => Ok(stream.fd()),
            Kind::Datagram(datagram) => Ok(datagram.fd()),
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    fn is_nonblock(&self) -> bool {
        match &self.kind {
            Kind::Stream(stream) => stream.is_nonblock(),
            Kind::Datagram(datagram) => datagram.is_nonblock(),
            Kind::Set(_) => false,
        }
    }

    fn set_nonblock(&self, on: bool) {
        match &self.kind {
            Kind::Stream(stream) => stream.set_nonblock(on),
            Kind::Datagram(datagram) => datagram.set_nonblock(on),
            Kind::Set(_) => {}
        }
    }

    fn as_datagram(&self) -> Result<&Arc<Datagram>> {
        match &self.kind {
            Kind::Datagram(datagram) => Ok(datagram),
            Kind::Stream(_) | Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }

    pub(crate) fn as_stream(&self) -> Result<&Arc<Stream>> {
        match &self.kind {
            Kind::Stream(stream) => Ok(stream),
            Kind::Datagram(_) => {
                Err(fail!(EOPNOTSUPP, "the call is for stream sockets, this is one of datagrams"))
            }
            Kind::Set(_) => Err(Errno::ENOTSOCK),
        }
    }
}
