// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The rdma_cm device of the kernel: found, opened, and each command written once.
//! Uses types; knows no id and calls no function of libibverbs.
//!
//! | file | what |
//! |---|---|
//! | `command` | the only writer of the device |
//! | `explain` | what the kernel means by an error |
//! | `convert` | the kernel's structs in the types of libibverbs |
//! | `node` | finds the device and opens it |
//! | `netlink` | asks the kernel which device it is |
//! | `abi` | structs of `<rdma/rdma_user_cm.h>` |

pub(crate) mod abi;
mod command;
mod convert;
mod explain;
#[cfg(test)]
mod layout;
mod netlink;
mod node;

pub(crate) use command::{
    Answer, Command, Frame, Query, call, call_into, send, send_filled, takes_events, unless_unknown,
};
pub(crate) use convert::{address_handle, copy_qp_attr, path_of_path_data, path_of_user_record};
#[cfg(any(test, fuzzing))]
pub use convert::{fuzz_event, fuzz_path_record};
pub(crate) use explain::explain;
#[cfg(any(test, fuzzing))]
pub use netlink::fuzz_netlink;
pub(crate) use node::open;
