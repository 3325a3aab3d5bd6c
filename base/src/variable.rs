// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Variables of the environment that take a number.

use crate::environment;
use core::ffi::CStr;

/// What `limit` makes of the number, None where the variable is not set. What is no number is said to be
/// ignored.
pub fn number<R>(name: &CStr, limit: impl FnOnce(u64) -> Option<R>) -> Option<R> {
    environment::read(name, |value| {
        if let Ok(number) = value.trim().parse() {
            return limit(number);
        }
        let name = name.to_str().unwrap_or_default();
        crate::log!(Warn, "{name}=\"{value}\" is ignored: it takes a number, from 0");
        None
    })
}
