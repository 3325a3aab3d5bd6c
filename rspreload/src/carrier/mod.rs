// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What carries a socket, RDMA or the kernel's TCP and UDP: how that is decided, and how
//! connections are made. Calls `fork`, `table` and `sys`.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `connect` | connect |
//! | `background` | completes pending connections while the program does something else |
//! | `pending` | a connection over RDMA that is pending, and the fall-back to TCP |
//! | `listen` | bind, listen and accept |
//! | `rdma_listener` | the RDMA listener beside the kernel's |
//! | `unaccepted` | gives an RDMA listener up that the program does not accept from |
//! | `claim` | makes an inherited socket usable, or hands one over |
//! | `datagram` | datagram sockets |
//! | `dissolve` | a connection that the program gives up |
//! | `change` | what follows when the carrier is decided |
//! | `rsocket` | makes an rsocket for a socket |
//! | `route` | whether an RDMA device leads to an address |

mod background;
pub(crate) mod change;
pub(crate) mod claim;
pub(crate) mod connect;
pub(crate) mod datagram;
pub(crate) mod dissolve;
pub(crate) mod listen;
pub(crate) mod pending;
pub(crate) mod rdma_listener;
mod route;
mod rsocket;
pub(crate) mod unaccepted;
