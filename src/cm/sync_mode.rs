// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The verbs as C calls them: one that starts something waits for its event where the id is
//! synchronous (made without a channel).
//!
//! Success is the event of the verb. Events that end the operation are errors; others (a changed
//! address, the end of time-wait) are given back, and the wait goes on. `deadline` limits it.

use crate::addrinfo::AddrinfoQuestion;
use crate::cm::conn::{self, Parameters};
use crate::cm::event;
use crate::cm::id::{CmEvent, Id, OwnedEvent};
use crate::cm::multicast;
use crate::cm::resolve;
use crate::cm::sync_timeout::sync_timeout;
use crate::types::*;
use base::deadline::Deadline;
use base::errno::{Errno, Result, preserve_errno};
use libc::c_void;

/// What a synchronous id may wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    ResolveAddress,
    ResolveRoute,
    Connect,
    Accept,
    Disconnect,
    JoinMulticast,
    Request,
    ResolveAddrinfo,
}

#[derive(PartialEq, Eq, Debug)]
enum Outcome {
    Done,
    Failed(Errno),
    Unrelated,
}

/// What an event means to a call that waits for `operation`.
fn outcome(operation: Operation, event: rdma_cm_event_type, status: i32) -> Outcome {
    let asked_for = match operation {
        Operation::ResolveAddress => event == RDMA_CM_EVENT_ADDR_RESOLVED,
        Operation::ResolveRoute => event == RDMA_CM_EVENT_ROUTE_RESOLVED,
        // Without a queue pair of its own the library leaves the last step to the caller.
        Operation::Connect => {
            event == RDMA_CM_EVENT_ESTABLISHED || event == RDMA_CM_EVENT_CONNECT_RESPONSE
        }
        Operation::Accept => event == RDMA_CM_EVENT_ESTABLISHED,
        Operation::Disconnect => event == RDMA_CM_EVENT_DISCONNECTED,
        Operation::JoinMulticast => event == RDMA_CM_EVENT_MULTICAST_JOIN,
        Operation::Request => event == RDMA_CM_EVENT_CONNECT_REQUEST,
        Operation::ResolveAddrinfo => event == RDMA_CM_EVENT_ADDRINFO_RESOLVED,
    };
    if asked_for && status == 0 {
        return Outcome::Done;
    }
    let or = |default: Errno| if status == 0 { default } else { Errno::of(status) };
    match event {
        RDMA_CM_EVENT_REJECTED => Outcome::Failed(Errno::ECONNREFUSED),
        RDMA_CM_EVENT_DEVICE_REMOVAL => Outcome::Failed(or(Errno::ENODEV)),
        RDMA_CM_EVENT_UNREACHABLE => Outcome::Failed(or(Errno::EHOSTUNREACH)),
        RDMA_CM_EVENT_ADDR_ERROR
        | RDMA_CM_EVENT_ROUTE_ERROR
        | RDMA_CM_EVENT_CONNECT_ERROR
        | RDMA_CM_EVENT_ADDRINFO_ERROR => Outcome::Failed(or(Errno::EIO)),
        RDMA_CM_EVENT_MULTICAST_ERROR if operation == Operation::JoinMulticast => {
            Outcome::Failed(or(Errno::EIO))
        }
        RDMA_CM_EVENT_DISCONNECTED if operation != Operation::Disconnect => {
            Outcome::Failed(Errno::ECONNRESET)
        }
        _ if asked_for => Outcome::Failed(Errno::of(status)),
        _ => Outcome::Unrelated,
    }
}

/// The end of every verb that starts something: waits where the id is synchronous.
#[inline]
pub(crate) fn finish(id: &Id, operation: Operation) -> Result<()> {
    if id.is_synchronous() { wait_and_keep(id, operation) } else { Ok(()) }
}

#[inline(never)]
fn wait_and_keep(id: &Id, operation: Operation) -> Result<()> {
    preserve_errno(|| {
        let (event, result) = wait_for(id, operation, Deadline::Never)?;
        id.keep_event(event);
        result
    })
}

/// Waits for the event of `operation` or one that ends it, not longer than `deadline` and the limit
/// of the environment.
pub(crate) fn wait_for(
    id: &Id,
    operation: Operation,
    deadline: Deadline,
) -> Result<(OwnedEvent, Result<()>)> {
    let (_reading, mut early) = id.begin_reading();
    id.drop_kept_event();
    let deadline = deadline.earlier(sync_timeout().begin());
    let file = id.file();
    loop {
        let event = match early.take() {
            Some(event) => event,
            None => event::next(&file, deadline)?,
        };
        match outcome(operation, event.event(), event.status()) {
            Outcome::Done => return Ok((event, Ok(()))),
            Outcome::Failed(error) => return Ok((event, Err(error))),
            Outcome::Unrelated => discard(event),
        }
    }
}

/// Whether an event that no verb asked for is the end of the connection.
pub(crate) fn ends_connection(event: &CmEvent) -> bool {
    matches!(event.event(), RDMA_CM_EVENT_DISCONNECTED | RDMA_CM_EVENT_DEVICE_REMOVAL)
}

/// Gives back an unrelated event. A connection request is rejected, as its id would be lost.
pub(crate) fn discard(event: OwnedEvent) {
    let child = event.child();
    drop(event);
    if let Some(child) = child {
        conn::turn_away(child);
    }
}

/// rdma_resolve_addr.
pub(crate) fn resolve_address(
    id: &Id,
    source: Option<&SocketAddress>,
    destination: &SocketAddress,
    timeout_ms: i32,
) -> Result<()> {
    id.resolve_address(source, destination, timeout_ms)?;
    finish(id, Operation::ResolveAddress)
}

/// rdma_resolve_route.
pub(crate) fn resolve_route(id: &Id, timeout_ms: i32) -> Result<()> {
    id.resolve_route(timeout_ms)?;
    finish(id, Operation::ResolveRoute)
}

/// rdma_resolve_addrinfo. After a wait that was broken off the next question can begin at once.
pub(crate) fn resolve_addrinfo(id: &Id, question: &AddrinfoQuestion<'_>) -> Result<()> {
    resolve::start(id, question)?;
    finish(id, Operation::ResolveAddrinfo).inspect_err(|_| resolve::abandon_names(id))
}

/// rdma_connect.
pub(crate) fn connect(id: &Id, given: Option<Parameters<'_>>) -> Result<()> {
    id.connect(given)?;
    finish(id, Operation::Connect)
}

/// rdma_accept. For datagrams there is no event, and the kept request is given back.
pub(crate) fn accept(id: &Id, given: Option<Parameters<'_>>) -> Result<()> {
    id.accept(given)?;
    if !id.is_datagram() {
        return finish(id, Operation::Accept);
    }
    if id.is_synchronous() {
        id.drop_kept_event();
    }
    Ok(())
}

/// rdma_disconnect.
pub(crate) fn disconnect(id: &Id) -> Result<()> {
    id.disconnect()?;
    finish(id, Operation::Disconnect)
}

/// rdma_join_multicast.
pub(crate) fn join_multicast(
    id: &Id,
    address: &SocketAddress,
    join_flags: u32,
    context: *mut c_void,
) -> Result<()> {
    let membership = multicast::join(id, address, join_flags, context)?;
    finish(id, Operation::JoinMulticast).inspect_err(|_| multicast::abandon(id, membership))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_event_is_success() {
        let operations = [
            (Operation::ResolveAddress, RDMA_CM_EVENT_ADDR_RESOLVED),
            (Operation::ResolveRoute, RDMA_CM_EVENT_ROUTE_RESOLVED),
            (Operation::Connect, RDMA_CM_EVENT_ESTABLISHED),
            (Operation::Accept, RDMA_CM_EVENT_ESTABLISHED),
            (Operation::Disconnect, RDMA_CM_EVENT_DISCONNECTED),
            (Operation::JoinMulticast, RDMA_CM_EVENT_MULTICAST_JOIN),
            (Operation::Request, RDMA_CM_EVENT_CONNECT_REQUEST),
            (Operation::ResolveAddrinfo, RDMA_CM_EVENT_ADDRINFO_RESOLVED),
        ];
        for (operation, own) in operations {
            for event in 0..25 {
                let done = outcome(operation, event, 0) == Outcome::Done;
                let response =
                    operation == Operation::Connect && event == RDMA_CM_EVENT_CONNECT_RESPONSE;
                assert_eq!(done, event == own || response, "{operation:?} and event {event}");
                assert_ne!(outcome(operation, event, -5), Outcome::Done);
            }
        }
    }

    #[test]
    fn errors_are_positive_and_specific() {
        let failed = |event, status| outcome(Operation::Connect, event, status);
        assert_eq!(failed(RDMA_CM_EVENT_REJECTED, 28), Outcome::Failed(Errno::ECONNREFUSED));
        assert_eq!(failed(RDMA_CM_EVENT_UNREACHABLE, -110), Outcome::Failed(Errno::ETIMEDOUT));
        assert_eq!(failed(RDMA_CM_EVENT_DEVICE_REMOVAL, 0), Outcome::Failed(Errno::ENODEV));
        assert_eq!(failed(RDMA_CM_EVENT_CONNECT_ERROR, 22), Outcome::Failed(Errno::EINVAL));
        assert_eq!(failed(RDMA_CM_EVENT_DISCONNECTED, 0), Outcome::Failed(Errno::ECONNRESET));
        assert_eq!(failed(RDMA_CM_EVENT_ADDR_CHANGE, 0), Outcome::Unrelated);
        assert_eq!(failed(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0), Outcome::Unrelated);
    }
}
