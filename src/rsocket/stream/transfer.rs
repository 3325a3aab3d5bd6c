//! Moving bytes.
//!
//! # Safety
//! Copies between the caller's buffers and the regions, which never overlap: regions are mapped by us.
#![allow(unsafe_code)]

use super::link::{Link, Peer};
use super::waiting::Attempt;
use super::{Inner, Phase, Stream};
use crate::error::{Errno, Result};
use crate::rsocket::buffers::Buffers;
use crate::rsocket::flow::MAX_TRANSFER;
use crate::rsocket::waiting::Patience;
use libc::{MSG_DONTWAIT, MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, c_int};
use std::time::Duration;

/// The first message of a long send is shorter, so that its transfer overlaps with the copying of the next.
/// Below this a message more costs a device longer than the copying takes.
const FIRST_TRANSFER: u32 = 16384;

struct Receive<'a, 'b> {
    buffers: &'a mut Buffers<'b>,
    flags: c_int,
    wanted: usize,
}

impl Attempt<()> for Receive<'_, '_> {
    // The first attempt is mostly the last: it has no call of its own.
    #[inline(always)]
    fn attempt(&mut self, inner: &mut Inner) -> Option<Result<()>> {
        if !inner.has_unread(self.buffers.left()) {
            inner.progress();
        }
        match inner.check_connected() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(error)),
        }
        if let Err(error) = inner.receive_some(self.buffers, self.flags) {
            return Some(Err(error));
        }
        let left = self.buffers.left();
        if left == self.wanted {
            return inner.without_data(left);
        }
        let whole = self.flags & MSG_WAITALL != 0 && self.flags & MSG_PEEK == 0;
        // An error is told by the next call.
        (left == 0 || !whole || inner.error.is_some() || inner.at_end()).then_some(Ok(()))
    }
}

struct Send<'a, 'b> {
    buffers: &'a mut Buffers<'b>,
    overlap: u32,
}

impl Attempt<()> for Send<'_, '_> {
    #[inline(always)]
    fn attempt(&mut self, inner: &mut Inner) -> Option<Result<()>> {
        // A look at what has completed now and then is enough, while there is room: that the connection has
        // ended, the service thread says.
        let mut has_looked = inner.is_look_due();
        if has_looked {
            inner.progress();
        }
        loop {
            if !inner.is_sendable() {
                return inner.why_not_sendable();
            }
            match inner.send_some(self.buffers, &mut self.overlap) {
                Ok(_) if self.buffers.left() == 0 => return Some(Ok(())),
                Ok(true) => {}
                Ok(false) if has_looked => return None,
                Ok(false) => {
                    inner.progress();
                    has_looked = true;
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Stream {
    /// Fills the buffers, as far as there is something.
    #[inline(always)]
    pub(crate) fn receive(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<()> {
        if flags & MSG_OOB != 0 {
            return Err(Errno::EINVAL);
        }
        let wanted = buffers.left();
        let mut call = Receive { buffers, flags, wanted };
        let patience = |inner: &Inner| inner.patience(flags, inner.options.receive_timeout);
        match self.wait_for(patience, &mut call) {
            Err(error) if call.buffers.left() == wanted => Err(error),
            // What came before the trouble is told first.
            _ => Ok(()),
        }
    }

    /// Sends what the buffers have, as far as it goes.
    #[inline(always)]
    pub(crate) fn send(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<()> {
        if flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let wanted = buffers.left();
        let mut call = Send { buffers, overlap: FIRST_TRANSFER };
        let patience = |inner: &Inner| inner.patience(flags, inner.options.send_timeout);
        match self.wait_for(patience, &mut call) {
            Err(error) if call.buffers.left() < wanted => {
                // An error that was taken here is for the next call.
                self.put_back(error);
                Ok(())
            }
            sent => sent,
        }
    }

    #[cold]
    fn put_back(&self, error: Errno) {
        if !matches!(error, Errno::EINTR | Errno::EAGAIN | Errno::EPIPE | Errno::EBADF) {
            self.inner.lock().error.get_or_insert(error);
        }
    }
}

impl Inner {
    /// Whether there is a connection yet; ENOTCONN for what has none and waits for none, unless there is an
    /// error to tell first.
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
            Phase::Idle | Phase::Bound | Phase::Listening => Err(Errno::ENOTCONN),
        }
    }

    /// How a call waits that was given these flags.
    pub(super) fn patience(&self, flags: c_int, limit: Option<Duration>) -> Patience {
        Patience { non_blocking: self.non_blocking || flags & MSG_DONTWAIT != 0, limit }
    }

    /// Nothing more will come.
    pub(super) fn at_end(&self) -> bool {
        let Some(link) = &self.link else { return true };
        let no_more = self.read_shut || link.peer > Peer::Open;
        link.flow.unread() == 0 && (no_more || (link.failure.is_some() && self.error.is_none()))
    }

    /// Nothing but a lack of room keeps a send from going out at once.
    #[inline]
    fn is_sendable(&self) -> bool {
        self.phase == Phase::Connected
            && self.error.is_none()
            && !self.write_shut
            && self.link.as_ref().is_some_and(Link::is_alive)
    }

    #[cold]
    #[inline(never)]
    fn why_not_sendable(&mut self) -> Option<Result<()>> {
        match self.check_connected() {
            Ok(true) => self.check_writable().err().map(Err),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }

    #[inline]
    fn is_look_due(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.flow.is_look_due())
    }

    pub(super) fn check_writable(&mut self) -> Result<()> {
        // As TCP: what happened comes before what follows from it.
        self.take_error()?;
        if self.write_shut {
            return Err(Errno::EPIPE);
        }
        let Some(link) = &mut self.link else { return Err(Errno::ENOTCONN) };
        if link.peer == Peer::Lost {
            // The first to hear of it hears why.
            link.peer = Peer::Gone;
            self.write_shut = true;
            return Err(Errno::ECONNRESET);
        }
        if link.is_alive() { Ok(()) } else { Err(Errno::EPIPE) }
    }

    /// So much has been taken from the completion queue already, which needs no look then. A caller that gets
    /// less than it wanted may take the stream for empty.
    #[inline]
    fn has_unread(&self, bytes: usize) -> bool {
        let unread = self.link.as_ref().map_or(0, |link| link.flow.unread());
        bytes > 0 && unread as usize >= bytes
    }

    #[inline(always)]
    fn receive_some(&mut self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        let length = (link.flow.unread() as usize).min(buffers.left()) as u32;
        let [first, second] = link.flow.readable(length);
        link.copy_out(first, buffers, flags)?;
        if second.1 > 0 {
            link.copy_around(second, buffers, flags)?;
        }
        if flags & MSG_PEEK == 0 {
            link.flow.consume(length);
            // Reading makes room for the peer.
            link.grant();
        }
        Ok(())
    }

    /// What a receive says that found nothing: as TCP, an error before the end.
    #[cold]
    #[inline(never)]
    fn without_data(&mut self, wanted: usize) -> Option<Result<()>> {
        if let Err(error) = self.take_error() {
            return Some(Err(error));
        }
        (wanted == 0 || self.at_end()).then_some(Ok(()))
    }

    /// Posts one message; false when the books allow none now.
    #[inline(always)]
    fn send_some(&mut self, buffers: &mut Buffers<'_>, overlap: &mut u32) -> Result<bool> {
        self.send_iomaps()?;
        let Some(link) = &mut self.link else { return Err(Errno::ENOTCONN) };
        let bytes = link.flow.transfer_size(buffers.left() as u64, *overlap);
        if bytes == 0 {
            return Ok(false);
        }
        let inline = bytes <= link.endpoint.inline();
        let posted = match inline.then(|| buffers.together(bytes as usize)).flatten() {
            Some(from) => {
                buffers.advance(bytes as usize);
                let transfer = link.flow.take_transfer(bytes, 0);
                // SAFETY: these bytes lie together in the caller's memory.
                unsafe { link.endpoint.post_inline(&transfer, from, bytes) }
            }
            None => {
                if bytes == *overlap {
                    *overlap = (*overlap * 2).min(MAX_TRANSFER);
                }
                link.send_copied(buffers, bytes)
            }
        };
        match posted {
            Ok(()) => Ok(true),
            Err(error) => Err(self.broken(error)),
        }
    }
}

impl Link {
    /// Copies received bytes to the caller's buffers, or only steps over them.
    #[inline]
    fn copy_out(
        &self,
        (at, length): (u32, u32),
        buffers: &mut Buffers<'_>,
        flags: c_int,
    ) -> Result<()> {
        if flags & MSG_TRUNC != 0 {
            buffers.advance(length as usize);
            return Ok(());
        }
        let from = self.endpoint.received(at, length);
        if from.is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: within the region; the caller's memory is no part of it.
        unsafe { buffers.scatter(from, length as usize) };
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn copy_around(
        &self,
        piece: (u32, u32),
        buffers: &mut Buffers<'_>,
        flags: c_int,
    ) -> Result<()> {
        self.copy_out(piece, buffers, flags)
    }

    /// Posts bytes by way of the send buffer.
    #[inline(never)]
    fn send_copied(&mut self, buffers: &mut Buffers<'_>, bytes: u32) -> Result<()> {
        let transfer = self.flow.take_transfer(bytes, bytes);
        for (at, length) in self.endpoint.around(transfer.from, bytes) {
            let to = self.endpoint.sending(at, length);
            if !to.is_null() {
                // SAFETY: within the region, in a part that nothing in flight uses.
                unsafe { buffers.gather(to, length as usize) };
            }
        }
        self.endpoint.post_data(&transfer, bytes)
    }
}
