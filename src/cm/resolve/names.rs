// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Names, in a thread that asks the resolver.
//!
//! The thread stores its answer in the id and writes an INTERNAL event to the id's channel;
//! fetching that event takes the answer (`take`). The thread knows the id by its key alone: an id
//! may be destroyed at any time, and destroying it never waits for a name server.

use crate::addrinfo::{AddrinfoQuestion, Hints, lookup};
use crate::cm::id::{IDS, Id, Resolution};
use crate::types::RDMA_CM_EVENT_INTERNAL;
use crate::uapi::{self, abi};
use alloc::ffi::CString;
use base::deadline::Timeout;
use base::errno::{Errno, Result};
use base::memory::try_vec;
use base::thread;
use base::{because, fail};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

/// A question that a thread can keep.
struct OwnQuestion {
    node: Option<CString>,
    service: Option<CString>,
    hints: Option<Hints>,
    timeout: Timeout,
}

pub(super) fn start(id: &Id, question: &AddrinfoQuestion<'_>) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if question.is_empty() {
        return Err(fail!(
            EINVAL,
            *id,
            "rdma_resolve_addrinfo: node, service and hints are all NULL"
        ));
    }
    // The answer is reported by an event that older kernels do not take.
    if !uapi::takes_events(id.fd()?) {
        return Err(fail!(
            ENOSYS,
            *id,
            "rdma_resolve_addrinfo needs a kernel that takes events of programs (6.18 or later)"
        ));
    }
    let question = OwnQuestion {
        node: question.node.map(copy).transpose()?,
        service: question.service.map(copy).transpose()?,
        hints: question.hints,
        timeout: question.timeout,
    };
    let (key, ticket) = (id.key(), NEXT.fetch_add(1, Ordering::Relaxed));
    id.with(|state| state.begin_resolution(Resolution::Names(ticket)))?;
    thread::spawn(c"rdmacm-names", move || answer(key.raw(), ticket, &question)).inspect_err(|_| {
        id.with(|state| state.set_resolution(Resolution::None));
    })
}

fn copy(text: &CStr) -> Result<CString> {
    let bytes = text.to_bytes_with_nul();
    let mut copy = try_vec(bytes.len())?;
    copy.extend_from_slice(bytes);
    CString::from_vec_with_nul(copy).map_err(|_| Errno::EINVAL)
}

/// The work of the thread.
fn answer(key: u64, ticket: u64, question: &OwnQuestion) {
    let found = lookup(&AddrinfoQuestion {
        node: question.node.as_deref(),
        service: question.service.as_deref(),
        hints: question.hints,
        timeout: question.timeout,
    });
    let Some(id) = IDS.acquire(key) else { return };
    let wanted = id.with(|state| {
        let wanted = matches!(state.resolution(), Resolution::Names(now) if *now == ticket);
        if wanted {
            state.set_resolution(Resolution::Named(ticket, found));
        }
        wanted
    });
    if !wanted {
        return;
    }
    let event = abi::WriteCmEvent::new(id.handle(), RDMA_CM_EVENT_INTERNAL, 0, ticket);
    if let Err(error) = id.while_in_channel(|fd| uapi::send(fd, event)) {
        because!(
            error,
            *id,
            "cannot report that a name is resolved: call rdma_resolve_addrinfo again"
        );
    }
}

/// Takes the answer that an INTERNAL event stands for; `None` for the event of an abandoned
/// question.
#[inline(never)]
pub(crate) fn take(id: &Id, ticket: u64) -> Option<Result<()>> {
    id.with(|state| match state.take_resolution() {
        Resolution::Named(mine, outcome) if mine == ticket => Some(match outcome {
            Ok(entries) => {
                state.set_resolution(Resolution::Found(entries));
                Ok(())
            }
            Err(failure) => Err(failure.errno()),
        }),
        other => {
            state.set_resolution(other);
            None
        }
    })
}

/// After a wait that was broken off, so that the next question can begin at once.
pub(crate) fn abandon(id: &Id) {
    id.with(|state| {
        if matches!(state.resolution(), Resolution::Names(_) | Resolution::Named(..)) {
            state.set_resolution(Resolution::None);
        }
    });
}
