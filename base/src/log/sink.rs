// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Where lines go: standard error, or `RDMACM_LOG_FILE`.
//!
//! A line never goes to a file of the program's (`output`). Standard error that is another file than at
//! load gets no more lines; a log file is opened again.
//!
//! # Safety
//! abort(3).
#![allow(unsafe_code)]

use super::line::Line;
use crate::errno::{Errno, Result};
use crate::fd::{RawFd, identity};
use crate::once::OnceLock;
use crate::output::{self, File, Name, process};
use crate::settings;
use core::fmt::Write;
use core::sync::atomic::{AtomicI32, Ordering};

/// Standard error as it was at load.
static STANDARD_ERROR: File = File::none();
/// The name in `RDMACM_LOG_FILE`.
static NAME: OnceLock<Option<Name>> = OnceLock::new();
static LOG_FILE: File = File::none();
static LOG_FD: AtomicI32 = AtomicI32::new(-1);
/// The process that opened it.
static OPENER: AtomicI32 = AtomicI32::new(0);

/// Remembers what standard error is and where the log goes.
pub(super) fn at_load() {
    if let Ok(file) = identity(libc::STDERR_FILENO) {
        STANDARD_ERROR.remember(file);
    }
    NAME.get_or_init(|| Name::read(settings::LOG_FILE.name));
}

/// Writes a whole line.
pub(super) fn put(line: &[u8]) {
    match NAME.get() {
        Some(Some(name)) => match log_file(name) {
            Ok(fd) => drop(output::write_all(fd, line)),
            Err(error) => {
                if OPENER.swap(-process(), Ordering::Relaxed) != -process() {
                    tell_failure(name, error);
                }
                put_on_standard_error(line);
            }
        },
        _ => put_on_standard_error(line),
    }
}

fn tell_failure(name: &Name, error: Errno) {
    let mut line = Line::new();
    line.begin("cm", "error");
    let file = name.of(process());
    let _ = write!(line, "cannot open RDMACM_LOG_FILE {file}, lines go to standard error: {error}");
    put_on_standard_error(line.end());
}

fn put_on_standard_error(line: &[u8]) {
    if STANDARD_ERROR.is_behind(libc::STDERR_FILENO) {
        let _ = output::write_all(libc::STDERR_FILENO, line);
    }
}

/// The log's descriptor; opened where there is none, where the program has closed it, and where a
/// fork's child has a name of its own.
fn log_file(name: &Name) -> Result<RawFd> {
    let own = process();
    let known = LOG_FD.load(Ordering::Acquire);
    if known >= 0 && LOG_FILE.is_behind(known) {
        if !name.is_per_process() || OPENER.load(Ordering::Relaxed) == own {
            return Ok(known);
        }
        output::close(known);
    }
    let fresh = name.open(own, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT)?;
    LOG_FILE.remember(identity(fresh)?);
    OPENER.store(own, Ordering::Relaxed);
    if LOG_FD.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        return Ok(fresh);
    }
    // Another thread was first.
    output::close(fresh);
    Ok(LOG_FD.load(Ordering::Acquire))
}

/// The last words of the process, wherever standard error goes.
pub(super) fn put_and_abort(line: &[u8]) -> ! {
    let _ = output::write_all(libc::STDERR_FILENO, line);
    // SAFETY: no arguments.
    unsafe { libc::abort() }
}
