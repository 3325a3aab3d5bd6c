// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! raccept.

use super::accept_queue::CONFIRM_WAIT;
use super::listen::log_refusal;
use super::state::{Phase, Stream, StreamState};
use crate::rsocket::service;
use crate::rsocket::wait::Blocking;
use crate::types::SocketAddress;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;

/// What a raccept does next.
enum Step {
    /// Takes a connection; whether the listener had left requests in the kernel.
    Take(Arc<Stream>, bool),
    /// Answers a request.
    Answer(Arc<Stream>),
    /// The client whose request it has answered is gone.
    Forget,
}

impl Stream {
    /// The next connection's descriptor and its peer. `enter` makes the connection known; one for
    /// which it fails stays in the queue.
    pub(crate) fn accept(
        &self,
        close_on_exec: bool,
        enter: impl Fn(&Arc<Stream>) -> Result<()>,
    ) -> Result<(RawFd, Option<SocketAddress>)> {
        self.check()?;
        let may_report = |state: &StreamState| match state.phase {
            Phase::Listening => true,
            Phase::Failed => state.attempt.destination.is_none(),
            _ => false,
        };
        if !may_report(&self.state.lock()) {
            return Err(fail!(EINVAL, "raccept: {self:?} does not listen"));
        }
        // What can fail comes before a connection is taken.
        let service = service::get()?;
        let enter = |child: &Arc<Stream>| {
            child.set_close_on_exec(close_on_exec)?;
            enter(child)
        };
        let mut answered = None;
        let (child, was_paused) = loop {
            match self.next_step(answered.as_ref(), &enter)? {
                Step::Take(child, was_paused) => break (child, was_paused),
                Step::Answer(child) => match self.answer(&child) {
                    Ok(()) => {
                        answered = Some(child);
                        self.resume_requests();
                    }
                    Err(error) => {
                        child.refuse();
                        log_refusal(error);
                    }
                },
                Step::Forget => answered = None,
            }
        };
        self.state.lock().accept_queue.close_on_exec = close_on_exec;
        if was_paused {
            service.resume(self.fd());
        }
        let peer = child.state.lock().peer;
        child.id().lane().mark("raccept", &[]);
        Ok((child.fd(), peer))
    }

    /// `answered`: the child whose request this call has answered.
    fn next_step(
        &self,
        answered: Option<&Arc<Stream>>,
        enter: &impl Fn(&Arc<Stream>) -> Result<()>,
    ) -> Result<Step> {
        let blocking = |state: &StreamState| {
            let blocking = state.blocking(0, state.options.receive_timeout);
            match answered {
                Some(_) if blocking.nonblock && state.accept_queue.is_prompt => {
                    Blocking { nonblock: false, timeout: Some(CONFIRM_WAIT) }
                }
                _ => blocking,
            }
        };
        let step = self.wait_for(blocking, &mut |state: &mut StreamState| {
            if state.phase != Phase::Listening {
                // A listener whose device was removed reports that, once.
                return Some(Err(state.take_error().err().unwrap_or_else(|| {
                    fail!(
                        EINVAL,
                        "raccept: rsocket {} does not listen: rlisten comes first, and rshutdown ends it",
                        state.fd
                    )
                })));
            }
            let queue = &mut state.accept_queue;
            if let Some(child) = queue.first() {
                if let Err(error) = enter(child) {
                    return Some(Err(error));
                }
                let child = queue.take_first()?;
                return Some(Ok(Step::Take(child, core::mem::take(&mut queue.is_paused))));
            }
            match answered {
                None => queue.take_request().map(|child| Ok(Step::Answer(child))),
                Some(child) if queue.is_pending(child) => None,
                Some(_) => Some(Ok(Step::Forget)),
            }
        });
        if let Err(Errno::EAGAIN) = &step {
            let mut state = self.state.lock();
            state.edges.note_idle(true, false);
            state.accept_queue.is_prompt &= answered.is_none();
            if state.accept_queue.is_ready() {
                // It has come meanwhile, when that was no edge yet.
                state.wake();
            }
        }
        step
    }
}
