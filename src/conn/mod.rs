//! Connections: asking, answering, ending.

mod accept;
mod connect;
mod disconnect;
mod ece;
mod listen;
mod parameters;
mod request;

pub(crate) use connect::confirm;
pub(crate) use disconnect::fail_queue_pair;
pub(crate) use parameters::Parameters;
pub(crate) use request::take_request;
