//! Options of an id.

use crate::error::Result;
use crate::id::Id;
use crate::uapi::{self, abi};
use libc::c_void;

/// Passes an option to the kernel, which checks level, name and length.
pub(crate) fn set(
    id: &Id,
    level: i32,
    name: i32,
    value: *const c_void,
    length: usize,
) -> Result<()> {
    uapi::send(
        id.fd()?,
        abi::SetOption {
            optval: value as u64,
            id: id.handle(),
            level: level as u32,
            optname: name as u32,
            // A length that does not fit is wrong for every option; the kernel says so.
            optlen: u32::try_from(length).unwrap_or(u32::MAX),
        },
    )
}
