// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Parameters of CONNECT and ACCEPT (`struct rdma_conn_param`).

use crate::cm::id::{Id, IdState};
use crate::types::{
    RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES, RDMA_PS_IB, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP,
    rdma_port_space,
};
use crate::uapi::abi;
use crate::verbs::QueuePair;
use base::errno::{Errno, Result};
use base::{because, fail};

/// The kernel's own length field has eight bits.
const MAX_TOTAL_PRIVATE_DATA: usize = 255;
/// Private data in the messages of the InfiniBand CM: REQ, REP, SIDR_REQ and SIDR_REP.
const REQUEST_ROOM: usize = 92;
const REPLY_ROOM: usize = 196;
const DATAGRAM_REQUEST_ROOM: usize = 216;
const DATAGRAM_REPLY_ROOM: usize = 136;
const IP_HEADER: usize = 36;
/// Retries where the caller gives no parameters.
const DEFAULT_RETRIES: u8 = 7;

/// A caller's `struct rdma_conn_param`, with its private data as a slice.
#[derive(Clone, Copy)]
pub(crate) struct Parameters<'a> {
    pub(crate) private_data: &'a [u8],
    pub(crate) responder_resources: u8,
    pub(crate) initiator_depth: u8,
    pub(crate) flow_control: u8,
    pub(crate) retry_count: u8,
    pub(crate) rnr_retry_count: u8,
    pub(crate) srq: u8,
    pub(crate) qp_num: u32,
}

/// Responder resources and initiator depth that the id's device can do.
type Limits = (u8, u8);

impl Parameters<'_> {
    /// Depths beyond the device's limits would fail later, with an error that does not name them.
    fn check_limits(&self, limits: Limits) -> core::result::Result<(), Refusal> {
        let within = |value: u8, any: u8, limit: u8| value == any || value <= limit;
        let asked = (self.responder_resources, self.initiator_depth);
        if within(asked.0, RDMA_MAX_RESP_RES, limits.0)
            && within(asked.1, RDMA_MAX_INIT_DEPTH, limits.1)
        {
            Ok(())
        } else {
            Err(Refusal::TooDeep { asked, limits })
        }
    }
}

/// Lengths of the private data: what goes before the caller's (ai_connect), and the caller's.
#[derive(Clone, Copy)]
pub(super) struct DataLengths {
    pub(super) header: usize,
    given: usize,
}

/// Why parameters are refused: told without the id's lock.
enum Refusal {
    NotBound,
    NoQueuePair,
    TooLong(DataLengths),
    TooDeep { asked: Limits, limits: Limits },
}

/// A queue pair as the kernel is told of it: its number, and 1 if it has a shared receive queue.
type QueuePairName = (u32, u8);

pub(super) fn name(queue_pair: QueuePair) -> QueuePairName {
    (queue_pair.number(), u8::from(queue_pair.has_shared_queue()))
}

/// Checks the caller's parameters before anything is changed, lets `keep` store what the id keeps of
/// them, and fills the kernel's struct, which is all zeros: all under the id's lock, taken once.
#[inline(always)]
pub(super) fn prepare(
    id: &Id,
    given: Option<Parameters<'_>>,
    queue_pair: Option<QueuePairName>,
    needs_queue_pair: bool,
    kernel: &mut abi::ConnParam,
    keep: impl FnOnce(&mut IdState, Limits),
) -> Result<DataLengths> {
    let checks_depths = id.port_space() == RDMA_PS_TCP;
    let prepared = id.with(|state| {
        let limits = state.binding.as_ref().ok_or(Refusal::NotBound)?.device().depth_limits();
        let header = state.connect_header();
        let data = given.map_or(&[][..], |given| given.private_data);
        let lengths = DataLengths { header: header.len(), given: data.len() };
        let fits = append(kernel, header).and_then(|()| append(kernel, data));
        fits.ok_or(Refusal::TooLong(lengths))?;
        match given {
            Some(given) if checks_depths => given.check_limits(limits)?,
            None if needs_queue_pair && queue_pair.is_none() => return Err(Refusal::NoQueuePair),
            _ => {}
        }
        keep(state, limits);
        kernel.responder_resources = state.responder_resources;
        kernel.initiator_depth = state.initiator_depth;
        Ok(lengths)
    });
    kernel.valid = 1;
    let named = queue_pair.or_else(|| given.map(|given| (given.qp_num, given.srq)));
    (kernel.qp_num, kernel.srq) = named.unwrap_or_default();
    (kernel.flow_control, kernel.retry_count, kernel.rnr_retry_count) = match given {
        Some(given) => (given.flow_control, given.retry_count, given.rnr_retry_count),
        None => (0, DEFAULT_RETRIES, DEFAULT_RETRIES),
    };
    prepared.map_err(|refusal| refusal.tell(id))
}

impl Refusal {
    #[cold]
    #[inline(never)]
    fn tell(self, id: &Id) -> Errno {
        match self {
            Refusal::NotBound => id.not_bound(),
            Refusal::NoQueuePair => fail!(
                EINVAL,
                *id,
                "the id has no queue pair (rdma_create_qp), and there is no conn_param that names one"
            ),
            Refusal::TooLong(DataLengths { header, given }) => fail!(
                EINVAL,
                *id,
                "{given} bytes of private data and {header} of ai_connect are more than \
                 {MAX_TOTAL_PRIVATE_DATA}"
            ),
            Refusal::TooDeep { asked, limits } => fail!(
                EINVAL,
                *id,
                "conn_param: responder_resources {} or initiator_depth {} is above the device's {} and {}; \
                 RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH take what it has",
                asked.0,
                asked.1,
                limits.0,
                limits.1
            ),
        }
    }
}

/// Adds private data; None where it does not fit.
fn append(kernel: &mut abi::ConnParam, bytes: &[u8]) -> Option<()> {
    // Most connections have none.
    if !bytes.is_empty() {
        let start = usize::from(kernel.private_data_len);
        let end = start.checked_add(bytes.len()).filter(|end| *end <= MAX_TOTAL_PRIVATE_DATA)?;
        kernel.private_data[start..end].copy_from_slice(bytes);
        kernel.private_data_len = end as u8;
    }
    Some(())
}

/// Why the kernel refuses CONNECT or ACCEPT.
#[cold]
#[inline(never)]
pub(super) fn refused(id: &Id, data: DataLengths, command: &'static str, error: Errno) -> Errno {
    let given = data.header + data.given;
    match private_data_room(id, command == "CONNECT") {
        Some(room) if error == Errno::EINVAL && given > room => because!(
            error,
            *id,
            "{given} bytes of private data given, {room} fit into {} with {} on {}",
            command,
            if id.with(|state| state.uses_ib_addresses) { "AF_IB" } else { "IP addresses" },
            port_space_name(id.port_space())
        ),
        _ => id.refused(command, error),
    }
}

fn port_space_name(port_space: rdma_port_space) -> &'static str {
    match port_space {
        RDMA_PS_TCP => "RDMA_PS_TCP",
        RDMA_PS_UDP => "RDMA_PS_UDP",
        RDMA_PS_IPOIB => "RDMA_PS_IPOIB",
        RDMA_PS_IB => "RDMA_PS_IB",
        _ => "another port space",
    }
}

/// Private data of a caller that a message has room for; None on iWARP, whose limit is above that of
/// the C API.
fn private_data_room(id: &Id, is_request: bool) -> Option<usize> {
    if id.is_on_iwarp() {
        return None;
    }
    // With IP addresses the kernel puts its own header before the caller's data.
    let header = if id.with(|state| state.uses_ib_addresses) { 0 } else { IP_HEADER };
    Some(match (is_request, id.is_datagram()) {
        (true, false) => REQUEST_ROOM - header,
        (true, true) => DATAGRAM_REQUEST_ROOM - header,
        (false, false) => REPLY_ROOM,
        (false, true) => DATAGRAM_REPLY_ROOM,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    #[test]
    fn private_data_never_outgrows_the_command() {
        let mut kernel = abi::ConnParam::new_zeroed();
        assert_eq!(append(&mut kernel, &[1; 36]), Some(()));
        assert_eq!(append(&mut kernel, &[2; 219]), Some(()));
        assert_eq!(append(&mut kernel, &[3; 1]), None);
        assert_eq!(append(&mut kernel, &[]), Some(()));
        assert_eq!(kernel.private_data_len, 255);
        assert_eq!((kernel.private_data[35], kernel.private_data[36]), (1, 2));
        assert_eq!(kernel.private_data[255], 0);
    }
}
