// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Connections over RDMA in other processes: in children of fork, and where a descriptor is handed
//! over. Only the process that made an rsocket can use it, so the others get one end of a Unix
//! socket, and a thread of the maker moves the bytes. Calls `table` and `sys`.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `hooks` | the handlers of fork |
//! | `detach` | hands a connection of this process over |
//! | `children` | the parent's side: answers the requests of children |
//! | `relay` | the thread that moves the bytes of one connection |
//! | `claim` | the child's side: takes an inherited connection over |
//! | `connection_end` | the Unix sockets that this process must close in a child |
//! | `request` | what a child and its ancestor say to each other |

mod children;
pub(crate) mod claim;
mod connection_end;
pub(crate) mod detach;
pub(crate) mod hooks;
mod relay;
mod request;
