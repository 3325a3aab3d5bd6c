// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The connection manager (`<rdma/rdma_cma.h>`): ids, events, connections, queue pairs, multicast.
//! Uses addrinfo and the rooms below it; knows neither rsockets nor the C ABI.
//!
//! State is data in `id`. The verbs that start something are above it; `event`, which does the
//! library's part of what the kernel reports, is above the verbs, and calls that wait above that.
//!
//! | file | what |
//! |---|---|
//! | `lookup` | rdma_getaddrinfo: names, or services that an id of its own asks for |
//! | `endpoint` | rdma_create_ep, rdma_get_request: several verbs in one call |
//! | `completion` | rdma_get_send_comp, rdma_get_recv_comp |
//! | `sync_mode` | the verbs as C calls them: ids without a channel wait for their event |
//! | `event` | fetching and writing events |
//! | `multicast` | joining and leaving groups |
//! | `resolve` | addresses, routes, names and services for an id |
//! | `conn` | connections: connecting, listening, accepting, disconnecting |
//! | `qp` | queue pairs and shared receive queues of an id |
//! | `wildcard` | rdma_bind_addr, for addresses of a list |
//! | `option` | rdma_set_option |
//! | `id` | the id and what belongs to it |
//! | `channel` | event channels |
//! | `wake` | ends the waits of a channel that is destroyed |
//! | `acknowledge` | counts events that were given back |
//! | `sync_timeout` | the limit of internal waits |
//! | `id_table` | objects by the keys that the kernel gives back |
//! | `helpers` | the helpers of rdma_verbs.h |

mod acknowledge;
pub(crate) mod channel;
pub(crate) mod completion;
pub(crate) mod conn;
pub(crate) mod endpoint;
pub(crate) mod event;
pub(crate) mod helpers;
pub(crate) mod id;
mod id_table;
pub(crate) mod lookup;
pub(crate) mod multicast;
pub(crate) mod option;
pub(crate) mod qp;
pub(crate) mod resolve;
pub(crate) mod sync_mode;
pub(crate) mod sync_timeout;
mod wake;
pub(crate) mod wildcard;
