// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Values by descriptor number, for one instance: an array as long as the highest number.

use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::memory::try_reserve;
use libc::c_int;

pub(super) struct ByDescriptor<T>(Vec<Option<T>>);

impl<T> Default for ByDescriptor<T> {
    fn default() -> ByDescriptor<T> {
        ByDescriptor(Vec::new())
    }
}

fn index_of(fd: c_int) -> Result<usize> {
    usize::try_from(fd).map_err(|_| Errno::EBADF)
}

impl<T> ByDescriptor<T> {
    pub(super) fn get(&self, fd: c_int) -> Option<&T> {
        self.0.get(index_of(fd).ok()?)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, fd: c_int) -> Option<&mut T> {
        self.0.get_mut(index_of(fd).ok()?)?.as_mut()
    }

    /// The place of a descriptor; ENOMEM if the array cannot grow so far.
    fn place(&mut self, fd: c_int) -> Result<&mut Option<T>> {
        let index = index_of(fd)?;
        if let Some(missing) = (index + 1).checked_sub(self.0.len()) {
            try_reserve(&mut self.0, missing)?;
            self.0.extend((0..missing).map(|_| None));
        }
        self.0.get_mut(index).ok_or(Errno::ENOMEM)
    }

    pub(super) fn insert(&mut self, fd: c_int, value: T) -> Result<()> {
        *self.place(fd)? = Some(value);
        Ok(())
    }

    pub(super) fn remove(&mut self, fd: c_int) -> Option<T> {
        self.0.get_mut(index_of(fd).ok()?)?.take()
    }

    pub(super) fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

impl<T: Default> ByDescriptor<T> {
    pub(super) fn get_or_default(&mut self, fd: c_int) -> Result<&mut T> {
        Ok(self.place(fd)?.get_or_insert_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_numbers() {
        let mut all = ByDescriptor::default();
        assert_eq!(all.insert(70, 'a'), Ok(()));
        assert_eq!(all.insert(3, 'b'), Ok(()));
        assert_eq!((all.get(70), all.get(3), all.get(4)), (Some(&'a'), Some(&'b'), None));
        assert_eq!((all.get(-1), all.get(c_int::MAX)), (None, None));
        assert_eq!(all.insert(-1, 'c'), Err(Errno::EBADF));
        assert_eq!(all.remove(70), Some('a'));
        assert_eq!((all.remove(70), all.remove(c_int::MAX)), (None, None));
        assert_eq!(all.get_or_default(9).copied(), Ok('\0'));
        all.clear();
        assert_eq!(all.get(3), None);
    }
}
