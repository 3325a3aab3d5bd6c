//! RDMA devices: the list of the process, lookup by what the kernel calls them, shared objects.

mod contexts;
mod list;
mod registry;
mod shared;

pub(crate) use contexts::{free_contexts, open_contexts};
pub(crate) use list::Identity;
pub(crate) use registry::{find, infiniband_ports, require_any, retire};
pub(crate) use shared::{Binding, Device};
