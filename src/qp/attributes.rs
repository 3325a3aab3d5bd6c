//! Queue pair attributes as the kernel computes them for a connection.

use crate::error::Result;
use crate::id::Id;
use crate::uapi::{self, Answer, abi};
use rdma_sys::{ibv_ah_attr, ibv_gid, ibv_global_route, ibv_qp_attr, ibv_qp_state};

/// Mask bits for Ethernet addresses inside the kernel; on InfiniBand they mean nothing and libibverbs
/// refuses them.
const ETHERNET_ONLY_BITS: u32 = 0x00E0_0000;

/// The attributes, and their mask, that move the id's queue pair to `state`. Fields that the kernel
/// does not give keep what `attr` has.
pub(crate) fn init_attributes(
    id: &Id,
    state: ibv_qp_state::Type,
    attr: &mut ibv_qp_attr,
) -> Result<u32> {
    let mut answer = abi::QpAttr::blank();
    let command = abi::InitQpAttr { response: 0, id: id.handle(), qp_state: state };
    uapi::call_into(id.fd()?, command, &mut answer)?;
    copy(&answer, attr);
    Ok(answer.qp_attr_mask)
}

/// The mask without what the port's link layer does not know.
pub(super) fn for_link_layer(id: &Id, mask: u32) -> u32 {
    if id.is_on_infiniband() { mask & !ETHERNET_ONLY_BITS } else { mask }
}

pub(crate) fn address_handle(from: &abi::AddressHandle) -> ibv_ah_attr {
    ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: from.dgid },
            flow_label: from.flow_label,
            sgid_index: from.sgid_index,
            hop_limit: from.hop_limit,
            traffic_class: from.traffic_class,
        },
        dlid: from.dlid,
        sl: from.sl,
        src_path_bits: from.src_path_bits,
        static_rate: from.static_rate,
        is_global: from.is_global,
        port_num: from.port_num,
    }
}

fn copy(from: &abi::QpAttr, to: &mut ibv_qp_attr) {
    to.qp_state = from.qp_state;
    to.cur_qp_state = from.cur_qp_state;
    to.path_mtu = from.path_mtu;
    to.path_mig_state = from.path_mig_state;
    to.qkey = from.qkey;
    to.rq_psn = from.rq_psn;
    to.sq_psn = from.sq_psn;
    to.dest_qp_num = from.dest_qp_num;
    to.qp_access_flags = from.qp_access_flags;
    to.cap.max_send_wr = from.max_send_wr;
    to.cap.max_recv_wr = from.max_recv_wr;
    to.cap.max_send_sge = from.max_send_sge;
    to.cap.max_recv_sge = from.max_recv_sge;
    to.cap.max_inline_data = from.max_inline_data;
    to.ah_attr = address_handle(&from.ah_attr);
    to.alt_ah_attr = address_handle(&from.alt_ah_attr);
    to.pkey_index = from.pkey_index;
    to.alt_pkey_index = from.alt_pkey_index;
    to.en_sqd_async_notify = from.en_sqd_async_notify;
    to.sq_draining = from.sq_draining;
    to.max_rd_atomic = from.max_rd_atomic;
    to.max_dest_rd_atomic = from.max_dest_rd_atomic;
    to.min_rnr_timer = from.min_rnr_timer;
    to.port_num = from.port_num;
    to.timeout = from.timeout;
    to.retry_cnt = from.retry_cnt;
    to.rnr_retry = from.rnr_retry;
    to.alt_port_num = from.alt_port_num;
    to.alt_timeout = from.alt_timeout;
}
