// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The end of a connection, in bounded time.

use super::background;
use super::link::PeerState;
use super::state::{Phase, Stream, StreamState};
use crate::rsocket::wait::blocking::sleep_until;
use crate::rsocket::wire::StreamMessage;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::fail;
use core::time::Duration;
use libc::{SHUT_RD, SHUT_RDWR, SHUT_WR, c_int};

/// How long a close or a shutdown waits for what was sent: about a round trip, so that the end of an
/// honest peer's connection costs no other thread anything. What is left is sent in the background.
pub(super) const SHORT_WAIT: Duration = Duration::from_millis(2);
/// Between two polls of a wait that has nothing to sleep with.
const POLL_INTERVAL: Duration = Duration::from_micros(100);

impl Stream {
    pub(crate) fn shutdown(stream: &Arc<Stream>, how: c_int) -> Result<()> {
        let (read, write) = match how {
            SHUT_RD => (true, false),
            SHUT_WR => (false, true),
            SHUT_RDWR => (true, true),
            _ => {
                return Err(fail!(EINVAL, "rshutdown: {how} is not SHUT_RD, SHUT_WR or SHUT_RDWR"));
            }
        };
        stream.check()?;
        {
            let mut state = stream.state.lock();
            state.progress();
            match state.phase {
                Phase::Connected if state.has_ended() => return Err(Errno::ENOTCONN),
                Phase::Connected => {}
                Phase::Listening if !read => return Ok(()),
                // As TCP: accept fails from now on.
                Phase::Listening => {
                    drop(state);
                    return stream.reset(|state| state.error);
                }
                // As TCP: the attempt is given up.
                Phase::Connecting | Phase::Accepting => {
                    drop(state);
                    return stream.dissolve();
                }
                Phase::Idle | Phase::Bound | Phase::Failed => {
                    state.attempt.is_given_up |= state.phase == Phase::Failed;
                    state.read_shut |= read;
                    state.write_shut |= write;
                    state.wake();
                    return Err(fail!(
                        ENOTCONN,
                        "rshutdown: rsocket {} has no connection: {:?}",
                        state.fd,
                        state.phase
                    ));
                }
            }
        }
        let has_message = {
            let mut state = stream.state.lock();
            let has_message = state.end(read, write);
            state.wake();
            has_message
        };
        if has_message && !stream.drain(SHORT_WAIT) {
            background::send_end(stream);
        }
        Ok(())
    }

    /// Waits until what was sent has left; whether it has.
    pub(super) fn drain(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        // A socket that is being closed has ended the calls of others, but not this one.
        let mut attempt = || self.is_drained().then_some(Ok(()));
        match sleep_until(self, deadline, &mut attempt) {
            Ok(()) => true,
            // Nothing to sleep with: what was sent must not be lost for that.
            Err(Errno::ENOMEM | Errno::EMFILE) => {
                while attempt().is_none() && !deadline.has_passed() {
                    base::time::sleep(POLL_INTERVAL);
                }
                self.is_drained()
            }
            Err(_) => self.is_drained(),
        }
    }

    pub(super) fn is_drained(&self) -> bool {
        self.state.lock().is_drained()
    }

    /// The connection has ended, with the peer's message or without one.
    pub(super) fn lost(&self, reason: Errno) {
        {
            let mut state = self.state.lock();
            // What arrived before counts.
            state.progress();
            state.lose(reason);
            state.wake();
        }
        // Answers the peer; a connection that is gone needs no answer.
        let _ = self.id().disconnect();
    }

    /// Ends the connection without a message to the peer. Its connection manager tells it at once,
    /// before what it sends finds no queue pair.
    pub(super) fn abort(&self) {
        {
            let mut state = self.state.lock();
            state.closed = true;
            state.wake();
        }
        // What is not connected has nobody to tell.
        let _ = self.id().disconnect();
    }
}

impl StreamState {
    /// Shuts one or both directions and sends that to the peer, when there is a slot for it. False
    /// where there is nothing to send.
    pub(super) fn end(&mut self, read: bool, write: bool) -> bool {
        self.progress();
        let was_shut = self.write_shut;
        self.read_shut |= read;
        self.write_shut |= write;
        let Some(link) = &mut self.link else { return false };
        let both = (self.read_shut || link.peer > PeerState::Open) && self.write_shut;
        let message = match (both, write && !was_shut) {
            (true, _) => StreamMessage::Disconnect,
            (false, true) => StreamMessage::Shutdown,
            (false, false) => return false,
        };
        if self.sent_disconnect {
            return false;
        }
        self.sent_disconnect = both;
        link.send_end(message);
        true
    }

    /// The end of a connection that the program leaves. As TCP: a peer that is not read to its end
    /// is told, by no message.
    pub(super) fn leave(&mut self) -> Farewell {
        self.progress();
        let Some(link) = &mut self.link else { return Farewell::Abort };
        if link.flow.unread() == 0 && self.options.linger != Some(Duration::ZERO) {
            self.end(true, true);
            return Farewell::Clean;
        }
        // Says when all before it has left, and nothing to the peer.
        if link.is_alive() && !link.flow.is_drained() {
            link.send_control(StreamMessage::KeepAlive);
        }
        Farewell::Abort
    }
}

/// How a connection ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// With the message, after all that was sent.
    Clean,
    /// Without one.
    Abort,
}

impl Farewell {
    /// How long what was sent may take to leave. An abort gives it a moment: TCP, too, has sent it
    /// by then.
    pub(super) fn limit(self) -> Duration {
        match self {
            Farewell::Clean => Duration::from_secs(10),
            Farewell::Abort => Duration::from_millis(100),
        }
    }
}
