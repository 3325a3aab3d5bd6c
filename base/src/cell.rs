// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `UnsafeCell` with the methods of loom's, which sees each access.

#[repr(transparent)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn with<R>(&self, then: impl FnOnce(*const T) -> R) -> R {
        then(self.0.get())
    }

    pub fn with_mut<R>(&self, then: impl FnOnce(*mut T) -> R) -> R {
        then(self.0.get())
    }
}
