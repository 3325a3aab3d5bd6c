// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Parameters of CONNECT and ACCEPT (`struct rdma_conn_param`).

use crate::cm::id::Id;
use crate::types::{
    RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES, RDMA_PS_IB, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP,
    rdma_port_space,
};
use crate::uapi::abi;
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
    fn check_limits(&self, id: &Id, (max_responder, max_initiator): Limits) -> Result<()> {
        let within = |value: u8, any: u8, limit: u8| value == any || value <= limit;
        if within(self.responder_resources, RDMA_MAX_RESP_RES, max_responder)
            && within(self.initiator_depth, RDMA_MAX_INIT_DEPTH, max_initiator)
        {
            Ok(())
        } else {
            Err(self.too_deep(id, (max_responder, max_initiator)))
        }
    }

    #[cold]
    #[inline(never)]
    fn too_deep(&self, id: &Id, (max_responder, max_initiator): Limits) -> Errno {
        fail!(
            EINVAL,
            *id,
            "conn_param: responder_resources {} or initiator_depth {} is above the device's {} and {}; \
             RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH take what it has",
            self.responder_resources,
            self.initiator_depth,
            max_responder,
            max_initiator
        )
    }
}

/// Checks the caller's parameters before anything is changed, and returns the device's limits. A
/// connected service needs a queue pair: of the library, or named by the caller.
pub(super) fn check(id: &Id, parameters: Option<&Parameters<'_>>) -> Result<Limits> {
    let bound = id.with(|state| {
        let device = state.binding.as_ref()?.device();
        let limits = (device.max_responder_resources(), device.max_initiator_depth());
        Some((limits, state.connect_header().len()))
    });
    let (limits, header_length) = bound.ok_or_else(|| id.not_bound())?;
    let data_length = parameters.map_or(0, |given| given.private_data.len());
    if header_length.saturating_add(data_length) > MAX_TOTAL_PRIVATE_DATA {
        return Err(fail!(
            EINVAL,
            *id,
            "{data_length} bytes of private data and {header_length} of ai_connect are more than \
             {MAX_TOTAL_PRIVATE_DATA}"
        ));
    }
    if id.port_space() == RDMA_PS_TCP {
        match parameters {
            Some(parameters) => parameters.check_limits(id, limits)?,
            None if id.has_queue_pair() => {}
            None => {
                return Err(fail!(
                    EINVAL,
                    *id,
                    "the id has no queue pair (rdma_create_qp), and there is no conn_param that names one"
                ));
            }
        }
    }
    Ok(limits)
}

/// Fills the kernel's struct, which is all zeros, from the caller's parameters and the depths of
/// the id.
pub(super) fn to_kernel(
    id: &Id,
    parameters: Option<&Parameters<'_>>,
    kernel: &mut abi::ConnParam,
) -> Result<()> {
    kernel.valid = 1;
    (kernel.qp_num, kernel.srq) = match (id.queue_pair(), parameters) {
        (Some(queue_pair), _) => (queue_pair.number(), u8::from(queue_pair.has_shared_queue())),
        (None, Some(given)) => (given.qp_num, given.srq),
        (None, None) => (0, 0),
    };
    let mut data = PrivateData { kernel };
    id.with(|state| {
        data.kernel.responder_resources = state.responder_resources;
        data.kernel.initiator_depth = state.initiator_depth;
        data.append(state.connect_header())
    })?;
    match parameters {
        Some(given) => {
            data.append(given.private_data)?;
            kernel.flow_control = given.flow_control;
            kernel.retry_count = given.retry_count;
            kernel.rnr_retry_count = given.rnr_retry_count;
        }
        None => {
            kernel.retry_count = DEFAULT_RETRIES;
            kernel.rnr_retry_count = DEFAULT_RETRIES;
        }
    }
    Ok(())
}

/// Why the kernel refuses CONNECT or ACCEPT.
#[cold]
#[inline(never)]
pub(super) fn refused(
    id: &Id,
    parameters: Option<&Parameters<'_>>,
    command: &'static str,
    error: Errno,
) -> Errno {
    let header = id.with(|state| state.connect_header().len());
    let given = header + parameters.map_or(0, |given| given.private_data.len());
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

struct PrivateData<'a> {
    kernel: &'a mut abi::ConnParam,
}

impl PrivateData<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let start = usize::from(self.kernel.private_data_len);
        let end = start.saturating_add(bytes.len());
        if end > MAX_TOTAL_PRIVATE_DATA {
            return Err(Errno::EINVAL);
        }
        self.kernel.private_data[start..end].copy_from_slice(bytes);
        self.kernel.private_data_len = end as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    #[test]
    fn private_data_never_outgrows_the_command() {
        let mut kernel = abi::ConnParam::new_zeroed();
        let mut data = PrivateData { kernel: &mut kernel };
        assert_eq!(data.append(&[1; 36]), Ok(()));
        assert_eq!(data.append(&[2; 219]), Ok(()));
        assert_eq!(data.append(&[3; 1]), Err(Errno::EINVAL));
        assert_eq!(data.append(&[]), Ok(()));
        assert_eq!(kernel.private_data_len, 255);
        assert_eq!((kernel.private_data[35], kernel.private_data[36]), (1, 2));
        assert_eq!(kernel.private_data[255], 0);
    }
}
