// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The sockets of the program, as data behind a lock, and the descriptor numbers that mean them.
//! Calls `sys` alone. What happens to a socket is reported to the observers of `socket`.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `descriptors` | which descriptor numbers mean sockets |
//! | `socket` | a socket of the program, and who observes it |
//! | `setting` | an option that the program has set |
//! | `counts` | the bytes that a socket has carried (RS_STATS) |
//! | `decision` | which way a socket went, and why |

pub(crate) mod counts;
pub(crate) mod decision;
pub(crate) mod descriptors;
pub(crate) mod setting;
pub(crate) mod socket;
