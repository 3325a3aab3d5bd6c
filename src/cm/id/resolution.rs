// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Progress of rdma_resolve_addrinfo on one id.

use crate::addrinfo::{Entry, Failure};
use alloc::vec::Vec;
use libc::c_int;

/// How far a resolution is. Entries stay until rdma_query_addrinfo takes them.
#[derive(Default)]
pub(crate) enum Resolution {
    #[default]
    None,
    /// A thread asks the resolver. The ticket is in the event that it writes: an event of an
    /// abandoned question has another one.
    Names(u64),
    /// The thread has its answer, and its event was not fetched yet.
    Named(u64, core::result::Result<Vec<Entry>, Failure>),
    /// The kernel asks for a service, for queue pairs of this type.
    Service(c_int),
    Found(Vec<Entry>),
}
