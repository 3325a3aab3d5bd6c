// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a library without std has to name: its allocator, and what becomes of a panic; and what it does when
//! it is loaded.
//!
//! # Safety
//! One symbol of the language, which is never called, and a function that libc calls at load.
#![allow(unsafe_code)]

use base::allocator::Malloc;

#[global_allocator]
static ALLOCATOR: Malloc = Malloc;

/// A panic is a fault of the library. It says where it is, and aborts the calling application: it
/// must not unwind into C.
#[panic_handler]
fn panic(panic: &core::panic::PanicInfo<'_>) -> ! {
    base::log::panicked("librdmacm", panic)
}

/// The precompiled parts of core name the routines that unwind; nothing unwinds here. The Makefile's link
/// lines let this stand for `_Unwind_Resume` as well, so that no libgcc is needed.
// SAFETY: of the language's own symbols, and never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {
    // SAFETY: no arguments.
    unsafe { libc::abort() }
}

/// The trace is this library's alone: others have `base` in them, too.
extern "C" fn at_load() {
    base::trace::start();
}

#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;
