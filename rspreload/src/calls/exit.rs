// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The end of the process. The kernel delivers what TCP has taken; data on rsockets must leave
//! before the memory of the process goes.
//!
//! # Safety
//! rshutdown on rsockets of this process.
#![allow(unsafe_code)]

use crate::carrier::unaccepted;
use crate::fork::detach;
use crate::sys::{guard, librdmacm, process};
use crate::table::descriptors;
use crate::table::socket::{Mode, Socket};
use base::deadline::Deadline;
use base::errno::Errno;
use core::time::Duration;

/// How long the end of the process waits for all connections together.
const LIMIT: Duration = Duration::from_secs(2);

/// Ends all connections, and reports what was counted.
pub(crate) fn finish() {
    // Inside librdmacm, a signal handler has interrupted a call that may hold locks.
    if guard::is_inside() || !process::is_own_memory() {
        return;
    }
    unaccepted::give_up_all();
    let deadline = Deadline::after(LIMIT);
    detach::finish(deadline);
    let all = || descriptors::all().map(|(_, socket)| socket);
    // The C library has no such function.
    if librdmacm::finish(deadline.left_millis()) == Err(Errno::ENOSYS) {
        all().for_each(|socket| shut_down(&socket));
    }
    all().for_each(|socket| socket.report());
}

fn shut_down(socket: &Socket) {
    if socket.mode() != Mode::Rdma || !socket.is_stream() {
        return;
    }
    if let Some(rsocket) = socket.rsocket() {
        // SAFETY: no pointers. A failure cannot be reported to anybody.
        let _ = unsafe { librdmacm::rshutdown(rsocket, libc::SHUT_RDWR) };
    }
}
