//! The end of a stream, in bounded time.
//!
//! # Safety
//! Ids are destroyed here by their only owner.
#![allow(unsafe_code)]

use super::link::Peer;
use super::{Phase, Stream};
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::rsocket::Limit;
use crate::rsocket::waiting;
use crate::rsocket::wire::Message;
use libc::{SHUT_RD, SHUT_RDWR, SHUT_WR, c_int};
use std::time::Duration;

/// How long a close waits for what was sent, where SO_LINGER says nothing. Data is in the device by
/// then; only a peer that does not answer at all makes this long.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);
/// Between two looks of a close that has nothing to sleep with.
const LOOK: Duration = Duration::from_millis(1);

impl Stream {
    pub(crate) fn shutdown(&self, how: c_int) -> Result<()> {
        let (read, write) = match how {
            SHUT_RD => (true, false),
            SHUT_WR => (false, true),
            SHUT_RDWR => (true, true),
            _ => return Err(Errno::EINVAL),
        };
        self.check()?;
        {
            let mut inner = self.inner.lock();
            match inner.phase {
                Phase::Connected => {}
                Phase::Listening if read => {
                    // As TCP: accept fails from now on.
                    inner.phase = Phase::Bound;
                    inner.wake();
                    return Ok(());
                }
                _ => return Err(Errno::ENOTCONN),
            }
        }
        self.end(read, write, CLOSE_LIMIT);
        Ok(())
    }

    /// Shuts one or both directions, tells the peer, and waits until what was sent has left.
    fn end(&self, read: bool, write: bool, limit: Duration) {
        let message = {
            let mut inner = self.inner.lock();
            inner.progress();
            let was_shut = inner.write_shut;
            inner.read_shut |= read;
            inner.write_shut |= write;
            let peer_is_done = inner.link.as_ref().is_none_or(|link| link.peer > Peer::Open);
            let both = (inner.read_shut || peer_is_done) && inner.write_shut;
            inner.wake();
            let message = match (both, write && !was_shut) {
                (true, _) => Some(Message::Disconnect),
                (false, true) => Some(Message::Shutdown),
                (false, false) => None,
            };
            if inner.said_good_bye {
                return;
            }
            inner.said_good_bye = both;
            message
        };
        let Some(message) = message else { return };
        let mut told = false;
        let deadline = Limit::from(Some(limit)).begin();
        // A socket that is being closed has ended the calls of others, but not this one.
        let mut attempt = || {
            let mut inner = self.inner.lock();
            inner.progress();
            let Some(link) = &mut inner.link else { return Some(Ok(())) };
            if !link.is_alive() {
                return Some(Ok(()));
            }
            if !told {
                told = link.send_control(message);
            }
            (told && link.flow.is_drained()).then_some(Ok(()))
        };
        let slept = waiting::sleep_until(self, deadline, &mut attempt);
        // Nothing to sleep with: what was sent must not be lost for that. Whatever else ends the wait, there
        // is nothing more to do about it.
        if let Err(Errno::ENOMEM | Errno::EMFILE) = slept {
            while attempt().is_none() && !deadline.has_passed() {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Ends the connection without a word to the peer but the transport's own.
    pub(super) fn abort(&self) {
        let mut inner = self.inner.lock();
        inner.closed = true;
        if let Some(link) = &inner.link {
            link.endpoint.fail();
        }
        inner.wake();
    }

    /// rclose: ends the calls of others at once, then the connection; what is left of the socket goes
    /// with its last user.
    pub(crate) fn close(&self) {
        if !self.owner.is_ours() {
            return;
        }
        let (phase, linger) = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            inner.wake();
            (inner.phase, inner.options.linger)
        };
        self.drop_unaccepted();
        if phase == Phase::Connected {
            match linger {
                Some(Duration::ZERO) => {}
                limit => self.end(true, true, limit.unwrap_or(CLOSE_LIMIT)),
            }
        }
        self.abort();
        // Sets let go of the socket before its descriptor can be another's.
        let waiters = std::mem::take(&mut self.inner.lock().waiters);
        waiters.close();
    }
}

/// Refuses a request whose id belongs to no stream.
pub(super) fn refuse(id: &'static Id) {
    // It goes anyway.
    let _ = id.reject(&[], 0);
    // SAFETY: known to nobody else.
    let _ = unsafe { id.destroy() };
}
