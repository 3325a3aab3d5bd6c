// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Memory that messages are in: registered regions, and the caller's buffers. It uses the verbs
//! alone, and knows no socket.
//!
//! | file | what |
//! |---|---|
//! | `region` | pages that are registered with a device |
//! | `pages` | whole pages |
//! | `buffers` | the caller's pieces of memory |

pub(crate) mod buffers;
pub(crate) mod pages;
pub(crate) mod region;

pub(crate) use buffers::Buffers;
