//! Queue pairs of an id: making, moving through their states, ending.

mod attributes;
mod create;
pub(crate) mod shared_queue;
mod transition;

pub(crate) use attributes::{address_handle, init_attributes};
pub(crate) use create::{create, create_extended, destroy};
