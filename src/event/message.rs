//! One event on its way to C and back.
//!
//! # Safety
//! `Message` starts with the public struct, so a pointer to it is one to the message; the public
//! parameters point into the message itself, which does not move while C has it (it is boxed).
#![allow(unsafe_code)]

use crate::error::Result;
use crate::id::{HeldId, Id};
use crate::index::{Hold, Key};
use crate::memory::try_box;
use crate::multicast::Membership;
use crate::types::{
    rdma_cm_event, rdma_cm_event_type, rdma_cm_id, rdma_conn_param, rdma_event_param, rdma_ud_param,
};
use crate::uapi::abi;
use libc::c_void;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;

/// The debt of an event to its id: while it is held the id cannot go, dropping it acknowledges.
pub(crate) struct Report {
    pub(super) id: HeldId,
    pub(super) membership: Option<Hold<Membership>>,
}

impl Report {
    pub(super) fn new(id: HeldId) -> Report {
        Report { id, membership: None }
    }

    pub(super) fn of_membership(id: HeldId, membership: Hold<Membership>) -> Report {
        Report { id, membership: Some(membership) }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(membership) = &self.membership {
            membership.acknowledge();
        }
        self.id.acknowledge();
    }
}

/// What `struct rdma_cm_event *` points to.
#[repr(C)]
pub(crate) struct Message {
    public: rdma_cm_event,
    /// Written where `private_data_len` is not zero.
    private_data: MaybeUninit<[u8; abi::MAX_PRIVATE_DATA]>,
    private_data_len: u8,
    depths: (u8, u8),
    /// What C has always has one.
    report: Option<Report>,
}

const _: () = assert!(offset_of!(Message, public) == 0);

impl Message {
    /// Memory for a message, taken before the kernel gives the event away.
    pub(super) fn reserve() -> Result<Box<Message>> {
        let mut room = try_box(MaybeUninit::<Message>::uninit())?;
        let message = room.as_mut_ptr();
        // SAFETY: in its place, field by field but for the private data, which needs no value: most
        // events have none. The public part is pointers and integers, valid when zero.
        unsafe {
            (&raw mut (*message).public).write_bytes(0, 1);
            (&raw mut (*message).private_data_len).write(0);
            (&raw mut (*message).depths).write((0, 0));
            (&raw mut (*message).report).write(None);
            Ok(room.assume_init())
        }
    }

    /// Begins a reserved message; the event's parameters come after.
    pub(super) fn begin(&mut self, id: *mut rdma_cm_id, event: rdma_cm_event_type, status: i32) {
        self.public.id = id;
        self.set_outcome(event, status);
    }

    /// Ends it: C may have it.
    pub(super) fn complete(&mut self, report: Report) {
        self.report = Some(report);
    }

    pub(crate) fn into_c(self: Box<Message>) -> *mut rdma_cm_event {
        Box::into_raw(self).cast()
    }

    /// # Safety
    /// NULL or an event that `into_c` gave away, once.
    pub(crate) unsafe fn from_c(event: *mut rdma_cm_event) -> Option<Box<Message>> {
        // SAFETY: by contract.
        (!event.is_null()).then(|| unsafe { Box::from_raw(event.cast::<Message>()) })
    }

    /// What the peer sent along, padded by the transport.
    pub(crate) fn private_data(&self) -> &[u8] {
        let length = usize::from(self.private_data_len);
        // SAFETY: an eight-bit length fits; all is written before it is more than zero.
        unsafe { std::slice::from_raw_parts(self.private_data.as_ptr().cast(), length) }
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

    /// The id of a connection request. Who drops the message without taking it leaks it.
    pub(crate) fn child(&self) -> Option<&'static Id> {
        if self.public.listen_id.is_null() {
            return None;
        }
        // SAFETY: made for this request, given to nobody but the reader of the message.
        unsafe { Id::from_c(self.public.id) }.ok()
    }

    /// Whether an event that C may have is one of this membership.
    ///
    /// # Safety
    /// NULL or a valid event pointer.
    pub(crate) unsafe fn is_of_membership(event: *const rdma_cm_event, membership: Key) -> bool {
        // SAFETY: by contract, from `into_c`.
        unsafe { event.cast::<Message>().as_ref() }
            .and_then(|message| message.report.as_ref()?.membership.as_ref())
            .is_some_and(|own| own.key() == membership)
    }

    pub(super) fn set_outcome(&mut self, event: rdma_cm_event_type, status: i32) {
        self.public.event = event;
        self.public.status = status;
    }

    pub(super) fn set_request(&mut self, child: *mut rdma_cm_id) {
        self.public.listen_id = self.public.id;
        self.public.id = child;
    }

    pub(super) fn set_arg(&mut self, arg: u64) {
        self.public.param = rdma_event_param { arg };
    }

    pub(super) fn set_conn(&mut self, from: &abi::ConnParam) {
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

    pub(super) fn set_ud(&mut self, from: &abi::UdParam) {
        let private_data = self.keep_private_data(&from.private_data, from.private_data_len);
        let ud = rdma_ud_param {
            private_data,
            private_data_len: from.private_data_len,
            ah_attr: crate::qp::address_handle(&from.ah_attr),
            qp_num: from.qp_num,
            qkey: from.qkey,
        };
        self.public.param = rdma_event_param { ud };
    }

    /// Multicast events carry the context of the join where others have private data.
    pub(super) fn set_join_context(&mut self, context: *mut c_void) {
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
