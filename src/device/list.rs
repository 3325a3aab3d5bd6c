// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The device list of libibverbs, held as long as one of its entries may be opened.
//!
//! # Safety
//! Walks the NULL-terminated array that libibverbs returns, for as long as the list is held.
#![allow(unsafe_code)]

use alloc::borrow::Cow;
use base::errno::{Errno, Result};
use base::fork;
use base::unusable;
use core::ffi::CStr;
use core::ptr::NonNull;
use rdma_sys::ibv_device;

/// A snapshot of the devices, freed on drop.
pub(super) struct DeviceList {
    entries: NonNull<*mut ibv_device>,
    count: usize,
}

// SAFETY: the array is not changed after it was made.
unsafe impl Send for DeviceList {}
// SAFETY: as above.
unsafe impl Sync for DeviceList {}

impl DeviceList {
    /// Reads the list. No device at all is an empty list, not an error.
    pub(super) fn read() -> Result<DeviceList> {
        // libibverbs holds a lock in this call, which a child of fork must not inherit.
        let _held_off = fork::hold_off();
        let mut count = 0;
        // SAFETY: a live counter.
        let entries = unsafe { rdma_sys::ibv_get_device_list(&mut count) };
        let entries = NonNull::new(entries).ok_or_else(|| match Errno::last() {
            // What libibverbs calls a kernel without RDMA: such a machine has no device.
            Errno::ENOSYS => unusable!(
                ENODEV,
                "the kernel has no RDMA, or this container does not see it: `modprobe ib_uverbs rdma_ucm` and \
                 the driver of the adapter, or rdma_rxe for soft-RoCE; `rdmacm-info check` looks further"
            ),
            error => error,
        })?;
        Ok(DeviceList { entries, count: usize::try_from(count).unwrap_or(0) })
    }

    pub(super) fn entries(&self) -> &[*mut ibv_device] {
        // SAFETY: `count` entries lie at the start of the array.
        unsafe { core::slice::from_raw_parts(self.entries.as_ptr(), self.count) }
    }
}

impl Drop for DeviceList {
    fn drop(&mut self) {
        // SAFETY: made by ibv_get_device_list, freed once.
        unsafe { rdma_sys::ibv_free_device_list(self.entries.as_ptr()) };
    }
}

/// How the kernel names a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Node GUID as stored (big endian); zero for some virtual functions.
    pub(crate) guid: u64,
    /// Number of the device, where it is known.
    pub(crate) index: Option<u32>,
}

impl Identity {
    /// # Safety
    /// `device` is an entry of a held list.
    pub(super) unsafe fn of(device: *mut ibv_device) -> Identity {
        // SAFETY: by contract.
        let (guid, index) = unsafe {
            (rdma_sys::ibv_get_device_guid(device), rdma_sys::ibv_get_device_index(device))
        };
        Identity { guid, index: u32::try_from(index).ok() }
    }

    /// By number where both sides know it, else by GUID; a GUID of zero names nothing.
    pub(crate) fn matches(&self, other: &Identity) -> bool {
        match (self.index, other.index) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.guid == other.guid && self.guid != 0,
        }
    }
}

/// Name of a device, for messages.
///
/// # Safety
/// `device` is an entry of a list that is held for as long as the name is used.
pub(super) unsafe fn name_of<'a>(device: *mut ibv_device) -> Cow<'a, str> {
    // SAFETY: by contract; the name is a C string inside the device.
    let name = unsafe { rdma_sys::ibv_get_device_name(device) };
    if name.is_null() {
        return Cow::default();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(name) }.to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::Identity;

    #[test]
    fn index_wins_over_guid_and_zero_guid_matches_nothing() {
        let named = |guid, index| Identity { guid, index };
        assert!(named(5, Some(1)).matches(&named(5, Some(1))));
        assert!(!named(5, Some(1)).matches(&named(5, Some(2))));
        assert!(named(0, Some(1)).matches(&named(0, Some(1))));
        assert!(named(5, None).matches(&named(5, Some(2))));
        assert!(named(5, Some(2)).matches(&named(5, None)));
        assert!(!named(0, None).matches(&named(0, Some(2))));
        assert!(!named(0, None).matches(&named(0, None)));
    }
}
