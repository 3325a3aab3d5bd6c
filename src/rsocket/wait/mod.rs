// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Waiting for rsockets, by one call on one socket or by descriptor on many. It uses the kernel's
//! epoll and the configuration, knows sockets by the traits of `source` alone, and completion
//! queues by `cq_notify`.
//!
//! | file | what |
//! |---|---|
//! | `select` | rselect |
//! | `poll` | rpoll |
//! | `poll_cache` | the array that a thread polls again and again, kept as a set |
//! | `set` | repoll |
//! | `blocking` | one call on one socket |
//! | `busy_poll` | polling before a sleep |
//! | `source` | what can become ready, and those that wait for it |
//! | `waker` | descriptors that wake threads |
//! | `event_queue` | a completion queue and its events |
//! | `cq_notify` | notification state of a completion queue |

pub(crate) mod blocking;
mod busy_poll;
pub(crate) mod cq_notify;
pub(crate) mod event_queue;
mod poll;
mod poll_cache;
mod select;
mod set;
pub(crate) mod source;
mod waker;

pub(crate) use blocking::Blocking;
pub(crate) use poll::{check_count, poll};
pub(crate) use poll_cache::{ALWAYS, PollCaches};
pub(crate) use select::{Sets, select};
pub(crate) use set::Set;
