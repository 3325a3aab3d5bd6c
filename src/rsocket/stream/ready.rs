//! What poll(2) would say of a stream.

use super::link::Peer;
use super::{Inner, Phase, Stream};
use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDHUP, POLLRDNORM, POLLWRNORM, c_short,
};

const READ: c_short = POLLIN | POLLRDNORM;
const WRITE: c_short = POLLOUT | POLLWRNORM;

impl Stream {
    /// All that is true now, of what poll can ask. To a fork's child any call tells an error; a look would take what is
    /// its parent's.
    pub(crate) fn readiness(&self) -> c_short {
        if self.check().is_err() {
            return POLLERR;
        }
        self.inner.lock().look()
    }
}

impl Inner {
    pub(super) fn look(&mut self) -> c_short {
        if self.closed {
            return POLLNVAL;
        }
        self.progress();
        self.readiness()
    }

    fn readiness(&self) -> c_short {
        let failed = if self.error.is_some() { POLLERR } else { 0 };
        match self.phase {
            Phase::Idle | Phase::Bound => POLLHUP | WRITE,
            Phase::Listening if self.accepting.is_ready() => READ,
            Phase::Listening | Phase::Connecting | Phase::Accepting => 0,
            Phase::Failed => failed | POLLHUP | READ | WRITE | POLLRDHUP,
            Phase::Connected => failed | self.connected_readiness(),
        }
    }

    fn connected_readiness(&self) -> c_short {
        let Some(link) = &self.link else { return POLLHUP };
        let mut events = 0;
        let broken = link.failure.is_some();
        let peer_is_done = link.peer > Peer::Open || broken;
        if link.flow.unread() > 0 || self.read_shut || peer_is_done {
            events |= READ;
        }
        if self.read_shut || peer_is_done {
            events |= POLLRDHUP;
        }
        // What fails at once does not block.
        if self.write_shut || !link.is_alive() || link.flow.is_writable() {
            events |= WRITE;
        }
        let both = (self.read_shut || peer_is_done) && self.write_shut;
        if broken || both {
            events |= POLLHUP;
        }
        events
    }
}
