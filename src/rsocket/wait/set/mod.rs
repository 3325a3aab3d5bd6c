// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! repoll: sets of rsockets and ordinary descriptors that are cheap to wait for. They use sources,
//! wakers and the kernel's epoll, and find sockets by the trait `Pollable`.
//!
//! Under each set lies a real epoll instance; the program's descriptor is its own. Ordinary
//! descriptors are watched by it directly, rsockets through the descriptor of their completion
//! events, and one eventfd reports that the ready list has entries. An rsocket is on that list
//! whenever it may be ready, and otherwise its completion queue is armed: an idle one costs a wait
//! nothing.
//!
//! | file | what |
//! |---|---|
//! | `wait` | waiting for a set |
//! | `control` | making a set, adding and removing |
//! | `state` | the set and its members |
//! | `ready_list` | members that may be ready |

mod control;
mod ready_list;
mod state;
mod wait;

pub(crate) use state::Set;
