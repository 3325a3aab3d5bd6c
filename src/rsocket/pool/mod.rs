// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Parts of connections that have ended, for the next ones: a connection is made of few new things. It
//! uses memory, event queues, devices and the service thread, and knows no connection.
//!
//! No byte of one connection is seen by another: memory that a peer could write to is overwritten with
//! zeros, and registered anew, so that no key of an earlier peer's opens it; a send buffer can only be
//! read by its own side's device, and only what was put there.
//!
//! | file | what |
//! |---|---|
//! | `parts` | what the process keeps |
//! | `store` | parts of one kind: pure |

mod parts;
mod store;

pub(crate) use parts::{event_queue, keep_event_queue, keep_pages, keep_send_region, or_with_less};
pub(crate) use parts::{pages, region_in, send_region};
