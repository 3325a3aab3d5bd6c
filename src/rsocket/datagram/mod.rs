// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Datagram rsockets. They use what stands below them in the room: waiting, the service thread and
//! memory; and ids and queue pairs of the connection manager. They do not know the table of
//! sockets, nor streams.
//!
//! Underneath is an ordinary UDP socket, whose descriptor is the program's, and a UD queue pair for
//! each local address in use. The first datagrams to a peer go by UDP and carry the number of our
//! queue pair; the peer answers with its own; a lookup finds the route, and from then on they go
//! over the device. Nothing waits for that. What is too long for the device's packets goes by UDP,
//! too.
//!
//! | file | what |
//! |---|---|
//! | `open` | new sockets, addresses, the end |
//! | `sockopt` | socket options |
//! | `packets` | the service thread's part: packets of the UDP socket |
//! | `transfer` | sending and receiving |
//! | `removal` | devices that go and come back |
//! | `lookup` | the search for a route to a peer |
//! | `state` | the socket and its state |
//! | `port` | the UD queue pair of a local address |
//! | `devices` | ids that name devices, and hear of their end |
//! | `slots` | memory of a queue pair, which grows |
//! | `peers` | what is known of peers |
//! | `udp` | the UDP socket |
//! | `ancillary` | ancillary data of received datagrams |
//! | `packet` | the protocol |

mod ancillary;
mod devices;
mod lookup;
mod open;
pub(crate) mod packet;
mod packets;
mod peers;
mod port;
mod removal;
mod slots;
mod sockopt;
mod state;
mod transfer;
mod udp;

pub(crate) use ancillary::fitting;
pub(crate) use state::Datagram;
pub(crate) use transfer::Received;
