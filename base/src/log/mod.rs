// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Diagnostics (`RDMACM_LOG`): one line for each failure, with its reason, where it arises; for events
//! and commands too, where the level asks for them.
//!
//! `fail!` makes an error and gives its reason; `because!` gives the reason of an error that is
//! there; `log!` writes a line that is no error. Their first words may name what the line is about
//! (an id, a socket). A message is a sentence for a user: what was refused, the values, the remedy.
//!
//! ```text
//! 2026-12-01T04:40:12.123456Z rdmacm[PID:TID] PART LEVEL: ABOUT: TEXT: ERRNO
//! ```
//!
//! Without `RDMACM_LOG` a line that is not written costs one comparison with memory, and the reason of
//! an error nothing before there is one. Nothing here allocates, takes a lock or changes errno.
//!
//! | file | what |
//! |---|---|
//! | `start` | reads the environment at load |
//! | `sink` | standard error or a file, and whether it still is what it was |
//! | `line` | a line on the stack: cut, escaped |
//! | `filter` | levels, parts and `RDMACM_LOG` |

mod filter;
mod line;
mod sink;
mod start;

pub use filter::{Level, Part, enabled, is_heard};
pub(crate) use filter::{is_traced, set_traced};

use crate::errno::Errno;
use core::fmt::{Arguments, Display, Write};
use line::Line;

/// An error with its reason: `fail!(EINVAL, "…")`, `fail!(EINVAL, id, "…")`. The value is the `Errno`.
#[macro_export]
macro_rules! fail {
    ($errno:ident, $($rest:tt)+) => {
        $crate::because!($crate::errno::Errno::$errno, $($rest)+)
    };
}

/// The reason of an error that is there: `because!(error, "…")`, `because!(error, id, "…")`. The value
/// is the error.
#[macro_export]
macro_rules! because {
    ($error:expr, $text:literal $($rest:tt)*) => {
        $crate::log::failed(
            const { $crate::log::Part::of(module_path!()) },
            $crate::log::Level::Warn,
            $error,
            None,
            format_args!($text $($rest)*),
        )
    };
    ($error:expr, $about:expr, $text:literal $($rest:tt)*) => {
        $crate::log::failed(
            const { $crate::log::Part::of(module_path!()) },
            $crate::log::Level::Warn,
            $error,
            Some(&$about),
            format_args!($text $($rest)*),
        )
    };
}

/// As `fail!`, at level error: without what is missing nothing works.
#[macro_export]
macro_rules! unusable {
    ($errno:ident, $text:literal $($rest:tt)*) => {
        $crate::unusable!(($crate::errno::Errno::$errno), $text $($rest)*)
    };
    (($error:expr), $text:literal $($rest:tt)*) => {
        $crate::log::failed(
            const { $crate::log::Part::of(module_path!()) },
            $crate::log::Level::Error,
            $error,
            None,
            format_args!($text $($rest)*),
        )
    };
}

/// A line that is no error: `log!(Info, "…")`, `log!(Info, id, "…")`.
#[macro_export]
macro_rules! log {
    ($level:ident, $text:literal $($rest:tt)*) => {{
        const PART: $crate::log::Part = $crate::log::Part::of(module_path!());
        if $crate::log::enabled(PART, $crate::log::Level::$level) {
            $crate::log::write(PART, $crate::log::Level::$level, None, format_args!($text $($rest)*));
        }
    }};
    ($level:ident, $about:expr, $text:literal $($rest:tt)*) => {{
        const PART: $crate::log::Part = $crate::log::Part::of(module_path!());
        if $crate::log::enabled(PART, $crate::log::Level::$level) {
            let level = $crate::log::Level::$level;
            $crate::log::write(PART, level, Some(&$about), format_args!($text $($rest)*));
        }
    }};
}

/// What `fail!` and `because!` call: writes the reason where the level is asked for.
#[cold]
#[inline(never)]
pub fn failed(
    part: Part,
    level: Level,
    error: Errno,
    about: Option<&dyn Display>,
    text: Arguments<'_>,
) -> Errno {
    if enabled(part, level) {
        write(part, level, about, format_args!("{text}: {error}"));
    }
    error
}

/// For `insist`, at load: remembers where lines go.
pub(crate) fn prepare() {
    sink::at_load();
}

/// A line that the user has to see whatever level is on: what was asked for cannot be done.
#[cold]
pub(crate) fn insist(text: Arguments<'_>) {
    write(Part::Cm, Level::Error, None, text);
}

/// What `log!` calls, after it has asked whether the level is on.
#[cold]
#[inline(never)]
pub fn write(part: Part, level: Level, about: Option<&dyn Display>, text: Arguments<'_>) {
    let mut line = Line::new();
    line.begin(part.name(), level.name());
    // A line has room for all that is cut off it.
    let _ = match about {
        Some(about) => write!(line, "{about}: {text}"),
        None => line.write_fmt(text),
    };
    sink::put(line.end());
}

/// Writes where a library panicked, and aborts. Allocates nothing.
pub fn panicked(library: &str, panic: &core::panic::PanicInfo<'_>) -> ! {
    let mut line = Line::new();
    let _ = write!(line, "{library}: {panic}");
    sink::put_and_abort(line.end())
}
