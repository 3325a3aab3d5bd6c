// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The bytes that a socket has carried. With RS_STATS one line for each socket goes to standard
//! error when the socket ends, or when the process ends.
//!
//! # Safety
//! fcntl(2) on standard error, and write(2) of live bytes.
#![allow(unsafe_code)]

use super::decision::Described;
use crate::sys::{config, original};
use base::counters::{count, layout};
use base::memory::try_format;
use base::once::Once;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use libc::{c_int, c_long};

/// Above the descriptor numbers that programs expect to get.
const LOWEST_OUTPUT: c_long = 512;

/// By direction and carrier.
#[derive(Default)]
pub(crate) struct Counts {
    rdma_in: AtomicU64,
    rdma_out: AtomicU64,
    tcp_in: AtomicU64,
    tcp_out: AtomicU64,
    reported: AtomicBool,
}

/// The direction of a transfer, as the program sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

impl Counts {
    /// Counts the result of a call unless it failed.
    pub(crate) fn count(&self, direction: Direction, by_rdma: bool, result: isize) {
        let Ok(bytes) = u64::try_from(result) else { return };
        let (counter, of_process) = match (direction, by_rdma) {
            (Direction::In, true) => (&self.rdma_in, layout::PRELOAD_RDMA_IN),
            (Direction::In, false) => (&self.tcp_in, layout::PRELOAD_KERNEL_IN),
            (Direction::Out, true) => (&self.rdma_out, layout::PRELOAD_RDMA_OUT),
            (Direction::Out, false) => (&self.tcp_out, layout::PRELOAD_KERNEL_OUT),
        };
        counter.fetch_add(bytes, Ordering::Relaxed);
        count(|words| words.add(of_process, bytes));
    }

    /// Adds the counts to those of the socket that carries the connection on, which reports them.
    pub(crate) fn hand_over(&self, to: &Counts) {
        let pairs = [
            (&self.rdma_in, &to.rdma_in),
            (&self.rdma_out, &to.rdma_out),
            (&self.tcp_in, &to.tcp_in),
            (&self.tcp_out, &to.tcp_out),
        ];
        for (from, to) in pairs {
            to.fetch_add(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.reported.store(true, Ordering::Relaxed);
    }

    /// Writes the line, once.
    pub(crate) fn report(&self, socket: impl FnOnce() -> Described) {
        if !config::get().stats || self.reported.swap(true, Ordering::Relaxed) {
            return;
        }
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let line = try_format(format_args!(
            "rspreload: pid {} {}: rdma in {} out {}, tcp in {} out {}\n",
            base::fork::process_id(),
            socket(),
            value(&self.rdma_in),
            value(&self.rdma_out),
            value(&self.tcp_in),
            value(&self.tcp_out),
        ));
        let _ = line.map(|line| write(line.as_bytes()));
    }
}

fn write(line: &[u8]) {
    // SAFETY: live bytes.
    unsafe { original::write(output(), line.as_ptr().cast(), line.len()) };
}

/// A copy of standard error as it was at first use: the program may close or replace standard
/// error.
fn output() -> c_int {
    static OUTPUT: Once<c_int> = Once::new();
    // SAFETY: F_DUPFD_CLOEXEC takes an integer.
    OUTPUT.get_or_init(|| unsafe { original::fcntl(2, libc::F_DUPFD_CLOEXEC, LOWEST_OUTPUT) })
}
