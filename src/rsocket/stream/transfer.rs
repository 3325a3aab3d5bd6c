//! Moving bytes.
//!
//! # Safety
//! Copies between the caller's buffers and the regions, which never overlap: regions are mapped by us.
#![allow(unsafe_code)]

use super::link::Peer;
use super::{Inner, Phase, Stream};
use crate::error::{Errno, Result};
use crate::rsocket::buffers::Buffers;
use crate::rsocket::flow::MAX_TRANSFER;
use libc::{MSG_DONTWAIT, MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, c_int};

/// The first message of a long send is shorter, so that its transfer overlaps with the copying of the next.
/// Below this a message more costs a device longer than the copying takes.
const FIRST_TRANSFER: u32 = 16384;

impl Stream {
    pub(crate) fn receive(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<usize> {
        if flags & MSG_OOB != 0 {
            return Err(Errno::EINVAL);
        }
        let wanted = buffers.left();
        let whole = flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0;
        let (non_blocking, limit) = {
            let mut inner = self.inner.lock();
            inner.check_connected(inner.non_blocking || flags & MSG_DONTWAIT != 0)?;
            if inner.has_unread(wanted) {
                self.check()?;
                return inner.receive_some(buffers, flags);
            }
            (inner.non_blocking, inner.options.receive_timeout)
        };
        let non_blocking = non_blocking || flags & MSG_DONTWAIT != 0;
        let mut done = 0;
        let received = self.wait_for(non_blocking, limit, |inner| {
            match inner.check_connected(false) {
                Ok(()) if inner.phase == Phase::Connected => {}
                Ok(()) => return None,
                Err(error) => return Some(Err(error)),
            }
            done += match inner.receive_some(buffers, flags) {
                Ok(bytes) => bytes,
                Err(error) => return Some(Err(error)),
            };
            // As TCP: an error is told before the end, and after what came before it.
            if done == 0 {
                if let Err(error) = inner.take_error() {
                    return Some(Err(error));
                }
            }
            let ended = done == 0 && wanted > 0 && inner.at_end();
            let enough = if whole { done == wanted || inner.at_end() } else { done > 0 };
            (ended || enough || wanted == 0).then_some(Ok(()))
        });
        match received {
            Ok(()) => Ok(done),
            // What came before the trouble is told first.
            Err(_) if done > 0 => Ok(done),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn send(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<usize> {
        if flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let wanted = buffers.left();
        let (non_blocking, limit) = {
            let inner = self.inner.lock();
            inner.check_connected(inner.non_blocking || flags & MSG_DONTWAIT != 0)?;
            (inner.non_blocking, inner.options.send_timeout)
        };
        let non_blocking = non_blocking || flags & MSG_DONTWAIT != 0;
        let mut overlap = FIRST_TRANSFER;
        let mut posted = 0;
        let sent = self.wait_for(non_blocking, limit, |inner| {
            match inner.check_connected(false) {
                Ok(()) if inner.phase == Phase::Connected => {}
                Ok(()) => return None,
                Err(error) => return Some(Err(error)),
            }
            if let Err(error) = inner.check_writable() {
                return Some(Err(error));
            }
            loop {
                match inner.send_some(buffers, &mut overlap) {
                    Ok(0) => break,
                    Ok(bytes) => posted += bytes,
                    Err(error) => return Some(Err(error)),
                }
            }
            let enough = posted == wanted || (non_blocking && posted > 0);
            enough.then_some(Ok(()))
        });
        match sent {
            Ok(()) => Ok(posted),
            Err(error) if posted > 0 => {
                // An error that was taken here is for the next call.
                if !matches!(error, Errno::EINTR | Errno::EAGAIN) {
                    self.put_back(error);
                }
                Ok(posted)
            }
            Err(error) => Err(error),
        }
    }

    fn put_back(&self, error: Errno) {
        if error != Errno::EPIPE && error != Errno::EBADF {
            self.inner.lock().error.get_or_insert(error);
        }
    }
}

impl Inner {
    /// ENOTCONN for what has no connection, unless there is an error to tell first.
    pub(super) fn check_connected(&self, non_blocking: bool) -> Result<()> {
        match self.phase {
            Phase::Connected => Ok(()),
            Phase::Connecting | Phase::Accepting if non_blocking => Err(Errno::EAGAIN),
            Phase::Connecting | Phase::Accepting => Ok(()),
            Phase::Failed => Err(self.error.unwrap_or(Errno::ENOTCONN)),
            Phase::Idle | Phase::Bound | Phase::Listening => Err(Errno::ENOTCONN),
        }
    }

    /// Nothing more will come.
    pub(super) fn at_end(&self) -> bool {
        let Some(link) = &self.link else { return true };
        let no_more = self.read_shut || link.peer > Peer::Open;
        link.flow.unread() == 0 && (no_more || (link.failure.is_some() && self.error.is_none()))
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
    fn has_unread(&self, bytes: usize) -> bool {
        let unread = self.link.as_ref().map_or(0, |link| link.flow.unread());
        !self.closed && self.phase == Phase::Connected && bytes > 0 && unread as usize >= bytes
    }

    fn receive_some(&mut self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<usize> {
        let Some(link) = &mut self.link else { return Ok(0) };
        if self.read_shut && link.flow.unread() == 0 {
            return Ok(0);
        }
        let mut done = 0;
        // Around the end of the ring, at most twice.
        loop {
            let (at, length) = link.flow.readable(done);
            let length = u64::from(length).min(buffers.left() as u64) as u32;
            if length == 0 {
                break;
            }
            if flags & MSG_TRUNC != 0 {
                buffers.advance(length as usize);
            } else {
                let from = link.endpoint.received(at, length);
                if from.is_null() {
                    return Err(Errno::EFAULT);
                }
                // SAFETY: within the region; the caller's memory is no part of it.
                unsafe { buffers.scatter(from, length as usize) };
            }
            done += length;
        }
        if flags & MSG_PEEK == 0 {
            link.flow.consume(done);
            // Reading makes room for the peer.
            link.grant();
        }
        Ok(done as usize)
    }

    /// Posts one message; 0 when the books allow none now.
    fn send_some(&mut self, buffers: &mut Buffers<'_>, overlap: &mut u32) -> Result<usize> {
        self.send_iomaps()?;
        let Some(link) = &mut self.link else { return Err(Errno::ENOTCONN) };
        let bytes = link.flow.transfer_size(buffers.left() as u64, *overlap);
        if bytes == 0 {
            return Ok(0);
        }
        if bytes == *overlap {
            *overlap = (*overlap * 2).min(MAX_TRANSFER);
        }
        let inline = (bytes <= link.endpoint.inline()).then(|| buffers.together(bytes as usize));
        let posted = if let Some(Some(from)) = inline {
            let transfer = link.flow.take_transfer(bytes, 0);
            // SAFETY: these bytes lie together in the caller's memory.
            let posted = unsafe { link.endpoint.post_inline(&transfer, from, bytes) };
            buffers.advance(bytes as usize);
            posted
        } else {
            let transfer = link.flow.take_transfer(bytes, bytes);
            for (at, length) in link.endpoint.around(transfer.from, bytes) {
                let to = link.endpoint.sending(at, length);
                if !to.is_null() {
                    // SAFETY: within the region, in a part that nothing in flight uses.
                    unsafe { buffers.gather(to, length as usize) };
                }
            }
            link.endpoint.post_data(&transfer, bytes)
        };
        if let Err(error) = posted {
            return Err(self.broken(error));
        }
        Ok(bytes as usize)
    }
}
