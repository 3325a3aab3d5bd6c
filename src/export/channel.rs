//! `<rdma/rdma_cma.h>`: event channels and events.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::error::Errno;
use crate::event::{self, Channel, Message};
use crate::types::{rdma_cm_event, rdma_cm_event_type, rdma_event_channel};
use libc::{c_char, c_int};

/// Opens a channel on which events are reported.
#[unsafe(no_mangle)]
pub extern "C" fn rdma_create_event_channel() -> *mut rdma_event_channel {
    Channel::create().map(Channel::into_c).into_c()
}

/// Closes an event channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
    // SAFETY: a valid channel pointer or NULL, and not used again.
    unsafe { Channel::destroy(channel) };
}

/// Fetches the next event of a channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_cm_event(
    channel: *mut rdma_event_channel,
    event: *mut *mut rdma_cm_event,
) -> c_int {
    // SAFETY: a valid channel pointer and a place for the event, or NULL.
    let arguments = unsafe { Channel::from_c(channel) }
        .and_then(|channel| Ok((channel, unsafe { arg::out(event) }?)));
    arguments
        .and_then(|(channel, event)| {
            *event = event::next(channel.file())?.into_c();
            Ok(())
        })
        .into_c()
}

/// Gives an event back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    // SAFETY: a valid event pointer or NULL, given back once.
    let message = unsafe { Message::from_c(event) };
    message.map(drop).ok_or(Errno::EINVAL).into_c()
}

/// The name of an event type.
#[unsafe(no_mangle)]
pub extern "C" fn rdma_event_str(event: rdma_cm_event_type) -> *const c_char {
    event::event_name(event).as_ptr()
}
