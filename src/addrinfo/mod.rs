// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Addresses by name (`struct rdma_addrinfo`): questions and answers by value.
//! Asks getaddrinfo and the daemon ibacm. Uses device, uapi and types; knows no id and no event.
//!
//! | file | what |
//! |---|---|
//! | `lookup` | makes entries of the answers, by the rules of rdma_getaddrinfo(3) |
//! | `path` | adds paths through an InfiniBand fabric |
//! | `acm` | the client of ibacm, which knows such paths |
//! | `service` | services of a fabric: how they are written, and their records |
//! | `names` | asks the resolver of the C library |
//! | `list` | entries as the list that C programs get |
//! | `native` | InfiniBand addresses made from GIDs and ports |
//! | `hints` | the caller's hints |
//! | `entry`, `failure` | an answer, or why there is none |

mod acm;
mod entry;
mod failure;
mod hints;
mod list;
mod lookup;
mod names;
mod native;
mod path;
mod service;

#[cfg(any(test, fuzzing))]
pub use acm::fuzz_acm_reply;
pub(crate) use entry::Entry;
pub(crate) use failure::Failure;
pub(crate) use hints::Hints;
pub(crate) use list::{free, into_c};
pub(crate) use lookup::{AddrinfoQuestion, lookup};
pub(crate) use native::{NativeAddress, ServiceId};
pub(crate) use path::known_route;
pub(crate) use service::{ServiceName, service_entry};
