// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Binding an id to a local address.

use super::cm_id::Id;
use crate::lane;
use crate::types::SocketAddress;
use crate::uapi::{self, abi};
use base::because;
use base::errno::{Errno, Result};

impl Id {
    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        let bind = |command: &mut abi::Bind| {
            command.id = self.handle();
            command.addr_size = command.addr.put(address);
            Ok(())
        };
        uapi::send_filled(self.fd()?, bind).map_err(|error| refused(self, address, error))?;
        self.note_family(address);
        self.lane().mark("bind", &[("local", lane::address(address))]);
        self.query_addresses()
    }
}

/// The address is not the id's yet.
#[cold]
#[inline(never)]
fn refused(id: &Id, address: &SocketAddress, error: Errno) -> Errno {
    let reason = uapi::explain("BIND", error).unwrap_or("the kernel gives no reason");
    because!(error, *id, "cannot bind to {address}: {reason}")
}
