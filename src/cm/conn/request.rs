// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Connection requests: the id for one, and rejecting it.
//!
//! # Safety
//! A child that could not be set up is destroyed here; C has never seen it.
#![allow(unsafe_code)]

use crate::cm::id::{self, Id};
use crate::cm::qp::{self, shared_queue};
use crate::uapi::{self, abi};
use base::errno::Result;
use zerocopy::FromZeros;

/// Makes the id for a request. When that fails the peer is rejected, so that it does not wait for
/// an answer.
#[inline(never)]
pub(crate) fn take_request(listener: &Id, event: &abi::EventResponse) -> Result<&'static Id> {
    let child = id::child_of(listener, event.id).inspect_err(|_| refuse(listener, event.id))?;
    let conn = event.conn();
    child.with(|state| {
        if !listener.is_datagram() {
            state.initiator_depth = conn.initiator_depth;
            state.responder_resources = conn.responder_resources;
        }
        state.remote_ece = (event.ece.vendor_id, event.ece.attr_mod);
    });
    let set_up = if listener.is_synchronous() { child.migrate(None) } else { Ok(()) };
    if let Err(error) = set_up.and_then(|()| child.query_request()) {
        turn_away(child);
        return Err(error);
    }
    Ok(child)
}

/// Rejects a request that has no id here and destroys the kernel's. Best effort: errors have no
/// caller.
fn refuse(listener: &Id, handle: u32) {
    let Ok(fd) = listener.fd() else { return };
    let mut reject = abi::Reject::new_zeroed();
    reject.id = handle;
    let _ = uapi::send(fd, reject);
    let _ = uapi::call(fd, abi::DestroyId { response: 0, id: handle, reserved: 0 });
}

/// Rejects and destroys the id of a request that cannot be served: the peer must not wait for it. C
/// has not seen the id.
pub(crate) fn turn_away(child: &'static Id) {
    let _ = child.reject(&[], 0);
    let _ = qp::destroy(child);
    shared_queue::destroy(child);
    // SAFETY: not given to C.
    let _ = unsafe { child.destroy() };
}
