//! Whether an RDMA device could carry the traffic of an address. Answers are kept for a while: a
//! program that connects a thousand times asks the connection manager once.
//!
//! # Safety
//! System calls on a socket that is made and closed here.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::config;
use crate::lock::Lock;
use crate::real;
use crate::rsockets;
use libc::{SOCK_CLOEXEC, SOCK_DGRAM};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Devices and addresses seldom change.
const FRESH: Duration = Duration::from_secs(5);
/// A host that did not answer over RDMA is left alone for so long.
const SILENCE: Duration = Duration::from_secs(60);
const MOST: usize = 64;

/// Answers with the time until which they are good.
struct Answers(Lock<Vec<(IpAddr, bool, Instant)>>);

impl Answers {
    const fn new() -> Answers {
        Answers(Lock::new(Vec::new()))
    }

    fn find(&self, host: IpAddr) -> Option<bool> {
        let now = Instant::now();
        let known = self.0.lock();
        known.iter().find(|known| known.0 == host && now < known.2).map(|known| known.1)
    }

    fn keep(&self, host: IpAddr, answer: bool, lifetime: Duration) {
        let now = Instant::now();
        let mut known = self.0.lock();
        known.retain(|known| known.0 != host && now < known.2);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((host, answer, now + lifetime));
    }
}

static LOCAL: Answers = Answers::new();
static REACHED: Answers = Answers::new();
static SILENT: Answers = Answers::new();

/// Whether a local address is on a device; the wildcard, whether there is any device.
pub(crate) fn is_local(address: &Address) -> bool {
    let host = address.unmapped().host;
    if host.is_loopback() {
        return false;
    }
    if let Some(known) = LOCAL.find(host) {
        return known;
    }
    let found = if host.is_unspecified() {
        rsockets::has_device()
    } else {
        // SAFETY: an address in C's form.
        address.unmapped().with_port(0).with_raw(|raw, _| unsafe { rsockets::is_on_device(raw) })
    };
    LOCAL.keep(host, found, FRESH);
    found
}

/// Whether packets to a peer leave by a device.
pub(crate) fn reaches(peer: &Address) -> bool {
    let peer = peer.unmapped();
    if peer.is_loopback() || peer.is_wildcard() || peer.is_multicast() {
        return false;
    }
    if !config::get().require_rdma && SILENT.find(peer.host).is_some() {
        return false;
    }
    // The way to a link-local address depends on more than the address.
    let is_link_local = matches!(peer.host, IpAddr::V6(host) if host.is_unicast_link_local());
    if let Some(known) = REACHED.find(peer.host).filter(|_| !is_link_local) {
        return known;
    }
    let found = source_for(&peer).is_some_and(|source| is_local(&source));
    REACHED.keep(peer.host, found, FRESH);
    found
}

/// The peer's host did not answer in time.
pub(crate) fn was_silent(peer: &Address) {
    SILENT.keep(peer.unmapped().host, false, SILENCE);
}

/// The local address that packets to a peer leave from.
pub(crate) fn source_for(peer: &Address) -> Option<Address> {
    // SAFETY: addresses in C's form; the descriptor is closed here.
    unsafe {
        let fd = real::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if fd < 0 {
            return None;
        }
        // UDP has no port 0 to connect to; no packet is sent.
        let target = peer.with_port(peer.port.max(1));
        let connected = target.with_raw(|raw, length| real::connect(fd, raw, length));
        let source = if connected == 0 {
            Address::asked(|raw, length| real::getsockname(fd, raw, length))
        } else {
            None
        };
        real::close(fd);
        source
    }
}
