//! RDMA connection manager: a drop-in for the C library librdmacm.
//!
//! # Map
//!
//! | folder | what it is |
//! |---|---|
//! | `export` | the C ABI, the one door |
//! | `id`, `event`, `conn`, `qp`, `addrinfo`, `multicast`, `option`, `endpoint` | what the manual pages talk about |
//! | `sync_mode` | ids without a channel: calls that wait for their event |
//! | `verbs_ext` | the helpers of rdma_verbs.h |
//! | `device` | the devices of the process |
//! | `rsocket` | sockets over RDMA |
//! | `uapi` | the border to the kernel |
//! | `verbs` | the border to libibverbs |
//! | `types` | the structs of the public headers |
//! | `index`, `acknowledge`, `cell`, `counted`, `deadline`, `environment`, `fork`, `lock`, `memory`, `once`, `sync`, `thread`, `log`, `error` | tools |
//!
//! # Safety words
//!
//! The C API's contract, in words that the `SAFETY` comments refer to:
//!
//! - *valid id pointer*: from rdma_create_id or a connection request, not yet given to
//!   rdma_destroy_id or rdma_destroy_ep. Its public fields are what the library or the application put
//!   there, and every object that they name is alive.
//! - *valid channel pointer*: from rdma_create_event_channel, not yet destroyed.
//! - *valid event pointer*: from rdma_get_cm_event, not yet acknowledged.
//! - *valid sockaddr*: readable for as many bytes as its family has.
//! - *C string*: ends with a zero byte, and is not changed during the call.
//! - *valid attributes*, *valid list*: readable (and writable where the manual page says so) structs
//!   whose pointers are NULL or valid themselves.
//!
//! `unsafe` code is allowed file by file, each with a `# Safety` paragraph at its head.

// Test builds of cargo always unwind; they are not given to C programs.
#[cfg(not(any(panic = "abort", debug_assertions)))]
compile_error!("a panic must not unwind into C: build with panic = \"abort\"");

mod acknowledge;
mod addrinfo;
#[cfg(not(all(loom, test)))]
mod cell;
mod conn;
mod counted;
mod deadline;
mod descriptor_sets;
mod device;
mod endpoint;
mod environment;
pub mod error;
mod event;
pub mod export;
mod fork;
mod futex;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod id;
mod index;
mod lock;
mod log;
mod memory;
mod multicast;
mod once;
mod option;
mod qp;
mod rsocket;
mod sync;
mod sync_mode;
mod thread;
pub mod types;
mod uapi;
mod verbs;
mod verbs_ext;
