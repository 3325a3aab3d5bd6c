// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_verbs.h>`: helpers for the queue pair of an id.
//!
//! | file | functions |
//! |---|---|
//! | `memory` | memory regions |
//! | `post`, `post_list` | work requests with one buffer, with a list of buffers |
//! | `completion` | completions |
//! | `srq` | shared receive queues |

pub mod completion;
pub mod memory;
pub mod post;
pub mod post_list;
pub mod srq;
