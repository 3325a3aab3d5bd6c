//! Variables of the environment, read where they are: a copy would need memory.
//!
//! # Safety
//! As with every getenv(3), no thread of the program changes the environment meanwhile.
#![allow(unsafe_code)]

use std::ffi::CStr;

/// What `read` makes of a variable; None for one that is not there, or no text.
pub(crate) fn read<R>(name: &CStr, read: impl FnOnce(&str) -> Option<R>) -> Option<R> {
    // SAFETY: a C string; the value is one, too, and nobody changes it.
    let value = unsafe {
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value)
    };
    read(value.to_str().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_none() {
        assert_eq!(read(c"RDMACM_NO_SUCH_VARIABLE", |value| Some(value.len())), None);
        assert_eq!(read(c"PATH", |value| Some(value.is_empty())), Some(false));
    }
}
