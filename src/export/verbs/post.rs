// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_verbs.h>`: posting work requests with one buffer.
#![allow(unsafe_code)]

use crate::cm::helpers::{self, Buffer, RemoteMemory};
use crate::export::ret::IntoC;
use crate::types::rdma_cm_id;
use libc::{c_int, c_void};
use rdma_sys::{ibv_ah, ibv_mr};

/// Posts a receive into one buffer.
///
/// {Arguments: receive request}
/// {Arguments: one buffer}
///
/// {Description: posting a receive}
///
/// {Return value: posted}
///
/// {Errors: posting | `length` is too large, `mr` is NULL or does not contain the buffer}
///
/// {Notes: inline code}
/// The inline code only asserts that the region contains the buffer.
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_recvv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_recv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { helpers::post_receive(id, context, addr, length, mr) }.into_c()
}

/// Posts a send from one buffer.
///
/// {Arguments: send request}
/// {Arguments: one buffer to send}
/// {Arguments: send flags}
///
/// {Description: posting a send}
///
/// {Return value: posted}
///
/// {Errors: posting | `length` is too large}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_sendv(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
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
    unsafe { helpers::post_send(id, context, buffer, flags) }.into_c()
}

/// Posts an RDMA read into one buffer.
///
/// {Arguments: send request}
/// {Arguments: one buffer}
/// {Arguments: send flags}
/// {Arguments: memory of the peer | rdma_reg_read}
///
/// {Description: posting a read}
///
/// {Return value: posted}
///
/// {Errors: posting | `length` is too large, `mr` is NULL}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_readv(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
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
    let remote = RemoteMemory { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { helpers::post_read(id, context, buffer, flags, remote) }.into_c()
}

/// Posts an RDMA write from one buffer.
///
/// {Arguments: send request}
/// {Arguments: one buffer to send}
/// {Arguments: send flags}
/// {Arguments: memory of the peer | rdma_reg_write}
///
/// {Description: posting a write}
///
/// {Return value: posted}
///
/// {Errors: posting | `length` is too large}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_writev(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
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
    let remote = RemoteMemory { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { helpers::post_write(id, context, buffer, flags, remote) }.into_c()
}

/// Posts a send of a datagram.
///
/// {Arguments: send request}
/// {Arguments: one buffer to send}
/// {Arguments: send flags}
/// - `ah`: address handle of the peer or the multicast group.
/// - `remote_qpn`: queue pair number of the peer; 0xFFFFFF for a multicast group.
///
/// # Description
///
/// Posts the request and returns immediately. The peer must have posted a receive with room for
/// 40 additional bytes, the global routing header. The Q_Key is RDMA_UDP_QKEY. The completion is
/// added to `id->send_cq`.
///
/// {Return value: posted}
///
/// {Errors: posting | `length` is too large, `ah` is NULL}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_send(3), rdma_join_multicast(3), rdma_get_send_comp(3), ibv_create_ah(3),
/// ibv_post_send(3), rdma_cm(7)
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
    unsafe { helpers::post_datagram(id, context, buffer, flags, ah, remote_qpn) }.into_c()
}
