// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Connections: each call sends its command and returns, an event ends it. Accept moves the queue pair before
//! its command, for connect the event does.
//! Uses ids and queue pairs; fetches no events.
//!
//! | file | what |
//! |---|---|
//! | `request` | the id of a connection request |
//! | `accept` | rdma_accept |
//! | `reject` | rdma_reject |
//! | `connect` | rdma_connect, rdma_establish |
//! | `disconnect` | rdma_disconnect |
//! | `listen` | rdma_listen, rdma_notify |
//! | `ece` | rdma_set_local_ece, rdma_get_remote_ece |
//! | `parameters` | `struct rdma_conn_param` |

mod accept;
mod connect;
mod disconnect;
mod ece;
mod listen;
mod parameters;
mod reject;
mod request;

pub(crate) use connect::confirm;
pub(crate) use parameters::Parameters;
pub(crate) use request::{take_request, turn_away};
