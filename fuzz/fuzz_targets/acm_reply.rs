// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rdmacm::fuzz::acm_reply(bytes));
