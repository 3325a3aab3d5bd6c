//! Event channels and events.

mod channel;
mod describe;
mod message;
mod process;

pub(crate) use channel::{Channel, DeviceFile};
pub(crate) use describe::event_name;
pub(crate) use message::Message;
pub(crate) use process::next;
