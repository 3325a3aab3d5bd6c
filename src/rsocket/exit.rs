// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The end of the process: its connections end as the kernel ends those of TCP. What was sent must leave
//! before the memory of the process goes, so the process waits: once, for all of them together.
//!
//! Nothing is freed here, and no lock is waited for long: other threads go on, and a signal handler
//! that ends the process may have interrupted one of our calls.
//!
//! # Safety
//! An entry of .fini_array.
#![allow(unsafe_code)]

use super::stream::{Stream, background};
use super::table;
use alloc::vec::Vec;
use base::arc::Arc;
use base::deadline::{Deadline, Timeout};
use base::errno::{Errno, Result};
use base::fork::generation;
use base::memory::try_push;
use base::trace;
use base::witness;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// The process, as `fork::generation`, that has ended its connections.
static FINISHED: AtomicU32 = AtomicU32::new(u32::MAX);

/// Ends all connections, and the trace.
pub(crate) fn finish(limit: Timeout) -> Result<()> {
    let ended = end_connections(limit);
    trace::finish();
    ended
}

/// Waits until what was sent has left; ETIMEDOUT when it has not in time.
fn end_connections(limit: Timeout) -> Result<()> {
    FINISHED.store(generation(), Ordering::Release);
    if !witness::is_intact() {
        return Ok(());
    }
    let deadline = limit.begin();
    let mut left: Vec<(Arc<Stream>, Deadline)> = Vec::new();
    let mut wait_for = |stream: &Arc<Stream>| {
        if let Some(own) = stream.prepare_exit() {
            // Without memory it has begun, and is not waited for.
            let own = Deadline::after(own).earlier(deadline);
            let _ = try_push(&mut left, (Arc::clone(stream), own));
        }
    };
    table::for_each_stream(&mut wait_for);
    background::for_each(&mut wait_for);
    let mut pause = FIRST_PAUSE;
    loop {
        left.retain(|(stream, own)| {
            stream.delays_exit() && (deadline == *own || !own.has_passed())
        });
        if left.is_empty() {
            return Ok(());
        }
        if deadline.has_passed() {
            return Err(Errno::ETIMEDOUT);
        }
        base::time::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(not(test))]
mod at {
    use super::{FINISHED, finish};
    use base::deadline::Timeout;
    use base::errno::preserve_errno;
    use base::fork::generation;
    use core::sync::atomic::Ordering;
    use core::time::Duration;

    /// How long the end of the process waits for what was sent.
    const EXIT_LIMIT: Duration = Duration::from_secs(2);

    extern "C" fn exit() {
        if FINISHED.load(Ordering::Acquire) != generation() {
            // Nobody is left to be told.
            let _ = preserve_errno(|| finish(Timeout::from(EXIT_LIMIT)));
        }
    }

    /// Run when the program returns from main or calls exit, after its own handlers.
    #[used]
    // SAFETY: the section holds pointers to such functions.
    #[unsafe(link_section = ".fini_array")]
    static AT_EXIT: extern "C" fn() = exit;
}
