//! The active side.

use super::parameters::{self, Parameters};
use crate::error::Result;
use crate::id::Id;
use crate::sync_mode::Operation;
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES};
use crate::uapi::{self, abi};

impl Id {
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
        uapi::send_filled(self.fd()?, |command: &mut abi::Connect| {
            command.id = self.handle();
            let (vendor_id, attr_mod) = self.with(|state| state.local_ece);
            command.ece = abi::Ece { vendor_id, attr_mod };
            parameters::to_kernel(self, given, &mut command.conn_param)
        })?;
        self.with(|state| {
            if let Some(more) = state.more.get_mut() {
                more.connect_header = Vec::new();
            }
        });
        self.finish(Operation::Connect)
    }

    /// For queue pairs that the application moves itself: tells the peer that it may send.
    pub(crate) fn establish(&self) -> Result<()> {
        if self.has_queue_pair() {
            return Err(crate::error::Errno::EINVAL);
        }
        ready_to_use(self)
    }
}

/// The peer accepted: moves the queue pair to where it can send, then tells the peer.
pub(crate) fn confirm(id: &Id) -> Result<()> {
    let confirmed = id
        .queue_pair_to_rtr(None)
        .and_then(|()| id.queue_pair_to_rts(None))
        .and_then(|()| ready_to_use(id));
    if confirmed.is_err() {
        // The first error is the one to tell.
        let _ = super::fail_queue_pair(id);
    }
    confirmed
}

/// The active side's ACCEPT: no parameters, and the id keeps its number in the kernel.
fn ready_to_use(id: &Id) -> Result<()> {
    uapi::send_filled(id.fd()?, |command: &mut abi::Accept| {
        command.id = id.handle();
        Ok(())
    })
}
