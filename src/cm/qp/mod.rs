// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Queue pairs and shared receive queues of an id: created, moved through their states, destroyed.
//! Uses ids, verbs and the kernel's INIT_QP_ATTR; knows nothing of connections.
//!
//! | file | what |
//! |---|---|
//! | `shared_queue` | rdma_create_srq, rdma_destroy_srq |
//! | `create` | rdma_create_qp, rdma_destroy_qp |
//! | `transition` | moving a queue pair through its states |
//! | `attributes` | rdma_init_qp_attr |

mod attributes;
mod create;
pub(crate) mod shared_queue;
mod transition;

pub(crate) use attributes::init_attributes;
pub(crate) use create::{create, create_extended, destroy};
pub(crate) use transition::{to_rtr, to_rts};
