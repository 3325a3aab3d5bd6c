//! RS_STATS: one line on standard error for each socket when it is closed, or at the program's end.
//!
//! # Safety
//! Writes to a descriptor of our own, a copy of standard error.
#![allow(unsafe_code)]

use crate::config;
use crate::real;
use libc::{c_int, c_long};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Above the numbers that a program counts with.
const HIGH: c_long = 512;

/// What one socket carried.
#[derive(Default)]
pub(crate) struct Counts {
    rdma_in: AtomicU64,
    rdma_out: AtomicU64,
    tcp_in: AtomicU64,
    tcp_out: AtomicU64,
    told: AtomicBool,
}

/// Which way bytes went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
}

impl Counts {
    /// Counts the result of a call, if it is a number of bytes.
    pub(crate) fn count(&self, way: Way, by_rdma: bool, result: isize) {
        let Ok(bytes) = u64::try_from(result) else { return };
        let counter = match (way, by_rdma) {
            (Way::In, true) => &self.rdma_in,
            (Way::In, false) => &self.tcp_in,
            (Way::Out, true) => &self.rdma_out,
            (Way::Out, false) => &self.tcp_out,
        };
        counter.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Another socket goes on where this one ends.
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
        self.told.store(true, Ordering::Relaxed);
    }

    /// Writes the line, once.
    pub(crate) fn tell(&self, kind: &str, number: u64) {
        if !config::get().stats || self.told.swap(true, Ordering::Relaxed) {
            return;
        }
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let line = format!(
            "rspreload: pid {} {kind} {number}: rdma in {} out {}, tcp in {} out {}\n",
            std::process::id(),
            value(&self.rdma_in),
            value(&self.rdma_out),
            value(&self.tcp_in),
            value(&self.tcp_out),
        );
        // SAFETY: live bytes.
        unsafe { real::write(output(), line.as_ptr().cast(), line.len()) };
    }
}

/// A copy of standard error as it was at first use: the program may close its own.
pub(crate) fn output() -> c_int {
    static OUTPUT: OnceLock<c_int> = OnceLock::new();
    // SAFETY: F_DUPFD_CLOEXEC takes an integer.
    *OUTPUT.get_or_init(|| unsafe { real::fcntl(2, libc::F_DUPFD_CLOEXEC, HIGH) })
}
