// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Options of an id.

use crate::cm::id::Id;
use crate::uapi::abi;
use base::errno::Result;
use libc::c_void;

/// Passes an option to the kernel, which checks level, name and length.
pub(crate) fn set(
    id: &Id,
    level: i32,
    name: i32,
    value: *const c_void,
    length: usize,
) -> Result<()> {
    id.send(abi::SetOption {
        optval: value as u64,
        id: id.handle(),
        level: level as u32,
        optname: name as u32,
        // A length that does not fit is wrong for every option; the kernel refuses it.
        optlen: u32::try_from(length).unwrap_or(u32::MAX),
    })
}
