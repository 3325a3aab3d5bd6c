// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Events in the log: each at level info; one that reports a failure as a warning, with what its status
//! means and the remedy. rdma_status(7) says the same at length.

use super::describe::event_name;
use crate::cm::id::{CmEvent, Id};
use crate::types::*;
use base::errno::Errno;
use base::log::{Level, Part};
use base::{because, log};
use core::fmt;

/// Writes the event as the application gets it, where the log is on.
#[cold]
pub(super) fn report(id: &Id, event: &CmEvent) {
    if !log::enabled(Part::Cm, Level::Warn) {
        return;
    }
    let name = event_name(event.event()).to_str().unwrap_or_default();
    let status = event.status();
    match meaning(event.event(), status, id.is_on_iwarp()) {
        Some((_, Errno::ETIMEDOUT)) if is_repeated(id, event) => {
            log!(Debug, *id, "{name}, status {status}: once more");
        }
        Some((_, error)) if event.event() == RDMA_CM_EVENT_UNREACHABLE && id.is_port_down() => {
            let port = id.port_num();
            because!(
                error,
                *id,
                "{name}, status {status}: port {port} of this side's own device is down: `rdma link`, the \
                 cable, and `ip link` of its interface"
            );
        }
        Some((reason, error)) => {
            let data = Data(event.private_data());
            because!(error, *id, "{name}, status {status}: {reason}{data}");
        }
        None => match event.child() {
            Some(child) => log!(Info, *child, "{name} for {}", *id),
            None => log!(Info, *id, "{name}, status {status}"),
        },
    }
}

/// A further try of rconnect's.
fn is_repeated(id: &Id, event: &CmEvent) -> bool {
    matches!(event.event(), RDMA_CM_EVENT_ADDR_ERROR | RDMA_CM_EVENT_ROUTE_ERROR)
        && id.with(|state| state.is_resolved_again)
}

/// What a failure means, and its errno; None for an event that is none.
fn meaning(
    event: rdma_cm_event_type,
    status: i32,
    is_iwarp: bool,
) -> Option<(&'static str, Errno)> {
    let error = |default| if status == 0 { default } else { Errno::of(status) };
    Some(match event {
        RDMA_CM_EVENT_ADDR_ERROR => {
            let error = error(Errno::EHOSTUNREACH);
            (address_error(error), error)
        }
        RDMA_CM_EVENT_ROUTE_ERROR => match error(Errno::EHOSTUNREACH) {
            Errno::ETIMEDOUT => {
                ("the subnet manager does not answer: is it running (sminfo)?", Errno::ETIMEDOUT)
            }
            error => ("the subnet manager knows no path to the address", error),
        },
        RDMA_CM_EVENT_UNREACHABLE if status > 0 => (datagram_reason(status), Errno::EHOSTUNREACH),
        RDMA_CM_EVENT_UNREACHABLE => (
            "the peer does not answer the request: its machine is down, has no connection manager \
             (module rdma_cm), or packets are dropped (on RoCE: UDP port 4791 in a firewall, or the \
             MTU), or the backlog of its listener stays full",
            error(Errno::ETIMEDOUT),
        ),
        RDMA_CM_EVENT_REJECTED if is_iwarp || status < 0 => (
            "the peer refuses: nobody listens on the port at this address, or its program has called \
             rdma_reject",
            Errno::ECONNREFUSED,
        ),
        RDMA_CM_EVENT_REJECTED => (reject_reason(status), Errno::ECONNREFUSED),
        RDMA_CM_EVENT_CONNECT_ERROR => (
            "the peer has answered, but the connection failed on this side, for example because the \
             queue pair could not change its state",
            error(Errno::ECONNABORTED),
        ),
        RDMA_CM_EVENT_DEVICE_REMOVAL => (
            "the device is being removed (its driver is unloaded, or it left the network namespace): \
             destroy the id",
            error(Errno::ENODEV),
        ),
        RDMA_CM_EVENT_MULTICAST_ERROR => (
            "the group could not be joined, or the membership was lost: join again",
            error(Errno::EIO),
        ),
        RDMA_CM_EVENT_ADDRINFO_ERROR => {
            ("the name or service could not be resolved", error(Errno::ENOENT))
        }
        _ => return None,
    })
}

fn address_error(error: Errno) -> &'static str {
    match error {
        Errno::ENODEV => {
            "the route to the address leads over no RDMA device, or its port has no GID for the \
             source address: `ip route get ADDRESS` and `rdma link` name the interfaces, `rdmacm-info \
             route ADDRESS` says which device fits"
        }
        Errno::ENETUNREACH | Errno::EHOSTUNREACH => {
            "the machine has no route to the address: `ip route get ADDRESS`"
        }
        Errno::ETIMEDOUT => {
            "the neighbour does not answer (ARP or neighbour discovery): the machine is down, or the \
             address is of another network"
        }
        Errno::EADDRNOTAVAIL => "the source address is no address of this machine",
        _ => "the address could not be resolved",
    }
}

fn reject_reason(status: i32) -> &'static str {
    match status {
        1 => "no queue pair: the peer has none left",
        3 => "no resources: the peer or its kernel lacks memory or device resources",
        4 => "timeout: the peer waited in vain for the next message of the handshake",
        5 => "unsupported request: the peer's connection manager does not know the request",
        6 => "invalid communication ID: the connection is not known any more, one side restarted",
        7 => "invalid communication instance: the IDs do not belong together",
        8 => {
            "invalid service ID: no id listens on the port at this address: the server does not run, or \
             the port, the address or the port space is wrong"
        }
        9 => "invalid transport service type: the listener has another type of queue pair",
        10 => {
            "stale connection: the peer still has the last one with this queue pair; connect again"
        }
        12..=17 => {
            "invalid path: the GID, LID, service level, traffic class, hop limit or packet rate does \
             not fit the peer's port"
        }
        18..=23 => "invalid alternate path",
        24 | 25 => "redirection: the service is at another port",
        26 => "invalid path MTU: the peer's port cannot use it",
        27 => "insufficient responder resources: ask for a smaller initiator_depth",
        28 => {
            "consumer reject: the peer's program has called rdma_reject; its private data, if any, says \
             why"
        }
        29 => "invalid RNR retry count",
        30 => "duplicate local communication ID",
        31 => "invalid class version: the peer speaks another version of the protocol",
        32 | 33 => "invalid flow label",
        35 => "vendor option not supported: the peer needs an extension (ECE) that is not offered",
        _ => "for a reason that rdma_status(7) does not know",
    }
}

fn datagram_reason(status: i32) -> &'static str {
    match status {
        1 => "service not supported: no id listens on the port",
        2 => "rejected by the service: the peer's program has called rdma_reject",
        3 => "no queue pair: the peer has none for this service",
        4 => "redirected: the service is elsewhere",
        5 => "version not supported: the peer speaks another version of the protocol",
        _ => "for a reason that rdma_status(7) does not know",
    }
}

/// The start of what the peer sent, as text; the transport pads it with zeros.
struct Data<'a>(&'a [u8]);

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        let length = self.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let (Some(data), 1..) = (self.0.get(..length.min(SHOWN)), length) else { return Ok(()) };
        write!(f, "; private data \"{}\"", data.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_a_reason_and_an_errno() {
        for event in 0..25 {
            let failed = matches!(
                event,
                RDMA_CM_EVENT_ADDR_ERROR
                    | RDMA_CM_EVENT_ROUTE_ERROR
                    | RDMA_CM_EVENT_CONNECT_ERROR
                    | RDMA_CM_EVENT_UNREACHABLE
                    | RDMA_CM_EVENT_REJECTED
                    | RDMA_CM_EVENT_DEVICE_REMOVAL
                    | RDMA_CM_EVENT_MULTICAST_ERROR
                    | RDMA_CM_EVENT_ADDRINFO_ERROR
            );
            assert_eq!(meaning(event, 0, false).is_some(), failed, "{event}");
        }
        let errno = |event, status| meaning(event, status, false).map(|(_, error)| error);
        assert_eq!(errno(RDMA_CM_EVENT_REJECTED, 8), Some(Errno::ECONNREFUSED));
        assert_eq!(errno(RDMA_CM_EVENT_ADDR_ERROR, -libc::ENODEV), Some(Errno::ENODEV));
        assert_eq!(errno(RDMA_CM_EVENT_UNREACHABLE, 0), Some(Errno::ETIMEDOUT));
    }

    #[test]
    fn what_the_peer_sends_is_shown_as_text() {
        assert_eq!(format!("{}", Data(&[0; 148])), "");
        assert_eq!(
            format!("{}", Data(b"no\n\"\x1b\xff\0\0")),
            "; private data \"no\\n\\\"\\x1b\\xff\""
        );
        assert!(format!("{}", Data(&[b'a'; 148])).len() < 90);
    }
}
