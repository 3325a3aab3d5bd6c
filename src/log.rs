//! Opt-in diagnostics: with `RDMACM_LOG=1` in the environment, one line on standard error for each
//! failed kernel command and for each event that had to be dropped. Silent otherwise.

use crate::environment;
use crate::error::Errno;
use crate::memory::try_format;
use crate::once::Once;
use std::fmt::Arguments;
use std::io::Write;
use std::os::fd::RawFd;

fn enabled() -> bool {
    static ENABLED: Once<bool> = Once::new();
    ENABLED.get_or_init(|| {
        let is_on = |value: &str| Some(!value.is_empty() && value != "0");
        environment::read(c"RDMACM_LOG", is_on).unwrap_or(false)
    })
}

/// Writes one line; a standard error that is gone is not our caller's trouble.
pub(crate) fn line(text: Arguments<'_>) {
    if !enabled() {
        return;
    }
    let line = try_format(format_args!("rdmacm[{}]: {text}\n", std::process::id()));
    if let Ok(line) = line {
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// A command that the kernel refused. EAGAIN and EINTR are answers, not failures.
pub(crate) fn command_failed(name: &str, fd: RawFd, error: Errno) {
    if error != Errno::EAGAIN && error != Errno::EINTR {
        line(format_args!("{name} on fd {fd} failed: {error}"));
    }
}
