// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The functions of libc and librdmacm that this library calls, and values that every room uses.
//! Calls nothing of this library.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `config` | preload_config and the environment |
//! | `repoll` | librdmacm's sets of rsockets |
//! | `librdmacm` | librdmacm's other functions |
//! | `guard` | the re-entry guard |
//! | `connection_name` | the names of Unix sockets that stand for connections |
//! | `socket_option` | options of kernel sockets |
//! | `original` | libc's own functions |
//! | `process` | which process this is |
//! | `address` | socket addresses as values |
//! | `errno` | errno for C callers |

pub(crate) mod address;
pub(crate) mod config;
pub(crate) mod connection_name;
pub(crate) mod errno;
pub(crate) mod guard;
pub(crate) mod librdmacm;
pub(crate) mod original;
pub(crate) mod process;
pub(crate) mod repoll;
pub(crate) mod socket_option;
