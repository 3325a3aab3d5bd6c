// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! New streams: each is watched by the service thread from its first moment on.

use super::options::StreamOptions;
use super::state::{IdState, Phase, STATES, Stream, StreamState};
use crate::cm::channel::Channel;
use crate::lane::{self, Kind};
use crate::rsocket::owned_id::SoleId;
use crate::rsocket::pool;
use crate::rsocket::service;
use crate::types::SocketAddress;
use base::arc::Arc;
use base::errno::Result;
use base::fail;
use base::lock::Mutex;
use base::owner::Owner;
use base::trace;
use core::sync::atomic::{AtomicBool, AtomicI32};
use libc::c_int;

impl Stream {
    /// A new, unconnected stream.
    pub(crate) fn open(family: c_int, nonblock: bool, close_on_exec: bool) -> Result<Arc<Stream>> {
        let channel = pool::or_with_less(|| Channel::create_non_blocking(close_on_exec))?;
        let id = SoleId::for_stream(&channel)?;
        let mut state = StreamState::new(StreamOptions::new(), Phase::Idle);
        state.nonblock = nonblock;
        Stream::assemble(family, id, channel, close_on_exec, state)
    }

    /// Makes a stream of its parts; whoever takes it out of use calls `service::forget`.
    pub(super) fn assemble(
        family: c_int,
        id: SoleId,
        channel: Arc<Channel>,
        close_on_exec: bool,
        mut state: StreamState,
    ) -> Result<Arc<Stream>> {
        let fd = channel.file().fd()?;
        state.fd = fd;
        if trace::is_on() {
            match id.addresses().1 {
                Some(peer) => id.lane().begin(Kind::Stream, fd, &[("peer", lane::address(&peer))]),
                None => id.lane().begin(Kind::Stream, fd, &[]),
            }
        }
        let stream = Arc::try_new(Stream {
            fd: AtomicI32::new(fd),
            family,
            owner: Owner::current(),
            close_on_exec: AtomicBool::new(close_on_exec),
            id: Mutex::new(Arc::try_new(id)?),
            channel,
            state: STATES.gated(state)?,
        })?;
        service::get()?.watch(fd, Arc::clone(&stream))?;
        Ok(stream)
    }

    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        self.check()?;
        if address.family() != self.family {
            return Err(fail!(
                EAFNOSUPPORT,
                "rbind: {self:?} is of family {}, {address} is not",
                self.family
            ));
        }
        if !self.state.lock().may_be_bound() {
            return Err(fail!(EINVAL, "rbind: {self:?} is bound or connected already"));
        }
        self.renew_id()?;
        let id = self.id();
        id.bind(address)?;
        let local = id.addresses().0;
        let mut state = self.state.lock();
        if state.phase == Phase::Idle {
            state.phase = Phase::Bound;
        }
        (state.id, state.bound, state.local) = (IdState::Bound, Some(*address), local);
        Ok(())
    }
}

impl StreamState {
    /// Idle, or failed, which is as good to bind(2).
    fn may_be_bound(&self) -> bool {
        let is_free = self.bound.is_none_or(|bound| bound.port() == 0);
        match self.phase {
            Phase::Idle => true,
            Phase::Failed => is_free && self.id == IdState::Spent,
            _ => false,
        }
    }
}
