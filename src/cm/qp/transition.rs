// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Moving an id's queue pair through its states.

use super::attributes::{for_link_layer, init_attributes};
use crate::cm::id::{Id, PinnedQueuePair};
use crate::verbs::{QueuePair, zeroed_attr};
use base::because;
use base::errno::Result;
use rdma_sys::{ibv_access_flags, ibv_ece, ibv_qp_attr_mask as mask, ibv_qp_state, ibv_qp_type};

const REMOTE_WRITE: u32 = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;
/// RoCE ports have one partition, the default one at index 0.
const ROCE_PKEY_INDEX: u16 = 0;

/// Moves a new queue pair of a connected service to INIT, so that receives can be posted.
pub(super) fn initialise_connected(id: &Id, queue_pair: QueuePair) -> Result<()> {
    let mut attr = zeroed_attr();
    let port = id.port_num();
    let (is_child, peer_only_writes, is_infiniband) =
        id.with(|state| (state.is_child, state.peer_only_writes, state.is_on_infiniband(port)));
    // For an active RoCE id the kernel's answer is known: before the connection has a peer, only
    // the port is set. So are the rights of a peer that only writes.
    let bits = if (!is_child || peer_only_writes) && is_plain_roce(id, queue_pair, is_infiniband) {
        if peer_only_writes {
            attr.qp_access_flags = REMOTE_WRITE;
        }
        attr.qp_state = ibv_qp_state::IBV_QPS_INIT;
        attr.pkey_index = ROCE_PKEY_INDEX;
        attr.port_num = port;
        (mask::IBV_QP_STATE
            | mask::IBV_QP_PKEY_INDEX
            | mask::IBV_QP_PORT
            | mask::IBV_QP_ACCESS_FLAGS)
            .0
    } else {
        init_attributes(id, ibv_qp_state::IBV_QPS_INIT, &mut attr)?
    };
    queue_pair.modify(&mut attr, bits, id)
}

fn is_plain_roce(id: &Id, queue_pair: QueuePair, is_infiniband: bool) -> bool {
    !is_infiniband
        && id.context().is_ok_and(|context| !context.is_iwarp())
        && queue_pair.kind() == ibv_qp_type::IBV_QPT_RC
}

/// Moves a new datagram queue pair to RTS, for which it needs no peer.
pub(super) fn initialise_datagram(id: &Id, queue_pair: QueuePair) -> Result<()> {
    let mut attr = zeroed_attr();
    let bits = init_attributes(id, ibv_qp_state::IBV_QPS_INIT, &mut attr)?;
    queue_pair.modify(&mut attr, bits, id)?;
    attr.qp_state = ibv_qp_state::IBV_QPS_RTR;
    queue_pair.modify(&mut attr, mask::IBV_QP_STATE.0, id)?;
    attr.qp_state = ibv_qp_state::IBV_QPS_RTS;
    attr.sq_psn = 0;
    queue_pair.modify(&mut attr, (mask::IBV_QP_STATE | mask::IBV_QP_SQ_PSN).0, id)
}

/// Moves the queue pair to RTR, with at most `responder_resources` reads of the peer at a time where
/// given.
pub(crate) fn to_rtr(
    id: &Id,
    queue_pair: &PinnedQueuePair<'_>,
    responder_resources: Option<u8>,
) -> Result<()> {
    let mut attr = zeroed_attr();
    // A child's queue pair got its access rights when it was made, and so did one whose peer only
    // writes; another active one gets them now that the kernel knows the connection.
    let port = id.port_num();
    let (is_child, only_writes, is_infiniband, chosen) = id.with(|state| {
        let is_infiniband = state.is_on_infiniband(port);
        (state.is_child, state.peer_only_writes, is_infiniband, state.chosen_ece())
    });
    let has_rights = is_child && queue_pair.is_made()
        || only_writes && is_plain_roce(id, **queue_pair, is_infiniband);
    if !has_rights {
        let bits = init_attributes(id, ibv_qp_state::IBV_QPS_INIT, &mut attr)?;
        queue_pair.modify(&mut attr, bits, id)?;
    }
    let bits = init_attributes(id, ibv_qp_state::IBV_QPS_RTR, &mut attr)?;
    if let Some(limit) = responder_resources {
        attr.max_dest_rd_atomic = limit;
    }
    if let Some(chosen) = chosen {
        set_ece(id, **queue_pair, chosen)?;
    }
    queue_pair.modify(&mut attr, for_link_layer(is_infiniband, bits), id)
}

/// Moves it to RTS, with at most `initiator_depth` reads outstanding where given.
pub(crate) fn to_rts(id: &Id, queue_pair: QueuePair, initiator_depth: Option<u8>) -> Result<()> {
    let mut attr = zeroed_attr();
    let bits = init_attributes(id, ibv_qp_state::IBV_QPS_RTS, &mut attr)?;
    if let Some(limit) = initiator_depth {
        attr.max_rd_atomic = limit;
    }
    queue_pair.modify(&mut attr, bits, id)
}

/// The active side sets the extensions that the peer chose.
#[cold]
#[inline(never)]
fn set_ece(id: &Id, queue_pair: QueuePair, (vendor_id, options): (u32, u32)) -> Result<()> {
    let mut ece = ibv_ece { vendor_id, options, comp_mask: 0 };
    queue_pair.set_ece(&mut ece).map_err(|error| {
        because!(error, *id, "ibv_set_ece: the device cannot do what the peer has chosen (ECE)")
    })
}

impl Id {
    /// Moves it to SQD (iWARP): what is posted completes, then the kernel ends the connection.
    #[cold]
    #[inline(never)]
    pub(crate) fn drain_queue_pair(&self) -> Result<()> {
        let Some(queue_pair) = self.queue_pair() else { return Ok(()) };
        let mut attr = zeroed_attr();
        attr.qp_state = ibv_qp_state::IBV_QPS_SQD;
        queue_pair.modify(&mut attr, mask::IBV_QP_STATE.0, self)
    }

    /// Moves the queue pair to the error state, which flushes its work requests.
    #[inline]
    pub(crate) fn fail_queue_pair(&self) -> Result<()> {
        match self.queue_pair() {
            Some(queue_pair) => queue_pair.fail(),
            None => Ok(()),
        }
    }
}
