//! Several messages in one call: recvmmsg, sendmmsg.
//!
//! # Safety
//! The caller's arrays.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::real;
use crate::socket::{Mode, SOCKETS};
use crate::transfer::{decide, receive_message, send_message};
use libc::{MSG_DONTWAIT, c_int, c_uint, mmsghdr, timespec};
use std::time::Instant;

fn is_by_rdma(fd: c_int) -> bool {
    SOCKETS.get(fd).is_some_and(|socket| matches!(socket.mode(), Mode::Rdma | Mode::Connecting))
}

/// # Safety
/// The caller's arguments of recvmmsg.
pub(crate) unsafe fn receive_messages(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    if !is_by_rdma(fd) {
        // SAFETY: the caller's.
        return unsafe { real::recvmmsg(fd, messages, count, flags, timeout) };
    }
    // SAFETY: the caller's.
    let limit = unsafe { timeout.as_ref() }.and_then(crate::wait::deadline_of);
    let mut flags = flags;
    let mut done = 0;
    while done < count {
        // SAFETY: one of the caller's `count` places.
        let received = unsafe {
            let place = messages.add(done as usize);
            let received = receive_message(fd, &raw mut (*place).msg_hdr, flags);
            if received >= 0 {
                (*place).msg_len = received as c_uint;
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
        if limit.is_some_and(|limit| Instant::now() >= limit) {
            break;
        }
    }
    done as c_int
}

/// # Safety
/// The caller's arguments of sendmmsg.
pub(crate) unsafe fn send_messages(
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
            return unsafe { real::sendmmsg(fd, messages, count, flags) };
        }
    }
    let mut done = 0;
    while done < count {
        // SAFETY: one of the caller's `count` places.
        let sent = unsafe {
            let place = messages.add(done as usize);
            let sent = send_message(fd, &raw const (*place).msg_hdr, flags);
            if sent >= 0 {
                (*place).msg_len = sent as c_uint;
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
