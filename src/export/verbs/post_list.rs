// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_verbs.h>`: posting work requests with a list of buffers.
#![allow(unsafe_code)]

use crate::cm::helpers::{self, RemoteMemory};
use crate::export::ret::IntoC;
use crate::types::rdma_cm_id;
use libc::{c_int, c_void};
use rdma_sys::ibv_sge;

/// Posts a receive into a list of buffers.
///
/// {Arguments: receive request}
/// {Arguments: list of buffers}
///
/// {Description: posting a receive}
///
/// {Return value: posted}
///
/// {Errors: posting | `nsge` is negative, `sgl` is NULL}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # Examples
///
/// From the server in rdma_cm(7):
///
/// {Code: server.c | prepare, serve}
///
/// # See also
///
/// rdma_post_recv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_recvv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { helpers::post_receive_list(id, context, sgl, nsge) }.into_c()
}

/// Posts a send from a list of buffers.
///
/// {Arguments: send request}
/// {Arguments: list of buffers}
/// {Arguments: send flags}
///
/// {Description: posting a send}
///
/// {Return value: posted}
///
/// {Errors: posting | `nsge` is negative, `sgl` is NULL}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # Examples
///
/// From the client in rdma_cm(7):
///
/// {Code: client.c | piece, ask}
///
/// # See also
///
/// rdma_post_send(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_sendv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { helpers::post_send_list(id, context, sgl, nsge, flags) }.into_c()
}

/// Posts an RDMA read into a list of buffers.
///
/// {Arguments: send request}
/// {Arguments: list of buffers}
/// {Arguments: send flags}
/// {Arguments: memory of the peer | rdma_reg_read}
///
/// {Description: posting a read}
///
/// {Return value: posted}
///
/// {Errors: posting | `nsge` is negative, `sgl` is NULL}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_read(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
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
    let remote = RemoteMemory { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { helpers::post_read_list(id, context, sgl, nsge, flags, remote) }.into_c()
}

/// Posts an RDMA write from a list of buffers.
///
/// {Arguments: send request}
/// {Arguments: list of buffers}
/// {Arguments: send flags}
/// {Arguments: memory of the peer | rdma_reg_write}
///
/// {Description: posting a write}
///
/// {Return value: posted}
///
/// {Errors: posting | `nsge` is negative, `sgl` is NULL}
///
/// {Notes: inline code}
///
/// {Thread safety: posting}
///
/// # See also
///
/// rdma_post_write(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
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
    let remote = RemoteMemory { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { helpers::post_write_list(id, context, sgl, nsge, flags, remote) }.into_c()
}
