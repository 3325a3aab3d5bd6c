// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Reads `RDMACM_STATS` when the library is loaded: the process counts from its start, or never.
//!
//! # Safety
//! A function that libc calls at load.
#![allow(unsafe_code)]

use crate::{because, counters, environment, settings};

/// In programs with more rights than their user the variable is not there.
extern "C" fn at_load() {
    let is_wanted =
        environment::read(settings::COUNTERS.name, |value| Some(!matches!(value, "" | "0")));
    if is_wanted == Some(true) {
        if let Err(error) = counters::start() {
            because!(error, "RDMACM_STATS: there is no page for the counters");
        }
    }
}

/// Run when the library is loaded.
#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;
