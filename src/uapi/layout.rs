// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Compares the kernel structs with `<rdma/rdma_user_cm.h>` of the build machine, by a C program.

use super::abi::*;
use crate::types::PathData;
use alloc::collections::BTreeMap;
use core::fmt::Write;
use core::mem::{offset_of, size_of};
use std::process::Command;

/// Rust's numbers by "struct.field" (offset) and "struct" (size).
type Layout = BTreeMap<String, usize>;

macro_rules! layout {
    ($($rust:ident = $c:literal { $($field:ident $(as $c_field:literal)?),* $(,)? })*) => {{
        let mut ours = Layout::new();
        $(
            ours.insert($c.to_owned(), size_of::<$rust>());
            $(
                #[allow(unused_mut, unused_assignments)]
                let mut name = stringify!($field);
                $(name = $c_field;)?
                ours.insert(format!("{}.{}", $c, name), offset_of!($rust, $field));
            )*
        )*
        ours
    }};
}

fn ours() -> Layout {
    layout! {
        Header = "rdma_ucm_cmd_hdr" { cmd, in_size as "in", out_size as "out" }
        CreateId = "rdma_ucm_create_id" { uid, response, ps, qp_type }
        IdResponse = "rdma_ucm_create_id_resp" { id }
        DestroyId = "rdma_ucm_destroy_id" { response, id }
        EventsReported = "rdma_ucm_destroy_id_resp" { events_reported }
        Bind = "rdma_ucm_bind" { id, addr_size, addr }
        ResolveAddr = "rdma_ucm_resolve_addr" {
            id, timeout_ms, src_size, dst_size, src_addr, dst_addr,
        }
        ResolveRoute = "rdma_ucm_resolve_route" { id, timeout_ms }
        QueryAddr = "rdma_ucm_query" { response, id, option }
        UserPathRecord = "ib_user_path_rec" {
            dgid, sgid, dlid, slid, raw_traffic, flow_label, reversible, mtu, pkey, hop_limit,
            traffic_class, numb_path, sl, mtu_selector, rate_selector, rate,
            packet_life_time_selector, packet_life_time, preference,
        }
        RouteResponse = "rdma_ucm_query_route_resp" {
            node_guid, ib_route, src_addr, dst_addr, num_paths, port_num, ibdev_index,
        }
        AddrResponse = "rdma_ucm_query_addr_resp" {
            node_guid, port_num, pkey, src_size, dst_size, src_addr, dst_addr, ibdev_index,
        }
        PathData = "ib_path_rec_data" { flags, record as "path_rec" }
        ConnParam = "rdma_ucm_conn_param" {
            qp_num, qkey, private_data, private_data_len, srq, responder_resources,
            initiator_depth, flow_control, retry_count, rnr_retry_count, valid,
        }
        AddressHandle = "ib_uverbs_ah_attr" {
            dgid as "grh.dgid", flow_label as "grh.flow_label", sgid_index as "grh.sgid_index",
            hop_limit as "grh.hop_limit", traffic_class as "grh.traffic_class", dlid, sl,
            src_path_bits, static_rate, is_global, port_num,
        }
        UdParam = "rdma_ucm_ud_param" { qp_num, qkey, ah_attr, private_data, private_data_len }
        Ece = "rdma_ucm_ece" { vendor_id, attr_mod }
        Connect = "rdma_ucm_connect" { conn_param, id, ece }
        Listen = "rdma_ucm_listen" { id, backlog }
        Accept = "rdma_ucm_accept" { uid, conn_param, id, ece }
        Reject = "rdma_ucm_reject" { id, private_data_len, reason, private_data }
        Disconnect = "rdma_ucm_disconnect" { id }
        InitQpAttr = "rdma_ucm_init_qp_attr" { response, id, qp_state }
        QpAttr = "ib_uverbs_qp_attr" {
            qp_attr_mask, qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn,
            dest_qp_num, qp_access_flags, ah_attr, alt_ah_attr, max_send_wr, max_recv_wr,
            max_send_sge, max_recv_sge, max_inline_data, pkey_index, alt_pkey_index,
            en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer,
            port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout,
        }
        Notify = "rdma_ucm_notify" { id, event }
        JoinMcast = "rdma_ucm_join_mcast" { response, uid, id, addr_size, join_flags, addr }
        LeaveMcast = "rdma_ucm_destroy_id" { response, id }
        GetEvent = "rdma_ucm_get_event" { response }
        EventResponse = "rdma_ucm_event_resp" { uid, id, event, status, param, ece }
        SetOption = "rdma_ucm_set_option" { optval, id, level, optname, optlen }
        MigrateId = "rdma_ucm_migrate_id" { response, id, fd }
    }
}

fn theirs(names: impl Iterator<Item = String>) -> Layout {
    let mut source = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include <sys/socket.h>\n\
         #include <rdma/rdma_user_cm.h>\nint main(void) {\n",
    );
    for name in names {
        let expression = match name.split_once('.') {
            Some((parent, field)) => format!("offsetof(struct {parent}, {field})"),
            None => format!("sizeof(struct {name})"),
        };
        let _ = writeln!(source, "printf(\"{name} %zu\\n\", (size_t){expression});");
    }
    source.push_str("return 0; }\n");
    let directory = std::env::temp_dir().join(format!("rdmacm-layout-{}", std::process::id()));
    let run = || -> std::io::Result<String> {
        std::fs::create_dir_all(&directory)?;
        let (file, program) = (directory.join("layout.c"), directory.join("layout"));
        std::fs::write(&file, &source)?;
        let compiled = Command::new("cc").arg("-o").arg(&program).arg(&file).output()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let printed = Command::new(&program).output()?.stdout;
        std::fs::remove_dir_all(&directory)?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    };
    let printed = run();
    assert!(printed.is_ok(), "{printed:?}");
    let line = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    printed.unwrap_or_default().lines().filter_map(line).collect()
}

#[test]
fn kernel_structs_are_those_of_the_header() {
    let ours = ours();
    assert!(ours.len() > 150);
    assert_eq!(ours, theirs(ours.keys().cloned()));
}

#[test]
fn command_numbers_are_those_of_the_header() {
    use super::command::Command as Numbered;
    let numbers = [
        ("CREATE_ID", CreateId::NUMBER),
        ("DESTROY_ID", DestroyId::NUMBER),
        ("RESOLVE_ROUTE", ResolveRoute::NUMBER),
        ("QUERY_ROUTE", QueryRoute::NUMBER),
        ("CONNECT", Connect::NUMBER),
        ("LISTEN", Listen::NUMBER),
        ("ACCEPT", Accept::NUMBER),
        ("REJECT", Reject::NUMBER),
        ("DISCONNECT", Disconnect::NUMBER),
        ("INIT_QP_ATTR", InitQpAttr::NUMBER),
        ("GET_EVENT", GetEvent::NUMBER),
        ("SET_OPTION", SetOption::NUMBER),
        ("NOTIFY", Notify::NUMBER),
        ("LEAVE_MCAST", LeaveMcast::NUMBER),
        ("MIGRATE_ID", MigrateId::NUMBER),
        ("QUERY", QueryAddr::NUMBER),
        ("BIND", Bind::NUMBER),
        ("RESOLVE_ADDR", ResolveAddr::NUMBER),
        ("JOIN_MCAST", JoinMcast::NUMBER),
    ];
    let header = std::fs::read_to_string("/usr/include/rdma/rdma_user_cm.h").unwrap_or_default();
    let commands: Vec<&str> = header
        .lines()
        .filter_map(|line| line.trim().strip_prefix("RDMA_USER_CM_CMD_"))
        .map(|name| name.trim_end_matches(','))
        .collect();
    for (name, number) in numbers {
        assert_eq!(commands.get(number as usize), Some(&name));
    }
}
