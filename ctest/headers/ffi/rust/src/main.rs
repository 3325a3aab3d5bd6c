// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The client of connect.py, with the helpers as the crate rdma-sys has them.
//!
//!   connect ADDRESS PORT

use rdma_sys::*;
use std::ffi::{c_int, c_void, CString};
use std::io::Error;
use std::mem::zeroed;
use std::ptr::{addr_of_mut, null_mut};

/// What the peer offers: address, key and size of its memory.
#[repr(C)]
struct Offer {
    address: u64,
    key: u32,
    size: u32,
}

fn must(what: &str, right: bool) {
    if !right {
        eprintln!("{what}: {}", Error::last_os_error());
        std::process::exit(1);
    }
}

fn pieces(memory: *mut c_void, region: *mut ibv_mr, first: u32, size: u32) -> [ibv_sge; 2] {
    let (at, lkey) = (memory as u64, unsafe { (*region).lkey });
    [
        ibv_sge { addr: at, length: first, lkey },
        ibv_sge { addr: at + u64::from(first), length: size - first, lkey },
    ]
}

fn complete(what: &str, result: c_int, wc: &ibv_wc, number: u64) {
    must(what, result == 1 && wc.status == ibv_wc_status::IBV_WC_SUCCESS && wc.wr_id == number);
}

fn main() {
    let words: Vec<CString> = std::env::args().map(|word| CString::new(word).unwrap()).collect();
    let signaled = ibv_send_flags::IBV_SEND_SIGNALED.0 as c_int;
    let mut told = Offer { address: 0, key: 0, size: 0 };
    let mut read = [0u8; 64];
    unsafe {
        let mut hints: rdma_addrinfo = zeroed();
        hints.ai_port_space = rdma_port_space::RDMA_PS_TCP as c_int;
        let mut found = null_mut();
        must("rdma_getaddrinfo", rdma_getaddrinfo(words[1].as_ptr(), words[2].as_ptr(), &hints, &mut found) == 0);
        let mut attributes: ibv_qp_init_attr = zeroed();
        attributes.cap.max_send_wr = 4;
        attributes.cap.max_recv_wr = 4;
        attributes.cap.max_send_sge = 2;
        attributes.cap.max_recv_sge = 2;
        attributes.qp_type = ibv_qp_type::IBV_QPT_RC;
        let mut id = null_mut();
        must("rdma_create_ep", rdma_create_ep(&mut id, found, null_mut(), &mut attributes) == 0);
        rdma_freeaddrinfo(found);

        let told_at: *mut c_void = addr_of_mut!(told).cast();
        let read_at: *mut c_void = read.as_mut_ptr().cast();
        let told_region = rdma_reg_msgs(id, told_at, 16);
        let read_region = rdma_reg_msgs(id, read_at, 64);
        must("rdma_reg_msgs", !told_region.is_null() && !read_region.is_null());
        let mut list = pieces(told_at, told_region, 4, 16);
        must("rdma_post_recvv", rdma_post_recvv(id, 3 as *mut c_void, list.as_mut_ptr(), 2) == 0);
        must("rdma_connect", rdma_connect(id, null_mut()) == 0);
        must("rdma_get_peer_addr", c_int::from(rdma_get_peer_addr(&*id).sa_family) == libc::AF_INET);
        let mut wc: ibv_wc = zeroed();
        complete("rdma_get_recv_comp", rdma_get_recv_comp(id, &mut wc), &wc, 3);

        let told = told_at.cast::<Offer>().read_volatile();
        list = pieces(read_at, read_region, 10, told.size);
        let posted =
            rdma_post_readv(id, 4 as *mut c_void, list.as_mut_ptr(), 2, signaled, told.address, told.key);
        must("rdma_post_readv", posted == 0);
        complete("rdma_get_send_comp", rdma_get_send_comp(id, &mut wc), &wc, 4);
        must("the peer's memory", read.starts_with(b"memory that"));

        read[..7].copy_from_slice(b"thanks\0");
        must("rdma_post_send", rdma_post_send(id, 5 as *mut c_void, read_at, 16, read_region, signaled) == 0);
        complete("rdma_get_send_comp", rdma_get_send_comp(id, &mut wc), &wc, 5);
        must("rdma_disconnect", rdma_disconnect(id) == 0);
        must("rdma_dereg_mr", rdma_dereg_mr(told_region) == 0 && rdma_dereg_mr(read_region) == 0);
        rdma_destroy_ep(id);
    }
    println!("rust: connected, read, sent, disconnected");
}
