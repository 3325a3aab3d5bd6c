//! Enhanced connection establishment: extensions that both sides' devices agree on.

use crate::error::{Errno, Result};
use crate::id::Id;
use rdma_sys::ibv_ece;

impl Id {
    /// What to offer, for queue pairs that the application makes itself.
    pub(crate) fn set_local_ece(&self, ece: &ibv_ece) -> Result<()> {
        if self.has_queue_pair() || ece.vendor_id == 0 || ece.comp_mask != 0 {
            return Err(Errno::EINVAL);
        }
        self.with(|state| state.local_ece = (ece.vendor_id, ece.options));
        Ok(())
    }

    /// What the peer offered or chose.
    pub(crate) fn remote_ece(&self, ece: &mut ibv_ece) -> Result<()> {
        if self.has_queue_pair() {
            return Err(Errno::EINVAL);
        }
        let (vendor_id, options) = self.with(|state| state.remote_ece);
        *ece = ibv_ece { vendor_id, options, comp_mask: 0 };
        Ok(())
    }
}
