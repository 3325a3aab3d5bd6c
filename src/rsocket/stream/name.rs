//! Addresses of a stream.

use super::{Phase, Stream};
use crate::error::{Errno, Result};
use crate::types::{AF_IB, SocketAddress};
use libc::{AF_INET, AF_INET6};

/// The address that stands for every one of the family, with port 0.
pub(super) fn any(family: i32) -> SocketAddress {
    let mut bytes = [0; 48];
    bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    let length = match family {
        AF_INET => 16,
        AF_INET6 => 28,
        AF_IB => 48,
        // Sockets of other families are not made.
        _ => 0,
    };
    SocketAddress::from_bytes(&bytes[..length]).unwrap_or_else(SocketAddress::unspecified)
}

impl Stream {
    pub(crate) fn local_name(&self) -> Result<SocketAddress> {
        self.check()?;
        Ok(self.inner.lock().local.unwrap_or_else(|| any(self.family)))
    }

    pub(crate) fn peer_name(&self) -> Result<SocketAddress> {
        self.check()?;
        let inner = self.inner.lock();
        match inner.phase {
            Phase::Connected => inner.peer.ok_or(Errno::ENOTCONN),
            _ => Err(Errno::ENOTCONN),
        }
    }
}
