// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The kernel's structs in the types of libibverbs.
//!
//! # Safety
//! A struct that both have alike is read as the other's.
#![allow(unsafe_code)]

use super::abi;
use crate::types::PathData;
use core::mem::{offset_of, size_of};
use rdma_sys::{ibv_ah_attr, ibv_gid, ibv_qp_attr, ibv_sa_path_rec};

/// "Exactly" in the selector fields of path records.
const EXACTLY: u8 = 2;
/// The value below a selector, as the kernel reads it.
const VALUE: u8 = 0x1F;
/// What QUERY_PATH says of every path (`IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL`) and
/// QUERY_ROUTE leaves out; applications find it in `preference`.
const PATH_FLAGS: u8 = 0x2B;

/// As libibverbs has an address handle's attributes: the fields are in the same places.
pub(crate) fn address_handle(from: &abi::AddressHandle) -> ibv_ah_attr {
    // SAFETY: integers of the same places and sizes, see below; what has no name there is padding here.
    unsafe { core::mem::transmute_copy(from) }
}

macro_rules! same_places {
    ($ours:ty as $theirs:ty: $($field:ident = $($part:ident).+),*) => {
        const _: () = assert!(
            size_of::<$ours>() == size_of::<$theirs>()
                $(&& offset_of!($ours, $field) == offset_of!($theirs, $($part).+))*
        );
    };
}

same_places!(abi::AddressHandle as ibv_ah_attr:
    dgid = grh.dgid, flow_label = grh.flow_label, sgid_index = grh.sgid_index,
    hop_limit = grh.hop_limit, traffic_class = grh.traffic_class, dlid = dlid, sl = sl,
    src_path_bits = src_path_bits, static_rate = static_rate, is_global = is_global,
    port_num = port_num);

/// Fields that the kernel does not give keep what `to` has.
pub(crate) fn copy_qp_attr(from: &abi::QpAttr, to: &mut ibv_qp_attr) {
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

/// As `path_of_path_data` would give it, from QUERY_ROUTE's form of the same path.
pub(crate) fn path_of_user_record(record: &abi::UserPathRecord) -> ibv_sa_path_rec {
    ibv_sa_path_rec {
        dgid: ibv_gid { raw: record.dgid },
        sgid: ibv_gid { raw: record.sgid },
        dlid: record.dlid,
        slid: record.slid,
        raw_traffic: 0,
        flow_label: record.flow_label,
        hop_limit: record.hop_limit,
        traffic_class: record.traffic_class,
        reversible: record.reversible as i32,
        numb_path: 1,
        pkey: record.pkey,
        sl: record.sl,
        mtu_selector: EXACTLY,
        mtu: record.mtu as u8,
        rate_selector: EXACTLY,
        rate: record.rate,
        packet_life_time_selector: EXACTLY,
        packet_life_time: record.packet_life_time,
        preference: PATH_FLAGS,
    }
}

#[cfg(any(test, fuzzing))]
/// See `crate::fuzz`.
pub fn fuzz_path_record(bytes: &[u8]) {
    use zerocopy::FromBytes;
    let Ok((data, _)) = PathData::read_from_prefix(bytes) else { return };
    let record = path_of_path_data(&data);
    assert!(u32::from_be(record.flow_label) < 1 << 24 && record.mtu < 32 && record.rate < 32);
}

/// From the packed record of the subnet administrator.
pub(crate) fn path_of_path_data(data: &PathData) -> ibv_sa_path_rec {
    let path = &data.record;
    ibv_sa_path_rec {
        dgid: ibv_gid { raw: path.dgid },
        sgid: ibv_gid { raw: path.sgid },
        dlid: path.dlid.get().to_be(),
        slid: path.slid.get().to_be(),
        raw_traffic: 0,
        flow_label: path.flow_label().to_be(),
        hop_limit: path.hop_limit(),
        traffic_class: path.traffic_class,
        reversible: i32::from(path.reversible_count >> 7),
        numb_path: 1,
        pkey: path.pkey.get().to_be(),
        sl: path.qos_class_sl.get() as u8 & 0x0F,
        mtu_selector: EXACTLY,
        mtu: path.mtu & VALUE,
        rate_selector: EXACTLY,
        rate: path.rate & VALUE,
        packet_life_time_selector: EXACTLY,
        packet_life_time: path.packet_life_time & VALUE,
        preference: data.flags as u8,
    }
}

#[cfg(any(test, fuzzing))]
/// See `crate::fuzz`.
pub fn fuzz_event(bytes: &[u8]) {
    use zerocopy::FromBytes;
    let Ok((event, _)) = abi::EventResponse::read_from_prefix(bytes) else { return };
    let (conn, ud) = (event.conn(), event.ud());
    assert!(usize::from(conn.private_data_len) <= conn.private_data.len());
    assert!(usize::from(ud.private_data_len) <= ud.private_data.len());
    let _ = (event.arg(), address_handle(&ud.ah_attr));
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;

    #[test]
    fn packed_path_is_taken_apart() {
        let mut path = [0_u8; 64];
        path[8] = 0xFE;
        path[24] = 0xFD;
        path[40..44].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
        path[44..48].copy_from_slice(&[0x00, 0xAB, 0xCD, 0x40]);
        path[48] = 7;
        path[49] = 0x81;
        path[50..52].copy_from_slice(&[0xFF, 0xFF]);
        path[52..54].copy_from_slice(&[0x00, 0xF5]);
        path[54..57].copy_from_slice(&[0x84, 0x83, 0x92]);
        let data = PathData { flags: 0x2B, reserved: 0, record: zerocopy::transmute!(path) };
        let record = path_of_path_data(&data);
        // SAFETY: every bit pattern is a GID.
        let (dgid, sgid) = unsafe { (record.dgid.raw, record.sgid.raw) };
        assert_eq!((dgid[0], sgid[0]), (0xFE, 0xFD));
        assert_eq!((record.dlid, record.slid), (0x1234_u16.to_be(), 0x5678_u16.to_be()));
        assert_eq!((record.flow_label, record.hop_limit), (0x00_ABCD_u32.to_be(), 0x40));
        assert_eq!((record.reversible, record.numb_path, record.sl), (1, 1, 5));
        assert_eq!((record.mtu, record.rate, record.packet_life_time), (4, 3, 18));
        assert_eq!((record.mtu_selector, record.rate_selector), (2, 2));
        assert_eq!((record.pkey, record.preference), (0xFFFF, 0x2B));
    }
}
