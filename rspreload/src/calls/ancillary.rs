// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Descriptors that a message takes to another process (SCM_RIGHTS). Connections among them are
//! made independent of this library first.
//!
//! # Safety
//! The caller's message header.
#![allow(unsafe_code)]

use crate::carrier::{claim, pending};
use crate::table::decision::Reason;
use crate::table::descriptors::SOCKETS;
use crate::table::socket::Mode;
use base::errno::{Result, preserve_errno};
use libc::{SCM_RIGHTS, SOL_SOCKET, c_int, msghdr};

/// A descriptor goes to where this library may not be: it becomes independent of it. A connection
/// that is pending is made by TCP.
pub(super) fn hand_over(fd: c_int) -> Result<()> {
    let Some(socket) = SOCKETS.get(fd) else { return Ok(()) };
    preserve_errno(|| {
        pending::drive(&socket);
        if socket.mode() == Mode::Connecting {
            pending::abandon_rdma(&socket, Reason::HandedOver);
        }
    });
    claim::detach(fd)
}

/// # Safety
/// NULL, or the caller's header of sendmsg.
pub(super) unsafe fn detach_rights(message: *const msghdr) -> Result<()> {
    // SAFETY: the caller's; headers lie within its control data, descriptors within their lengths.
    unsafe {
        let Some(message) = message.as_ref() else { return Ok(()) };
        if message.msg_control.is_null() || message.msg_controllen == 0 {
            return Ok(());
        }
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(found) = header.as_ref() {
            let bytes = found.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
            let start = libc::CMSG_DATA(header).addr() - message.msg_control.addr();
            let room = message.msg_controllen.saturating_sub(start);
            if (found.cmsg_level, found.cmsg_type) == (SOL_SOCKET, SCM_RIGHTS) {
                let fds = libc::CMSG_DATA(header).cast::<c_int>();
                for index in 0..bytes.min(room) / size_of::<c_int>() {
                    hand_over(fds.add(index).read_unaligned())?;
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    Ok(())
}
