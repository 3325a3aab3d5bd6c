// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Whole pages of memory. Other heap data never shares a page with what a device writes, so a fork
//! cannot take it from the child.
//!
//! # Safety
//! The pages are mapped here, and unmapped with their owner. A peer may write them while they are
//! registered: no reference to them is made.
#![allow(unsafe_code)]

use base::errno::{Errno, Result};
use core::ptr::NonNull;

/// See the module text.
pub(crate) struct Pages {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: plain memory that every access copies.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `length` bytes, all zero.
    pub(crate) fn map(length: usize) -> Result<Pages> {
        let length = Pages::size_of(length)?;
        // SAFETY: a fresh anonymous mapping.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let start = NonNull::new(start.cast()).ok_or(Errno::ENOMEM)?;
        Ok(Pages { start, length })
    }

    /// The size of what `map` makes for this length.
    pub(crate) fn size_of(length: usize) -> Result<usize> {
        length.max(1).checked_next_multiple_of(page_size()).ok_or(Errno::ENOMEM)
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Overwrites all of it with zeros.
    pub(crate) fn clear(&mut self) {
        // SAFETY: the whole mapping.
        unsafe { self.start.as_ptr().write_bytes(0, self.length) };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

fn page_size() -> usize {
    // SAFETY: no pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
