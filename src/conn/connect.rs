//! The active side.

use super::parameters::{self, Parameters};
use crate::error::Result;
use crate::id::Id;
use crate::sync_mode::Operation;
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES};
use crate::uapi::{self, abi};
use zerocopy::FromZeros;

impl Id {
    pub(crate) fn connect(&self, given: Option<&Parameters<'_>>) -> Result<()> {
        parameters::check(self, given)?;
        let (max_responder, max_initiator) = parameters::device_limits(self)?;
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
        let conn_param = parameters::to_kernel(self, given)?;
        let (vendor_id, attr_mod) = self.with(|state| state.local_ece);
        uapi::send(
            self.fd()?,
            abi::Connect {
                conn_param,
                id: self.handle(),
                reserved: 0,
                ece: abi::Ece { vendor_id, attr_mod },
            },
        )?;
        self.with(|state| state.connect_header = Vec::new());
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
    let mut command = abi::Accept::new_zeroed();
    command.id = id.handle();
    uapi::send(id.fd()?, command)
}
