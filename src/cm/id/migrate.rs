// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Moves an id to another event channel.

use super::cm_id::Id;
use crate::cm::channel::Channel;
use crate::uapi::{self, abi};
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::fail;
use core::sync::atomic::Ordering;

impl Id {
    /// Events that wait in the kernel move with the id; waits until the reported ones are acknowledged.
    /// Without a channel the id becomes synchronous.
    pub(crate) fn migrate(&self, channel: Option<&Arc<Channel>>) -> Result<()> {
        if self.is_synchronous() && channel.is_none() {
            return Err(fail!(EINVAL, *self, "rdma_migrate_id: the id is synchronous already"));
        }
        let own = self.with(|state| state.own_channel.as_deref().map(Channel::as_c));
        if own.is_some() && own == channel.map(|channel| channel.as_c()) {
            // It would be freed while the id is on it.
            return Err(fail!(
                EINVAL,
                *self,
                "rdma_migrate_id: the channel is the one that the synchronous id made for itself"
            ));
        }
        let fresh = match channel {
            Some(_) => None,
            None => Some(Channel::create()?),
        };
        let target = match (channel, &fresh) {
            (Some(channel), _) => channel,
            (None, Some(fresh)) => fresh,
            (None, None) => return Err(Errno::EINVAL),
        };
        let public_channel = target.as_c();
        let file = Arc::clone(target);
        let fd = file.fd()?;
        let (answer, before) = {
            // Locked across the command, which does not sleep: another thread may fetch an event of
            // the new channel as soon as the kernel has moved it, and must not find the old channel
            // here.
            let mut current = self.file.lock();
            let from = current.fd_to_leave()? as u32;
            let command = abi::MigrateId { response: 0, id: self.handle(), fd: from };
            let answer = uapi::call(fd, command);
            let answer = answer.map_err(|error| self.refused("MIGRATE_ID", error))?;
            (answer, core::mem::replace(&mut *current, file))
        };
        self.public(|id| id.channel = public_channel);
        self.synchronous.store(fresh.is_some(), Ordering::Release);
        let own_before = self.with(|state| core::mem::replace(&mut state.own_channel, fresh));
        if own_before.is_some() {
            self.drop_kept_event();
        }
        let waited = self.acknowledgements.wait_for(answer.events_reported, "rdma_migrate_id");
        drop((own_before, before));
        waited
    }
}
