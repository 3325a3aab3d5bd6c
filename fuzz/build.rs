// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Compiles the scripted peers of the live targets, with the headers of the library and of the C tests.

fn main() {
    println!("cargo::rerun-if-changed=live");
    println!("cargo::rerun-if-changed=../include");
    println!("cargo::rerun-if-changed=../ctest/include");
    cc::Build::new()
        .files(["live/stream.c", "live/datagram.c"])
        .includes(["../include", "../ctest/include"])
        .define("_GNU_SOURCE", None)
        .flag("-O1")
        .compile("live");
}
