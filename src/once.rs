//! Values of the process that are made at first use.
//!
//! Nobody waits here: threads that come at the same time each make the value, and the first one is
//! kept. So a fork in the middle leaves its child nothing to wait for.

use crate::error::{Errno, Result};
use crate::memory::try_box;
use once_cell::race::OnceBox;

/// For statics.
pub(crate) struct Once<T>(OnceBox<T>);

impl<T> Once<T> {
    pub(crate) const fn new() -> Once<T> {
        Once(OnceBox::new())
    }

    /// Without memory to keep it the value is made anew by the next call.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> T
    where
        T: Copy,
    {
        if let Some(kept) = self.0.get() {
            return *kept;
        }
        let value = make();
        try_box(value).map_or(value, |fresh| *self.0.get_or_init(|| fresh))
    }

    /// A failure is not kept: the next call tries again.
    pub(crate) fn get_or_try_init(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        self.0.get_or_try_init::<_, Errno>(|| make().and_then(try_box))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays_and_failures_do_not() {
        let once = Once::new();
        assert_eq!(once.get_or_try_init(|| Err(Errno::ENOENT)), Err(Errno::ENOENT));
        assert_eq!(once.get_or_try_init(|| Ok(5)), Ok(&5));
        assert_eq!(once.get_or_try_init(|| Err(Errno::EIO)), Ok(&5));
        assert_eq!(once.get_or_init(|| 6), 5);
    }

    #[test]
    fn all_threads_see_one_value() {
        static ONCE: Once<usize> = Once::new();
        let seen: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|number| scope.spawn(move || ONCE.get_or_init(|| number))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        assert_eq!(seen.len(), 8);
        assert!(seen.iter().all(|value| *value == seen[0]));
    }
}
