// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! RDMA connection manager: a drop-in for the C library librdmacm.
//!
//! # Map
//!
//! From the highest room to the lowest; a file imports from lower ones alone (`tests/layers`).
//!
//! | room | what it is |
//! |---|---|
//! | `export` | the C ABI |
//! | `rsocket` | sockets over RDMA |
//! | `cm` | the connection manager: ids, events, connections, queue pairs, multicast |
//! | `addrinfo` | rdma_getaddrinfo: names, hints, paths |
//! | `device` | the devices of the process |
//! | `verbs` | libibverbs |
//! | `uapi` | the rdma_cm device of the kernel |
//! | `lane` | the life of ids and rsockets in the trace |
//! | `types` | the structs of the public headers |
//! | `runtime` | the allocator and the panic handler |
//!
//! `fuzz`, above them all, exists for tests and fuzzers. `base`, a crate of its own, has what both
//! libraries stand on.
//!
//! # Safety
//!
//! The clauses of the C API's contract that `SAFETY` comments refer to:
//!
//! - *valid id pointer*: from rdma_create_id or a connection request, not yet given to
//!   rdma_destroy_id or rdma_destroy_ep. Its public fields are what the library or the application
//!   put there, and every object that they name is alive.
//! - *valid channel pointer*: from rdma_create_event_channel, not yet destroyed.
//! - *valid event pointer*: from rdma_get_cm_event, not yet acknowledged.
//! - *valid sockaddr*: readable for as many bytes as its family has.
//! - *C string*: ends with a zero byte, and is not changed during the call.
//! - *valid attributes*, *valid list*: readable (and writable where the manual page says so)
//!   structs whose pointers are NULL or valid themselves.
//!
//! `unsafe` code is allowed file by file, each with a `# Safety` paragraph at its head.

#![cfg_attr(not(any(test, loom, fuzzing)), no_std)]

extern crate alloc;

// Test builds of cargo always unwind; they are not given to C programs.
#[cfg(not(any(panic = "abort", debug_assertions)))]
compile_error!("a panic must not unwind into C: build with panic = \"abort\"");

#[cfg(not(any(test, fuzzing, loom)))]
mod runtime;

mod addrinfo;
mod cm;
mod device;
pub mod export;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod lane;
mod rsocket;
pub mod types;
mod uapi;
mod verbs;
