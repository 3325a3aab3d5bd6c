// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The Unix sockets of which this process has one end, and the program or another process the
//! other. A child inherits copies of them. It closes these, or the other side would never see
//! end-of-file.
//!
//! # Safety
//! shutdown(2) and close(2) on descriptors that are owned here.
#![allow(unsafe_code)]

use crate::sys::original;
use base::arc::Arc;
use base::descriptor_table::Table;
use base::fork::generation;
use core::sync::atomic::{AtomicI32, Ordering};
use libc::{SHUT_RDWR, c_int};

/// An end, under its descriptor.
struct ConnectionEnd {
    /// Of the process that has it.
    generation: u32,
}

static ENDS: Table<ConnectionEnd> = Table::new();
static HIGHEST: AtomicI32 = AtomicI32::new(0);

pub(super) fn enter(fd: c_int) {
    // Without memory for the entry a later child may keep its copy open.
    let end = Arc::try_new(ConnectionEnd { generation: generation() });
    let _ = end.and_then(|end| ENDS.insert(fd, end));
    HIGHEST.fetch_max(fd.saturating_add(1), Ordering::Relaxed);
}

/// Closes an end. The other side sees end-of-file even if other processes have copies.
pub(super) fn close(fd: c_int) {
    drop(ENDS.remove(fd));
    // SAFETY: owned.
    unsafe {
        original::shutdown(fd, SHUT_RDWR);
        original::close(fd);
    }
}

/// In a fork's child, before anything else. Async-signal-safe.
pub(super) fn in_child() {
    let parent = generation().wrapping_sub(1);
    for fd in 0..HIGHEST.load(Ordering::Relaxed) {
        if ENDS.get(fd).is_some_and(|end| end.generation == parent) {
            original::close_own(fd);
        }
    }
}
