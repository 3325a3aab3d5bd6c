// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The functions that are taken from libc, and nothing else. Each looks its descriptor up and calls
//! libc's own function or one of `calls`. No other symbol is visible from outside
//! (intercept/librspreload.map). Calls every other room.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `syscall` | system calls that a program makes by itself |
//! | `fortified` | what a compiler with _FORTIFY_SOURCE calls |
//! | `printed` | dprintf and its relatives |
//! | `positioned` | preadv2, pwritev2 |
//! | `message` | reading and writing |
//! | `epoll` | epoll_ctl, epoll_wait |
//! | `poll` | poll, select |
//! | `socket` | socket, bind, connect, accept, names and options |
//! | `descriptor` | close, dup, fcntl, ioctl, fdopen, _exit |

mod descriptor;
mod epoll;
mod fortified;
mod message;
mod poll;
mod positioned;
mod printed;
mod socket;
mod syscall;
