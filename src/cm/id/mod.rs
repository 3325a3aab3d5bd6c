// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The id (`struct rdma_cm_id`), its values, and its creation, binding, migration and destruction.
//! Uses channels, devices and verbs; knows no verb of the rooms above and fetches no events.
//!
//! | file | what |
//! |---|---|
//! | `migrate` | rdma_migrate_id: another event channel |
//! | `create` | rdma_create_id, and the id of a connection request |
//! | `destroy` | rdma_destroy_id |
//! | `early` | events that came while no verb waited |
//! | `event` | `struct rdma_cm_event`: keeps its id until it is acknowledged |
//! | `recent` | memory that was given back recently |
//! | `bind` | rdma_bind_addr |
//! | `query` | addresses, device and paths, as the kernel has them |
//! | `command` | commands about an id, and the reason where the kernel refuses one |
//! | `cm_id` | the object, its accessors, and the table of all ids |
//! | `pin` | keeps `id->qp` alive while it is used |
//! | `state` | what the library remembers of an id |
//! | `membership` | one multicast group that an id joined, and the table of all |
//! | `resolution` | progress of rdma_resolve_addrinfo |

mod bind;
mod cm_id;
mod command;
mod create;
mod destroy;
mod early;
mod event;
mod membership;
mod migrate;
mod pin;
mod query;
mod recent;
mod resolution;
mod state;

pub(crate) use cm_id::{IDS, Id, find_by_handle};
pub(crate) use create::{TemporaryId, child_of, create, default_qp_type};
pub(crate) use event::{CmEvent, EventOwner, OwnedEvent};
pub(crate) use membership::{MEMBERSHIPS, Membership};
pub(crate) use pin::PinnedQueuePair;
pub(crate) use resolution::Resolution;
pub(crate) use state::IdState;
