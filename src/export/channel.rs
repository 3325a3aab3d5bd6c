//! `<rdma/rdma_cma.h>`: event channels and events.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::error::{Errno, quietly};
use crate::event::{self, Channel, Message};
use crate::types::{rdma_cm_event, rdma_cm_event_type, rdma_event_channel};
use libc::{c_char, c_int};

/// Opens a channel on which events are reported.
///
/// # Description
///
/// An event channel is an open file of the kernel's rdma_cm device. Every id that is made on
/// it, or moved to it by rdma_migrate_id, reports there what happens to it. `fd` of the channel
/// becomes readable when an event waits, so it can be used with poll, select and epoll.
///
/// # Return value
///
/// The channel, or NULL with `errno`. It is given back by rdma_destroy_event_channel.
///
/// # Errors
///
/// - `EACCES`: the caller may not open the rdma_cm device.
/// - `EMFILE`: the process has too many open files.
/// - `ENFILE`: the system has too many open files.
/// - `ENODEV`: the machine has no RDMA device.
/// - `ENOENT`: the rdma_cm device is not there; the kernel module rdma_ucm may not be loaded.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel speaks a version of the interface that the library does not know.
/// - `ENXIO`: the node in /dev/infiniband is another device.
///
/// # Notes
///
/// The file is closed on exec. A failed call may be repeated, for instance after a module was
/// loaded.
///
/// To make rdma_get_cm_event not wait, set O_NONBLOCK on `fd` with fcntl. Do not read, write or
/// close `fd`.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_destroy_event_channel(3), rdma_get_cm_event(3), rdma_create_id(3), rdma_migrate_id(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub extern "C" fn rdma_create_event_channel() -> *mut rdma_event_channel {
    quietly(Channel::create).map(Channel::into_c).into_c()
}

/// Closes an event channel.
///
/// # Arguments
///
/// - `channel`: the channel, not to be used afterwards; NULL does nothing.
///
/// # Description
///
/// Closes the file and frees the channel. Events that were not fetched are lost.
///
/// # Return value
///
/// None.
///
/// # Notes
///
/// Destroy the ids of the channel, and acknowledge its events, before. For an id that is still
/// there the kernel's side ends with the channel: its calls fail with `EBADF` from then on, and
/// rdma_destroy_id only frees it.
///
/// # Thread safety
///
/// No other thread may be in a call with the channel.
///
/// # See also
///
/// rdma_create_event_channel(3), rdma_destroy_id(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
    // SAFETY: a valid channel pointer or NULL, and not used again.
    unsafe { Channel::destroy(channel) };
}

/// Fetches the next event of a channel.
///
/// # Arguments
///
/// - `channel`: where to look.
/// - `event`: where the event is returned; it belongs to the caller until rdma_ack_cm_event.
///   Not written on failure.
///
/// # Description
///
/// Waits for an event, unless the channel's `fd` has O_NONBLOCK. The library does its own part
/// before it returns the event: it fills in the id's addresses, device and route, moves the
/// id's queue pair through its states, attaches it to a multicast group, and makes the id of a
/// connection request.
///
/// `id` of the event is whose event it is, or for RDMA_CM_EVENT_CONNECT_REQUEST the id of the
/// new connection, with `listen_id` for the listener. `status` is 0 or why it failed: a
/// negative error number, or for RDMA_CM_EVENT_REJECTED the reason of the transport. `param.ud`
/// is set for ids of datagram services, `param.arg` for RDMA_CM_EVENT_USER, `param.conn`
/// otherwise. Private data is inside the event. rdma_cm(7) lists all events.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is no event, and `fd` has O_NONBLOCK.
/// - `EBADF`: the channel was closed.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `channel` or `event` is NULL.
/// - `ENODATA`: the kernel gave no event.
/// - `ENOMEM`: out of memory; no event is lost.
/// - `EPERM`: the caller is a child of fork, and the process that made the channel still runs.
///
/// # Notes
///
/// An event of an id that is being destroyed is dropped here. So is a connection request for
/// which no id can be made; the peer gets a reject.
///
/// # Thread safety
///
/// Any number of threads may wait on one channel; each event goes to one of them. Which of two
/// events of one id is handled first is then up to the threads.
///
/// # See also
///
/// rdma_ack_cm_event(3), rdma_event_str(3), rdma_create_event_channel(3), rdma_cm(7)
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
            *event = quietly(|| event::next(channel.file(), None))?.into_c();
            Ok(())
        })
        .into_c()
}

/// Gives an event back.
///
/// # Arguments
///
/// - `event`: the event, with its private data not to be used afterwards.
///
/// # Description
///
/// Every event that rdma_get_cm_event returns is given back once. rdma_destroy_id,
/// rdma_leave_multicast and rdma_migrate_id wait for the events of their id or group.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EINVAL`: `event` is NULL.
///
/// # Notes
///
/// An event in `id->event` of a synchronous id is the library's and is not given back by the
/// program.
///
/// # Thread safety
///
/// Any thread at any time, also while another one waits in rdma_destroy_id.
///
/// # See also
///
/// rdma_get_cm_event(3), rdma_destroy_id(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    // SAFETY: a valid event pointer or NULL, given back once.
    let message = unsafe { Message::from_c(event) };
    message.map(drop).ok_or(Errno::EINVAL).into_c()
}

/// Names an event type.
///
/// # Arguments
///
/// - `event`: any number, of a known event or not.
///
/// # Description
///
/// The name is that of the constant in the header, "RDMA_CM_EVENT_ESTABLISHED" for instance, or
/// "UNKNOWN EVENT".
///
/// # Return value
///
/// A text that is never NULL, not to be changed or freed.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rdma_get_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub extern "C" fn rdma_event_str(event: rdma_cm_event_type) -> *const c_char {
    event::event_name(event).as_ptr()
}
