//! A cell with the manners of loom's, which knows each access.

/// See the module text.
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) fn with<R>(&self, then: impl FnOnce(*const T) -> R) -> R {
        then(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, then: impl FnOnce(*mut T) -> R) -> R {
        then(self.0.get())
    }
}
