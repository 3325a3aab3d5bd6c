// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! libibverbs: each function wrapped once; posting and completions, also for the exported helpers.
//! Uses libibverbs alone.
//!
//! | file | what |
//! |---|---|
//! | `completion` | completion queues and channels |
//! | `work` | posting work requests |
//! | `queue_pair` | queue pairs |
//! | `shared_queue` | shared receive queues and XRC domains |
//! | `address_handle` | address handles |
//! | `memory_region` | registered memory |
//! | `locked_memory` | why no more memory can be registered |
//! | `context` | device contexts and protection domains |
//! | `watch` | failed completions in the log |
//! | `status` | what the status of a completion means |
//! | `provider` | pointer results, and operations that libibverbs has no function for |

mod address_handle;
mod completion;
mod context;
mod locked_memory;
mod memory_region;
mod provider;
mod queue_pair;
mod shared_queue;
mod status;
mod watch;
mod work;

pub(crate) use address_handle::AddressHandle;
pub(crate) use completion::{
    Completion, CompletionChannel, CompletionQueue, Found, Room, Waited, next_completion,
};
pub(crate) use context::{Context, OwnedDomain, ProtectionDomain};
pub(crate) use memory_region::{
    LOCAL, MemoryRegion, REMOTE_READ, REMOTE_WRITE, deregister, register,
};
pub(crate) use provider::invalid;
pub(crate) use queue_pair::{QueuePair, zeroed_attr};
pub(crate) use shared_queue::{SharedQueue, XrcDomain};
pub(crate) use work::{ReceiveQueue, Remote, ScatterList, SendRequest, entry_of};
