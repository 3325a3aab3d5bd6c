// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Failed completions in the log, whoever polls for them.
//!
//! Programs poll by code that their compiler has put into them, which calls the provider's function in
//! the device context. Where the log wants warnings of this part, a function that looks at the
//! statuses takes its place, in each context that this library opens. Otherwise nothing is touched.
//!
//! # Safety
//! Contexts are watched right after they were opened, before anybody knows them, and stay in the list:
//! libibverbs may give the address of a closed one to another.
#![allow(unsafe_code)]

use super::status::explain_status;
use base::because;
use base::errno::Errno;
use base::lock::Mutex;
use base::log::{Level, Part, enabled};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use libc::{c_int, c_void};
use rdma_sys::{ibv_context, ibv_cq, ibv_wc};

type PollCq = unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int;

/// Contexts beyond these are not watched.
const MOST: usize = 32;

struct Watched {
    context: AtomicPtr<ibv_context>,
    /// The provider's own.
    poll: AtomicPtr<c_void>,
}

static WATCHED: [Watched; MOST] =
    [const { Watched { context: AtomicPtr::new(null_mut()), poll: AtomicPtr::new(null_mut()) } };
        MOST];
static ADDING: Mutex<()> = Mutex::new(());

/// # Safety
/// A context that was opened just now, and that nobody else knows yet.
pub(super) unsafe fn watch(context: *mut ibv_context) {
    if !enabled(Part::Verbs, Level::Warn) {
        return;
    }
    // A child of fork must not wait for a thread that only its parent has.
    let Some(_adding) = ADDING.try_lock() else { return };
    let is_free = |entry: &&Watched| {
        let known = entry.context.load(Ordering::Relaxed);
        known.is_null() || known == context
    };
    // SAFETY: by contract.
    let own = unsafe { (*context).ops.poll_cq };
    let (Some(own), Some(entry)) = (own, WATCHED.iter().find(is_free)) else { return };
    entry.poll.store(own as *mut c_void, Ordering::Relaxed);
    entry.context.store(context, Ordering::Release);
    // SAFETY: by contract.
    unsafe { (*context).ops.poll_cq = Some(poll_and_report) };
}

/// As ibv_poll_cq.
unsafe extern "C" fn poll_and_report(queue: *mut ibv_cq, room: c_int, first: *mut ibv_wc) -> c_int {
    // SAFETY: a live queue, as for every poll.
    let context = unsafe { (*queue).context };
    let known = WATCHED.iter().find(|entry| entry.context.load(Ordering::Acquire) == context);
    let own = known.map_or(null_mut(), |entry| entry.poll.load(Ordering::Relaxed));
    if own.is_null() {
        return -Errno::EIO.raw();
    }
    // SAFETY: stored by `watch`, from a function of this type.
    let own: PollCq = unsafe { transmute(own) };
    // SAFETY: the caller's own arguments.
    let count = unsafe { own(queue, room, first) };
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the provider has written so many; these fields of all of them.
        let (id, status, queue_pair, vendor) = unsafe {
            let completion = first.add(index);
            (
                (*completion).wr_id,
                (*completion).status,
                (*completion).qp_num,
                (*completion).vendor_err,
            )
        };
        if let Some((name, reason)) = explain_status(status) {
            because!(
                Errno::EIO,
                "work request {id:#x} on queue pair {queue_pair} failed with {name} (vendor error \
                 {vendor}): {reason}"
            );
        }
    }
    count
}
