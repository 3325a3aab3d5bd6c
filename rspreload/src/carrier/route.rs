// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Whether an RDMA device leads to an address. Answers are cached for a while: a program that
//! connects a thousand times asks the connection manager once.
//!
//! # Safety
//! System calls on a socket that is made and closed here, with addresses in C's form.
#![allow(unsafe_code)]

use crate::sys::address::Address;
use crate::sys::{config, librdmacm, original};
use crate::table::decision::Reason;
use alloc::vec::Vec;
use base::lock::Mutex;
use base::memory::try_push;
use base::time::Instant;
use core::net::IpAddr;
use core::time::Duration;
use libc::{SOCK_CLOEXEC, SOCK_DGRAM};

/// How long an answer about devices and routes is used: they seldom change.
const CACHE_TIME: Duration = Duration::from_secs(5);
/// How long a host that did not answer over RDMA is connected to by TCP alone.
const SILENT_TIME: Duration = Duration::from_secs(60);
const CAPACITY: usize = 64;

/// Cached answers, each with the time until which it is used.
struct Answers(Mutex<Vec<(IpAddr, bool, Instant)>>);

impl Answers {
    const fn new() -> Answers {
        Answers(Mutex::new(Vec::new()))
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
        if known.len() >= CAPACITY {
            known.remove(0);
        }
        // Without memory the next connection asks again.
        let _ = try_push(&mut known, (host, answer, now + lifetime));
    }
}

static LOCAL: Answers = Answers::new();
static REACHABLE: Answers = Answers::new();
static SILENT: Answers = Answers::new();

/// Whether a local address is on a device; for the wildcard address, whether there is any device.
pub(super) fn check_local(address: &Address) -> Result<(), Reason> {
    let host = address.unmapped().host;
    if host.is_loopback() {
        return Err(Reason::Loopback);
    }
    if is_on_device(address, host) { Ok(()) } else { Err(Reason::NoDevice) }
}

fn is_on_device(address: &Address, host: IpAddr) -> bool {
    if let Some(known) = LOCAL.find(host) {
        return known;
    }
    let found = if host.is_unspecified() {
        librdmacm::has_device()
    } else {
        // SAFETY: an address in C's form.
        address.unmapped().with_port(0).with_raw(|raw, _| unsafe { librdmacm::is_on_device(raw) })
    };
    LOCAL.keep(host, found, CACHE_TIME);
    found
}

/// Whether packets to a peer leave through a device.
pub(super) fn check_peer(peer: &Address) -> Result<(), Reason> {
    let peer = peer.unmapped();
    // The wildcard address is this host, too.
    if peer.is_loopback() || peer.is_wildcard() {
        return Err(Reason::Loopback);
    }
    if peer.is_multicast() {
        return Err(Reason::Multicast);
    }
    if !config::get().require_rdma && SILENT.find(peer.host).is_some() {
        return Err(Reason::SilentHost);
    }
    if leads_to(&peer) { Ok(()) } else { Err(Reason::NoDevice) }
}

fn leads_to(peer: &Address) -> bool {
    // The route to a link-local address depends on its scope, too.
    let is_link_local = matches!(peer.host, IpAddr::V6(host) if host.is_unicast_link_local());
    if let Some(known) = REACHABLE.find(peer.host).filter(|_| !is_link_local) {
        return known;
    }
    let found = source_for(peer).is_some_and(|source| check_local(&source).is_ok());
    REACHABLE.keep(peer.host, found, CACHE_TIME);
    found
}

/// The peer's host did not answer in time.
pub(super) fn was_silent(peer: &Address) {
    SILENT.keep(peer.unmapped().host, false, SILENT_TIME);
}

/// The local address that packets to a peer leave from.
fn source_for(peer: &Address) -> Option<Address> {
    // SAFETY: addresses in C's form; the descriptor is closed here.
    unsafe {
        let fd = original::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if fd < 0 {
            return None;
        }
        // UDP has no port 0 to connect to; no packet is sent.
        let target = peer.with_port(peer.port.max(1));
        let connected = target.with_raw(|raw, length| original::connect(fd, raw, length));
        let source = if connected == 0 {
            Address::asked(|raw, length| original::getsockname(fd, raw, length))
        } else {
            None
        };
        original::close(fd);
        source
    }
}
