//! What the two sides of a connection tell each other.

use crate::error::{Errno, Result};
use crate::id::Id;
use crate::types::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES, RDMA_PS_TCP};
use crate::uapi::abi;

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

/// Responder resources and initiator depth that the id's device can do.
type Limits = (u8, u8);

impl Parameters<'_> {
    /// Depths beyond the device's limits would only fail later, and less clearly.
    fn check_limits(&self, (max_responder, max_initiator): Limits) -> Result<()> {
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

/// Checks what a caller gave, before anything is changed, and tells what the device can do. A connected
/// service needs a queue pair, made by us or named by him.
pub(super) fn check(id: &Id, parameters: Option<&Parameters<'_>>) -> Result<Limits> {
    let (limits, header_length) = id.with(|state| -> Result<(Limits, usize)> {
        let device = state.binding.as_ref().ok_or(Errno::EINVAL)?.device();
        let limits = (device.max_responder_resources(), device.max_initiator_depth());
        Ok((limits, state.connect_header().len()))
    })?;
    let data_length = parameters.map_or(0, |given| given.private_data.len());
    if header_length.saturating_add(data_length) > MAX_TOTAL_PRIVATE_DATA {
        return Err(Errno::EINVAL);
    }
    if id.port_space() == RDMA_PS_TCP {
        match parameters {
            Some(parameters) => parameters.check_limits(limits)?,
            None if id.has_queue_pair() => {}
            None => return Err(Errno::EINVAL),
        }
    }
    Ok(limits)
}

/// Fills the kernel's struct, which is all zeros, from the caller's parameters and what the id has
/// settled on.
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
