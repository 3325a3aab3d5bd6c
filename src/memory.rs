//! Allocation that reports ENOMEM instead of ending the process.
//!
//! # Safety
//! Uses the global allocator by hand, with the layout of the type it makes.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use std::alloc::Layout;
use std::fmt::{self, Arguments, Write};

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

/// State that few objects need: memory only for those.
#[derive(Default)]
pub(crate) struct Seldom<T>(Option<Box<T>>);

impl<T: Default> Seldom<T> {
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Makes it where it is not there yet.
    pub(crate) fn make(&mut self) -> Result<&mut T> {
        match &mut self.0 {
            Some(made) => Ok(made),
            none => Ok(none.insert(try_box(T::default())?)),
        }
    }
}

/// A vector with room for `count` elements, or ENOMEM.
pub(crate) fn try_vec<T>(count: usize) -> Result<Vec<T>> {
    let layout = Layout::array::<T>(count).map_err(|_| Errno::ENOMEM)?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not empty, and that of a vector with room for `count`, which has none yet.
    unsafe {
        let memory = std::alloc::alloc(layout).cast::<T>();
        if memory.is_null() {
            Err(Errno::ENOMEM)
        } else {
            Ok(Vec::from_raw_parts(memory, 0, count))
        }
    }
}

/// All of a sequence of known length, or ENOMEM.
pub(crate) fn try_collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Box<[T]>> {
    let mut vector = try_vec(values.len())?;
    vector.extend(values);
    Ok(vector.into_boxed_slice())
}

/// A copy of `bytes`, or ENOMEM.
pub(crate) fn try_copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = try_vec(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// `format!`, or ENOMEM.
pub(crate) fn try_format(text: Arguments<'_>) -> Result<String> {
    struct Text(String);
    impl Write for Text {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0.try_reserve(part.len()).map_err(|_| fmt::Error)?;
            self.0.push_str(part);
            Ok(())
        }
    }
    let mut made = Text(String::new());
    made.write_fmt(text).map_err(|_| Errno::ENOMEM)?;
    Ok(made.0)
}

/// `push`, or ENOMEM.
pub(crate) fn try_push<T>(vector: &mut Vec<T>, value: T) -> Result<()> {
    vector.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
    vector.push(value);
    Ok(())
}
