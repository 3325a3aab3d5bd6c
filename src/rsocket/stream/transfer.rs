// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Moving bytes.
//!
//! # Safety
//! Copies between the caller's buffers and the regions, which never overlap: regions are mapped by
//! us.
#![allow(unsafe_code)]

use super::blocking::Call;
use super::link::{Link, PeerState};
use super::state::{Phase, Stream, StreamState};
use crate::rsocket::flow::MAX_TRANSFER;
use crate::rsocket::memory::buffers::Buffers;
use base::counters::{count, layout};
use base::errno::{Errno, Result};
use base::{fail, trace};
use libc::{MSG_DONTWAIT, MSG_ERRQUEUE, MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, c_int};

/// The first message of a long send is shorter, so that its transfer overlaps with the copying of
/// the next. Below this a message more costs a device longer than the copying takes.
pub(super) const FIRST_TRANSFER: u32 = 16384;

/// Nothing is taken, so that all of it has to be there at once.
const PEEK_WHOLE: c_int = MSG_PEEK | MSG_WAITALL;

struct Receive<'a, 'b> {
    buffers: &'a mut Buffers<'b>,
    flags: c_int,
    wanted: usize,
}

impl Call<()> for Receive<'_, '_> {
    // The first attempt is mostly the last: it has no call of its own.
    #[inline(always)]
    fn attempt(&mut self, state: &mut StreamState) -> Option<Result<()>> {
        if !state.has_unread(self.buffers.left()) {
            state.progress();
        }
        match state.check_connected() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(_) => return Some(state.receive_unconnected()),
        }
        if self.flags & PEEK_WHOLE == PEEK_WHOLE && !state.has_whole(self.wanted) {
            return None;
        }
        if let Err(error) = state.receive_some(self.buffers, self.flags) {
            return Some(Err(error));
        }
        let left = self.buffers.left();
        if left == self.wanted {
            return state.without_data(left);
        }
        let peeks = self.flags & MSG_PEEK != 0;
        let whole = self.flags & MSG_WAITALL != 0 && !peeks;
        // SO_RCVLOWAT; mostly any bytes are enough.
        let is_enough = peeks || (self.wanted - left) as u64 >= u64::from(state.options.low_water);
        // The next call reports an error.
        (left == 0 || (is_enough && !whole) || state.error.is_some() || state.at_end())
            .then_some(Ok(()))
    }
}

struct Send<'a, 'b> {
    buffers: &'a mut Buffers<'b>,
    overlap: u32,
}

impl Call<()> for Send<'_, '_> {
    #[inline(always)]
    fn attempt(&mut self, state: &mut StreamState) -> Option<Result<()>> {
        // To poll for completions now and then is enough, while there is room: the service thread
        // reports the end of the connection.
        let mut has_polled = state.is_poll_due();
        if has_polled {
            state.progress();
        }
        loop {
            if !state.is_sendable() {
                return state.send_nowhere(self.buffers).or_else(|| state.why_not_sendable());
            }
            match state.send_some(self.buffers, &mut self.overlap) {
                Ok(_) if self.buffers.left() == 0 => return Some(Ok(())),
                Ok(true) => {}
                Ok(false) if has_polled => {
                    state.edges.note_idle(false, true);
                    return None;
                }
                Ok(false) => {
                    state.progress();
                    has_polled = true;
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
        if flags & (MSG_OOB | MSG_ERRQUEUE) != 0 {
            return Err(nothing_special(flags));
        }
        let wanted = buffers.left();
        let mut call = Receive { buffers, flags, wanted };
        let blocking = |state: &StreamState| state.blocking(flags, state.options.receive_timeout);
        let received = self.wait_for(blocking, &mut call);
        if trace::is_on() {
            let is_taken = flags & MSG_PEEK == 0;
            self.count(false, if is_taken { wanted - call.buffers.left() } else { 0 });
        }
        match received {
            // Some of it, where its time is over.
            Err(Errno::EAGAIN | Errno::EINTR) if flags & PEEK_WHOLE == PEEK_WHOLE => {
                let flags = flags & !MSG_WAITALL | MSG_DONTWAIT;
                let mut call = Receive { buffers, flags, wanted };
                self.wait_for(|state| state.blocking(flags, None), &mut call)
            }
            Err(error) if call.buffers.left() == wanted => Err(error),
            // What came before the error is reported first.
            _ => Ok(()),
        }
    }

    /// A receive without memory, see `Socket::receive_nowhere`.
    pub(crate) fn receive_nowhere(&self, length: usize, flags: c_int) -> Result<usize> {
        if flags & (MSG_OOB | MSG_ERRQUEUE | MSG_TRUNC) != 0 {
            let mut buffers = Buffers::discard(length);
            return self
                .receive(&mut buffers, flags)
                .map(|()| buffers.left())
                .map(|left| length - left);
        }
        let blocking = |state: &StreamState| state.blocking(flags, state.options.receive_timeout);
        self.wait_for(blocking, &mut |state: &mut StreamState| {
            state.progress();
            match state.check_connected() {
                Ok(true) if state.has_unread(1) => Some(Err(Errno::EFAULT)),
                Ok(true) => state.without_data(1).map(|end| end.map(|()| 0)),
                Ok(false) => None,
                Err(_) => Some(state.receive_unconnected().map(|()| 0)),
            }
        })
    }

    /// See `Socket::check_send`.
    pub(crate) fn check_send(&self, flags: c_int) -> Result<()> {
        let blocking = |state: &StreamState| state.blocking(flags, state.options.send_timeout);
        self.wait_for(blocking, &mut |state: &mut StreamState| {
            state.progress();
            match state.check_connected() {
                Ok(true) if state.is_left() => Some(Ok(())),
                Ok(true) => Some(state.check_writable()),
                Ok(false) => None,
                Err(_) => Some(Err(state.send_unconnected())),
            }
        })
    }

    /// Sends what the buffers have, as far as it goes.
    #[inline(always)]
    pub(crate) fn send(&self, buffers: &mut Buffers<'_>, flags: c_int) -> Result<()> {
        if flags & MSG_OOB != 0 {
            return Err(without_urgent_data());
        }
        let wanted = buffers.left();
        let mut call = Send { buffers, overlap: FIRST_TRANSFER };
        let blocking = |state: &StreamState| state.blocking(flags, state.options.send_timeout);
        let sent = self.wait_for(blocking, &mut call);
        if trace::is_on() {
            self.count(true, wanted - call.buffers.left());
        }
        match sent {
            Err(error) if call.buffers.left() < wanted => {
                // The next call reports an error that was taken here.
                self.put_back(error);
                Ok(())
            }
            sent => sent,
        }
    }

    #[cold]
    fn put_back(&self, error: Errno) {
        self.state.lock().put_back(error);
    }
}

impl StreamState {
    /// The next call reports an error that came after something was sent.
    #[cold]
    pub(super) fn put_back(&mut self, error: Errno) {
        if !matches!(error, Errno::EINTR | Errno::EAGAIN | Errno::EPIPE | Errno::EBADF) {
            self.error.get_or_insert(error);
        }
    }

    /// Nothing but a lack of room keeps a send from going out at once.
    #[inline]
    pub(super) fn is_sendable(&self) -> bool {
        self.phase == Phase::Connected
            && self.error.is_none()
            && !self.write_shut
            && self.link.as_ref().is_some_and(Link::is_alive)
    }

    /// The peer has said that it is gone, and nothing has been sent since.
    pub(super) fn is_left(&self) -> bool {
        let is_gone = |link: &Link| {
            link.peer == PeerState::Gone && link.failure.is_none() && self.error.is_none()
        };
        self.phase == Phase::Connected
            && !self.write_shut
            && self.link.as_ref().is_some_and(is_gone)
    }

    /// A send to a peer that is gone. As with TCP it succeeds, and the end of the connection follows.
    #[cold]
    #[inline(never)]
    fn send_nowhere(&mut self, buffers: &mut Buffers<'_>) -> Option<Result<()>> {
        if !self.is_left() {
            return None;
        }
        let length = buffers.left();
        if length > 0 {
            buffers.advance(length);
            self.error = Some(self.end_with(Errno::EPIPE));
            self.wake();
        }
        Some(Ok(()))
    }

    #[cold]
    #[inline(never)]
    fn why_not_sendable(&mut self) -> Option<Result<()>> {
        match self.check_connected() {
            Ok(true) => self.check_writable().err().map(Err),
            Ok(false) => None,
            Err(_) => Some(Err(self.send_unconnected())),
        }
    }

    #[inline]
    pub(super) fn is_poll_due(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.flow.is_poll_due())
    }

    /// So much has been taken from the completion queue already that it need not be polled. A
    /// caller that gets less than it wanted may take the stream for empty.
    #[inline]
    pub(super) fn has_unread(&self, bytes: usize) -> bool {
        let unread = self.link.as_ref().map_or(0, |link| link.flow.unread());
        bytes > 0 && unread as usize >= bytes
    }

    /// All that a receive wants is there, or as much as there can be, or no more will come.
    #[cold]
    fn has_whole(&self, wanted: usize) -> bool {
        let most = self.link.as_ref().map_or(0, |link| link.endpoint.sizes().receive_buffer / 2);
        self.has_unread(wanted.min(most as usize)) || self.error.is_some() || self.at_end()
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

    /// The result of a receive that found nothing: as TCP, an error before the end.
    #[cold]
    #[inline(never)]
    fn without_data(&mut self, wanted: usize) -> Option<Result<()>> {
        if wanted == 0 && self.has_unread(1) {
            return Some(Ok(()));
        }
        // That the peer does not take what was sent is nothing to a receive.
        if self.error != Some(Errno::EPIPE) {
            if let Err(error) = self.take_error() {
                return Some(Err(error));
            }
        }
        self.at_end().then_some(Ok(()))
    }

    /// Posts one message; false when flow control allows none now.
    #[inline(always)]
    fn send_some(&mut self, buffers: &mut Buffers<'_>, overlap: &mut u32) -> Result<bool> {
        self.send_iomaps()?;
        let Some(link) = &mut self.link else { return Err(Errno::ENOTCONN) };
        link.make_room_for(buffers.left() as u64);
        let bytes = link.flow.transfer_size(buffers.left() as u64, *overlap);
        if bytes == 0 {
            return Ok(false);
        }
        count(move |words| {
            words.add(layout::MESSAGES_OUT, 1);
            words.add(layout::BYTES_OUT, bytes.into());
        });
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
            Err(error) => Err(self.end_with(error)),
        }
    }
}

#[cold]
#[inline(never)]
fn without_urgent_data() -> Errno {
    fail!(EOPNOTSUPP, "rsend: MSG_OOB, and rsockets have no urgent data")
}

/// The answer to MSG_OOB and MSG_ERRQUEUE: there is no urgent data, and nothing in the error queue.
#[cold]
fn nothing_special(flags: c_int) -> Errno {
    if flags & MSG_ERRQUEUE != 0 {
        return Errno::EAGAIN;
    }
    fail!(EINVAL, "rrecv: MSG_OOB, and rsockets have no urgent data")
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
    pub(super) fn send_copied(&mut self, buffers: &mut Buffers<'_>, bytes: u32) -> Result<()> {
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
