// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Binding to an address of a list. rdma_getaddrinfo gives both wildcard addresses of a service,
//! and programs listen on each. The kernel lets two ids share a port that are each for one family:
//! the IPv4 wildcard is, and the IPv6 one when it is told so.

use crate::cm::id::{IDS, Id};
use crate::cm::option;
use crate::types::{RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, SocketAddress};
use base::errno::{Errno, Result};
use libc::{AF_INET, AF_INET6};

/// As `Id::bind`. Where an id of this process has the IPv4 wildcard of the port, an IPv6 wildcard
/// is for IPv6 alone.
pub(crate) fn bind(id: &Id, address: &SocketAddress) -> Result<()> {
    match id.bind(address) {
        Err(Errno::EADDRNOTAVAIL) if is_second(address) => {
            let on = &raw const ON;
            option::set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, on.cast(), size_of_val(&ON))?;
            id.bind(address)
        }
        bound => bound,
    }
}

static ON: i32 = 1;

fn is_second(address: &SocketAddress) -> bool {
    let first = SocketAddress::any(AF_INET).with_port(address.port());
    let is_first = |id: &Id| id.addresses().0.is_some_and(|source| source.is_same(&first));
    address.family() == AF_INET6
        && address.port() != 0
        && address.is_wildcard()
        && IDS.find(is_first).is_some()
}
