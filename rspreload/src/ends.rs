//! Our ends of socket pairs whose other ends are in the program's hands or in other processes. A fork's
//! child gets copies of them: it closes them, or nobody would see their end.
//!
//! # Safety
//! System calls without pointers on descriptors that are owned here.
#![allow(unsafe_code)]

use crate::counted::Counted;
use crate::process;
use crate::real;
use crate::table::Table;
use libc::{SHUT_RDWR, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

/// The process that has it.
struct End {
    generation: u32,
}

static ENDS: Table<End> = Table::new();
static HIGHEST: AtomicI32 = AtomicI32::new(0);

pub(crate) fn enter(fd: c_int) {
    // Without memory for the entry a later child may keep the end open, no more.
    let end = Counted::try_new(End { generation: process::generation() });
    let _ = end.and_then(|end| ENDS.insert(fd, end));
    HIGHEST.fetch_max(fd.saturating_add(1), Ordering::Relaxed);
}

/// Ends it for the other side, whoever has copies.
pub(crate) fn close(fd: c_int) {
    drop(ENDS.remove(fd));
    // SAFETY: ours.
    unsafe {
        real::shutdown(fd, SHUT_RDWR);
        real::close(fd);
    }
}

/// In a fork's child, as the first thing. Async-signal-safe.
pub(crate) fn in_child() {
    let parents = process::generation().wrapping_sub(1);
    for fd in 0..HIGHEST.load(Ordering::Relaxed) {
        if ENDS.get(fd).is_some_and(|end| end.generation == parents) {
            // SAFETY: the parent's, not yet anything else here.
            unsafe { real::close(fd) };
        }
    }
}
