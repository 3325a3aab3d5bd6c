// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Enhanced connection establishment: extensions that both sides' devices agree on.

use crate::cm::id::Id;
use base::errno::{Errno, Result};
use base::fail;
use rdma_sys::ibv_ece;

impl Id {
    /// What to offer, for queue pairs that the application makes itself.
    pub(crate) fn set_local_ece(&self, ece: &ibv_ece) -> Result<()> {
        if self.has_queue_pair() {
            return Err(own_queue_pair(self));
        }
        if ece.vendor_id == 0 || ece.comp_mask != 0 {
            return Err(fail!(
                EINVAL,
                *self,
                "rdma_set_local_ece: vendor_id is 0, or comp_mask {:#x} is not",
                ece.comp_mask
            ));
        }
        self.with(|state| state.local_ece = (ece.vendor_id, ece.options));
        Ok(())
    }

    /// What the peer offered or chose.
    pub(crate) fn remote_ece(&self, ece: &mut ibv_ece) -> Result<()> {
        if self.has_queue_pair() {
            return Err(own_queue_pair(self));
        }
        let (vendor_id, options) = self.with(|state| state.remote_ece);
        *ece = ibv_ece { vendor_id, options, comp_mask: 0 };
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn own_queue_pair(id: &Id) -> Errno {
    fail!(
        EINVAL,
        *id,
        "ECE is for queue pairs that the application makes itself; the library sets that of the id's \
         own"
    )
}
