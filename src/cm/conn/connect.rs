// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Connecting, and confirming the connection to the peer.

use super::parameters::{self, Parameters};
use crate::cm::id::Id;
use crate::lane::{self, Phase};
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES};
use crate::uapi::{self, abi};
use alloc::vec::Vec;
use base::errno::Result;
use base::fail;
use probe::probe;

impl Id {
    /// Starts to connect; the outcome is an event.
    pub(crate) fn connect(&self, given: Option<&Parameters<'_>>) -> Result<()> {
        let (max_responder, max_initiator) = parameters::check(self, given)?;
        self.with(|state| {
            state.responder_resources = given
                .map(|given| given.responder_resources)
                .filter(|value| *value != RDMA_MAX_RESP_RES)
                .unwrap_or(max_responder);
            state.initiator_depth = given
                .map(|given| given.initiator_depth)
                .filter(|value| *value != RDMA_MAX_INIT_DEPTH)
                .unwrap_or(max_initiator);
            state.connect_failed = false;
        });
        let fd = self.fd()?;
        self.lane().enter(Phase::Connect, &[]);
        uapi::send_filled(fd, |command: &mut abi::Connect| {
            command.id = self.handle();
            let (vendor_id, attr_mod) = self.with(|state| state.local_ece);
            command.ece = abi::Ece { vendor_id, attr_mod };
            parameters::to_kernel(self, given, &mut command.conn_param)
        })
        .map_err(|error| {
            self.lane().leave(&[lane::failure(error)]);
            parameters::refused(self, given, "CONNECT", error)
        })?;
        probe!(rdmacm, connect__start, self.as_c());
        self.with(|state| {
            if let Some(more) = state.more.get_mut() {
                more.connect_header = Vec::new();
            }
        });
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

/// The peer accepted: moves the queue pair to RTS, then confirms.
#[inline(never)]
pub(crate) fn confirm(id: &Id) -> Result<()> {
    let confirmed = id
        .queue_pair_to_rtr(None)
        .and_then(|()| id.queue_pair_to_rts(None))
        .and_then(|()| ready_to_use(id));
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
