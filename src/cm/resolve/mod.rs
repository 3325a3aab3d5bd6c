// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Addresses, routes, names and services for an id: started here, and the answer of each stored.
//! Uses ids, options and addrinfo; fetches no events.
//!
//! | file | what |
//! |---|---|
//! | `addrinfo` | rdma_resolve_addrinfo, rdma_query_addrinfo |
//! | `names` | names, in a thread that asks the resolver |
//! | `service` | services that the subnet administrator knows, by the kernel |
//! | `address`, `route` | rdma_resolve_addr, rdma_resolve_route |

mod address;
mod addrinfo;
mod names;
mod route;
mod service;

pub(crate) use addrinfo::{query, start, take};
pub(crate) use names::{abandon as abandon_names, take as take_names};
pub(crate) use service::{
    failed as service_failed, found as service_found, start as start_service,
};
