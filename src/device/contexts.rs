// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The array of rdma_get_devices: contexts for C, and in front of them the owners that keep them
//! open.
//!
//! # Safety
//! `free_contexts` finds the owner in front of an array that `open_contexts` made.
#![allow(unsafe_code)]

use super::{registry, shared::Device};
use alloc::alloc::Layout;
use alloc::boxed::Box;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::memory::try_box;
use rdma_sys::ibv_context;

type Owners = Vec<Arc<Device>>;

fn layout(count: usize) -> Result<Layout> {
    // One word for the owners, the contexts, a NULL.
    Layout::array::<usize>(count.saturating_add(2)).map_err(|_| Errno::ENOMEM)
}

/// A NULL-terminated array of the contexts of all devices, and their number.
pub(crate) fn open_contexts() -> Result<(*mut *mut ibv_context, usize)> {
    let owners: Box<Owners> = try_box(registry::openable()?)?;
    let count = owners.len();
    // SAFETY: the layout is not empty; all `count + 2` words are written.
    unsafe {
        let memory = alloc::alloc::alloc(layout(count)?).cast::<*mut ibv_context>();
        if memory.is_null() {
            return Err(Errno::ENOMEM);
        }
        let contexts = memory.add(1);
        for (index, device) in owners.iter().enumerate() {
            contexts.add(index).write(device.context()?.as_ptr());
        }
        contexts.add(count).write(core::ptr::null_mut());
        memory.write(Box::into_raw(owners).cast());
        Ok((contexts, count))
    }
}

/// Frees an array of `open_contexts`; NULL is nothing.
///
/// # Safety
/// NULL or from `open_contexts`, once.
pub(crate) unsafe fn free_contexts(contexts: *mut *mut ibv_context) {
    if contexts.is_null() {
        return;
    }
    // SAFETY: by contract the word before the array is the owners' box, whose length gives the
    // layout.
    unsafe {
        let memory = contexts.sub(1);
        let owners = Box::from_raw(memory.read().cast::<Owners>());
        if let Ok(layout) = layout(owners.len()) {
            alloc::alloc::dealloc(memory.cast(), layout);
        }
    }
}
