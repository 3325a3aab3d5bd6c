//! librspreload: the sockets of a program that knows nothing of RDMA, over rsockets.
//!
//! # Map
//!
//! | module | what it is |
//! |---|---|
//! | `export` | the calls that are taken from libc, and nothing else |
//! | `real` | libc's own functions |
//! | `rsockets` | the functions of librdmacm |
//! | `socket` | a socket of the program: a kernel socket that it holds, an rsocket beside it |
//! | `descriptors` | which numbers are such sockets; close, dup |
//! | `connect`, `background`, `listen`, `datagram` | when a socket becomes an rsocket |
//! | `transfer`, `many`, `copy`, `stdio`, `names`, `options` | calls on one socket |
//! | `wait`, `select`, `epoll` | poll, select, epoll |
//! | `limit` | SO_RCVTIMEO, SO_SNDTIMEO |
//! | `carrier` | whether a device could carry an address |
//! | `config`, `stats`, `process` | preload_config and environment, counts, the program's end |
//! | `fork`, `relay`, `ends` | connections in a fork's child |
//! | `detach` | connections that are used without us |
//!
//! An ordinary descriptor costs one look into `table`, and then libc's own function is called.
//!
//! # Safety words
//!
//! - *the caller's*: a pointer that the program gave to the libc function of the same name, with what
//!   its manual page demands.
//! - *the table's*: an object that is kept alive by a counted reference.

#[path = "../../src/cell.rs"]
mod cell;
#[path = "../../src/counted.rs"]
#[allow(dead_code)]
mod counted;
#[path = "../../src/descriptor_sets.rs"]
#[allow(dead_code)]
mod descriptor_sets;
#[path = "../../src/error.rs"]
#[allow(dead_code, unreachable_pub)]
mod error;
#[path = "../../src/futex.rs"]
mod futex;
#[path = "../../src/memory.rs"]
#[allow(dead_code)]
mod memory;
#[path = "../../src/rsocket/slot.rs"]
mod slot;
#[path = "../../src/rsocket/table.rs"]
mod table;
#[path = "../../src/thread.rs"]
#[allow(dead_code)]
mod thread;

/// What `slot` and `counted` are made of.
mod sync {
    pub(crate) use crate::cell::UnsafeCell;
    pub(crate) use std::hint::spin_loop as spin;
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
}

mod address;
mod background;
mod carrier;
mod config;
mod connect;
mod copy;
mod datagram;
mod descriptors;
mod detach;
mod ends;
mod epoll;
mod export;
mod fork;
mod guard;
mod limit;
mod listen;
mod lock;
mod many;
mod names;
mod options;
mod process;
mod real;
mod relay;
mod rsockets;
mod select;
mod socket;
mod stats;
mod stdio;
mod transfer;
mod wait;
