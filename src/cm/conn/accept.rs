// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Accepting a connection request.

use super::parameters::{self, Parameters};
use crate::cm::id::Id;
use crate::lane::{self, Phase};
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES};
use crate::uapi::{self, abi};
use base::errno::Result;
use base::fail;
use probe::probe;

impl Id {
    /// Accepts; for connected services the outcome is an event.
    pub(crate) fn accept(&self, given: Option<&Parameters<'_>>) -> Result<()> {
        let (max_responder, max_initiator) = parameters::check(self, given)?;
        if given.is_none() && !self.has_queue_pair() {
            return Err(fail!(
                EINVAL,
                *self,
                "rdma_accept: the id has no queue pair (rdma_create_qp), and no conn_param names one"
            ));
        }
        let (responder_resources, initiator_depth) = self.with(|state| {
            // What the peer asked for, unless the caller decides.
            state.initiator_depth = given
                .map(|given| given.initiator_depth)
                .filter(|value| *value != RDMA_MAX_INIT_DEPTH)
                .unwrap_or(state.initiator_depth.min(max_initiator));
            state.responder_resources = given
                .map(|given| given.responder_resources)
                .filter(|value| *value != RDMA_MAX_RESP_RES)
                .unwrap_or(state.responder_resources.min(max_responder));
            (state.responder_resources, state.initiator_depth)
        });
        if !self.is_datagram() {
            self.queue_pair_to_rtr(Some(responder_resources))?;
            self.queue_pair_to_rts(Some(initiator_depth))?;
        }
        let fd = self.fd()?;
        self.lane().enter(Phase::Accept, &[]);
        let sent = uapi::send_filled(fd, |command: &mut abi::Accept| {
            command.uid = self.key().raw();
            command.id = self.handle();
            command.ece = self.with(|state| abi::Ece {
                // The answer repeats the active side's vendor.
                vendor_id: state.remote_ece.0,
                attr_mod: state.local_ece.1,
            });
            parameters::to_kernel(self, given, &mut command.conn_param)
        });
        probe!(rdmacm, accept__start, self.as_c());
        if self.is_datagram() && sent.is_ok() {
            // No event follows.
            self.lane().leave(&[]);
        }
        sent.map_err(|error| {
            self.lane().leave(&[lane::failure(error)]);
            // The command's error is the one to report.
            let _ = self.fail_queue_pair();
            parameters::refused(self, given, "ACCEPT", error)
        })
    }
}
