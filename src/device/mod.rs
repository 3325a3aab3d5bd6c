// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! RDMA devices of the process: found by GUID or index, opened once; domains that their ids share.
//! Uses verbs and libibverbs' device list; knows no id.
//!
//! | file | what |
//! |---|---|
//! | `contexts` | the array of rdma_get_devices |
//! | `registry` | all devices of the process |
//! | `shared` | one device, and what its ids share |
//! | `list` | the device list of libibverbs |

mod contexts;
mod list;
mod registry;
mod shared;

pub(crate) use contexts::{free_contexts, open_contexts};
pub(crate) use list::Identity;
pub(crate) use registry::{find, infiniband_ports, on_retire, require_any, retire};
pub(crate) use shared::{Binding, Device};
