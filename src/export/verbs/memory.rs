// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_verbs.h>`: memory registration.
#![allow(unsafe_code)]

use crate::cm::helpers;
use crate::export::ret::IntoC;
use crate::types::rdma_cm_id;
use crate::verbs;
use libc::{c_int, c_void};
use rdma_sys::ibv_mr;

/// Registers memory for sends and receives.
///
/// {Arguments: memory to register}
///
/// # Description
///
/// Registers a memory region in `id->pd`, with local access only: for rdma_post_recv,
/// rdma_post_send and the local buffers of reads and writes.
///
/// {Return value: region}
///
/// {Errors: registration}
///
/// {Notes: inline code}
///
/// {Thread safety: registering}
///
/// # See also
///
/// rdma_reg_read(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_msgs(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { helpers::register(id, addr, length, verbs::LOCAL) }.into_c()
}

/// Registers memory for RDMA reads by the peer.
///
/// {Arguments: memory to register}
///
/// {Description: registration | read}
///
/// {Return value: region}
///
/// {Errors: registration}
///
/// {Notes: inline code}
///
/// {Thread safety: registering}
///
/// # See also
///
/// rdma_reg_msgs(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_read(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { helpers::register(id, addr, length, verbs::REMOTE_READ) }.into_c()
}

/// Registers memory for RDMA writes by the peer.
///
/// {Arguments: memory to register}
///
/// {Description: registration | write}
///
/// {Return value: region}
///
/// {Errors: registration}
///
/// {Notes: inline code}
///
/// {Thread safety: registering}
///
/// # See also
///
/// rdma_reg_msgs(3), rdma_reg_read(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_write(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { helpers::register(id, addr, length, verbs::REMOTE_WRITE) }.into_c()
}

/// Deregisters a memory region.
///
/// # Arguments
///
/// - `mr`: a region of rdma_reg_msgs, rdma_reg_read, rdma_reg_write or ibv_reg_mr, which becomes
///   invalid on success.
///
/// # Description
///
/// Ends the device's access to the memory. No outstanding work request may use the region.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EBUSY`: a memory window is bound to the region.
/// - `EINVAL`: `mr` is NULL.
///
/// {Errors: others}
///
/// {Notes: inline code}
///
/// # Thread safety
///
/// Any thread may call this function while no other thread uses the region.
///
/// # See also
///
/// rdma_reg_msgs(3), rdma_reg_read(3), rdma_reg_write(3), ibv_dereg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: a region or NULL, not used again.
    unsafe { helpers::deregister(mr) }.into_c()
}
