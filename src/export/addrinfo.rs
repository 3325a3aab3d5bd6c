//! `<rdma/rdma_cma.h>`: names and addresses.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::error::Errno;
use crate::types::{rdma_addrinfo, rdma_cm_id};
use libc::{c_char, c_int};

/// Translates names into what rdma_create_ep and rdma_resolve_addr take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
    res: *mut *mut rdma_addrinfo,
) -> c_int {
    let _ = (node, service, hints, res);
    Err::<(), _>(Errno::ENOSYS).into_c()
}

/// Gives a list of rdma_getaddrinfo back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_freeaddrinfo(res: *mut rdma_addrinfo) {
    let _ = res;
}

/// Starts to translate names, the result comes as an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addrinfo(
    id: *mut rdma_cm_id,
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
) -> c_int {
    let _ = (id, node, service, hints);
    Err::<(), _>(Errno::ENOSYS).into_c()
}

/// Reads what rdma_resolve_addrinfo found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_query_addrinfo(
    id: *mut rdma_cm_id,
    info: *mut *mut rdma_addrinfo,
) -> c_int {
    let _ = (id, info);
    Err::<(), _>(Errno::ENOSYS).into_c()
}
