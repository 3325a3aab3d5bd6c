//! Connection requests: the id for one, and getting rid of it.
//!
//! # Safety
//! A child that could not be set up is destroyed here; C has never seen it.
#![allow(unsafe_code)]

use crate::error::Result;
use crate::id::{self, Id};
use crate::uapi::{self, abi};
use zerocopy::FromZeros;

/// Makes the id for a request. When that fails the peer is rejected, so that it does not wait for a
/// program that never heard of it.
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
        // It goes anyway.
        let _ = child.reject(&[], 0);
        // SAFETY: known to nobody else.
        let _ = unsafe { child.destroy() };
        return Err(error);
    }
    Ok(child)
}

/// Rejects and forgets a request that has no id here. Best effort: there is nobody to tell.
fn refuse(listener: &Id, handle: u32) {
    let Ok(fd) = listener.fd() else { return };
    let mut reject = abi::Reject::new_zeroed();
    reject.id = handle;
    let _ = uapi::send(fd, reject);
    let _ = uapi::call(fd, abi::DestroyId { response: 0, id: handle, reserved: 0 });
}
