// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Connecting, and confirming the connection to the peer.

use super::parameters::{self, Parameters};
use crate::cm::id::{Id, IdState, PinnedQueuePair};
use crate::cm::qp;
use crate::lane::{self, Phase};
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES, RDMA_PS_TCP};
use crate::uapi::{Frame, abi};
use alloc::vec::Vec;
use base::errno::Result;
use base::fail;
use core::mem::MaybeUninit;
use probe::probe;

impl Id {
    /// Starts to connect; the outcome is an event.
    #[inline(always)]
    pub(crate) fn connect(&self, given: Option<Parameters<'_>>) -> Result<()> {
        let queue_pair = self.read_queue_pair(parameters::name);
        let needs_queue_pair = self.port_space() == RDMA_PS_TCP;
        let mut room = MaybeUninit::uninit();
        let connect = Frame::<abi::Connect>::zeroed(&mut room);
        let command = &mut connect.body;
        command.id = self.handle();
        let param = &mut command.conn_param;
        let data = parameters::prepare(
            self,
            given,
            queue_pair,
            needs_queue_pair,
            param,
            |state, limits| {
                state.responder_resources = given
                    .map(|given| given.responder_resources)
                    .filter(|value| *value != RDMA_MAX_RESP_RES)
                    .unwrap_or(limits.0);
                state.initiator_depth = given
                    .map(|given| given.initiator_depth)
                    .filter(|value| *value != RDMA_MAX_INIT_DEPTH)
                    .unwrap_or(limits.1);
                state.connect_failed = false;
                let (vendor_id, attr_mod) = state.local_ece;
                command.ece = abi::Ece { vendor_id, attr_mod };
            },
        )?;
        let fd = self.fd()?;
        self.lane().enter(Phase::Connect, &[]);
        connect.send(fd).map_err(|error| {
            self.lane().leave(&[lane::failure(error)]);
            parameters::refused(self, data, "CONNECT", error)
        })?;
        probe!(rdmacm, connect__start, self.as_c());
        if data.header > 0 {
            self.with(drop_header);
        }
        Ok(())
    }

    /// For queue pairs that the application moves itself: confirms the connection to the peer.
    pub(crate) fn establish(&self) -> Result<()> {
        if self.has_queue_pair() {
            return Err(fail!(
                EINVAL,
                *self,
                "rdma_establish is for queue pairs that the application moves itself; the library \
                 moves that of the id"
            ));
        }
        ready_to_use(self)
    }
}

/// It was sent.
#[cold]
#[inline(never)]
fn drop_header(state: &mut IdState) {
    if let Some(more) = state.more.get_mut() {
        more.connect_header = Vec::new();
    }
}

/// The peer accepted: moves the queue pair to RTS, then confirms.
#[inline(never)]
pub(crate) fn confirm(id: &Id, queue_pair: PinnedQueuePair<'_>) -> Result<()> {
    let moved = qp::to_rtr(id, &queue_pair, None).and_then(|()| qp::to_rts(id, *queue_pair, None));
    drop(queue_pair);
    let confirmed = moved.and_then(|()| ready_to_use(id));
    if confirmed.is_err() {
        // The first error is the one to report.
        let _ = id.fail_queue_pair();
    }
    confirmed
}

/// The active side's ACCEPT: no parameters, and the id keeps its number in the kernel.
fn ready_to_use(id: &Id) -> Result<()> {
    id.send_filled(|command: &mut abi::Accept| command.id = id.handle())
}
