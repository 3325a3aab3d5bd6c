// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Compiles the scripted peers of the live targets, with the headers of the library.

fn main() {
    println!("cargo::rerun-if-changed=live");
    println!("cargo::rerun-if-changed=../include");
    cc::Build::new().files(["live/stream.c", "live/datagram.c"]).include("../include").flag("-O1").compile("live");
}
