// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Queue pair attributes as the kernel computes them for a connection.

use crate::cm::id::Id;
use crate::uapi::{self, Answer, abi};
use base::errno::Result;
use rdma_sys::{ibv_qp_attr, ibv_qp_state};

/// Mask bits for Ethernet addresses inside the kernel; on InfiniBand they mean nothing and
/// libibverbs refuses them.
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
    id.call_into(command, &mut answer)?;
    uapi::copy_qp_attr(&answer, attr);
    Ok(answer.qp_attr_mask)
}

/// The mask without what the port's link layer does not know.
pub(super) fn for_link_layer(is_infiniband: bool, mask: u32) -> u32 {
    if is_infiniband { mask & !ETHERNET_ONLY_BITS } else { mask }
}
