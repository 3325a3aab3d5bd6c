// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the status of a completion means, for the log. rdma_status(7) says the same at length.

use rdma_sys::ibv_wc_status as status;

/// Name, cause and remedy. None for success and for flushed requests, which are consequences.
pub(crate) fn explain_status(failed: status::Type) -> Option<(&'static str, &'static str)> {
    Some(match failed {
        status::IBV_WC_SUCCESS | status::IBV_WC_WR_FLUSH_ERR => return None,
        status::IBV_WC_RNR_RETRY_EXC_ERR => (
            "IBV_WC_RNR_RETRY_EXC_ERR",
            "receiver not ready: the peer has posted no receive for a send; post receives before \
             rdma_connect or rdma_accept, or let the peer pass rnr_retry_count 7",
        ),
        status::IBV_WC_RETRY_EXC_ERR => (
            "IBV_WC_RETRY_EXC_ERR",
            "no acknowledgement: the peer or the network failed, or packets are dropped (on RoCE: UDP \
             port 4791 in a firewall, or a path MTU that is too large)",
        ),
        status::IBV_WC_RESP_TIMEOUT_ERR => (
            "IBV_WC_RESP_TIMEOUT_ERR",
            "the peer has acknowledged the request but never finished it",
        ),
        status::IBV_WC_LOC_PROT_ERR => (
            "IBV_WC_LOC_PROT_ERR",
            "protection error: a buffer is not in the memory region of its lkey, the region was \
             deregistered, is of another protection domain, or does not allow the access: register the \
             whole buffer with the id that uses it",
        ),
        status::IBV_WC_LOC_LEN_ERR => (
            "IBV_WC_LOC_LEN_ERR",
            "the message is longer than the posted receive, or than the port or a datagram allows",
        ),
        status::IBV_WC_LOC_QP_OP_ERR => (
            "IBV_WC_LOC_QP_OP_ERR",
            "the device cannot carry out the request on this queue pair: compare it with the attributes \
             of rdma_create_qp",
        ),
        status::IBV_WC_LOC_ACCESS_ERR => (
            "IBV_WC_LOC_ACCESS_ERR",
            "the peer's write with immediate data hit a protection error here",
        ),
        status::IBV_WC_REM_ACCESS_ERR => (
            "IBV_WC_REM_ACCESS_ERR",
            "address and rkey do not name memory that the peer allows: a wrong or old key, outside the \
             region, or registered without that right (rdma_reg_read, rdma_reg_write)",
        ),
        status::IBV_WC_REM_INV_REQ_ERR => (
            "IBV_WC_REM_INV_REQ_ERR",
            "the peer's device refuses the request: longer than the posted receive, no remote access, or \
             more reads outstanding than its responder_resources",
        ),
        status::IBV_WC_REM_OP_ERR => (
            "IBV_WC_REM_OP_ERR",
            "the peer's device failed to carry out the request: its completion says more",
        ),
        status::IBV_WC_REM_ABORT_ERR => ("IBV_WC_REM_ABORT_ERR", "the peer aborted the operation"),
        status::IBV_WC_BAD_RESP_ERR => (
            "IBV_WC_BAD_RESP_ERR",
            "the peer's answer does not fit: the queue pairs are not of one type",
        ),
        status::IBV_WC_FATAL_ERR => {
            ("IBV_WC_FATAL_ERR", "the device failed: ibv_get_async_event tells more")
        }
        _ => ("another status", "rdma_status(7) lists all"),
    })
}
