// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Fetches events from the kernel and does the library's part of each.

use super::{count, reason, traced};
use crate::cm::channel::DeviceFile;
use crate::cm::conn;
use crate::cm::id::{self, CmEvent, EventOwner, IDS, Id, MEMBERSHIPS, OwnedEvent};
use crate::cm::multicast;
use crate::cm::resolve;
use crate::lane;
use crate::types::*;
use crate::uapi::{self, Answer, abi};
use base::deadline::{Deadline, wait_ready};
use base::errno::{Errno, Result};
use base::log::Part;
use base::trace::{self, Value};
use base::{because, log};
use core::mem::MaybeUninit;
use probe::probe;

/// The next event of a channel that is for the application. EAGAIN and EINTR are the kernel's; with
/// a deadline there is ETIMEDOUT, even where other events were fetched and dropped before it.
pub(crate) fn next(file: &DeviceFile, deadline: Deadline) -> Result<OwnedEvent> {
    if trace::is_on() { next_traced(file, deadline) } else { fetch(file, deadline) }
}

/// How long the thread has waited for an event.
#[cold]
#[inline(never)]
fn next_traced(file: &DeviceFile, deadline: Deadline) -> Result<OwnedEvent> {
    let begin = lane::wait_begins();
    let fetched = fetch(file, deadline);
    if let (Some(begin), Ok(_)) = (begin, &fetched) {
        let channel = file.fd().unwrap_or(-1);
        trace::span(begin, &"wait for an event", &[("channel", Value::Number(channel.into()))]);
    }
    fetched
}

fn fetch(file: &DeviceFile, deadline: Deadline) -> Result<OwnedEvent> {
    let mut event = OwnedEvent::reserve()?;
    let mut room = MaybeUninit::uninit();
    loop {
        // An older kernel leaves fields out.
        let reported = abi::EventResponse::blank_in(&mut room);
        if deadline != Deadline::Never {
            wait_ready(file.fd()?, libc::POLLIN, deadline)?;
        }
        uapi::call_into(file.fd()?, abi::GetEvent { response: 0 }, reported)
            .map_err(not_fetched)?;
        if let Some(owner) = owner_of(reported) {
            event.begin(owner.id.as_c(), reported.event, reported.status as i32);
            if process(&owner, reported, &mut event).is_some() {
                if log::is_heard(Part::Cm) {
                    tell(&owner.id, &event);
                }
                count::event(&owner.id, &event);
                probe!(rdmacm, event, event.id(), event.event(), event.status());
                if ends_connect(event.event()) {
                    probe!(rdmacm, connect__done, event.id(), event.event(), event.status());
                }
                event.complete(owner);
                return Ok(event);
            }
        }
        event = OwnedEvent::reserve()?;
    }
}

/// To the log and the trace.
#[cold]
#[inline(never)]
fn tell(id: &Id, event: &CmEvent) {
    reason::report(id, event);
    if trace::is_on() {
        traced::event(id, event);
    }
}

/// Whether an event is the outcome of rdma_connect.
fn ends_connect(event: rdma_cm_event_type) -> bool {
    matches!(
        event,
        RDMA_CM_EVENT_ESTABLISHED
            | RDMA_CM_EVENT_CONNECT_ERROR
            | RDMA_CM_EVENT_UNREACHABLE
            | RDMA_CM_EVENT_REJECTED
    )
}

#[cold]
#[inline(never)]
fn not_fetched(error: Errno) -> Errno {
    // A channel that does not block has no event yet, or a signal came.
    if error == Errno::EAGAIN || error == Errno::EINTR {
        return error;
    }
    let reason = uapi::explain("GET_EVENT", error).unwrap_or("the kernel gives no reason");
    because!(error, "cannot fetch an event: {reason}")
}

/// Finds the id, or the membership, of an event. An event without one is dropped.
fn owner_of(reported: &abi::EventResponse) -> Option<EventOwner> {
    let found = match reported.event {
        RDMA_CM_EVENT_MULTICAST_JOIN | RDMA_CM_EVENT_MULTICAST_ERROR => {
            MEMBERSHIPS.acquire(reported.uid).and_then(|membership| {
                let id = IDS.acquire(membership.id_key())?;
                Some(EventOwner::of_membership(id, membership))
            })
        }
        _ => IDS.acquire(reported.uid).map(EventOwner::new),
    };
    if found.is_some() {
        return found;
    }
    let is_multicast =
        matches!(reported.event, RDMA_CM_EVENT_MULTICAST_JOIN | RDMA_CM_EVENT_MULTICAST_ERROR);
    // Memberships have handles of their own.
    let by_handle = if is_multicast { None } else { id::find_by_handle(reported.id) };
    match by_handle {
        // Old kernels could report the connection before they knew our number for it.
        Some(id) if reported.uid == 0 && reported.event == RDMA_CM_EVENT_ESTABLISHED => {
            Some(EventOwner::new(id))
        }
        other => {
            log!(Warn, "dropped event {} for handle {}: no such id", reported.event, reported.id);
            // The kernel counts it as reported, so it has to be counted as given back.
            drop(other.map(EventOwner::new));
            None
        }
    }
}

/// Does the library's part of an event; `None` where the application does not get it.
fn process(owner: &EventOwner, reported: &abi::EventResponse, event: &mut CmEvent) -> Option<()> {
    let id: &Id = &owner.id;
    match reported.event {
        RDMA_CM_EVENT_ADDR_RESOLVED => {
            if let Err(error) = address_resolved(id) {
                event.set_outcome(RDMA_CM_EVENT_ADDR_ERROR, -error.raw());
            }
        }
        RDMA_CM_EVENT_ROUTE_RESOLVED => {
            if let Err(error) = route_resolved(id) {
                event.set_outcome(RDMA_CM_EVENT_ROUTE_ERROR, -error.raw());
            }
        }
        RDMA_CM_EVENT_CONNECT_REQUEST => {
            copy_parameters(event, id, reported);
            match conn::take_request(id, reported) {
                Ok(child) => event.set_request(child.as_c()),
                Err(error) => {
                    because!(
                        error,
                        *id,
                        "rejected a connection request: no id could be made for it"
                    );
                    return None;
                }
            }
        }
        RDMA_CM_EVENT_CONNECT_RESPONSE => {
            event.set_conn(reported.conn());
            id.with(|state| state.remote_ece = (reported.ece.vendor_id, reported.ece.attr_mod));
            if let Some(queue_pair) = id.queue_pair() {
                match conn::confirm(id, queue_pair) {
                    Ok(()) => event.set_outcome(RDMA_CM_EVENT_ESTABLISHED, 0),
                    Err(error) => {
                        id.with(|state| state.connect_failed = true);
                        event.set_outcome(RDMA_CM_EVENT_CONNECT_ERROR, -error.raw());
                    }
                }
            }
        }
        RDMA_CM_EVENT_REJECTED => {
            if id.with(|state| state.connect_failed) {
                return None;
            }
            event.set_conn(reported.conn());
            id.with(|state| state.remote_ece = (reported.ece.vendor_id, reported.ece.attr_mod));
            // The connection is over, whether or not the queue pair can be moved.
            let _ = id.fail_queue_pair();
        }
        RDMA_CM_EVENT_DISCONNECTED => {
            if id.with(|state| state.connect_failed) {
                return None;
            }
            event.set_conn(reported.conn());
        }
        RDMA_CM_EVENT_MULTICAST_JOIN => {
            event.set_ud(reported.ud());
            if let Some(membership) = &owner.membership {
                event.set_join_context(membership.context());
                if let Err(error) = multicast::joined(id, membership, reported.ud()) {
                    event.set_outcome(RDMA_CM_EVENT_MULTICAST_ERROR, -error.raw());
                }
            }
        }
        RDMA_CM_EVENT_MULTICAST_ERROR => {
            if let Some(membership) = &owner.membership {
                event.set_join_context(membership.context());
            }
        }
        RDMA_CM_EVENT_ADDRINFO_RESOLVED => {
            if let Err(error) = resolve::service_found(id) {
                event.set_outcome(RDMA_CM_EVENT_ADDRINFO_ERROR, -error.raw());
            }
        }
        RDMA_CM_EVENT_ADDRINFO_ERROR => resolve::service_failed(id),
        RDMA_CM_EVENT_USER => event.set_arg(reported.arg()),
        // Only the library writes these. One of an abandoned question is given back at once.
        RDMA_CM_EVENT_INTERNAL => match resolve::take_names(id, reported.arg())? {
            Ok(()) => event.set_outcome(RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0),
            Err(error) => event.set_outcome(RDMA_CM_EVENT_ADDRINFO_ERROR, -error.raw()),
        },
        RDMA_CM_EVENT_DEVICE_REMOVAL => {
            copy_parameters(event, id, reported);
            id.retire_device();
        }
        _ => copy_parameters(event, id, reported),
    }
    Some(())
}

fn copy_parameters(event: &mut CmEvent, id: &Id, reported: &abi::EventResponse) {
    if id.is_datagram() {
        event.set_ud(reported.ud());
    } else {
        event.set_conn(reported.conn());
    }
}

/// ENODEV where the kernel resolved to no device: applications go on to use `id->verbs`.
fn address_resolved(id: &Id) -> Result<()> {
    id.query_addresses()?;
    id.context().map(|_| ()).map_err(|_| Errno::ENODEV)
}

fn route_resolved(id: &Id) -> Result<()> {
    let context = id.context().map_err(|_| Errno::ENODEV)?;
    // iWARP has no path records.
    if context.is_iwarp() { Ok(()) } else { id.query_paths() }
}
