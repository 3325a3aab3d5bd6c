// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Ends the waits of a channel that is destroyed. The kernel does not: a thread that sleeps in
//! GET_EVENT sleeps on when the descriptor is closed, until an event comes. So events are made.
//!
//! Not at once: programs destroy a channel whose thread still waits, and return from main. On the C
//! library that thread says nothing, and what it does for an error (rping prints it and exits with a
//! failure) would be the end of a program that was about to succeed.

use crate::types::{RDMA_PS_TCP, SocketAddress};
use crate::uapi::{self, abi};
use base::errno::{Errno, Result};
use base::fd::{OwnedFd, RawFd};
use base::{thread, time};
use core::time::Duration;
use libc::AF_INET;
use rdma_sys::ibv_qp_type;

/// How long a program has to end.
const GRACE: Duration = Duration::from_millis(200);
const INTERVAL: Duration = Duration::from_millis(20);
/// A thread that was cancelled in its wait never leaves.
const ROUNDS: usize = 50;

/// No key of the table; the kernel reports nothing for an id whose key is 0.
const NOBODY: u64 = u64::MAX;

/// Makes events on the open file of `fd`, which may be closed meanwhile, until nobody needs them.
pub(super) fn later(fd: RawFd, is_needed: impl Fn() -> bool + Send + 'static) -> Result<()> {
    let file = OwnedFd::duplicate(fd)?;
    thread::spawn(c"rdmacm-wake", move || {
        time::sleep(GRACE);
        for _ in 0..ROUNDS {
            if !is_needed() || make_event(file.as_raw_fd()).is_err() {
                break;
            }
            time::sleep(INTERVAL);
        }
    })
}

/// The outcome of a look-up for an id that nobody knows. The id goes with the file.
fn make_event(fd: RawFd) -> Result<()> {
    let made = uapi::call(
        fd,
        abi::CreateId {
            uid: NOBODY,
            response: 0,
            ps: RDMA_PS_TCP as u16,
            qp_type: ibv_qp_type::IBV_QPT_RC as u8,
            reserved: [0; 5],
        },
    )?;
    uapi::send_filled(fd, |command: &mut abi::ResolveAddr| {
        command.id = made.id;
        command.timeout_ms = 1;
        let loopback =
            SocketAddress::of_host(AF_INET, &[127, 0, 0, 1]).ok_or(Errno::EAFNOSUPPORT)?;
        command.dst_size = command.dst_addr.put(&loopback);
        Ok(())
    })
}
