// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Allocation that reports ENOMEM instead of ending the process.
//!
//! # Safety
//! Uses the global allocator by hand, with the layout of the type it makes.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use alloc::alloc::Layout;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Arguments, Write};

/// `Box::new`, or ENOMEM.
pub fn try_box<T>(value: T) -> Result<Box<T>> {
    const { assert!(size_of::<T>() > 0) };
    let layout = Layout::new::<T>();
    // SAFETY: the layout is not empty; the memory is written before a Box owns it, and Box frees
    // with the same layout.
    unsafe {
        let memory = alloc::alloc::alloc(layout).cast::<T>();
        if memory.is_null() {
            return Err(Errno::ENOMEM);
        }
        memory.write(value);
        Ok(Box::from_raw(memory))
    }
}

/// State that few objects need: only those allocate it.
#[derive(Default)]
pub struct Seldom<T>(Option<Box<T>>);

impl<T: Default> Seldom<T> {
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Makes it, unless it is there already.
    pub fn make(&mut self) -> Result<&mut T> {
        match &mut self.0 {
            Some(made) => Ok(made),
            none => Ok(none.insert(try_box(T::default())?)),
        }
    }
}

/// A vector with room for `count` elements, or ENOMEM.
pub fn try_vec<T>(count: usize) -> Result<Vec<T>> {
    let layout = Layout::array::<T>(count).map_err(|_| Errno::ENOMEM)?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not empty, and that of a vector with room for `count`, which has none
    // yet.
    unsafe {
        let memory = alloc::alloc::alloc(layout).cast::<T>();
        if memory.is_null() {
            Err(Errno::ENOMEM)
        } else {
            Ok(Vec::from_raw_parts(memory, 0, count))
        }
    }
}

/// All of a sequence of known length, or ENOMEM.
pub fn try_collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Box<[T]>> {
    let mut vector = try_vec(values.len())?;
    vector.extend(values);
    Ok(vector.into_boxed_slice())
}

/// A copy of `bytes`, or ENOMEM.
pub fn try_copy<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = try_vec(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// `format!`, or ENOMEM.
pub fn try_format(text: Arguments<'_>) -> Result<String> {
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

/// The text as a C string, which it ends at its first zero byte; or ENOMEM.
pub fn try_c_string(text: Arguments<'_>) -> Result<CString> {
    let text = try_format(text)?;
    let text = text.bytes().take_while(|byte| *byte != 0);
    // Room for exactly as many: CString would ask for another block to have no more.
    let mut bytes = try_vec(text.clone().count() + 1)?;
    bytes.extend(text);
    bytes.push(0);
    CString::from_vec_with_nul(bytes).map_err(|_| Errno::EINVAL)
}

/// Room for `count` more elements, so that as many `push`es do not allocate; or ENOMEM.
pub fn try_reserve<T>(vector: &mut Vec<T>, count: usize) -> Result<()> {
    vector.try_reserve(count).map_err(|_| Errno::ENOMEM)
}

/// `push`, or ENOMEM.
pub fn try_push<T>(vector: &mut Vec<T>, value: T) -> Result<()> {
    vector.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
    vector.push(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_whole() {
        assert_eq!(try_box([3_u16; 4]).as_deref(), Ok(&[3; 4]));
        assert_eq!(
            try_collect([0_u64, 1, 2, 3, 4].into_iter()).as_deref(),
            Ok(&[0, 1, 2, 3, 4][..])
        );
        assert_eq!(try_copy(b"").as_deref(), Ok(&b""[..]));
        assert_eq!(try_copy(b"four").as_deref(), Ok(&b"four"[..]));
        assert_eq!(try_format(format_args!("{}-{:04x}", "a", 255)).as_deref(), Ok("a-00ff"));
        let mut vector = Vec::new();
        assert!((0..100).all(|value| try_push(&mut vector, value).is_ok()));
        assert!(vector.len() == 100 && vector[99] == 99);
    }

    #[test]
    fn what_cannot_be_had_is_enomem() {
        assert_eq!(try_vec::<u64>(usize::MAX).err(), Some(Errno::ENOMEM));
        assert_eq!(try_vec::<u64>(isize::MAX as usize / 8 - 8).err(), Some(Errno::ENOMEM));
        assert_eq!(try_vec::<u8>(0).map(|empty| empty.capacity()), Ok(0));
    }

    #[test]
    fn c_strings_end_at_their_first_zero() {
        assert_eq!(try_c_string(format_args!("ab{}c", '\0')).as_deref(), Ok(c"ab"));
        assert_eq!(try_c_string(format_args!("")).as_deref(), Ok(c""));
    }

    #[test]
    fn seldom_state_is_made_once() {
        let mut state = Seldom::<u32>::default();
        assert!(state.get().is_none() && state.get_mut().is_none());
        assert_eq!(state.make().map(|made| *made += 5), Ok(()));
        assert_eq!(state.make().copied(), Ok(5));
        assert_eq!(state.get(), Some(&5));
    }
}
