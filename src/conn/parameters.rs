//! What the two sides of a connection tell each other.

use crate::error::{Errno, Result};
use crate::id::Id;
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES, RDMA_PS_TCP};
use crate::uapi::abi;
use zerocopy::FromZeros;

/// The kernel's own length field has eight bits.
const MAX_TOTAL_PRIVATE_DATA: usize = 255;
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

impl Parameters<'_> {
    /// Depths beyond the device's limits would only fail later, and less clearly.
    fn check_limits(&self, id: &Id) -> Result<()> {
        let (max_responder, max_initiator) = device_limits(id)?;
        let within = |value: u8, any: u8, limit: u8| value == any || value <= limit;
        if within(self.responder_resources, RDMA_MAX_RESP_RES, max_responder)
            && within(self.initiator_depth, RDMA_MAX_INIT_DEPTH, max_initiator)
        {
            Ok(())
        } else {
            Err(Errno::EINVAL)
        }
    }
}

/// Responder resources and initiator depth that the id's device can do.
pub(super) fn device_limits(id: &Id) -> Result<(u8, u8)> {
    id.with(|state| {
        let device = state.binding.as_ref().ok_or(Errno::EINVAL)?.device();
        Ok((device.max_responder_resources(), device.max_initiator_depth()))
    })
}

/// Checks what a caller gave; a connected service needs a queue pair, made by us or named by him.
pub(super) fn check(id: &Id, parameters: Option<&Parameters<'_>>) -> Result<()> {
    if id.port_space() != RDMA_PS_TCP {
        return Ok(());
    }
    match parameters {
        Some(parameters) => parameters.check_limits(id),
        None if id.has_queue_pair() => Ok(()),
        None => Err(Errno::EINVAL),
    }
}

/// The kernel's struct, from the caller's parameters and what the id has settled on.
pub(super) fn to_kernel(id: &Id, parameters: Option<&Parameters<'_>>) -> Result<abi::ConnParam> {
    let mut kernel = abi::ConnParam::new_zeroed();
    kernel.valid = 1;
    (kernel.qp_num, kernel.srq) = match (id.queue_pair(), parameters) {
        (Some(queue_pair), _) => (queue_pair.number(), u8::from(queue_pair.has_shared_queue())),
        (None, Some(given)) => (given.qp_num, given.srq),
        (None, None) => (0, 0),
    };
    let mut data = PrivateData { kernel: &mut kernel };
    id.with(|state| {
        data.kernel.responder_resources = state.responder_resources;
        data.kernel.initiator_depth = state.initiator_depth;
        data.append(&state.connect_header)
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
    Ok(kernel)
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
