//! Moves an id to another event channel.

use super::Id;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::event::Channel;
use crate::uapi::{self, abi};
use std::sync::atomic::Ordering;

impl Id {
    /// Events that wait in the kernel move along; waits until the reported ones are acknowledged.
    /// Without a channel the id becomes synchronous.
    pub(crate) fn migrate(&self, channel: Option<&Channel>) -> Result<()> {
        if self.is_synchronous() && channel.is_none() {
            return Err(Errno::EINVAL);
        }
        let own = self.with(|state| state.own_channel.as_deref().map(Channel::as_c));
        if own.is_some() && own == channel.map(Channel::as_c) {
            // It would be freed under the id's feet.
            return Err(Errno::EINVAL);
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
        let file = Counted::clone(target.file());
        let fd = file.fd()?;
        let (answer, before) = {
            // Over the command, which waits for nothing: events are read in the new channel as soon as
            // the kernel has moved them, and whoever handles one must not find the old channel here.
            let mut current = self.file.lock();
            let from = current.fd()? as u32;
            let command = abi::MigrateId { response: 0, id: self.handle(), fd: from };
            let answer = uapi::call(fd, command)?;
            (answer, std::mem::replace(&mut *current, file))
        };
        self.public(|id| id.channel = public_channel);
        self.synchronous.store(fresh.is_some(), Ordering::Release);
        let own_before = self.with(|state| std::mem::replace(&mut state.own_channel, fresh));
        if own_before.is_some() {
            self.drop_kept_event();
        }
        let waited = self.acknowledgements.wait_for(answer.events_reported, "rdma_migrate_id");
        drop((own_before, before));
        waited
    }
}
