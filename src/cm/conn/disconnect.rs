// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Disconnecting.

use crate::cm::id::Id;
use crate::uapi::abi;
use base::because;
use base::errno::Result;
use probe::probe;

impl Id {
    /// Starts to disconnect; the end is an event.
    pub(crate) fn disconnect(&self) -> Result<()> {
        if self.context()?.is_iwarp() {
            self.drain_queue_pair()?;
        } else {
            self.fail_queue_pair().map_err(|error| {
                because!(error, *self, "ibv_modify_qp to ERR: the device does not answer")
            })?;
        }
        probe!(rdmacm, disconnect__start, self.as_c());
        self.send(abi::Disconnect { id: self.handle() })
    }
}
