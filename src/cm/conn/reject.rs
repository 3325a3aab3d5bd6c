// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Rejecting a connection request.

use crate::cm::id::Id;
use crate::uapi::abi;
use base::errno::{Errno, Result};

/// Reject reason of the IB CM for extensions that do not fit (ECE).
const REASON_VENDOR_OPTION_NOT_SUPPORTED: u8 = 35;

impl Id {
    pub(crate) fn reject(&self, private_data: &[u8], reason: u8) -> Result<()> {
        let length = u8::try_from(private_data.len()).map_err(|_| Errno::EINVAL)?;
        self.send_filled(|command: &mut abi::Reject| {
            command.id = self.handle();
            command.private_data_len = length;
            command.reason = reason;
            command.private_data[..private_data.len()].copy_from_slice(private_data);
        })
    }

    pub(crate) fn reject_ece(&self, private_data: &[u8]) -> Result<()> {
        self.reject(private_data, REASON_VENDOR_OPTION_NOT_SUPPORTED)
    }
}
