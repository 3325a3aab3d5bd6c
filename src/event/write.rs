//! Events that a program puts on a channel itself. Kernels before 6.18 cannot: ENOSYS.

use crate::error::{Errno, Result};
use crate::id::Id;
use crate::types::{RDMA_CM_EVENT_INTERNAL, RDMA_CM_EVENT_USER, rdma_cm_event_type};
use crate::uapi::{self, abi};

/// An event of the application's; no other type is its own.
pub(crate) fn write(id: &Id, event: rdma_cm_event_type, status: i32, arg: u64) -> Result<()> {
    if event != RDMA_CM_EVENT_USER {
        return Err(Errno::EINVAL);
    }
    let fd = id.fd()?;
    uapi::send(fd, abi::WriteCmEvent::new(id.handle(), event, status, arg))
        .map_err(|error| uapi::unless_unknown(fd, error))
}

/// An event of the library's, from a thread of the library.
pub(crate) fn write_internal(id: &Id, arg: u64) -> Result<()> {
    let command = abi::WriteCmEvent::new(id.handle(), RDMA_CM_EVENT_INTERNAL, 0, arg);
    id.while_in_channel(|fd| uapi::send(fd, command))
}
