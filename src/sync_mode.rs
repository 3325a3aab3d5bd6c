//! Synchronous ids: a call waits for its own event.
//!
//! Only the event that the call asked for is success. Events that end the operation are errors;
//! others (a changed address, the end of time-wait) are given back and the wait goes on. `deadline`
//! says how long it may take.

use crate::deadline;
use crate::endpoint;
use crate::error::{Errno, Result};
use crate::event::{self, Message};
use crate::id::Id;
use crate::types::*;
use std::time::Instant;

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

impl Id {
    /// The end of every call that starts something: nothing to do for asynchronous ids.
    pub(crate) fn finish(&self, operation: Operation) -> Result<()> {
        if !self.is_synchronous() {
            return Ok(());
        }
        let (message, result) = self.wait_for(operation)?;
        self.set_event(message.into_c());
        result
    }

    /// Waits for the event of `operation` or one that ends it.
    pub(crate) fn wait_for(&self, operation: Operation) -> Result<(Box<Message>, Result<()>)> {
        self.wait_until(operation, None)
    }

    /// As `wait_for`, with a deadline that holds whatever the environment says.
    pub(crate) fn wait_until(
        &self,
        operation: Operation,
        deadline: Option<Instant>,
    ) -> Result<(Box<Message>, Result<()>)> {
        self.drop_kept_event();
        let deadline = [deadline, deadline::from_now()].into_iter().flatten().min();
        let file = self.file();
        loop {
            let message = event::next(&file, deadline)?;
            match outcome(operation, message.event(), message.status()) {
                Outcome::Done => return Ok((message, Ok(()))),
                Outcome::Failed(error) => return Ok((message, Err(error))),
                Outcome::Unrelated => discard(message),
            }
        }
    }
}

/// Gives back an event that nobody waits for. A request among them is rejected: its id would be lost.
fn discard(message: Box<Message>) {
    let child = message.child();
    drop(message);
    if let Some(child) = child {
        endpoint::turn_away(child);
    }
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
