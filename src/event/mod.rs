//! Event channels and events.

mod channel;
mod describe;
mod message;
mod process;
mod write;

pub(crate) use channel::{Channel, DeviceFile};
pub(crate) use describe::event_name;
pub(crate) use message::Message;
pub(crate) use process::next;
pub(crate) use write::{write, write_internal};
