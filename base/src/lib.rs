// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What both libraries stand on: no C symbols, and no knowledge of RDMA.
//!
//! # Map
//!
//! A module may name those below it, not those above.
//!
//! | module | what it is |
//! |---|---|
//! | `random` | repeatable numbers for tests |
//! | `trace` | what happens when, in a file |
//! | `thread` | threads of the libraries |
//! | `turn` | turns of a thread, whose end others can wait for |
//! | `witness` | whether the program has closed the libraries' descriptors |
//! | `owner` | who may touch a kernel object after fork |
//! | `variable` | variables that take a number |
//! | `stats` | starts the counters at load |
//! | `log` | diagnostics |
//! | `output` | files that the libraries write |
//! | `environment` | variables of the environment |
//! | `settings` | all variables and files that the libraries read |
//! | `descriptor_table` | objects by descriptor number |
//! | `gate` | objects whose lock is all that a look-up takes |
//! | `slot` | a place for an object that many look up |
//! | `segments` | an array that grows and never moves |
//! | `descriptor_sets` | the sets of select(2) |
//! | `signal` | what the process does with signals |
//! | `eventfd` | descriptors that wake a thread |
//! | `once` | values made at first use |
//! | `per_process` | values that a fork's child does not have |
//! | `per_thread` | values of threads |
//! | `arc` | Arc and Weak with `try_new` |
//! | `sync` | what loom replaces |
//! | `lock` | locks and condition variables |
//! | `cell` | a cell as loom's |
//! | `futex` | words that the kernel waits on |
//! | `address` | socket addresses |
//! | `deadline` | time limits of waits |
//! | `fork` | how many forks there were, and what is done around them |
//! | `counters` | counters of the process, which others read |
//! | `fd` | owned descriptors, small files |
//! | `time` | the monotonic clock |
//! | `memory` | allocation that fails with ENOMEM |
//! | `allocator` | malloc |
//! | `system_call` | calls that go to the kernel directly |
//! | `errno` | the error type of both libraries |

#![cfg_attr(not(any(test, loom)), no_std)]
// For the two libraries alone, not for everybody.
#![allow(clippy::new_without_default, clippy::len_without_is_empty)]

extern crate alloc;

pub mod address;
pub mod allocator;
pub mod arc;
#[cfg(not(loom))]
pub mod cell;
pub mod counters;
pub mod deadline;
pub mod descriptor_sets;
pub mod descriptor_table;
pub mod environment;
pub mod errno;
pub mod eventfd;
pub mod fd;
pub mod fork;
pub mod futex;
pub mod gate;
pub mod lock;
pub mod log;
pub mod memory;
pub mod once;
mod output;
pub mod owner;
pub mod per_process;
pub mod per_thread;
pub mod random;
pub mod segments;
pub mod settings;
pub mod signal;
pub mod slot;
mod stats;
pub mod sync;
mod system_call;
pub mod thread;
pub mod time;
pub mod trace;
pub mod turn;
pub mod variable;
pub mod witness;
