// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: the RDMA devices of the process.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::device;
use base::errno::preserve_errno;
use libc::c_int;
use rdma_sys::ibv_context;

/// Opens all RDMA devices.
///
/// # Arguments
///
/// - `num_devices`: where the number of devices is returned, or NULL. 0 on failure.
///
/// # Description
///
/// Returns the open devices of the process, on which to create objects that several ids use.
/// Devices that cannot be opened are left out.
///
/// # Return value
///
/// A NULL-terminated array of contexts, to be freed by rdma_free_devices; NULL with `errno` set
/// on failure.
///
/// # Errors
///
/// - `ENODEV`: there is no RDMA device that can be opened.
/// - `ENOMEM`: out of memory.
///
/// {Errors: others}
///
/// # Notes
///
/// `id->verbs` refers to the same contexts: do not close them. A context stays open as long as a
/// list or an id refers to it, and a device stays known until it is removed.
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rdma_free_devices(3), rdma_bind_addr(3), ibv_get_device_list(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_devices(num_devices: *mut c_int) -> *mut *mut ibv_context {
    let opened = preserve_errno(device::open_contexts);
    let count = opened.as_ref().map_or(0, |(_, count)| *count);
    // SAFETY: NULL or writable.
    if let Some(place) = unsafe { num_devices.as_mut() } {
        *place = c_int::try_from(count).unwrap_or(c_int::MAX);
    }
    opened.map(|(contexts, _)| contexts).into_c()
}

/// Frees an array of devices.
///
/// # Arguments
///
/// - `list`: an array returned by rdma_get_devices, which becomes invalid; NULL has no effect.
///
/// # Description
///
/// Frees the array. A device that was removed is closed when nothing refers to it any more.
///
/// {Return value: none}
///
/// # Notes
///
/// Before this call, destroy the objects that were created on the contexts, unless ids on the
/// same devices keep the contexts open.
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rdma_get_devices(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_free_devices(list: *mut *mut ibv_context) {
    // SAFETY: NULL or from rdma_get_devices, once.
    unsafe { device::free_contexts(list) };
}
