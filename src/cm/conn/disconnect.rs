// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Disconnecting.

use crate::cm::id::Id;
use crate::lane::{self, Phase};
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
        let lane = self.lane();
        if lane.is_in(Phase::Established) {
            lane.enter(Phase::Disconnect, &[]);
        } else {
            // The answer to the peer's, or part of a close.
            lane.mark("disconnect", &[]);
        }
        self.send(abi::Disconnect { id: self.handle() })
            .inspect_err(|error| lane.mark("disconnect", &[lane::failure(*error)]))
    }
}
