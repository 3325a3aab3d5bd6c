// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! epoll instances with rsockets in them. The instance stays the kernel's. When the first socket of
//! this library is added, a set of rsockets is made beside it and added to it, so that the kernel
//! waits for both. Calls `carrier` and what is below.
//!
//! A registration is in the kernel's instance, in the set, or (listeners) in both, and moves when
//! the carrier of its socket changes.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `control` | epoll_ctl |
//! | `wait` | epoll_wait |
//! | `observer` | what sockets and descriptors report |
//! | `instance` | an instance of the program, by descriptor number |
//! | `contents` | the registrations of one instance, and where each is |
//! | `rsocket_set` | the rsockets of one instance |
//! | `registration` | what the program has registered |
//! | `by_descriptor` | values by descriptor number |
//! | `sleepers` | threads that sleep where no socket of this library is yet |
//! | `wakeups` | the eventfd and the timer of one instance |
//! | `nesting` | whether an instance is in another one |
//! | `kernel` | epoll_ctl(2) |

mod by_descriptor;
mod contents;
pub(crate) mod control;
pub(crate) mod instance;
pub(crate) mod kernel;
mod nesting;
pub(crate) mod observer;
mod registration;
mod rsocket_set;
pub(crate) mod sleepers;
mod wait;
mod wakeups;
