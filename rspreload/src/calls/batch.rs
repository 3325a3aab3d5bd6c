// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Several messages in one call: recvmmsg and sendmmsg.
//!
//! # Safety
//! The caller's array of messages.
#![allow(unsafe_code)]

use super::transfer::{decide, recvmsg, sendmsg};
use crate::sys::address::Address;
use crate::sys::original;
use crate::table::descriptors::SOCKETS;
use crate::table::socket::Mode;
use base::deadline::Timeout;
use libc::{MSG_DONTWAIT, c_int, c_uint, mmsghdr, timespec};

fn is_by_rdma(fd: c_int) -> bool {
    SOCKETS.get(fd).is_some_and(|socket| matches!(socket.mode(), Mode::Rdma | Mode::Connecting))
}

/// # Safety
/// The caller's arguments of recvmmsg.
pub(crate) unsafe fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    if !is_by_rdma(fd) {
        // SAFETY: the caller's.
        return unsafe { original::recvmmsg(fd, messages, count, flags, timeout) };
    }
    // SAFETY: the caller's.
    let timeout = unsafe { timeout.as_ref() };
    let timeout = timeout.and_then(|timeout| Timeout::from_timespec(timeout).ok());
    let deadline = timeout.unwrap_or_default().begin();
    let mut flags = flags;
    let mut done = 0;
    while done < count {
        // SAFETY: one of the caller's `count` messages.
        let received = unsafe {
            let message = messages.add(done as usize);
            let received = recvmsg(fd, &raw mut (*message).msg_hdr, flags);
            if received >= 0 {
                (*message).msg_len = received as c_uint;
            }
            received
        };
        if received < 0 {
            return if done > 0 { done as c_int } else { -1 };
        }
        done += 1;
        if flags & libc::MSG_WAITFORONE != 0 {
            flags |= MSG_DONTWAIT;
        }
        if deadline.has_passed() {
            break;
        }
    }
    done as c_int
}

/// # Safety
/// The caller's arguments of sendmmsg.
pub(crate) unsafe fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    if !is_by_rdma(fd) {
        // SAFETY: the caller's.
        if let Some(first) = unsafe { messages.as_ref() }.filter(|_| count > 0) {
            let header = &first.msg_hdr;
            // SAFETY: the caller's.
            let peer = unsafe { Address::read(header.msg_name.cast(), header.msg_namelen) };
            decide(fd, peer.as_ref());
        }
        if !is_by_rdma(fd) {
            // SAFETY: the caller's.
            return unsafe { original::sendmmsg(fd, messages, count, flags) };
        }
    }
    let mut done = 0;
    while done < count {
        // SAFETY: one of the caller's `count` messages.
        let sent = unsafe {
            let message = messages.add(done as usize);
            let sent = sendmsg(fd, &raw const (*message).msg_hdr, flags);
            if sent >= 0 {
                (*message).msg_len = sent as c_uint;
            }
            sent
        };
        if sent < 0 {
            return if done > 0 { done as c_int } else { -1 };
        }
        done += 1;
    }
    done as c_int
}
