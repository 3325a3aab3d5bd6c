//! Moving an id's queue pair through its states.

use super::attributes::{for_link_layer, init_attributes};
use crate::error::Result;
use crate::id::Id;
use crate::verbs::{QueuePair, zeroed_attr};
use rdma_sys::{ibv_ece, ibv_qp_attr_mask as mask, ibv_qp_state};

/// RoCE ports have one partition, the default one at index 0.
const ROCE_PKEY_INDEX: u16 = 0;

/// A fresh queue pair of a connected service: to INIT, so that receives can be posted.
pub(super) fn initialise_connected(id: &Id, queue_pair: QueuePair) -> Result<()> {
    let mut attr = zeroed_attr();
    // An active RoCE id needs no answer from the kernel: before the connection has a peer there is
    // only the port to tell.
    let is_plain_roce = !id.with(|state| state.is_child)
        && !id.is_on_infiniband()
        && id.context().is_ok_and(|context| !context.is_iwarp())
        && queue_pair.kind() == rdma_sys::ibv_qp_type::IBV_QPT_RC;
    let bits = if is_plain_roce {
        attr.qp_state = ibv_qp_state::IBV_QPS_INIT;
        attr.pkey_index = ROCE_PKEY_INDEX;
        attr.port_num = id.port_num();
        (mask::IBV_QP_STATE
            | mask::IBV_QP_PKEY_INDEX
            | mask::IBV_QP_PORT
            | mask::IBV_QP_ACCESS_FLAGS)
            .0
    } else {
        init_attributes(id, ibv_qp_state::IBV_QPS_INIT, &mut attr)?
    };
    queue_pair.modify(&mut attr, bits)
}

/// A fresh datagram queue pair: all the way to RTS, it needs no peer.
pub(super) fn initialise_datagram(id: &Id, queue_pair: QueuePair) -> Result<()> {
    let mut attr = zeroed_attr();
    let bits = init_attributes(id, ibv_qp_state::IBV_QPS_INIT, &mut attr)?;
    queue_pair.modify(&mut attr, bits)?;
    attr.qp_state = ibv_qp_state::IBV_QPS_RTR;
    queue_pair.modify(&mut attr, mask::IBV_QP_STATE.0)?;
    attr.qp_state = ibv_qp_state::IBV_QPS_RTS;
    attr.sq_psn = 0;
    queue_pair.modify(&mut attr, (mask::IBV_QP_STATE | mask::IBV_QP_SQ_PSN).0)
}

impl Id {
    /// Ready to receive, with at most `responder_resources` reads of the peer at a time where given.
    /// Without a queue pair there is nothing to do.
    pub(crate) fn queue_pair_to_rtr(&self, responder_resources: Option<u8>) -> Result<()> {
        let Some(queue_pair) = self.queue_pair() else { return Ok(()) };
        let mut attr = zeroed_attr();
        // A child's queue pair got its access rights when it was made; an active one gets them now
        // that the kernel knows the connection.
        if !self.with(|state| state.is_child && state.made_queue_pair) {
            let bits = init_attributes(self, ibv_qp_state::IBV_QPS_INIT, &mut attr)?;
            queue_pair.modify(&mut attr, bits)?;
        }
        let bits = init_attributes(self, ibv_qp_state::IBV_QPS_RTR, &mut attr)?;
        if let Some(limit) = responder_resources {
            attr.max_dest_rd_atomic = limit;
        }
        self.settle_ece(&queue_pair)?;
        queue_pair.modify(&mut attr, for_link_layer(self, bits))
    }

    /// Ready to send, with at most `initiator_depth` reads outstanding where given.
    pub(crate) fn queue_pair_to_rts(&self, initiator_depth: Option<u8>) -> Result<()> {
        let Some(queue_pair) = self.queue_pair() else { return Ok(()) };
        let mut attr = zeroed_attr();
        let bits = init_attributes(self, ibv_qp_state::IBV_QPS_RTS, &mut attr)?;
        if let Some(limit) = initiator_depth {
            attr.max_rd_atomic = limit;
        }
        queue_pair.modify(&mut attr, bits)
    }

    /// iWARP: lets what is posted finish, then the kernel ends the connection.
    pub(crate) fn drain_queue_pair(&self) -> Result<()> {
        let Some(queue_pair) = self.queue_pair() else { return Ok(()) };
        let mut attr = zeroed_attr();
        attr.qp_state = ibv_qp_state::IBV_QPS_SQD;
        queue_pair.modify(&mut attr, mask::IBV_QP_STATE.0)
    }

    /// The asking side takes the extensions that the peer chose.
    fn settle_ece(&self, queue_pair: &QueuePair) -> Result<()> {
        let (local, remote, is_child) =
            self.with(|state| (state.local_ece, state.remote_ece, state.is_child));
        if is_child || local.0 == 0 || remote.0 == 0 {
            return Ok(());
        }
        let mut ece = ibv_ece { vendor_id: local.0, options: remote.1, comp_mask: 0 };
        queue_pair.set_ece(&mut ece)
    }
}
