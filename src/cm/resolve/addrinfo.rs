// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Names and services resolved without blocking the caller.

use super::{names, service};
use crate::addrinfo::{self, AddrinfoQuestion, Entry};
use crate::cm::id::{Id, Resolution};
use crate::types::rdma_addrinfo;
use alloc::vec::Vec;
use base::errno::Result;
use base::fail;

/// Starts to resolve; the outcome is an event. EBUSY until the answer to an earlier question was
/// taken.
pub(crate) fn start(id: &Id, question: &AddrinfoQuestion<'_>) -> Result<()> {
    if !id.with(|state| matches!(state.resolution(), Resolution::None)) {
        return Err(fail!(
            EBUSY,
            *id,
            "rdma_resolve_addrinfo: the answer to the last question was not taken by \
             rdma_query_addrinfo"
        ));
    }
    match question.service_wanted()? {
        Some(text) => service::start(id, text, question.hints.map_or(0, |hints| hints.qp_type)),
        None => names::start(id, question),
    }
}

/// The answer as a list for C, once.
pub(crate) fn query(id: &Id) -> Result<*mut rdma_addrinfo> {
    let entries = take(id)?;
    addrinfo::into_c(&entries).inspect_err(|_| {
        id.with(|state| state.set_resolution(Resolution::Found(entries)));
    })
}

/// The answer, once; ENOENT where there is none.
pub(crate) fn take(id: &Id) -> Result<Vec<Entry>> {
    id.with(|state| match state.take_resolution() {
        Resolution::Found(entries) => Ok(entries),
        other => {
            state.set_resolution(other);
            Err(fail!(ENOENT, *id, "rdma_query_addrinfo: there is no answer, or it was taken"))
        }
    })
}
