//! Sockets over RDMA.
//!
//! | file | what it is |
//! |---|---|
//! | `wire`, `flow` | the protocol and its books: pure, no I/O |
//! | `table`, `slot`, `socket` | descriptors of the program to sockets |
//! | `stream`, `datagram` | the two kinds |
//! | `service`, `timers` | the thread that takes the connection manager's events |
//! | `wait`, `waiting`, `armed`, `poll`, `standing_set`, `select`, `epoll` | waiting |
//! | `region`, `buffers` | memory of ours and of the caller's |
//! | `config`, `value`, `descriptor` | defaults, option values, descriptor flags |

mod armed;
mod buffers;
mod config;
mod datagram;
pub(crate) mod descriptor;
mod epoll;
mod flow;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod looking;
mod owned_id;
mod poll;
#[cfg(test)]
mod random;
mod region;
mod select;
mod service;
mod slot;
pub(crate) mod socket;
mod standing_set;
mod stream;
mod table;
mod timers;
mod value;
mod wait;
mod waiters;
mod waiting;
mod wire;

pub(crate) use buffers::Buffers;
pub(crate) use epoll::Set;
pub(crate) use poll::{check_count, poll};
#[cfg(test)]
pub(crate) use random::Random;
pub(crate) use select::select;
pub(crate) use wait::Limit;
