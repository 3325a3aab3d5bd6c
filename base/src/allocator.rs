// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The allocator of both libraries: malloc(3), so that programs which replace it serve us too.
//!
//! # Safety
//! The contract of `GlobalAlloc`, kept by malloc and its family.
#![allow(unsafe_code)]

use core::alloc::{GlobalAlloc, Layout};

/// Memory from the process's malloc.
#[derive(Debug)]
pub struct Malloc;

/// What malloc aligns to.
const ALIGNMENT: usize = align_of::<libc::max_align_t>();

// SAFETY: each block has at least the size and alignment of its layout; free takes all of them.
unsafe impl GlobalAlloc for Malloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT && layout.align() <= layout.size() {
            // SAFETY: no pointers.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        let mut block = core::ptr::null_mut();
        let alignment = layout.align().max(size_of::<usize>());
        // SAFETY: a live place; the alignment is a power of two and a multiple of a pointer's size.
        let failed = unsafe { libc::posix_memalign(&raw mut block, alignment, layout.size()) };
        if failed == 0 { block.cast() } else { core::ptr::null_mut() }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: from one of the functions here, by contract.
        unsafe { libc::free(block.cast()) };
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT && layout.align() <= layout.size() {
            // SAFETY: no pointers.
            return unsafe { libc::calloc(layout.size(), 1) }.cast();
        }
        // SAFETY: by contract; the block has that size.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= ALIGNMENT && layout.align() <= size {
            // SAFETY: from malloc or its family, by contract.
            return unsafe { libc::realloc(block.cast(), size) }.cast();
        }
        // SAFETY: by contract; the shorter of both sizes is copied.
        unsafe {
            let fresh = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !fresh.is_null() {
                core::ptr::copy_nonoverlapping(block, fresh, layout.size().min(size));
                self.dealloc(block, layout);
            }
            fresh
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_keep_their_contents() {
        for (size, align) in [(1, 1), (24, 8), (8, 16), (100, 64), (5000, 4096)] {
            let Ok(layout) = Layout::from_size_align(size, align) else { continue };
            // SAFETY: not an empty layout; the blocks are used within their sizes and freed once.
            unsafe {
                let block = Malloc.alloc_zeroed(layout);
                assert_eq!(block.addr() % align, 0);
                assert!((0..size).all(|index| *block.add(index) == 0));
                block.write_bytes(7, size);
                let longer = Malloc.realloc(block, layout, size * 3);
                assert_eq!(longer.addr() % align, 0);
                assert!((0..size).all(|index| *longer.add(index) == 7));
                let longer_layout = Layout::from_size_align_unchecked(size * 3, align);
                let shorter = Malloc.realloc(longer, longer_layout, 1);
                assert_eq!(*shorter, 7);
                Malloc.dealloc(shorter, Layout::from_size_align_unchecked(1, align));
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_null() {
        let huge = isize::MAX as usize - 4096;
        for align in [1, 4096] {
            let Ok(layout) = Layout::from_size_align(huge, align) else { continue };
            // SAFETY: not an empty layout.
            assert!(unsafe {
                Malloc.alloc(layout).is_null() && Malloc.alloc_zeroed(layout).is_null()
            });
        }
    }
}
