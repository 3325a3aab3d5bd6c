// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Address handles, and what they are made from.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! fields of a valid id or from owners in this library, which keep the object alive while it is
//! used.
#![allow(unsafe_code)]

use super::context::{Context, ProtectionDomain};
use super::provider::created;
use base::errno::Result;
use base::{because, fail};
use core::mem::{MaybeUninit, size_of};
use core::net::Ipv6Addr;
use core::ptr::NonNull;
use libc::c_int;
use rdma_sys::{ibv_ah, ibv_ah_attr, ibv_context, ibv_gid_entry};

/// As `enum ibv_gid_type` has it.
const ROCE_V2: u32 = 2;

unsafe extern "C" {
    /// What the header's inline ibv_query_gid_ex calls.
    fn _ibv_query_gid_ex(
        context: *mut ibv_context,
        port: u32,
        index: u32,
        entry: *mut ibv_gid_entry,
        flags: u32,
        size: usize,
    ) -> c_int;
}

/// Where datagrams go.
pub(crate) struct AddressHandle(NonNull<ibv_ah>);

// SAFETY: libibverbs objects may be used from any thread.
unsafe impl Send for AddressHandle {}
// SAFETY: as above.
unsafe impl Sync for AddressHandle {}

impl AddressHandle {
    pub(crate) fn create(
        domain: ProtectionDomain,
        attr: &mut ibv_ah_attr,
    ) -> Result<AddressHandle> {
        // SAFETY: a live domain and attributes.
        created(unsafe { rdma_sys::ibv_create_ah(domain.as_ptr(), attr) })
            .map(AddressHandle)
            .map_err(|error| {
                because!(error, "ibv_create_ah on port {}: no path to the peer", attr.port_num)
            })
    }

    pub(crate) fn as_ptr(&self) -> *mut ibv_ah {
        self.0.as_ptr()
    }
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing that is on its way uses it.
        unsafe { rdma_sys::ibv_destroy_ah(self.0.as_ptr()) };
    }
}

impl Context {
    /// Place of a GID in a port's table; of several with the same bytes the routable one (RoCE v2).
    pub(crate) fn gid_index(self, port: u8, gid: &[u8; 16]) -> Result<u8> {
        let count = self.query_port(port)?.gid_tbl_len;
        let mut found = None;
        for index in 0..u8::try_from(count).unwrap_or(u8::MAX) {
            let mut entry = MaybeUninit::<ibv_gid_entry>::zeroed();
            // SAFETY: open context and a live entry of the size told.
            let failed = unsafe {
                _ibv_query_gid_ex(
                    self.as_ptr(),
                    port.into(),
                    index.into(),
                    entry.as_mut_ptr(),
                    0,
                    size_of::<ibv_gid_entry>(),
                )
            };
            if failed != 0 {
                continue;
            }
            // SAFETY: written by the call above; integers and bytes.
            let entry = unsafe { entry.assume_init() };
            // SAFETY: every bit pattern is a GID.
            if unsafe { entry.gid.raw } == *gid && (found.is_none() || entry.gid_type == ROCE_V2) {
                found = Some(index);
            }
        }
        found.ok_or_else(|| {
            fail!(
                EADDRNOTAVAIL,
                "port {port} has no GID {}: its network interface has lost the address",
                Ipv6Addr::from(*gid)
            )
        })
    }
}
