// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Events that a program puts on a channel itself. Kernels before 6.18 cannot: ENOSYS.

use crate::cm::id::Id;
use crate::types::{RDMA_CM_EVENT_USER, rdma_cm_event_type};
use crate::uapi::{self, abi};
use base::errno::Result;
use base::fail;

/// An event of the application's; no other type is its own.
pub(crate) fn write(id: &Id, event: rdma_cm_event_type, status: i32, arg: u64) -> Result<()> {
    if event != RDMA_CM_EVENT_USER {
        return Err(fail!(
            EINVAL,
            *id,
            "rdma_write_cm_event: {event} is not RDMA_CM_EVENT_USER, which alone is the application's"
        ));
    }
    let fd = id.fd()?;
    uapi::send(fd, abi::WriteCmEvent::new(id.handle(), event, status, arg))
        .map_err(|error| id.refused("WRITE_CM_EVENT", uapi::unless_unknown(fd, error)))
}
