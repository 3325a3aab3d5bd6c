// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Levels and parts, and which of them `RDMACM_LOG` asks for.
//!
//! # Safety
//! What is asked for is written when the library is loaded, before any thread is in it, and read after that.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Level {
    /// Something that this library cannot work without is not there.
    Error = 1,
    /// A call or a connection has failed, with the reason.
    Warn,
    /// Events, and what became of connections.
    Info,
    /// What the library decides by itself.
    Debug,
    /// Each command of the kernel.
    Trace,
}

/// The part of the libraries that a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// Ids, events, connections.
    Cm,
    /// libibverbs and its devices.
    Verbs,
    /// Names and routes.
    Addrinfo,
    Rsocket,
    /// The preload library.
    Preload,
}

const LEVELS: [(&str, u32); 5] = [
    ("error", Level::Error as u32),
    ("warn", Level::Warn as u32),
    ("info", Level::Info as u32),
    ("debug", Level::Debug as u32),
    ("trace", Level::Trace as u32),
];
const PARTS: [&str; 5] = ["cm", "verbs", "addrinfo", "rsocket", "preload"];
/// Bits of one part's level.
const BITS: u32 = 4;
const MASK: u32 = (1 << BITS) - 1;

/// What is asked for, by part and level. No atomics: a line that nobody wants costs one comparison with
/// memory, and a load less.
struct Wanted(UnsafeCell<[[bool; LEVELS.len()]; PARTS.len()]>);

// SAFETY: by contract of `set`.
unsafe impl Sync for Wanted {}

static WANTED: Wanted = Wanted::none();

/// Whether there is a trace (`trace`), which may end at any time.
static TRACED: AtomicBool = AtomicBool::new(false);

impl Wanted {
    const fn none() -> Wanted {
        Wanted(UnsafeCell::new([[false; LEVELS.len()]; PARTS.len()]))
    }

    #[inline(always)]
    fn has(&self, part: Part, level: Level) -> bool {
        // SAFETY: nobody writes any more, by contract of `set`.
        unsafe { (*self.0.get())[part as usize][level as usize - 1] }
    }

    /// # Safety
    /// No other thread uses it meanwhile.
    unsafe fn set(&self, wanted: u32) {
        // SAFETY: by contract.
        let all = unsafe { &mut *self.0.get() };
        for (part, levels) in (0..).zip(all) {
            let most = wanted >> (BITS * part) & MASK;
            for (level, is_wanted) in (1..).zip(levels) {
                *is_wanted = level <= most;
            }
        }
    }
}

impl Level {
    pub(super) fn name(self) -> &'static str {
        LEVELS.get(self as usize - 1).map_or("", |(name, _)| name)
    }
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        PARTS.get(self as usize).copied().unwrap_or_default()
    }

    /// The part that a module belongs to.
    #[must_use]
    pub const fn of(module: &str) -> Part {
        let module = module.as_bytes();
        if contains(module, b"rspreload") {
            Part::Preload
        } else if contains(module, b"::rsocket") {
            Part::Rsocket
        } else if contains(module, b"::addrinfo") {
            Part::Addrinfo
        } else if contains(module, b"::verbs") || contains(module, b"::device") {
            Part::Verbs
        } else {
            Part::Cm
        }
    }
}

const fn contains(text: &[u8], wanted: &[u8]) -> bool {
    let mut start = 0;
    while start + wanted.len() <= text.len() {
        let mut same = 0;
        while same < wanted.len() && text[start + same] == wanted[same] {
            same += 1;
        }
        if same == wanted.len() {
            return true;
        }
        start += 1;
    }
    false
}

/// Whether lines of this part and level are asked for.
#[inline(always)]
#[must_use]
pub fn enabled(part: Part, level: Level) -> bool {
    WANTED.has(part, level)
}

/// Whether there is a trace.
#[inline(always)]
pub(crate) fn is_traced() -> bool {
    TRACED.load(Ordering::Relaxed)
}

/// Whether lines of the part that failures are reported in are asked for, or there is a trace.
#[inline(always)]
#[must_use]
pub fn is_heard(part: Part) -> bool {
    enabled(part, Level::Warn) || is_traced()
}

/// Begins or ends the trace.
pub(crate) fn set_traced(is_traced: bool) {
    TRACED.store(is_traced, Ordering::Relaxed);
}

/// What a value of `RDMACM_LOG` asks for, and its first word that means nothing.
pub(super) fn parse(value: &str) -> (u32, Option<&str>) {
    let every =
        |level: u32| (0..PARTS.len() as u32).fold(0, |all, part| all | level << (BITS * part));
    let level_of = |name: &str| match name {
        "" | "0" | "off" => Some(0),
        "1" => Some(Level::Warn as u32),
        _ => LEVELS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|found| found.1),
    };
    let (mut wanted, mut unknown) = (0, None);
    for word in value.split(',').map(str::trim) {
        let understood = match word.split_once('=') {
            None => level_of(word).map(every),
            Some((part, level)) => PARTS
                .iter()
                .position(|known| part.eq_ignore_ascii_case(known))
                .zip(level_of(level))
                .map(|(part, level)| {
                    let shift = BITS * part as u32;
                    wanted & !(MASK << shift) | level << shift
                }),
        };
        match understood {
            Some(all) => wanted = all,
            None => unknown = unknown.or(Some(word)),
        }
    }
    // Any value that is not known has always meant warnings.
    (if unknown.is_some() && wanted == 0 { every(Level::Warn as u32) } else { wanted }, unknown)
}

/// Sets what is asked for: the level of each part, `BITS` each.
///
/// # Safety
/// At load, before another thread can be in the library.
pub(super) unsafe fn want(wanted: u32) {
    // SAFETY: by contract.
    unsafe { WANTED.set(wanted) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_variable() {
        let known = |value| parse(value).0;
        assert_eq!((known(""), known("0"), known("off"), known("1")), (0, 0, 0, 0x22222));
        assert_eq!((known("error"), known("TRACE")), (0x11111, 0x55555));
        assert_eq!(known("cm=debug,rsocket=info,preload=info"), 0x33004);
        assert_eq!(known("warn, cm = trace"), 0x22222);
        assert_eq!(known("warn,cm=trace,verbs=0"), 0x22205);
        assert_eq!(parse("yes"), (0x22222, Some("yes")));
        assert_eq!(parse("cm=loud"), (0x22222, Some("cm=loud")));
        assert_eq!(parse("info,rdma=info"), (0x33333, Some("rdma=info")));
    }

    #[test]
    fn each_part_has_its_levels() {
        let wanted = Wanted::none();
        // SAFETY: this thread's own.
        unsafe { wanted.set(0x00405) };
        let on = |part, level| wanted.has(part, level);
        assert!(on(Part::Cm, Level::Trace) && on(Part::Cm, Level::Error));
        assert!(on(Part::Addrinfo, Level::Debug) && !on(Part::Addrinfo, Level::Trace));
        assert!(!on(Part::Verbs, Level::Error) && !on(Part::Preload, Level::Error));
        // SAFETY: as above.
        unsafe { wanted.set(0) };
        assert!(!wanted.has(Part::Cm, Level::Error) && !wanted.has(Part::Addrinfo, Level::Error));
    }

    #[test]
    fn parts_are_those_of_the_module() {
        assert_eq!(Part::of("rdmacm::cm::conn::accept"), Part::Cm);
        assert_eq!(Part::of("rdmacm::uapi::command"), Part::Cm);
        assert_eq!(Part::of("rdmacm::export::rsocket::poll"), Part::Rsocket);
        assert_eq!(Part::of("rdmacm::rsocket"), Part::Rsocket);
        assert_eq!(Part::of("rdmacm::device::shared"), Part::Verbs);
        assert_eq!(Part::of("rdmacm::addrinfo::acm::ask"), Part::Addrinfo);
        assert_eq!(Part::of("rspreload::carrier::route"), Part::Preload);
        assert_eq!(Part::of("base::owner"), Part::Cm);
        assert_eq!((Part::Preload.name(), Level::Trace.name()), ("preload", "trace"));
    }
}
