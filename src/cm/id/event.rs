// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `struct rdma_cm_event`: from the kernel to C, and back by rdma_ack_cm_event.
//!
//! # Safety
//! `CmEvent` starts with the public struct, so a pointer to it is one to the event; the public
//! parameters point into the event itself, which does not move while C has it (it is boxed). Memory of
//! an event that C has given back stays an event for a while (`recent`).
#![allow(unsafe_code)]

use super::cm_id::{HeldId, Id};
use super::membership::Membership;
use super::recent::Recent;
use crate::cm::id_table::{Hold, Key};
use crate::types::{
    rdma_cm_event, rdma_cm_event_type, rdma_cm_id, rdma_conn_param, rdma_event_param, rdma_ud_param,
};
use crate::uapi::{self, abi};
use alloc::boxed::Box;
use base::errno::Result;
use base::memory::try_box;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};
use core::ops::{Deref, DerefMut};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};
use libc::c_void;

/// What an event belongs to. Keeps the id alive; dropping it acknowledges the event.
pub(crate) struct EventOwner {
    pub(crate) id: HeldId,
    pub(crate) membership: Option<Hold<Membership>>,
}

impl EventOwner {
    pub(crate) fn new(id: HeldId) -> EventOwner {
        EventOwner { id, membership: None }
    }

    pub(crate) fn of_membership(id: HeldId, membership: Hold<Membership>) -> EventOwner {
        EventOwner { id, membership: Some(membership) }
    }
}

impl Drop for EventOwner {
    fn drop(&mut self) {
        if let Some(membership) = &self.membership {
            membership.acknowledge();
        }
        self.id.acknowledge();
    }
}

/// What `struct rdma_cm_event *` points to.
#[repr(C)]
pub(crate) struct CmEvent {
    public: rdma_cm_event,
    /// Written where `private_data_len` is not zero.
    private_data: MaybeUninit<[u8; abi::MAX_PRIVATE_DATA]>,
    private_data_len: u8,
    depths: (u8, u8),
    /// Set before C gets the event.
    report: Option<EventOwner>,
    /// C has it, and has to give it back.
    is_given: AtomicBool,
}

static RECENT: Recent<CmEvent> = Recent::new();

/// An event that C does not have.
pub(crate) struct OwnedEvent(ManuallyDrop<Box<CmEvent>>);

impl OwnedEvent {
    /// Memory for an event, allocated before the kernel hands it out: none is lost to ENOMEM.
    pub(crate) fn reserve() -> Result<OwnedEvent> {
        if let Some(mut used) = RECENT.take() {
            used.private_data_len = 0;
            used.depths = (0, 0);
            // SAFETY: pointers and integers, valid when zero.
            unsafe { (&raw mut used.public).write_bytes(0, 1) };
            return Ok(OwnedEvent(ManuallyDrop::new(used)));
        }
        let mut room = try_box(MaybeUninit::<CmEvent>::uninit())?;
        let event = room.as_mut_ptr();
        // SAFETY: in its place, field by field but for the private data, which needs no value: most
        // events have none. The public part is pointers and integers, valid when zero.
        unsafe {
            (&raw mut (*event).public).write_bytes(0, 1);
            (&raw mut (*event).private_data_len).write(0);
            (&raw mut (*event).depths).write((0, 0));
            (&raw mut (*event).report).write(None);
            (&raw mut (*event).is_given).write(AtomicBool::new(false));
            Ok(OwnedEvent(ManuallyDrop::new(room.assume_init())))
        }
    }

    pub(crate) fn into_c(self) -> *mut rdma_cm_event {
        let mut event = ManuallyDrop::new(self);
        *event.is_given.get_mut() = true;
        ptr::from_mut::<CmEvent>(&mut event).cast()
    }

    /// `None` for NULL and for an event that was given back already.
    ///
    /// # Safety
    /// NULL or an event that `into_c` gave away; one that was given back is one of the last `REST`.
    pub(crate) unsafe fn from_c(event: *mut rdma_cm_event) -> Option<OwnedEvent> {
        let event = event.cast::<CmEvent>();
        // SAFETY: by contract it is NULL, or an event still.
        let was_given =
            !event.is_null() && unsafe { (*event).is_given.swap(false, Ordering::AcqRel) };
        // SAFETY: C had it, and one caller alone gets here.
        was_given.then(|| OwnedEvent(ManuallyDrop::new(unsafe { Box::from_raw(event) })))
    }
}

impl Deref for OwnedEvent {
    type Target = CmEvent;

    #[inline]
    fn deref(&self) -> &CmEvent {
        &self.0
    }
}

impl DerefMut for OwnedEvent {
    #[inline]
    fn deref_mut(&mut self) -> &mut CmEvent {
        &mut self.0
    }
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        self.report = None;
        // SAFETY: taken once, as it is dropped.
        RECENT.put(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

const _: () = assert!(offset_of!(CmEvent, public) == 0);

impl CmEvent {
    /// Sets id, type and status; the parameters follow.
    pub(crate) fn begin(&mut self, id: *mut rdma_cm_id, event: rdma_cm_event_type, status: i32) {
        self.public.id = id;
        self.set_outcome(event, status);
    }

    /// Sets what it belongs to. After this C may have it.
    pub(crate) fn complete(&mut self, report: EventOwner) {
        self.report = Some(report);
    }

    /// The peer's private data, padded by the transport.
    pub(crate) fn private_data(&self) -> &[u8] {
        let length = usize::from(self.private_data_len);
        // SAFETY: an eight-bit length fits; all is written before it is more than zero.
        unsafe { core::slice::from_raw_parts(self.private_data.as_ptr().cast(), length) }
    }

    /// Responder resources and initiator depth of a connection event.
    pub(crate) fn depths(&self) -> (u8, u8) {
        self.depths
    }

    pub(crate) fn event(&self) -> rdma_cm_event_type {
        self.public.event
    }

    pub(crate) fn status(&self) -> i32 {
        self.public.status
    }

    /// The id that C sees: the child of a connection request, else the one the event is about.
    pub(crate) fn id(&self) -> *mut rdma_cm_id {
        self.public.id
    }

    /// The id of a connection request. Dropping the event without taking it leaks it.
    pub(crate) fn child(&self) -> Option<&'static Id> {
        if self.public.listen_id.is_null() {
            return None;
        }
        // SAFETY: made for this request, known to the reader of the event alone.
        unsafe { Id::from_c(self.public.id) }.ok()
    }

    /// Whether an event that C may have is one of this membership.
    ///
    /// # Safety
    /// NULL or a valid event pointer.
    pub(crate) unsafe fn is_of_membership(event: *const rdma_cm_event, membership: Key) -> bool {
        // SAFETY: by contract, from `into_c`.
        unsafe { event.cast::<CmEvent>().as_ref() }
            .and_then(|event| event.report.as_ref()?.membership.as_ref())
            .is_some_and(|own| own.key() == membership)
    }

    pub(crate) fn set_outcome(&mut self, event: rdma_cm_event_type, status: i32) {
        self.public.event = event;
        self.public.status = status;
    }

    pub(crate) fn set_request(&mut self, child: *mut rdma_cm_id) {
        self.public.listen_id = self.public.id;
        self.public.id = child;
    }

    pub(crate) fn set_arg(&mut self, arg: u64) {
        self.public.param = rdma_event_param { arg };
    }

    pub(crate) fn set_conn(&mut self, from: &abi::ConnParam) {
        let private_data = self.keep_private_data(&from.private_data, from.private_data_len);
        self.depths = (from.responder_resources, from.initiator_depth);
        self.public.param.conn = rdma_conn_param {
            private_data,
            private_data_len: from.private_data_len,
            responder_resources: from.responder_resources,
            initiator_depth: from.initiator_depth,
            flow_control: from.flow_control,
            retry_count: from.retry_count,
            rnr_retry_count: from.rnr_retry_count,
            srq: from.srq,
            qp_num: from.qp_num,
        };
    }

    pub(crate) fn set_ud(&mut self, from: &abi::UdParam) {
        let private_data = self.keep_private_data(&from.private_data, from.private_data_len);
        let ud = rdma_ud_param {
            private_data,
            private_data_len: from.private_data_len,
            ah_attr: uapi::address_handle(&from.ah_attr),
            qp_num: from.qp_num,
            qkey: from.qkey,
        };
        self.public.param = rdma_event_param { ud };
    }

    /// Multicast events carry the context of the join where others have private data.
    pub(crate) fn set_join_context(&mut self, context: *mut c_void) {
        self.public.param.ud.private_data = context;
    }

    fn keep_private_data(
        &mut self,
        from: &[u8; abi::MAX_PRIVATE_DATA],
        length: u8,
    ) -> *const c_void {
        if length == 0 {
            return ptr::null();
        }
        let place: *mut u8 = self.private_data.as_mut_ptr().cast();
        // SAFETY: an eight-bit length fits both.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), place, usize::from(length)) };
        self.private_data_len = length;
        place.cast()
    }
}

impl Id {
    /// Takes the event that a synchronous call left in `id->event`.
    fn take_event(&self) -> *mut rdma_cm_event {
        self.public(|id| core::mem::replace(&mut id.event, ptr::null_mut()))
    }

    /// Keeps the event of a synchronous call in `id->event`, until the next call.
    pub(crate) fn keep_event(&self, event: OwnedEvent) {
        self.public(|id| id.event = event.into_c());
    }

    /// Gives back the event that the last synchronous call left in `id->event`, and one that came
    /// early.
    pub(crate) fn drop_kept_event(&self) {
        drop(self.take_early_event());
        // SAFETY: NULL or the event that a synchronous call kept.
        drop(unsafe { OwnedEvent::from_c(self.take_event()) });
    }

    /// As `drop_kept_event`, if it is an event of this membership.
    pub(crate) fn drop_kept_event_of(&self, membership: Key) {
        let kept = self.public(|id| id.event);
        // SAFETY: NULL or the event that a synchronous call kept.
        if unsafe { CmEvent::is_of_membership(kept, membership) } {
            self.drop_kept_event();
        }
    }
}
