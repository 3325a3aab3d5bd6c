// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The C ABI and nothing else: the one door between C programs and the library.
//!
//! A function here checks its pointers (`arg`), calls one method of the core, and turns the result into C's
//! convention (`ret`), which is the only place that stores errno. `librdmacm.map` lists what the shipped
//! file exports.
//!
//! | file | section of the manual |
//! |---|---|
//! | `event`, `id`, `address`, `endpoint`, `conn`, `ece`, `qp`, `multicast`, `addrinfo`, `device` | `<rdma/rdma_cma.h>` |
//! | `verbs` | `<rdma/rdma_verbs.h>` |
//! | `rsocket` | `<rdma/rsocket.h>` |
//! | `arg`, `ret` | arguments and results |
//!
//! The comments of the functions are for C programmers: `make headers` writes them to the headers and
//! manual pages. Text that several functions share is a fragment in `fragments/`; a line such as
//! `{Errors: command}` stands for it (tools/headers/src/fragment.rs).
//!
//! | C pointer | made by | released by | Rust owner |
//! |---|---|---|---|
//! | `rdma_event_channel *` | rdma_create_event_channel | rdma_destroy_event_channel | `Arc<Channel>` |
//! | `rdma_cm_id *` | rdma_create_id, connection requests | rdma_destroy_id | leaked `Id` in `IDS` |
//! | `rdma_cm_event *` | rdma_get_cm_event | rdma_ack_cm_event | `Box<Message>` |
//! | `ibv_context **` | rdma_get_devices | rdma_free_devices | array with its owners in front |

pub mod address;
pub mod addrinfo;
mod arg;
pub mod conn;
pub mod device;
pub mod ece;
pub mod endpoint;
pub mod event;
pub mod id;
pub mod multicast;
pub mod qp;
mod ret;
pub mod rsocket;
pub mod verbs;
