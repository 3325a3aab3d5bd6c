// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The C types of the public headers, field for field, by their C names.
//! Uses nothing. Layouts are checked against rdma-sys in `cm`, and by `ctest/run headers layout`.
//!
//! | file | what |
//! |---|---|
//! | `address` | socket addresses |
//! | `path` | path records |
//! | `cm` | types of `<rdma/rdma_cma.h>` |

mod address;
mod cm;
mod path;

pub use address::{AF_IB, ib_addr, sockaddr_ib};
pub(crate) use address::{MAPPED, SocketAddress, port_of};
pub use cm::*;
pub(crate) use path::{PathData, PathRecord};
