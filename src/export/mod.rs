//! The C ABI and nothing else: the one door between C programs and the library.
//!
//! Every file is a section of a public header. A function here checks its pointers (`arg`), calls one
//! method of the core, and turns the result into C's convention (`ret`), which is the only place that
//! stores errno. `librdmacm.map` lists what the shipped file exports.
//!
//! | C pointer | made by | given back by | Rust owner |
//! |---|---|---|---|
//! | `rdma_event_channel *` | rdma_create_event_channel | rdma_destroy_event_channel | `Box<Channel>` |
//! | `rdma_cm_id *` | rdma_create_id, connection requests | rdma_destroy_id | leaked `Id` in `IDS` |
//! | `rdma_cm_event *` | rdma_get_cm_event | rdma_ack_cm_event | `Box<Message>` |
//! | `ibv_context **` | rdma_get_devices | rdma_free_devices | array with its owners in front |

pub mod addrinfo;
mod arg;
pub mod channel;
pub mod conn;
pub mod id;
pub mod multicast;
pub mod qp;
mod ret;
pub mod rsocket;
pub mod srq;
pub mod verbs;
