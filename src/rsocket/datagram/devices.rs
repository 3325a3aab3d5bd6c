// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Ids that name the devices of queue pairs. All of a process share an event channel, which tells when
//! a device goes: the kernel waits until the last queue pair on it is destroyed.

use crate::cm::channel::Channel;
use crate::cm::event;
use crate::cm::id::Id;
use crate::rsocket::owned_id::SoleId;
use crate::rsocket::service::{self, Handler};
use crate::types::RDMA_CM_EVENT_DEVICE_REMOVAL;
use base::arc::{Arc, Weak};
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::lock::Mutex;
use base::per_process::PerProcess;
use hashbrown::HashMap;

/// The channel, as long as one of its ids lives.
struct Devices {
    channel: Arc<Channel>,
    fd: RawFd,
    /// Which socket's an id is.
    sockets: Mutex<HashMap<usize, RawFd>>,
}

/// The id of one queue pair.
pub(super) struct DeviceId {
    // Dropped before its channel.
    id: SoleId,
    devices: Arc<Devices>,
}

/// An id by its address.
pub(super) fn name_of(id: &Id) -> usize {
    core::ptr::from_ref(id).addr()
}

impl DeviceId {
    /// A new id, of whose device's end the handler of the socket will hear.
    pub(super) fn new(socket: RawFd) -> Result<DeviceId> {
        static SHARED: PerProcess<Mutex<Option<Weak<Devices>>>> = PerProcess::new();
        let mut shared = SHARED.get_or_try_init(|| Ok(Mutex::default()))?.lock();
        if let Some(devices) = shared.as_ref().and_then(Weak::upgrade) {
            // It is of no use if the program has closed its descriptor.
            if let Ok(id) = DeviceId::on(&devices, socket) {
                return Ok(id);
            }
        }
        let devices = Devices::watched()?;
        let id = DeviceId::on(&devices, socket)?;
        *shared = Some(Arc::downgrade(&devices));
        Ok(id)
    }

    fn on(devices: &Arc<Devices>, socket: RawFd) -> Result<DeviceId> {
        let id = SoleId::for_datagrams(&devices.channel)?;
        let mut sockets = devices.sockets.lock();
        sockets.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        sockets.insert(name_of(&id), socket);
        drop(sockets);
        Ok(DeviceId { id, devices: Arc::clone(devices) })
    }
}

impl core::ops::Deref for DeviceId {
    type Target = SoleId;

    fn deref(&self) -> &SoleId {
        &self.id
    }
}

impl Drop for DeviceId {
    fn drop(&mut self) {
        self.devices.sockets.lock().remove(&name_of(&self.id));
    }
}

impl Devices {
    fn watched() -> Result<Arc<Devices>> {
        let channel = Channel::create_non_blocking(true)?;
        let fd = channel.file().fd()?;
        let devices = Arc::try_new(Devices { channel, fd, sockets: Mutex::default() })?;
        service::get()?.watch(fd, Watch(Arc::downgrade(&devices)))?;
        Ok(devices)
    }

    /// The socket whose device has gone, and its id.
    fn next_removal(&self) -> Option<(RawFd, usize)> {
        loop {
            let message = event::next(self.channel.file(), Deadline::Never).ok()?;
            if message.event() != RDMA_CM_EVENT_DEVICE_REMOVAL {
                continue;
            }
            let name = message.id().addr();
            // Without the event, which holds its id.
            drop(message);
            if let Some(socket) = self.sockets.lock().get(&name) {
                return Some((*socket, name));
            }
        }
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        service::forget(self.fd, self);
    }
}

/// It does not keep the channel.
struct Watch(Weak<Devices>);

impl Handler for Watch {
    fn on_readable(&self) {
        // For each one again: the channel goes with the last id.
        while let Some((socket, id)) = self.0.upgrade().and_then(|devices| devices.next_removal()) {
            service::tell_removal(socket, id);
        }
    }

    fn identity(&self) -> *const () {
        self.0.as_ptr().cast()
    }
}
