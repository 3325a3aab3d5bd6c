// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Events: fetched from a channel, with the library's part of each, and written to one.
//! Uses connections, queue pairs, resolving and multicast; knows nothing of calls that wait.
//!
//! | file | what |
//! |---|---|
//! | `process` | rdma_get_cm_event |
//! | `write` | rdma_write_cm_event |
//! | `reason` | events in the log |
//! | `count` | events in the counters |
//! | `traced` | events in the trace |
//! | `describe` | rdma_event_str |

mod count;
mod describe;
mod process;
mod reason;
mod traced;
mod write;

pub(crate) use describe::event_name;
pub(crate) use process::next;
pub(crate) use write::write;
