// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_verbs.h>`: completions.
#![allow(unsafe_code)]

use crate::cm::completion;
use crate::export::ret::IntoC;
use crate::types::rdma_cm_id;
use libc::c_int;
use rdma_sys::ibv_wc;

/// Waits for the completion of a send, read or write.
///
/// {Arguments: returned completion}
///
/// {Description: completion | send}
///
/// {Return value: one completion}
///
/// {Errors: completion}
///
/// {Notes: lost peer}
///
/// {Notes: queue without channel}
///
/// {Notes: inline code}
///
/// {Thread safety: completion}
///
/// # See also
///
/// rdma_get_recv_comp(3), rdma_post_send(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7),
/// rdma_status(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_send_comp(id: *mut rdma_cm_id, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a valid id pointer and a place for the completion, or NULL.
    unsafe { completion::of_send(id, wc) }.into_c()
}

/// Waits for the completion of a receive.
///
/// {Arguments: returned completion}
///
/// {Description: completion | recv}
///
/// {Return value: one completion}
///
/// {Errors: completion}
///
/// {Notes: lost peer}
///
/// {Notes: queue without channel}
///
/// {Notes: inline code}
///
/// {Thread safety: completion}
///
/// # Examples
///
/// A client that waits for a message, with a thread that reads the events meanwhile:
///
/// {Code: watch.c}
///
/// # See also
///
/// rdma_get_send_comp(3), rdma_post_recv(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7),
/// rdma_status(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_recv_comp(id: *mut rdma_cm_id, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a valid id pointer and a place for the completion, or NULL.
    unsafe { completion::of_receive(id, wc) }.into_c()
}
