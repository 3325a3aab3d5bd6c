// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What happens when, in a file in the Trace Event format (`RDMACM_TRACE`), which Perfetto and
//! chrome://tracing open. This module knows lanes, slices and marks; what they mean is the library's.
//!
//! A *lane* is the life of one object, by a number: its slices (`begin`, `end`) are nested, and `mark`
//! puts a moment into it. A *span* is something that a thread did or waited for.
//!
//! A call only copies a record into a buffer; a thread writes the buffer. What finds no room is counted,
//! and the count is in the file. Without `RDMACM_TRACE` a point costs a look at a word and a branch.
//!
//! | file | what |
//! |---|---|
//! | `tracer` | the buffers of the process, and the thread that writes them |
//! | `file` | the file: whole records, and never another file |
//! | `record` | a record as JSON |

mod file;
mod record;
mod tracer;

pub use record::{Field, Value};
pub use tracer::{finish, start};

use crate::log;
use crate::time::Instant;
use core::fmt::Display;
use record::{Kind, Record};

/// Whether there is a trace.
#[inline(always)]
#[must_use]
pub fn is_on() -> bool {
    log::is_traced()
}

/// A slice of a lane begins; it is inside those that have not ended.
#[cold]
pub fn begin(lane: u64, name: &dyn Display, fields: &[Field<'_>]) {
    tracer::put(&Record { kind: Kind::Begin(lane), name, fields });
}

/// The last slice of a lane that has begun ends.
#[cold]
pub fn end(lane: u64, name: &dyn Display, fields: &[Field<'_>]) {
    tracer::put(&Record { kind: Kind::End(lane), name, fields });
}

/// A moment in a lane.
#[cold]
pub fn mark(lane: u64, name: &dyn Display, fields: &[Field<'_>]) {
    tracer::put(&Record { kind: Kind::Mark(lane), name, fields });
}

/// What the calling thread has done since then.
#[cold]
pub fn span(since: Instant, name: &dyn Display, fields: &[Field<'_>]) {
    tracer::put(&Record { kind: Kind::Span(since), name, fields });
}
