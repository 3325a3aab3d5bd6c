//! Work requests and their completions.
#![allow(unsafe_code)]

use super::QueuePair;
use crate::error::{Errno, Result};
use rdma_sys::{
    ibv_ah, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_wc, ibv_wc_flags, ibv_wc_status, ibv_wr_opcode,
};
use std::mem::MaybeUninit;

/// Where a send or write goes, beyond the queue pair.
#[derive(Clone, Copy)]
pub(crate) enum Remote {
    /// The peer of a connected queue pair, no memory of his.
    Peer,
    Memory {
        address: u64,
        key: u32,
    },
    Datagram {
        handle: *mut ibv_ah,
        number: u32,
        key: u32,
    },
}

/// One send, write, or write with immediate data.
pub(crate) struct Work<'a> {
    pub(crate) id: u64,
    pub(crate) entries: &'a [ibv_sge],
    pub(crate) opcode: ibv_wr_opcode::Type,
    pub(crate) flags: u32,
    /// In host order.
    pub(crate) immediate: u32,
    pub(crate) remote: Remote,
}

/// What of a completion is read here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) id: u64,
    pub(crate) status: ibv_wc_status::Type,
    /// Bytes received; meaningless for sends.
    pub(crate) length: u32,
    /// In host order.
    pub(crate) immediate: Option<u32>,
}

impl Completion {
    #[inline]
    pub(crate) fn is_success(&self) -> bool {
        self.status == ibv_wc_status::IBV_WC_SUCCESS
    }

    /// # Safety
    /// Written by a provider.
    #[inline]
    pub(super) unsafe fn read(from: *const ibv_wc) -> Completion {
        // SAFETY: by contract; all fields are integers, read raw so that none is taken for more.
        unsafe {
            let flags = (*from).wc_flags;
            let failed = (*from).status != ibv_wc_status::IBV_WC_SUCCESS;
            let with_immediate = !failed && flags & ibv_wc_flags::IBV_WC_WITH_IMM.0 != 0;
            let raw = (*from).imm_data_invalidated_rkey_union.imm_data;
            Completion {
                id: (*from).wr_id,
                status: (*from).status,
                length: (*from).byte_len,
                immediate: with_immediate.then(|| u32::from_be(raw)),
            }
        }
    }
}

impl QueuePair {
    /// Posts one request.
    ///
    /// # Safety
    /// The entries name registered (or, with the inline flag, readable) memory that stays until the
    /// request has completed; an address handle is alive.
    #[inline(always)]
    pub(crate) unsafe fn post_send(self, work: &Work<'_>) -> Result<()> {
        let mut request = MaybeUninit::<ibv_send_wr>::uninit();
        let raw = request.as_mut_ptr();
        let mut bad = std::ptr::null_mut();
        // SAFETY: of the request a provider reads what belongs to the operation, which is written here, and
        // the entries. A live queue pair has a context with its operations.
        let returned = unsafe {
            (*raw).wr_id = work.id;
            (*raw).next = std::ptr::null_mut();
            (*raw).sg_list = work.entries.as_ptr().cast_mut();
            (*raw).num_sge = work.entries.len() as libc::c_int;
            (*raw).opcode = work.opcode;
            (*raw).send_flags = work.flags;
            (*raw).imm_data_invalidated_rkey_union.imm_data = work.immediate.to_be();
            match work.remote {
                Remote::Peer => {}
                Remote::Memory { address, key } => {
                    (*raw).wr.rdma.remote_addr = address;
                    (*raw).wr.rdma.rkey = key;
                }
                Remote::Datagram { handle, number, key } => {
                    (*raw).wr.ud.ah = handle;
                    (*raw).wr.ud.remote_qpn = number;
                    (*raw).wr.ud.remote_qkey = key;
                }
            }
            let post = (*(*self.as_ptr()).context).ops.post_send.ok_or(Errno::EOPNOTSUPP)?;
            post(self.as_ptr(), raw, &raw mut bad)
        };
        Errno::check(returned)
    }

    /// Posts one receive.
    ///
    /// # Safety
    /// As `post_send`.
    #[inline]
    pub(crate) unsafe fn post_receive(self, id: u64, entries: &[ibv_sge]) -> Result<()> {
        let mut request = ibv_recv_wr {
            wr_id: id,
            next: std::ptr::null_mut(),
            sg_list: entries.as_ptr().cast_mut(),
            num_sge: entries.len() as libc::c_int,
        };
        let mut bad = std::ptr::null_mut();
        // SAFETY: as in `post_send`.
        let returned = unsafe {
            let post = (*(*self.as_ptr()).context).ops.post_recv.ok_or(Errno::EOPNOTSUPP)?;
            post(self.as_ptr(), &raw mut request, &raw mut bad)
        };
        Errno::check(returned)
    }
}
