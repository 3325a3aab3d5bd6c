// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Accepting a connection request.

use super::parameters::{self, Parameters};
use crate::cm::id::Id;
use crate::cm::qp;
use crate::lane::{self, Phase};
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES};
use crate::uapi::{Frame, abi};
use base::errno::Result;
use core::mem::MaybeUninit;
use probe::probe;

impl Id {
    /// Accepts; for connected services the outcome is an event.
    pub(crate) fn accept(&self, given: Option<Parameters<'_>>) -> Result<()> {
        let mut room = MaybeUninit::uninit();
        let accept = Frame::<abi::Accept>::zeroed(&mut room);
        let command = &mut accept.body;
        command.uid = self.key().raw();
        command.id = self.handle();
        let queue_pair = self.queue_pair();
        let name = queue_pair.as_deref().copied().map(parameters::name);
        let param = &mut command.conn_param;
        let data = parameters::prepare(
            self,
            given,
            name,
            true,
            param,
            |state, (max_responder, max_initiator)| {
                // What the peer asked for, unless the caller decides.
                state.initiator_depth = given
                    .map(|given| given.initiator_depth)
                    .filter(|value| *value != RDMA_MAX_INIT_DEPTH)
                    .unwrap_or(state.initiator_depth.min(max_initiator));
                state.responder_resources = given
                    .map(|given| given.responder_resources)
                    .filter(|value| *value != RDMA_MAX_RESP_RES)
                    .unwrap_or(state.responder_resources.min(max_responder));
                // The answer repeats the active side's vendor.
                command.ece =
                    abi::Ece { vendor_id: state.remote_ece.0, attr_mod: state.local_ece.1 };
            },
        )?;
        if let Some(queue_pair) = queue_pair.filter(|_| !self.is_datagram()) {
            qp::to_rtr(self, &queue_pair, Some(param.responder_resources))?;
            qp::to_rts(self, *queue_pair, Some(param.initiator_depth))?;
        }
        let fd = self.fd()?;
        self.lane().enter(Phase::Accept, &[]);
        let sent = accept.send(fd);
        probe!(rdmacm, accept__start, self.as_c());
        if self.is_datagram() && sent.is_ok() {
            // No event follows.
            self.lane().leave(&[]);
        }
        sent.map_err(|error| {
            self.lane().leave(&[lane::failure(error)]);
            // The command's error is the one to report.
            let _ = self.fail_queue_pair();
            parameters::refused(self, data, "ACCEPT", error)
        })
    }
}
