// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Stream rsockets. They use what stands below them in the room: waiting, the service thread,
//! memory and the protocol; and ids, events and queue pairs of the connection manager. They do not
//! know the table of sockets, nor datagrams.
//!
//! | file | what |
//! |---|---|
//! | `events` | the service thread's part: events of the connection manager, timers |
//! | `close` | rclose |
//! | `accept` | raccept |
//! | `listen` | the passive side |
//! | `connect` | the active side |
//! | `reconnect` | a connect after a failed one |
//! | `open` | new streams |
//! | `shutdown` | the end of a connection |
//! | `background` | what is sent after a close or a shutdown |
//! | `sockopt` | socket options |
//! | `keepalive` | keep-alive |
//! | `at_once` | sending, receiving and polling where nothing is in the way |
//! | `transfer` | sending and receiving |
//! | `iomap` | riomap, riounmap, riowrite |
//! | `blocking` | calls that wait |
//! | `ready` | what poll reports, what waits need |
//! | `traced` | what the trace counts |
//! | `state` | the stream and its state |
//! | `iomap_list`, `accept_queue` | parts of the state |
//! | `link` | a connection |
//! | `post` | posting work requests |
//! | `endpoint` | queue pair, completion queue and registered memory of a connection |
//! | `options` | values of the options |

mod accept;
mod accept_queue;
pub(crate) mod at_once;
pub(crate) mod background;
mod blocking;
mod close;
mod connect;
mod endpoint;
mod events;
mod iomap;
mod iomap_list;
mod keepalive;
mod link;
mod listen;
mod open;
mod options;
mod post;
mod ready;
mod reconnect;
mod shutdown;
mod sockopt;
mod state;
mod traced;
mod transfer;

pub(crate) use state::Stream;
