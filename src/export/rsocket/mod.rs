// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: sockets over RDMA.
//!
//! Each call looks up its rsocket by the descriptor, EBADF where there is none, and calls one method of it.
//!
//! | file | functions |
//! |---|---|
//! | `socket` | create, connect, listen, close |
//! | `receive`, `send` | data |
//! | `poll` | rpoll, rselect, repoll |
//! | `options` | names, options, file status flags |
//! | `iomap` | memory that the peer writes to directly |

pub mod iomap;
pub mod options;
pub mod poll;
pub mod receive;
pub mod send;
pub mod socket;
