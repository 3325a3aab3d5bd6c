// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Events in the counters of the process (`RDMACM_STATS`).

use crate::cm::id::{CmEvent, Id};
use crate::types::*;
use base::counters::layout::{
    CONNECTIONS_ACCEPTED, CONNECTIONS_FAILED, CONNECTIONS_MADE, CONNECTIONS_REJECTED,
    RESOLUTIONS_FAILED, of_event,
};
use base::counters::{Words, count};
use base::errno::Errno;

/// Counts an event as the application gets it.
#[inline(always)]
pub(super) fn event(id: &Id, event: &CmEvent) {
    count(|words| {
        if let Some(kind) = of_event(event.event()) {
            words.add(kind, 1);
        }
        outcome(words, id, event);
    });
}

fn outcome(words: &Words, id: &Id, event: &CmEvent) {
    let status = event.status();
    let error = |default| if status == 0 { default } else { Errno::of(status) };
    match event.event() {
        RDMA_CM_EVENT_ESTABLISHED if id.with(|state| state.is_child) => {
            words.add(CONNECTIONS_ACCEPTED, 1);
        }
        RDMA_CM_EVENT_ESTABLISHED => words.add(CONNECTIONS_MADE, 1),
        RDMA_CM_EVENT_REJECTED => words.number(CONNECTIONS_REJECTED, status),
        RDMA_CM_EVENT_UNREACHABLE => words.error(CONNECTIONS_FAILED, error(Errno::ETIMEDOUT)),
        RDMA_CM_EVENT_CONNECT_ERROR => words.error(CONNECTIONS_FAILED, error(Errno::ECONNABORTED)),
        RDMA_CM_EVENT_ADDR_ERROR | RDMA_CM_EVENT_ROUTE_ERROR => {
            words.error(RESOLUTIONS_FAILED, error(Errno::EHOSTUNREACH));
        }
        RDMA_CM_EVENT_ADDRINFO_ERROR => words.error(RESOLUTIONS_FAILED, error(Errno::ENOENT)),
        _ => {}
    }
}
