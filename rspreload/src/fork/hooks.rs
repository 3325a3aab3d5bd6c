// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The handlers of fork. While the process has connections over RDMA, each child gets a link, a
//! Unix socket on which it can ask for them. A child that uses none of them costs its parent that
//! socket pair alone.

use super::{children, claim, connection_end, request};
use crate::sys::original;
use crate::table::socket::{Mode, Observer, Socket};
use base::errno::preserve_errno;
use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// Streams over RDMA that this process has.
static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
/// The parent's end of the link of the child that is being made.
static OWN_END: AtomicI32 = AtomicI32::new(-1);

/// A stream of this process goes over RDMA now.
pub(crate) fn connected() {
    CONNECTIONS.fetch_add(1, Ordering::Relaxed);
}

/// Streams that end.
pub(crate) struct ForkObserver;

impl Observer for ForkObserver {
    fn dropped(&self, socket: &Socket) {
        if socket.mode() == Mode::Rdma && socket.is_stream() {
            match socket.rsocket() {
                Some(_) => {
                    CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
                }
                None => claim::release(socket),
            }
        }
    }
}

pub(crate) fn before() {
    preserve_errno(|| {
        claim::prepare_links(|| {
            if CONNECTIONS.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let [own, child] = request::link_pair().ok()?;
            OWN_END.store(own, Ordering::Relaxed);
            Some(child)
        });
    });
}

pub(crate) fn in_parent() {
    let own = OWN_END.swap(-1, Ordering::Relaxed);
    preserve_errno(|| {
        claim::close_next_links();
        if own >= 0 {
            children::watch(own);
        }
    });
}

/// Async-signal-safe.
pub(crate) fn in_child() {
    preserve_errno(|| {
        original::close_own(OWN_END.swap(-1, Ordering::Relaxed));
        claim::take_links();
        connection_end::in_child();
    });
    CONNECTIONS.store(0, Ordering::Relaxed);
}
