// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! librspreload: takes the socket functions of libc in a program that it is preloaded into, and
//! carries the program's TCP and UDP sockets over RDMA, by the rsockets of librdmacm.
//!
//! # Map
//!
//! From the highest room to the lowest. A room may import from those below it, and reports to those
//! above it through observers and lists that are registered (`start`, `table/socket.rs`).
//! `tests/layers` checks the order, here and in the map of each room.
//!
//! | room | what it is |
//! |---|---|
//! | `runtime` | allocator and panic handler of the library |
//! | `intercept` | the functions that are taken from libc |
//! | `start` | the start of the library, and what libc calls by itself: at load, fork and exit |
//! | `calls` | what one call does: reading and writing, copying, names, options, poll, select |
//! | `epoll` | epoll instances with rsockets in them |
//! | `carrier` | whether RDMA or TCP carries a socket: routes, connecting, listening, datagrams |
//! | `fork` | connections in a fork's child, and in other programs |
//! | `table` | the sockets of the program, by descriptor number |
//! | `sys` | libc's own functions, librdmacm's functions, configuration |
//!
//! A call on an ordinary descriptor costs one look-up in `table` more than libc's own function.
//!
//! # Safety words
//!
//! - *the caller's*: a pointer that the program gave to the libc function of the same name, with
//!   what its manual page demands.

#![cfg_attr(not(any(test, loom)), no_std)]

extern crate alloc;

#[cfg(not(any(test, loom)))]
mod runtime;

mod calls;
mod carrier;
mod epoll;
mod fork;
mod intercept;
mod start;
mod sys;
mod table;
