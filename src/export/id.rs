// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rdma_cma.h>`: identifiers and their options.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::cm::channel::Channel;
use crate::cm::id::{self, Id};
use crate::cm::option;
use crate::lane::Kind;
use crate::types::{rdma_cm_id, rdma_event_channel, rdma_port_space};
use base::errno::preserve_errno;
use libc::{c_int, c_void};

/// Creates an identifier.
///
/// # Arguments
///
/// - `channel`: the channel that reports the id's events; NULL creates a synchronous id.
/// - `id`: where the id is returned, which the caller owns until rdma_destroy_id. Unchanged on
///   failure.
/// - `context`: application context, stored in `id->context`.
/// - `ps`: RDMA_PS_TCP for reliable connections, RDMA_PS_UDP or RDMA_PS_IPOIB for datagrams,
///   RDMA_PS_IB for any type of queue pair.
///
/// # Description
///
/// An id is the RDMA equivalent of a socket: it is bound to an address, connects or listens, and
/// has a queue pair. It is bound to a device when it is bound to an address of the device, or
/// when its destination is resolved.
///
/// Calls that start an operation return immediately, and an event reports the result. With a
/// synchronous id they wait for the event, which `id->event` holds until the next such call.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EBADF`: the channel was closed.
/// - `EINVAL`: `id` is NULL, or `ps` is not one of the four.
/// - `ENODATA`: the kernel did not accept the whole command.
/// - `ENOMEM`: out of memory.
///
/// {Errors: child of fork | channel}
///
/// With `channel` NULL also the errors of rdma_create_event_channel.
///
/// # Notes
///
/// `id->qp_type` is IBV_QPT_UD for RDMA_PS_UDP and RDMA_PS_IPOIB, otherwise IBV_QPT_RC.
/// rdma_create_ep creates ids with other types.
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rdma_destroy_id(3), rdma_create_ep(3), rdma_bind_addr(3), rdma_resolve_addr(3),
/// rdma_migrate_id(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_id(
    channel: *mut rdma_event_channel,
    id: *mut *mut rdma_cm_id,
    context: *mut c_void,
    ps: rdma_port_space,
) -> c_int {
    // SAFETY: a place for the id and a valid channel pointer, or NULL.
    let (place, channel) = unsafe { (arg::out(id), Channel::from_c(channel)) };
    place
        .and_then(|place| {
            let qp_type = id::default_qp_type(ps);
            let made =
                preserve_errno(|| id::create(channel.as_deref().ok(), context, ps, qp_type))?;
            made.lane().begin(Kind::Id, made.handle() as i32, &[]);
            *place = made.as_c();
            Ok(())
        })
        .into_c()
}

/// Destroys an identifier.
///
/// # Arguments
///
/// - `id`: the id, which becomes invalid.
///
/// # Description
///
/// Cancels outstanding operations of the id, leaves its multicast groups and frees it. Waits
/// until every event of the id that rdma_get_cm_event returned is acknowledged. Events that were
/// not fetched are discarded.
///
/// {Return value: zero}
/// The id is destroyed in either case.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL.
/// - `ENOENT`: the kernel does not know the id.
/// - `ETIMEDOUT`: an event was not acknowledged before the limit `RDMACM_SYNC_TIMEOUT_MS`
///   expired. It may be acknowledged later.
///
/// # Notes
///
/// Before this call, destroy the queue pair and the shared receive queue of the id with
/// rdma_destroy_qp and rdma_destroy_srq, and acknowledge its events. The thread that handles
/// events must not call rdma_destroy_id before rdma_ack_cm_event: the call would wait forever.
///
/// In a child of fork the call frees the child's copy; the connection stays with the parent.
///
/// # Thread safety
///
/// No other thread may be in a call with the id, except for rdma_get_cm_event and
/// rdma_ack_cm_event.
///
/// # See also
///
/// rdma_create_id(3), rdma_destroy_ep(3), rdma_destroy_qp(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: a valid id pointer or NULL, not used again.
    unsafe { Id::from_c(id).and_then(|id| preserve_errno(|| id.destroy())) }.into_c()
}

/// Moves an identifier to another event channel.
///
/// # Arguments
///
/// - `id`: the id.
/// - `channel`: the new channel; NULL makes the id synchronous.
///
/// # Description
///
/// Pending events of the id move to the new channel. Waits until every event of the id that was
/// fetched from the old channel is acknowledged. A synchronous id that is moved to a channel
/// becomes asynchronous, and the event in `id->event` is acknowledged. A child of fork may move an
/// inherited id to a channel of its own while its parent lives; the id is the child's from then on.
///
/// {Return value: zero}
/// On failure the id stays on its channel, except for `ETIMEDOUT`.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL, or `channel` is NULL and the id is synchronous already.
/// - `ENOENT`: the kernel does not know the id.
///
/// {Errors: command}
/// {Errors: unacknowledged event | the id was moved}
///
/// With `channel` NULL also the errors of rdma_create_event_channel.
///
/// {Thread safety: one thread per id}
/// Other threads may be in rdma_get_cm_event and rdma_ack_cm_event with both channels.
///
/// # See also
///
/// rdma_create_event_channel(3), rdma_create_id(3), rdma_ack_cm_event(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_migrate_id(
    id: *mut rdma_cm_id,
    channel: *mut rdma_event_channel,
) -> c_int {
    // SAFETY: a valid id pointer and a valid channel pointer, or NULL.
    let (id, channel) = unsafe { (Id::from_c(id), Channel::from_c(channel)) };
    id.and_then(|id| preserve_errno(|| id.migrate(channel.as_deref().ok()))).into_c()
}

/// Sets an option of an identifier.
///
/// # Arguments
///
/// - `id`: the id.
/// - `level`: RDMA_OPTION_ID or RDMA_OPTION_IB.
/// - `optname`: the option, see below.
/// - `optval`: the value. Only read during the call.
/// - `optlen`: size of the value in bytes.
///
/// # Description
///
/// Level RDMA_OPTION_ID:
///
/// - `RDMA_OPTION_ID_TOS`: uint8_t, type of service of the connection's packets.
/// - `RDMA_OPTION_ID_REUSEADDR`: int, nonzero allows several ids to bind to one address, as
///   SO_REUSEADDR does.
/// - `RDMA_OPTION_ID_AFONLY`: int, nonzero restricts an IPv6 wildcard address to IPv6, as
///   IPV6_V6ONLY does.
/// - `RDMA_OPTION_ID_ACK_TIMEOUT`: uint8_t from 0 to 31, the acknowledge timeout of the queue
///   pair: 4.096 us times 2 to the power of the value.
///
/// Level RDMA_OPTION_IB:
///
/// - `RDMA_OPTION_IB_PATH`: array of struct ibv_path_data, replaces rdma_resolve_route.
///   RDMA_CM_EVENT_ROUTE_RESOLVED is reported.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EFAULT`: `optval` does not point to `optlen` bytes.
/// - `EINVAL`: `id` is NULL, the length or the value is invalid, or the option can no longer be
///   set in the id's state.
/// - `ENOENT`: the kernel does not know the id.
/// - `ENOMEM`: out of memory.
/// - `ENOSYS`: the kernel does not know the level or the option.
///
/// {Errors: command}
///
/// # Notes
///
/// The kernel checks level, option and value, so that options of newer kernels work too. The call
/// never waits for an event, not even with a synchronous id.
///
/// {Thread safety: one thread per id}
///
/// # See also
///
/// rdma_create_id(3), rdma_bind_addr(3), rdma_resolve_route(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_set_option(
    id: *mut rdma_cm_id,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: usize,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the kernel copies the value and checks its address.
    unsafe { Id::from_c(id) }
        .and_then(|id| option::set(id, level, optname, optval, optlen))
        .into_c()
}
