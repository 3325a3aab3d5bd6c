// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Structs of the rdma_cm device, ABI 3 to 4 (`<rdma/rdma_user_cm.h>`).
//!
//! Every padding byte is a named field: zerocopy proves at compile time that no unset byte can
//! reach the kernel. Sizes are asserted here, offsets by `ctest/layout`.

use crate::types::{PathData, SocketAddress};
use base::address::put;
use core::mem::{align_of, offset_of, size_of};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Private data that fits a command or an event.
pub(crate) const MAX_PRIVATE_DATA: usize = 256;

/// `struct __kernel_sockaddr_storage`.
#[repr(C, align(8))]
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub(crate) struct Storage {
    pub(crate) bytes: [u8; 128],
}

impl Storage {
    /// Fills the storage, which is all zeros, and returns the size.
    pub(crate) fn put(&mut self, address: &SocketAddress) -> u16 {
        let bytes = address.bytes();
        put(&mut self.bytes, bytes);
        bytes.len() as u16
    }
}

macro_rules! kernel_struct {
    ($(#[$meta:meta])* $name:ident, $size:literal { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }
        const _: () = assert!(size_of::<$name>() == $size);
        // The kernel reads every field, and so does this, in the compiler's eyes.
        const _: fn(&$name) = |this| { $(let _ = &this.$field;)* };
    };
}

kernel_struct!(Header, 8 { cmd: u32, in_size: u16, out_size: u16 });

kernel_struct!(CreateId, 24 {
    uid: u64, response: u64, ps: u16, qp_type: u8, reserved: [u8; 5],
});
kernel_struct!(IdResponse, 4 { id: u32 });

kernel_struct!(DestroyId, 16 { response: u64, id: u32, reserved: u32 });
// Answer of DESTROY_ID, LEAVE_MCAST and MIGRATE_ID.
kernel_struct!(EventsReported, 4 { events_reported: u32 });

kernel_struct!(Bind, 136 { id: u32, addr_size: u16, reserved: u16, addr: Storage });

kernel_struct!(ResolveAddr, 272 {
    id: u32, timeout_ms: u32, src_size: u16, dst_size: u16, reserved: u32,
    src_addr: Storage, dst_addr: Storage,
});

kernel_struct!(ResolveRoute, 8 { id: u32, timeout_ms: u32 });

/// `ibdev_index` where the kernel does not report it.
pub(crate) const NO_DEVICE_INDEX: u32 = u32::MAX;

pub(crate) const QUERY_ADDR: u32 = 0;
pub(crate) const QUERY_PATH: u32 = 1;
pub(crate) const QUERY_GID: u32 = 2;

kernel_struct!(QueryRoute, 16 { response: u64, id: u32, reserved: u32 });
kernel_struct!(QueryAddr, 16 { response: u64, id: u32, option: u32 });
kernel_struct!(QueryPath, 16 { response: u64, id: u32, option: u32 });
kernel_struct!(QueryGid, 16 { response: u64, id: u32, option: u32 });

pub(crate) const QUERY_IB_SERVICE: u32 = 3;
kernel_struct!(QueryIbService, 16 { response: u64, id: u32, option: u32 });

kernel_struct!(UserPathRecord, 64 {
    dgid: [u8; 16], sgid: [u8; 16], dlid: u16, slid: u16, raw_traffic: u32, flow_label: u32,
    reversible: u32, mtu: u32, pkey: u16, hop_limit: u8, traffic_class: u8, numb_path: u8, sl: u8,
    mtu_selector: u8, rate_selector: u8, rate: u8, packet_life_time_selector: u8,
    packet_life_time: u8, preference: u8,
});

kernel_struct!(RouteResponse, 208 {
    node_guid: u64, ib_route: [UserPathRecord; 2], src_addr: [u8; 28], dst_addr: [u8; 28],
    num_paths: u32, port_num: u8, reserved: [u8; 3], ibdev_index: u32, reserved1: u32,
});

kernel_struct!(AddrResponse, 280 {
    node_guid: u64, port_num: u8, reserved: u8, pkey: u16, src_size: u16, dst_size: u16,
    src_addr: Storage, dst_addr: Storage, ibdev_index: u32, reserved1: u32,
});

/// What one QUERY_PATH answer holds at most.
pub(crate) const MAX_PATHS: usize = 6;

kernel_struct!(PathResponse, 440 {
    num_paths: u32, reserved: u32, path_data: [PathData; MAX_PATHS],
});

kernel_struct!(ConnParam, 272 {
    qp_num: u32, qkey: u32, private_data: [u8; MAX_PRIVATE_DATA], private_data_len: u8, srq: u8,
    responder_resources: u8, initiator_depth: u8, flow_control: u8, retry_count: u8,
    rnr_retry_count: u8, valid: u8,
});

kernel_struct!(AddressHandle, 32 {
    dgid: [u8; 16], flow_label: u32, sgid_index: u8, hop_limit: u8, traffic_class: u8,
    reserved: u8, dlid: u16, sl: u8, src_path_bits: u8, static_rate: u8, is_global: u8,
    port_num: u8, reserved1: u8,
});

kernel_struct!(UdParam, 304 {
    qp_num: u32, qkey: u32, ah_attr: AddressHandle, private_data: [u8; MAX_PRIVATE_DATA],
    private_data_len: u8, reserved: [u8; 7],
});

kernel_struct!(Ece, 8 { vendor_id: u32, attr_mod: u32 });

kernel_struct!(Connect, 288 { conn_param: ConnParam, id: u32, reserved: u32, ece: Ece });
kernel_struct!(Listen, 8 { id: u32, backlog: u32 });
kernel_struct!(Accept, 296 { uid: u64, conn_param: ConnParam, id: u32, reserved: u32, ece: Ece });
kernel_struct!(Reject, 264 {
    id: u32, private_data_len: u8, reason: u8, reserved: [u8; 2],
    private_data: [u8; MAX_PRIVATE_DATA],
});
kernel_struct!(Disconnect, 4 { id: u32 });
kernel_struct!(InitQpAttr, 16 { response: u64, id: u32, qp_state: u32 });

// `struct ib_uverbs_qp_attr`, the answer of INIT_QP_ATTR.
kernel_struct!(QpAttr, 144 {
    qp_attr_mask: u32, qp_state: u32, cur_qp_state: u32, path_mtu: u32, path_mig_state: u32,
    qkey: u32, rq_psn: u32, sq_psn: u32, dest_qp_num: u32, qp_access_flags: u32,
    ah_attr: AddressHandle, alt_ah_attr: AddressHandle,
    max_send_wr: u32, max_recv_wr: u32, max_send_sge: u32, max_recv_sge: u32, max_inline_data: u32,
    pkey_index: u16, alt_pkey_index: u16, en_sqd_async_notify: u8, sq_draining: u8,
    max_rd_atomic: u8, max_dest_rd_atomic: u8, min_rnr_timer: u8, port_num: u8, timeout: u8,
    retry_cnt: u8, rnr_retry: u8, alt_port_num: u8, alt_timeout: u8, reserved: [u8; 5],
});

// `struct ib_user_service_rec`, numbers big endian.
kernel_struct!(ServiceRecord, 176 {
    id: u64, gid: [u8; 16], pkey: u16, reserved: [u8; 2], lease: u32, key: [u8; 16],
    name: [u8; SERVICE_NAME_SIZE], data_8: [u8; 16], data_16: [u16; 8], data_32: [u32; 4],
    data_64: [u64; 2],
});

/// What one answer of QUERY_IB_SERVICE has room for here.
const MAX_SERVICES: usize = 32;

kernel_struct!(ServiceResponse, 5640 {
    count: u32, reserved: u32, records: [ServiceRecord; MAX_SERVICES],
});

pub(crate) const SERVICE_NAME_SIZE: usize = 64;
pub(crate) const SERVICE_BY_ID: u32 = 1;
pub(crate) const SERVICE_BY_NAME: u32 = 2;

kernel_struct!(ResolveIbService, 88 {
    id: u32, reserved: u32, service_id: u64, service_name: [u8; SERVICE_NAME_SIZE], flags: u32,
    reserved1: u32,
});

kernel_struct!(Notify, 8 { id: u32, event: u32 });
kernel_struct!(JoinMcast, 152 {
    response: u64, uid: u64, id: u32, addr_size: u16, join_flags: u16, addr: Storage,
});
// LEAVE_MCAST; the id is the membership's.
kernel_struct!(LeaveMcast, 16 { response: u64, id: u32, reserved: u32 });

kernel_struct!(GetEvent, 8 { response: u64 });

/// The union of an event or of WRITE_CM_EVENT, as large as its largest member.
pub(crate) type ParamBytes = [u8; size_of::<UdParam>()];

kernel_struct!(EventResponse, 336 {
    uid: u64, id: u32, event: u32, status: u32, param: ParamBytes, reserved: u32, ece: Ece,
});
const _: () = assert!(offset_of!(EventResponse, param) == 20);

impl EventResponse {
    pub(crate) fn conn(&self) -> &ConnParam {
        // It fits and is aligned, see below; zeros, were it otherwise.
        ConnParam::ref_from_prefix(&self.param).map_or(&ConnParam::NONE, |(conn, _)| conn)
    }

    pub(crate) fn ud(&self) -> &UdParam {
        UdParam::ref_from_prefix(&self.param).map_or(&UdParam::NONE, |(ud, _)| ud)
    }

    /// The word that USER and INTERNAL events carry.
    pub(crate) fn arg(&self) -> u64 {
        let mut arg = [0; 8];
        arg.copy_from_slice(&self.param[..8]);
        u64::from_ne_bytes(arg)
    }
}

impl ConnParam {
    const NONE: ConnParam = zerocopy::transmute!([0_u8; size_of::<ConnParam>()]);
}

impl UdParam {
    const NONE: UdParam = zerocopy::transmute!([0_u8; size_of::<UdParam>()]);
}

const _: () = assert!(
    offset_of!(EventResponse, param) % align_of::<ConnParam>() == 0
        && offset_of!(EventResponse, param) % align_of::<UdParam>() == 0
        && align_of::<EventResponse>() % align_of::<UdParam>() == 0
);

kernel_struct!(WriteCmEvent, 320 {
    id: u32, reserved: u32, event: u32, status: u32, param: ParamBytes,
});

impl WriteCmEvent {
    pub(crate) fn new(id: u32, event: u32, status: i32, arg: u64) -> WriteCmEvent {
        let mut param = [0; size_of::<UdParam>()];
        param[..8].copy_from_slice(&arg.to_ne_bytes());
        WriteCmEvent { id, reserved: 0, event, status: status as u32, param }
    }
}

kernel_struct!(SetOption, 24 { optval: u64, id: u32, level: u32, optname: u32, optlen: u32 });
kernel_struct!(MigrateId, 16 { response: u64, id: u32, fd: u32 });

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    #[test]
    fn event_union_is_read_without_alignment() {
        let mut event = EventResponse::new_zeroed();
        event.param[..8].copy_from_slice(&0x0102_0304_0506_0708_u64.to_ne_bytes());
        assert_eq!(event.arg(), 0x0102_0304_0506_0708);
        event.param[264] = 56;
        assert_eq!(event.conn().private_data_len, 56);
        event.param[8 + 32 + 256] = 77;
        assert_eq!(event.ud().private_data_len, 77);
    }
}
