// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Reads the environment when the library is loaded: later a program may have closed its standard error.
//!
//! # Safety
//! A function that libc calls at load.
#![allow(unsafe_code)]

use super::filter::{Level, parse, want};
use super::line::Line;
use super::sink;
use crate::{environment, settings};
use core::fmt::Write;

/// Programs with more rights than their user write nothing.
extern "C" fn at_load() {
    let _ = environment::read(settings::LOG.name, |value| {
        let (wanted, unknown) = parse(value);
        if wanted != 0 {
            sink::at_load();
            // SAFETY: at load.
            unsafe { want(wanted) };
        }
        if let Some(word) = unknown {
            let mut line = Line::new();
            line.begin("cm", Level::Warn.name());
            let _ = write!(
                line,
                "RDMACM_LOG: \"{word}\" is no level (error, warn, info, debug, trace) and no \
                 PART=LEVEL (cm, verbs, addrinfo, rsocket, preload)"
            );
            sink::put(line.end());
        }
        Some(())
    });
}

/// Run when the library is loaded.
#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;
