// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The caller's buffers: one or several pieces, walked from front to back.
//!
//! # Safety
//! Made from pointers that the caller vouches for; every copy stays within the lengths it gave.
#![allow(unsafe_code)]

use base::errno::{Errno, Result};
use base::fail;
use libc::{c_void, iovec};

/// As many pieces as the kernel takes (UIO_MAXIOV).
const MAX_PIECES: usize = 1024;

/// Pieces of the caller's memory, as far as they have not been used.
pub(crate) struct Buffers<'a> {
    /// What is left of the first one.
    start: *mut u8,
    length: usize,
    rest: &'a [iovec],
    left: usize,
}

impl<'a> Buffers<'a> {
    /// # Safety
    /// `start` is readable, and for receives writable, for `length` bytes.
    #[inline]
    pub(crate) unsafe fn one(start: *mut c_void, length: usize) -> Result<Buffers<'a>> {
        if start.is_null() && length > 0 {
            return Err(Errno::EFAULT);
        }
        let length = length.min(isize::MAX as usize);
        Ok(Buffers { start: start.cast(), length, rest: &[], left: length })
    }

    /// No memory, for `length` bytes that are only stepped over.
    #[cold]
    pub(crate) fn discard(length: usize) -> Buffers<'a> {
        let length = length.min(isize::MAX as usize);
        Buffers { start: core::ptr::null_mut(), length, rest: &[], left: length }
    }

    /// # Safety
    /// `list` has `count` pieces, each as in `one`.
    pub(crate) unsafe fn many(list: *const iovec, count: usize) -> Result<Buffers<'a>> {
        if count > MAX_PIECES {
            return Err(Errno::EMSGSIZE);
        }
        if list.is_null() && count > 0 {
            return Err(Errno::EFAULT);
        }
        let list = match count {
            0 => &[],
            // SAFETY: by contract.
            _ => unsafe { core::slice::from_raw_parts(list, count) },
        };
        let mut left = 0_usize;
        for piece in list {
            if piece.iov_base.is_null() && piece.iov_len > 0 {
                return Err(Errno::EFAULT);
            }
            left = left.checked_add(piece.iov_len).ok_or_else(too_long)?;
        }
        if left > isize::MAX as usize {
            return Err(too_long());
        }
        Ok(Buffers { start: core::ptr::null_mut(), length: 0, rest: list, left })
    }

    /// How long all pieces are together, wherever they are; 0 where `many` refuses their number.
    ///
    /// # Safety
    /// `list` has `count` pieces.
    #[cold]
    pub(crate) unsafe fn total(list: *const iovec, count: usize) -> usize {
        if list.is_null() || count > MAX_PIECES {
            return 0;
        }
        // SAFETY: by contract.
        let list = unsafe { core::slice::from_raw_parts(list, count) };
        list.iter().fold(0, |total: usize, piece| total.saturating_add(piece.iov_len))
    }

    /// Bytes that are still to be used.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// The next `length` bytes, if they lie together.
    #[inline]
    pub(crate) fn together(&mut self, length: usize) -> Option<*const u8> {
        while self.length == 0 && length > 0 && self.next() {}
        (length <= self.length).then_some(self.start.cast_const())
    }

    #[inline]
    pub(crate) fn advance(&mut self, length: usize) {
        self.walk(length, |_, _, _| {});
    }

    /// Copies the next `length` bytes to `to`.
    ///
    /// # Safety
    /// `to` is writable for `length` bytes and overlaps none of the pieces.
    #[inline]
    pub(crate) unsafe fn gather(&mut self, to: *mut u8, length: usize) {
        self.walk(length, |piece, done, part| {
            // SAFETY: `part` bytes of a piece; `done + part` is at most `length`.
            unsafe { core::ptr::copy_nonoverlapping(piece, to.add(done), part) }
        });
    }

    /// Copies `length` bytes at `from` to the next pieces.
    ///
    /// # Safety
    /// `from` is readable for `length` bytes and overlaps none of the pieces.
    #[inline]
    pub(crate) unsafe fn scatter(&mut self, from: *const u8, length: usize) {
        self.walk(length, |piece, done, part| {
            // SAFETY: as in `gather`.
            unsafe { core::ptr::copy_nonoverlapping(from.add(done), piece, part) }
        });
    }

    #[inline(always)]
    fn walk(&mut self, length: usize, mut each: impl FnMut(*mut u8, usize, usize)) {
        if length <= self.length {
            each(self.used(length), 0, length);
        } else {
            self.walk_on(length, each);
        }
    }

    /// `walk` over several pieces.
    #[cold]
    fn walk_on(&mut self, length: usize, mut each: impl FnMut(*mut u8, usize, usize)) {
        let mut done = 0;
        while done < length {
            let part = self.length.min(length - done);
            if part > 0 {
                each(self.used(part), done, part);
                done += part;
            } else if !self.next() {
                break;
            }
        }
    }

    /// Uses bytes of the first piece; where they are.
    #[inline]
    fn used(&mut self, length: usize) -> *mut u8 {
        let start = self.start;
        self.start = start.wrapping_add(length);
        self.length -= length;
        self.left -= length;
        start
    }

    /// Goes on to the next piece; false when there is none.
    #[cold]
    fn next(&mut self) -> bool {
        let Some((piece, rest)) = self.rest.split_first() else { return false };
        (self.start, self.length, self.rest) = (piece.iov_base.cast(), piece.iov_len, rest);
        true
    }
}

#[cold]
#[inline(never)]
fn too_long() -> Errno {
    fail!(EINVAL, "the buffers of one call are too long for a count of bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_walked_in_order_and_empty_ones_skipped() {
        let mut parts = [*b"abc", *b"def", *b"ghi"];
        let [a, b, c] = &mut parts;
        let piece =
            |part: &mut [u8], length| iovec { iov_base: part.as_mut_ptr().cast(), iov_len: length };
        let list = [piece(a, 3), piece(b, 0), piece(c, 3)];
        // SAFETY: live arrays of these lengths.
        unsafe {
            let mut buffers = Buffers::many(list.as_ptr(), 3).unwrap_or_else(|_| unreachable!());
            assert_eq!(buffers.left(), 6);
            let mut to = [0; 4];
            assert!(buffers.together(4).is_none());
            buffers.gather(to.as_mut_ptr(), 4);
            assert_eq!(&to, b"abcg");
            assert!(buffers.together(2).is_some());
            buffers.scatter(b"XY".as_ptr(), 2);
            assert_eq!(buffers.left(), 0);
            buffers.advance(5);
        }
        assert_eq!(&parts[2], b"gXY");
    }

    #[test]
    fn bad_pieces_are_refused() {
        let piece = iovec { iov_base: core::ptr::dangling_mut::<u8>().cast(), iov_len: usize::MAX };
        let list = [piece, piece];
        // SAFETY: nothing is read.
        unsafe {
            assert_eq!(Buffers::many(list.as_ptr(), 2).err(), Some(Errno::EINVAL));
            assert_eq!(Buffers::many(list.as_ptr(), 1).err(), Some(Errno::EINVAL));
            assert_eq!(Buffers::many(list.as_ptr(), 2000).err(), Some(Errno::EMSGSIZE));
            assert_eq!(Buffers::many(core::ptr::null(), 1).err(), Some(Errno::EFAULT));
            assert_eq!(Buffers::one(core::ptr::null_mut(), 1).err(), Some(Errno::EFAULT));
            assert!(Buffers::one(core::ptr::null_mut(), 0).is_ok());
        }
    }
}
