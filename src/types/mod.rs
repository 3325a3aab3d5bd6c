//! The C types of the public headers, field for field.
//!
//! Names are C's own, so that the generated prototypes read as C programmers know them.
//! Layouts are held against rdma-sys in `cm` and against the system's headers by `ctest/headers/run layout`.

mod address;
mod cm;

pub use address::{AF_IB, ib_addr, sockaddr_ib};
pub(crate) use address::{SocketAddress, port_of};
pub use cm::*;
