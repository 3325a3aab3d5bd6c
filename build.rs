// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Gives the cdylib of a plain `cargo build` its SONAME.
//!
//! The shipped file is linked by the Makefile, because only a link line of our own can attach the
//! symbol versions (see docs/architecture.md).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librdmacm.so.1");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--as-needed");
}
