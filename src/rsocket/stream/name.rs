//! Addresses of a stream.

use super::{Phase, Stream};
use crate::error::{Errno, Result};
use crate::types::SocketAddress;

impl Stream {
    pub(crate) fn local_name(&self) -> Result<SocketAddress> {
        self.check()?;
        Ok(self.inner.lock().local.unwrap_or_else(|| SocketAddress::any(self.family)))
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
