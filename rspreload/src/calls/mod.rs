// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What one call on a socket of the program does, on RDMA or on the kernel's socket.
//! Calls every room but `intercept`.
//!
//! # Map
//!
//! From the highest file to the lowest:
//!
//! | file | what it is |
//! |---|---|
//! | `exit` | the end of the process |
//! | `select` | select |
//! | `poll` | poll |
//! | `stdio` | fdopen |
//! | `clone` | clone, for a child in namespaces of its own |
//! | `descriptor` | close, dup, fcntl, ioctl |
//! | `copy` | sendfile, splice |
//! | `batch` | recvmmsg, sendmmsg |
//! | `transfer` | read, write, and what sends and receives |
//! | `carry` | one transfer on the socket's carrier |
//! | `ancillary` | descriptors in the control data of sendmsg |
//! | `names` | getsockname, getpeername, shutdown |
//! | `options` | getsockopt, setsockopt |

mod ancillary;
pub(crate) mod batch;
pub(crate) mod carry;
pub(crate) mod clone;
pub(crate) mod copy;
pub(crate) mod descriptor;
pub(crate) mod exit;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod poll;
pub(crate) mod select;
pub(crate) mod stdio;
pub(crate) mod transfer;
