// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A client of ibacm, the daemon that knows paths through an InfiniBand fabric.
//! One question, one connection, one checked reply. Uses types; knows nothing of names.
//!
//! | file | what |
//! |---|---|
//! | `ask` | one question with its limits |
//! | `connection` | the socket to the daemon |
//! | `message` | questions and replies as bytes |

mod ask;
mod connection;
mod message;

pub(super) use ask::ask;
pub(super) use message::PathQuestion;
#[cfg(any(test, fuzzing))]
pub use message::fuzz_acm_reply;
