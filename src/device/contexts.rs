//! The array of rdma_get_devices: contexts for C, and before them what keeps them open.
//!
//! # Safety
//! `free_contexts` finds the owner in front of an array that `open_contexts` made.
#![allow(unsafe_code)]

use super::{registry, shared::Device};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::memory::try_box;
use rdma_sys::ibv_context;
use std::alloc::Layout;

type Owners = Vec<Counted<Device>>;

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
        let memory = std::alloc::alloc(layout(count)?).cast::<*mut ibv_context>();
        if memory.is_null() {
            return Err(Errno::ENOMEM);
        }
        let contexts = memory.add(1);
        for (place, device) in owners.iter().enumerate() {
            contexts.add(place).write(device.context()?.as_ptr());
        }
        contexts.add(count).write(std::ptr::null_mut());
        memory.write(Box::into_raw(owners).cast());
        Ok((contexts, count))
    }
}

/// Gives an array of `open_contexts` back; NULL is nothing.
///
/// # Safety
/// NULL or from `open_contexts`, once.
pub(crate) unsafe fn free_contexts(contexts: *mut *mut ibv_context) {
    if contexts.is_null() {
        return;
    }
    // SAFETY: by contract the word before the array is the owners' box, whose length gives the layout.
    unsafe {
        let memory = contexts.sub(1);
        let owners = Box::from_raw(memory.read().cast::<Owners>());
        if let Ok(layout) = layout(owners.len()) {
            std::alloc::dealloc(memory.cast(), layout);
        }
    }
}
