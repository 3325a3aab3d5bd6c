//! Addresses by name (`struct rdma_addrinfo`).
//!
//! | file | what it does |
//! |---|---|
//! | `hints` | reads what the caller wishes |
//! | `names` | asks the resolver of the C library |
//! | `lookup` | makes entries of the answers, by the rules of rdma_getaddrinfo(3) |
//! | `resolve` | the same without blocking, and where the answer waits |
//! | `service` | services that the fabric knows |
//! | `route` | adds paths, from the daemon that `acm` talks to |
//! | `native` | InfiniBand addresses made from GIDs and ports |
//! | `list` | entries as the list that C programs get |

mod acm;
mod hints;
mod list;
mod lookup;
mod names;
mod native;
mod resolve;
mod route;
mod service;

#[cfg(any(test, fuzzing))]
pub use acm::fuzz_acm_reply;
pub(crate) use hints::Hints;
pub(crate) use list::{free, into_c};
pub(crate) use lookup::{Question, lookup};
pub(crate) use resolve::{Resolution, query, resolve, service_failed, service_found, take_names};
pub(crate) use route::route_for;

use crate::error::Errno;
use crate::types::SocketAddress;
use libc::c_int;

/// One address with all that is known about it.
#[derive(Clone, Default)]
pub(crate) struct Entry {
    flags: c_int,
    family: c_int,
    qp_type: c_int,
    port_space: c_int,
    source: Option<SocketAddress>,
    destination: Option<SocketAddress>,
    /// Canonical names with their final zero byte; empty where there is none.
    source_name: Vec<u8>,
    destination_name: Vec<u8>,
    /// Records of type `struct ibv_path_data`.
    route: Vec<u8>,
    /// What goes before the caller's private data.
    connect: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// An EAI_ code, returned to C as it is.
    Resolver(c_int),
    /// EAI_SYSTEM, with the errno that tells more.
    System(Errno),
    /// The library's own.
    Own(Errno),
}

impl Failure {
    /// For events, whose status has no room for EAI_ codes.
    fn errno(self) -> Errno {
        match self {
            Failure::System(error) | Failure::Own(error) => error,
            Failure::Resolver(code) => match code {
                libc::EAI_AGAIN => Errno::EAGAIN,
                libc::EAI_MEMORY => Errno::ENOMEM,
                libc::EAI_BADFLAGS => Errno::EINVAL,
                libc::EAI_FAMILY => Errno::EAFNOSUPPORT,
                libc::EAI_SOCKTYPE => Errno::EPROTONOSUPPORT,
                libc::EAI_FAIL => Errno::EIO,
                libc::EAI_OVERFLOW => Errno::EOVERFLOW,
                // Names and services that do not exist, or not in this family.
                _ => Errno::ENOENT,
            },
        }
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Failure {
        Failure::Own(error)
    }
}
