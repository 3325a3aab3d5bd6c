// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: event channels and events.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::channel::Channel;
use crate::cm::event;
use crate::cm::id::{Id, OwnedEvent};
use crate::types::{rdma_cm_event, rdma_cm_event_type, rdma_cm_id, rdma_event_channel};
use base::deadline::Deadline;
use base::errno::preserve_errno;
use base::fail;
use libc::{c_char, c_int};

/// Opens an event channel.
///
/// # Description
///
/// An event channel is an open file of the kernel's rdma_cm device. It reports the events of
/// every id that is created on it or moved to it by rdma_migrate_id. `fd` of the channel is
/// readable while an event is pending, so that it can be used with poll, select and epoll.
///
/// # Return value
///
/// The channel, to be closed by rdma_destroy_event_channel; NULL with `errno` set on failure.
///
/// # Errors
///
/// - `EACCES`: the caller may not open the rdma_cm device.
/// - `EMFILE`: the process has too many open files.
/// - `ENFILE`: the system has too many open files.
/// - `ENODEV`: the system has no RDMA device.
/// - `ENOENT`: the rdma_cm device does not exist; the kernel module rdma_ucm may not be loaded.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the library does not support the kernel's version of the interface.
/// - `ENXIO`: the node in /dev/infiniband is a different device.
///
/// # Notes
///
/// The file is closed on exec. A call that failed may be repeated, for instance after a module
/// was loaded.
///
/// To make rdma_get_cm_event nonblocking, set O_NONBLOCK on `fd` with fcntl. Do not read, write
/// or close `fd`.
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rdma_destroy_event_channel(3), rdma_get_cm_event(3), rdma_create_id(3), rdma_migrate_id(3),
/// rdma_cm(7)
#[unsafe(no_mangle)]
pub extern "C" fn rdma_create_event_channel() -> *mut rdma_event_channel {
    preserve_errno(Channel::create).map(Channel::into_c).into_c()
}

/// Closes an event channel.
///
/// # Arguments
///
/// - `channel`: the channel, which becomes invalid; NULL has no effect.
///
/// # Description
///
/// Closes the file and frees the channel. Events that were not fetched are lost. A thread that
/// waits in rdma_get_cm_event is woken after a moment (a fifth of a second); its call fails with `EBADF`.
///
/// {Return value: none}
///
/// # Notes
///
/// Destroy the ids of the channel, and acknowledge its events, before this call. The kernel drops
/// its state of an id that is left: calls with the id fail with `EBADF`, and rdma_destroy_id only
/// frees its memory.
///
/// # Thread safety
///
/// No other thread may begin a call with the channel.
///
/// # See also
///
/// rdma_create_event_channel(3), rdma_destroy_id(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
    // SAFETY: a valid channel pointer or NULL, and not used again.
    unsafe { Channel::destroy(channel) };
}

/// Returns the next event of a channel.
///
/// # Arguments
///
/// - `channel`: the channel.
/// - `event`: where the event is returned, which the caller owns until rdma_ack_cm_event.
///   Unchanged on failure.
///
/// # Description
///
/// Waits for an event, unless `fd` of the channel has O_NONBLOCK set. Before it returns an event,
/// the library does its own part: it stores the id's addresses, device and route, changes the
/// state of the id's queue pair, attaches the queue pair to a multicast group, or creates the id
/// of a connection request.
///
/// `id` of the event is the id that the event concerns. For RDMA_CM_EVENT_CONNECT_REQUEST it is
/// the id of the new connection, and `listen_id` is the listener. `status` is 0 or the reason of
/// a failure, see rdma_status(7). `param.ud` is set for ids of datagram services, `param.arg` for
/// RDMA_CM_EVENT_USER, and `param.conn` for all others. Private data is part of the event.
/// rdma_cm(7) lists the events.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EAGAIN`: no event is pending, and `fd` has O_NONBLOCK set.
/// - `EBADF`: the channel was closed.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: `channel` or `event` is NULL.
/// - `ENODATA`: the kernel returned no event.
/// - `ENOMEM`: out of memory; no event is lost.
///
/// {Errors: child of fork | channel}
///
/// # Notes
///
/// An event of an id that is being destroyed is discarded. A connection request for which no id
/// can be created is rejected and discarded.
///
/// # Thread safety
///
/// Any number of threads may wait on one channel; each event is returned to one of them. The
/// order in which two threads handle two events of one id is unspecified.
///
/// # Examples
///
/// A server for many clients at a time; its clients are those of rdma_cm(7):
///
/// {Code: async.c}
///
/// # See also
///
/// rdma_ack_cm_event(3), rdma_event_str(3), rdma_create_event_channel(3), rdma_cm(7),
/// rdma_status(7)
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
            let read = || channel.while_reading(|file| event::next(file, Deadline::Never));
            *event = preserve_errno(read)?.into_c();
            Ok(())
        })
        .into_c()
}

/// Acknowledges and frees an event.
///
/// # Arguments
///
/// - `event`: the event, which becomes invalid together with its private data.
///
/// # Description
///
/// Every event that rdma_get_cm_event returned must be acknowledged once. rdma_destroy_id,
/// rdma_leave_multicast and rdma_migrate_id wait until the events of their id or group are
/// acknowledged.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `event` is NULL, or is one of the last 16 that were acknowledged.
///
/// # Notes
///
/// The library acknowledges the event in `id->event` of a synchronous id itself.
///
/// # Thread safety
///
/// Any thread may call this function at any time, also while another thread waits in
/// rdma_destroy_id.
///
/// # See also
///
/// rdma_get_cm_event(3), rdma_destroy_id(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    // SAFETY: a valid event pointer or NULL, freed once.
    let message = unsafe { OwnedEvent::from_c(event) };
    message
        .map(drop)
        .ok_or_else(|| {
            fail!(EINVAL, "rdma_ack_cm_event: the event is NULL, or was given back before")
        })
        .into_c()
}

/// Returns the name of an event type.
///
/// # Arguments
///
/// - `event`: an event type; unknown values are allowed.
///
/// # Description
///
/// The name is that of the constant in the header, for instance "RDMA_CM_EVENT_ESTABLISHED", or
/// "UNKNOWN EVENT".
///
/// # Return value
///
/// A static string, never NULL, which must not be changed or freed.
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rdma_get_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub extern "C" fn rdma_event_str(event: rdma_cm_event_type) -> *const c_char {
    event::event_name(event).as_ptr()
}

/// Queues an application-defined event on the channel of an id.
///
/// # Arguments
///
/// - `id`: the id that the event concerns.
/// - `event`: RDMA_CM_EVENT_USER.
/// - `status`: any value, returned as `status` of the event.
/// - `arg`: any value, returned as `param.arg` of the event.
///
/// # Description
///
/// rdma_get_cm_event returns the event in order with all others. A thread can use it to notify
/// the thread that handles events.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL, or `event` is not RDMA_CM_EVENT_USER.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel does not support the command.
///
/// {Errors: command}
///
/// # Notes
///
/// Requires a kernel that accepts events from applications (6.18 or later).
///
/// # Thread safety
///
/// Any thread may call this function while no thread destroys the id.
///
/// # See also
///
/// rdma_get_cm_event(3), rdma_create_event_channel(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_write_cm_event(
    id: *mut rdma_cm_id,
    event: rdma_cm_event_type,
    status: c_int,
    arg: u64,
) -> c_int {
    // SAFETY: a valid id pointer or NULL.
    unsafe { Id::from_c(id) }.and_then(|id| event::write(id, event, status, arg)).into_c()
}
