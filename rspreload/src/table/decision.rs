// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Which way a socket went, and why: text for RS_STATS and RDMACM_LOG.

use crate::sys::address::Address;
use base::counters::layout::*;
use base::counters::{Words, count};
use base::errno::Errno;
use core::fmt::{self, Display, Formatter};
use core::net::SocketAddr;
use libc::c_int;

/// Why a socket is not carried by RDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The kernel's route to the peer leaves through no RDMA device, or the local address is on
    /// none.
    NoDevice,
    Loopback,
    /// Multicast or broadcast.
    Multicast,
    /// The host did not answer an earlier connection, less than a minute ago.
    SilentHost,
    /// The attempt over RDMA has ended with this error.
    Refused(Errno),
    /// The peer did not answer in time.
    NoAnswer,
    /// preload_config leaves the socket out.
    Configuration,
    /// The program asked for an option that only the kernel's socket has.
    Option(&'static str),
    /// The port of a service that never uses rsockets.
    Service(u16),
    /// No rsocket could be made.
    Unavailable(Errno),
    /// The client connected by TCP.
    Client,
    /// The descriptor was sent to another process while the connection was pending.
    HandedOver,
    /// Another process has the port over RDMA.
    PortInUse,
    /// This process did not accept a request in time.
    NotAccepted,
}

impl Reason {
    /// Why RDMA does not carry a connection whose attempt has ended with that error.
    pub(crate) fn of_attempt(error: Errno) -> Reason {
        if error == Errno::ETIMEDOUT { Reason::NoAnswer } else { Reason::Refused(error) }
    }

    fn count(self, words: &Words) {
        let counter = match self {
            Reason::NoDevice => PRELOAD_NO_DEVICE,
            Reason::Loopback => PRELOAD_LOOPBACK,
            Reason::Multicast => PRELOAD_MULTICAST,
            Reason::SilentHost => PRELOAD_SILENT_HOST,
            Reason::Refused(error) => return words.error(PRELOAD_REFUSED, error),
            Reason::NoAnswer => PRELOAD_NO_ANSWER,
            Reason::Configuration => PRELOAD_CONFIGURATION,
            Reason::Option(_) => PRELOAD_OPTION,
            Reason::Service(_) => PRELOAD_SERVICE,
            Reason::Unavailable(error) => return words.error(PRELOAD_UNAVAILABLE, error),
            Reason::Client => PRELOAD_CLIENT,
            Reason::HandedOver => PRELOAD_HANDED_OVER,
            Reason::PortInUse => PRELOAD_PORT_IN_USE,
            Reason::NotAccepted => PRELOAD_NOT_ACCEPTED,
        };
        words.add(counter, 1);
    }
}

impl Display for Reason {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let text = match self {
            Reason::NoDevice => "no RDMA device leads there",
            Reason::Loopback => "loopback",
            Reason::Multicast => "multicast or broadcast",
            Reason::SilentHost => "the host was silent over RDMA within the last minute",
            Reason::Refused(error) => return write!(to, "refused over RDMA: {error}"),
            Reason::NoAnswer => "no answer over RDMA in time",
            Reason::Configuration => "left out by preload_config",
            Reason::Option(name) => return write!(to, "{name} was asked for"),
            Reason::Service(port) => return write!(to, "port {port} is that of a service on UDP"),
            Reason::Unavailable(error) => return write!(to, "RDMA is not available: {error}"),
            Reason::Client => "the client connected by TCP",
            Reason::HandedOver => "sent to another process while connecting",
            Reason::PortInUse => "another process has the port over RDMA",
            Reason::NotAccepted => "the process did not accept in time",
        };
        to.write_str(text)
    }
}

/// What was decided about a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Rdma,
    /// TCP or UDP.
    Kernel(Reason),
    /// Neither: RDMA is required.
    Failed(Reason),
}

impl Way {
    /// In the counters of the process (`RDMACM_STATS`).
    pub(crate) fn count(self) {
        count(|words| match self {
            Way::Rdma => words.add(PRELOAD_RDMA, 1),
            Way::Kernel(reason) => {
                words.add(PRELOAD_KERNEL, 1);
                reason.count(words);
            }
            Way::Failed(reason) => {
                words.add(PRELOAD_FAILED, 1);
                reason.count(words);
            }
        });
    }
}

/// The address that a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The peer of a socket that connects or sends.
    To(Address),
    /// The peer of an accepted connection.
    From(Address),
    /// The local address of a listener, or of a bound datagram socket.
    At(Address),
    Unknown,
}

impl Display for Place {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let (word, address) = match self {
            Place::To(address) => ("to", address),
            Place::From(address) => ("from", address),
            Place::At(address) => ("at", address),
            Place::Unknown => return Ok(()),
        };
        write!(to, " {word} {}", SocketAddr::new(address.unmapped().host, address.port))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) way: Way,
    pub(crate) place: Place,
}

/// A decision as text, with the socket that it is about.
pub(crate) struct Described {
    /// "stream", "listener" or "datagram".
    pub(crate) kind: &'static str,
    pub(crate) number: u64,
    pub(crate) fd: c_int,
    pub(crate) decision: Option<Decision>,
}

impl Display for Described {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let Described { kind, number, fd, decision } = self;
        write!(to, "{kind} {number} fd {fd}")?;
        let Some(Decision { way, place }) = decision else { return to.write_str(" unused") };
        let kernel = if *kind == "datagram" { "UDP" } else { "TCP" };
        match way {
            Way::Rdma if *kind == "listener" => write!(to, "{place} by RDMA and TCP"),
            Way::Rdma => write!(to, "{place} by RDMA"),
            Way::Kernel(reason) => write!(to, "{place} by {kernel} ({reason})"),
            Way::Failed(reason) => write!(to, "{place} failed, RDMA is required ({reason})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn a_line_names_the_socket_the_peer_and_the_reason() {
        let place = Place::To(Address::new(Ipv4Addr::new(10, 9, 0, 1).into(), 80));
        let said = |kind, way: Option<Way>| {
            let decision = way.map(|way| Decision { way, place });
            Described { kind, number: 3, fd: 5, decision }.to_string()
        };
        assert_eq!(said("stream", Some(Way::Rdma)), "stream 3 fd 5 to 10.9.0.1:80 by RDMA");
        let loopback = Some(Way::Kernel(Reason::Loopback));
        assert_eq!(said("datagram", loopback), "datagram 3 fd 5 to 10.9.0.1:80 by UDP (loopback)");
        let refused = Some(Way::Failed(Reason::Refused(Errno::ECONNREFUSED)));
        let end = "failed, RDMA is required (refused over RDMA: ECONNREFUSED)";
        assert_eq!(said("stream", refused), format!("stream 3 fd 5 to 10.9.0.1:80 {end}"));
        assert_eq!(said("stream", None), "stream 3 fd 5 unused");
    }
}
