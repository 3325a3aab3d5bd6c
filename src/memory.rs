//! Allocation that reports ENOMEM instead of ending the process.
//!
//! # Safety
//! Uses the global allocator by hand, with the layout of the type it makes.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use std::alloc::Layout;

/// `Box::new`, but a failed allocation is an error of the caller's.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>> {
    const { assert!(size_of::<T>() > 0) };
    let layout = Layout::new::<T>();
    // SAFETY: the layout is not empty; the memory is written before a Box owns it, and Box frees with
    // the same layout.
    unsafe {
        let memory = std::alloc::alloc(layout).cast::<T>();
        if memory.is_null() {
            return Err(Errno::ENOMEM);
        }
        memory.write(value);
        Ok(Box::from_raw(memory))
    }
}

/// A vector with room for `count` elements, or ENOMEM.
pub(crate) fn try_vec<T>(count: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| Errno::ENOMEM)?;
    Ok(vector)
}
