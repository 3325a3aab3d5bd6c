//! `<rdma/rdma_verbs.h>`: memory, posting, completions.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::types::rdma_cm_id;
use crate::verbs_ext::{self, Buffer, Remote};
use libc::{c_int, c_void};
use rdma_sys::{ibv_ah, ibv_mr, ibv_sge, ibv_wc};

/// Registers memory for sends and receives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_msgs(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { verbs_ext::register(id, addr, length, verbs_ext::LOCAL) }.into_c()
}

/// Registers memory that the peer may read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_read(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { verbs_ext::register(id, addr, length, verbs_ext::REMOTE_READ) }.into_c()
}

/// Registers memory that the peer may write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_write(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { verbs_ext::register(id, addr, length, verbs_ext::REMOTE_WRITE) }.into_c()
}

/// Ends a registration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: a region or NULL, not used again.
    unsafe { verbs_ext::deregister(mr) }.into_c()
}

/// Posts a receive into a list of buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_recvv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_receive_list(id, context, sgl, nsge) }.into_c()
}

/// Posts a send from a list of buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_sendv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_send_list(id, context, sgl, nsge, flags) }.into_c()
}

/// Posts a read of the peer's memory into a list of buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_readv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_read_list(id, context, sgl, nsge, flags, remote) }.into_c()
}

/// Posts a write to the peer's memory from a list of buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_writev(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_write_list(id, context, sgl, nsge, flags, remote) }.into_c()
}

/// Posts a receive into one buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_recv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_receive(id, context, addr, length, mr) }.into_c()
}

/// Posts a send from one buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_send(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_send(id, context, buffer, flags) }.into_c()
}

/// Posts a read of the peer's memory into one buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_read(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_read(id, context, buffer, flags, remote) }.into_c()
}

/// Posts a write to the peer's memory from one buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_write(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_write(id, context, buffer, flags, remote) }.into_c()
}

/// Posts a datagram to a peer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_ud_send(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
    ah: *mut ibv_ah,
    remote_qpn: u32,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    // SAFETY: a valid id pointer or NULL; region and address handle are NULL or live.
    unsafe { verbs_ext::post_datagram(id, context, buffer, flags, ah, remote_qpn) }.into_c()
}

/// Waits for the completion of a send, read or write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_send_comp(id: *mut rdma_cm_id, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a valid id pointer and a place for the completion, or NULL.
    unsafe { verbs_ext::send_completion(id, wc) }.into_c()
}

/// Waits for the completion of a receive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_recv_comp(id: *mut rdma_cm_id, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a valid id pointer and a place for the completion, or NULL.
    unsafe { verbs_ext::receive_completion(id, wc) }.into_c()
}
