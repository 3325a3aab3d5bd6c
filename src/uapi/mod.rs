//! The border to the kernel: the rdma_cm device.
//!
//! `abi` holds the structs of `<rdma/rdma_user_cm.h>`, `command` is the only place that writes to the
//! device, `node` finds and opens it.

pub(crate) mod abi;
mod command;
#[cfg(test)]
mod layout;
mod netlink;
mod node;

#[cfg(any(test, fuzzing))]
pub use abi::fuzz_event;
pub(crate) use command::{
    Answer, call, call_into, send, send_filled, takes_events, unless_unknown,
};
#[cfg(any(test, fuzzing))]
pub use netlink::fuzz_netlink;
pub(crate) use node::open;
