//! The passive side's answers.

use super::parameters::{self, Parameters};
use crate::error::{Errno, Result};
use crate::id::Id;
use crate::sync_mode::Operation;
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES};
use crate::uapi::{self, abi};

/// Reject reason of the IB CM for extensions that do not fit (ECE).
pub(crate) const REASON_VENDOR_OPTION_NOT_SUPPORTED: u8 = 35;

impl Id {
    pub(crate) fn accept(&self, given: Option<&Parameters<'_>>) -> Result<()> {
        let (max_responder, max_initiator) = parameters::check(self, given)?;
        if given.is_none() && !self.has_queue_pair() {
            return Err(Errno::EINVAL);
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
        let sent = uapi::send_filled(self.fd()?, |command: &mut abi::Accept| {
            command.uid = self.key().raw();
            command.id = self.handle();
            command.ece = self.with(|state| abi::Ece {
                // The answer repeats the asker's vendor.
                vendor_id: state.remote_ece.0,
                attr_mod: state.local_ece.1,
            });
            parameters::to_kernel(self, given, &mut command.conn_param)
        });
        if sent.is_err() {
            // The command's error is the one to tell.
            let _ = super::fail_queue_pair(self);
            return sent;
        }
        if self.is_datagram() {
            // Nothing comes back for datagrams; only the request is done with.
            if self.is_synchronous() {
                self.drop_kept_event();
            }
            return Ok(());
        }
        self.finish(Operation::Accept)
    }

    pub(crate) fn reject(&self, private_data: &[u8], reason: u8) -> Result<()> {
        let length = u8::try_from(private_data.len()).map_err(|_| Errno::EINVAL)?;
        uapi::send_filled(self.fd()?, |command: &mut abi::Reject| {
            command.id = self.handle();
            command.private_data_len = length;
            command.reason = reason;
            command.private_data[..private_data.len()].copy_from_slice(private_data);
            Ok(())
        })
    }

    pub(crate) fn reject_ece(&self, private_data: &[u8]) -> Result<()> {
        self.reject(private_data, REASON_VENDOR_OPTION_NOT_SUPPORTED)
    }
}
