// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Sockets over RDMA. They stand on the connection manager and the verbs; only the C ABI is above
//! them.
//!
//! | file | what |
//! |---|---|
//! | `exit` | the end of the process |
//! | `table` | which descriptor is which socket; the calls that name several |
//! | `socket` | a socket of any kind, and its calls |
//! | `stream` | stream sockets |
//! | `datagram` | datagram sockets |
//! | `pool` | parts of ended connections, for the next ones |
//! | `wait` | waiting |
//! | `service` | the thread that handles events and timers |
//! | `timers` | when it is to handle whose timer |
//! | `owned_id` | ids that are destroyed with their owner |
//! | `memory` | memory that messages are in |
//! | `control` | ancillary data that is sent: pure |
//! | `epoll` | the kernel's epoll instances |
//! | `descriptor` | flags of descriptors |
//! | `config` | defaults, from files |
//! | `value` | values of options |
//! | `flow` | flow control of a stream: pure |
//! | `wire` | the stream protocol: pure |

mod config;
pub(crate) mod control;
mod datagram;
pub(crate) mod descriptor;
mod epoll;
pub(crate) mod exit;
mod flow;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod memory;
mod owned_id;
mod pool;
mod service;
mod socket;
mod stream;
pub(crate) mod table;
mod timers;
mod value;
mod wait;
mod wire;

pub(crate) use datagram::{Received, fitting};
pub(crate) use memory::Buffers;
pub(crate) use socket::Socket;
pub(crate) use stream::at_once;
pub(crate) use wait::check_count;
