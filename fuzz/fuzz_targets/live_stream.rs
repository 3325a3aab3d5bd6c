// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

#![no_main]

// Its functions are called by those of C.
extern crate rdmacm;

unsafe extern "C" {
    fn live_stream(bytes: *const u8, length: usize) -> i32;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // SAFETY: readable for that length.
    unsafe { live_stream(bytes.as_ptr(), bytes.len()) };
});
