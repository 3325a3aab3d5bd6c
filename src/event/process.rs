//! Reads events from the kernel and does the library's part of each.

use super::DeviceFile;
use super::message::{Message, Report};
use crate::addrinfo;
use crate::conn;
use crate::deadline;
use crate::error::{Errno, Result};
use crate::id::{self, IDS, Id};
use crate::log;
use crate::multicast::{self, MEMBERSHIPS};
use crate::types::*;
use crate::uapi::{self, Answer, abi};
use std::time::Instant;

/// The next event of a channel that is for the application. EAGAIN and EINTR come as the kernel
/// gives them; with a deadline there is ETIMEDOUT too, whatever was dropped meanwhile.
pub(crate) fn next(file: &DeviceFile, deadline: Option<Instant>) -> Result<Box<Message>> {
    let mut message = Message::reserve()?;
    let mut event = abi::EventResponse::blank();
    loop {
        if let Some(deadline) = deadline {
            deadline::wait_ready(file.fd()?, libc::POLLIN, deadline)?;
        }
        uapi::call_into(file.fd()?, abi::GetEvent { response: 0 }, &mut event)?;
        if let Some(report) = owner_of(&event) {
            message.begin(report.id.as_c(), event.event, event.status as i32);
            if process(&report, &event, &mut message).is_some() {
                message.complete(report);
                return Ok(message);
            }
        }
        // Rare: what an older kernel does not write of the next one must not be of this one.
        message = Message::reserve()?;
        event = abi::EventResponse::blank();
    }
}

/// Finds whose event it is. What belongs to nobody is dropped, as the kernel should have done.
fn owner_of(event: &abi::EventResponse) -> Option<Report> {
    let found = match event.event {
        RDMA_CM_EVENT_MULTICAST_JOIN | RDMA_CM_EVENT_MULTICAST_ERROR => {
            MEMBERSHIPS.acquire(event.uid).and_then(|membership| {
                let id = IDS.acquire(membership.id_key())?;
                Some(Report::of_membership(id, membership))
            })
        }
        _ => IDS.acquire(event.uid).map(Report::new),
    };
    if found.is_some() {
        return found;
    }
    let is_multicast =
        matches!(event.event, RDMA_CM_EVENT_MULTICAST_JOIN | RDMA_CM_EVENT_MULTICAST_ERROR);
    // Memberships have handles of their own.
    let by_handle = if is_multicast { None } else { id::find_by_handle(event.id) };
    match by_handle {
        // Old kernels could report the connection before they knew our number for it.
        Some(id) if event.uid == 0 && event.event == RDMA_CM_EVENT_ESTABLISHED => {
            Some(Report::new(id))
        }
        other => {
            log::line(format_args!(
                "dropped event {} for handle {}: no such id",
                event.event, event.id
            ));
            // Counted as reported by the kernel, so it has to be counted as given back.
            drop(other.map(Report::new));
            None
        }
    }
}

/// Does the library's part of an event; `None` when the application has nothing to learn.
fn process(report: &Report, event: &abi::EventResponse, message: &mut Message) -> Option<()> {
    let id: &Id = &report.id;
    match event.event {
        RDMA_CM_EVENT_ADDR_RESOLVED => {
            if let Err(error) = address_resolved(id) {
                message.set_outcome(RDMA_CM_EVENT_ADDR_ERROR, -error.raw());
            }
        }
        RDMA_CM_EVENT_ROUTE_RESOLVED => {
            if let Err(error) = route_resolved(id) {
                message.set_outcome(RDMA_CM_EVENT_ROUTE_ERROR, -error.raw());
            }
        }
        RDMA_CM_EVENT_CONNECT_REQUEST => {
            copy_parameters(message, id, event);
            match conn::take_request(id, event) {
                Ok(child) => message.set_request(child.as_c()),
                Err(error) => {
                    log::line(format_args!("rejected a connection request: {error}"));
                    return None;
                }
            }
        }
        RDMA_CM_EVENT_CONNECT_RESPONSE => {
            message.set_conn(event.conn());
            id.with(|state| state.remote_ece = (event.ece.vendor_id, event.ece.attr_mod));
            if id.has_queue_pair() {
                match conn::confirm(id) {
                    Ok(()) => message.set_outcome(RDMA_CM_EVENT_ESTABLISHED, 0),
                    Err(error) => {
                        id.with(|state| state.connect_failed = true);
                        message.set_outcome(RDMA_CM_EVENT_CONNECT_ERROR, -error.raw());
                    }
                }
            }
        }
        RDMA_CM_EVENT_REJECTED => {
            if id.with(|state| state.connect_failed) {
                return None;
            }
            message.set_conn(event.conn());
            id.with(|state| state.remote_ece = (event.ece.vendor_id, event.ece.attr_mod));
            // The connection is over whether or not the queue pair can be told.
            let _ = conn::fail_queue_pair(id);
        }
        RDMA_CM_EVENT_DISCONNECTED => {
            if id.with(|state| state.connect_failed) {
                return None;
            }
            message.set_conn(event.conn());
        }
        RDMA_CM_EVENT_MULTICAST_JOIN => {
            message.set_ud(event.ud());
            if let Some(membership) = &report.membership {
                message.set_join_context(membership.context());
                if let Err(error) = multicast::joined(id, membership, event.ud()) {
                    message.set_outcome(RDMA_CM_EVENT_MULTICAST_ERROR, -error.raw());
                }
            }
        }
        RDMA_CM_EVENT_MULTICAST_ERROR => {
            if let Some(membership) = &report.membership {
                message.set_join_context(membership.context());
            }
        }
        RDMA_CM_EVENT_ADDRINFO_RESOLVED => {
            if let Err(error) = addrinfo::service_found(id) {
                message.set_outcome(RDMA_CM_EVENT_ADDRINFO_ERROR, -error.raw());
            }
        }
        RDMA_CM_EVENT_ADDRINFO_ERROR => addrinfo::service_failed(id),
        RDMA_CM_EVENT_USER => message.set_arg(event.arg()),
        // Only the library writes these; one that nobody waits for is given back at once.
        RDMA_CM_EVENT_INTERNAL => match addrinfo::take_names(id, event.arg())? {
            Ok(()) => message.set_outcome(RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0),
            Err(error) => message.set_outcome(RDMA_CM_EVENT_ADDRINFO_ERROR, -error.raw()),
        },
        RDMA_CM_EVENT_DEVICE_REMOVAL => {
            copy_parameters(message, id, event);
            id.retire_device();
        }
        _ => copy_parameters(message, id, event),
    }
    Some(())
}

fn copy_parameters(message: &mut Message, id: &Id, event: &abi::EventResponse) {
    if id.is_datagram() {
        message.set_ud(event.ud());
    } else {
        message.set_conn(event.conn());
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
