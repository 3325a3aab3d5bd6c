//! Event channels: an open rdma_cm device, and the public struct around it.
//!
//! # Safety
//! `Channel` starts with the public struct, so a pointer to it is one to the channel.
#![allow(unsafe_code)]

use crate::counted::Counted;
use crate::device;
use crate::error::{Errno, Result};
use crate::fork::Owner;
use crate::lock::Mutex;
use crate::memory::try_box;
use crate::types::rdma_event_channel;
use crate::uapi;
use std::mem::offset_of;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A command that does not sleep has ended by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// An open rdma_cm device. Ids share it, so that one which outlives its channel gets EBADF and not
/// whatever file has the number by then.
pub(crate) struct DeviceFile {
    fd: RawFd,
    closed: AtomicBool,
    /// Held by a close, and by a thread of the library while it sends a command.
    closing: Mutex<()>,
    owner: Owner,
}

impl DeviceFile {
    fn open() -> Result<Counted<DeviceFile>> {
        let fd = uapi::open()?.into_raw_fd();
        Counted::try_new(DeviceFile {
            fd,
            closed: AtomicBool::new(false),
            closing: Mutex::new(()),
            owner: Owner::current(),
        })
    }

    /// The descriptor, for a command: EBADF when closed, EPERM in a fork's child.
    #[inline]
    pub(crate) fn fd(&self) -> Result<RawFd> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Errno::EBADF);
        }
        self.owner.check()?;
        Ok(self.fd)
    }

    /// As `fd`, where the answer is plain: never waits, and may be asked under a lock.
    #[inline]
    pub(crate) fn fd_at_once(&self) -> Option<RawFd> {
        (!self.closed.load(Ordering::Acquire) && self.owner.is_maker()).then_some(self.fd)
    }

    /// Sends a command that does not sleep, for nobody's call: a program that closes the channel
    /// meanwhile has to wait, so that the descriptor cannot come to stand for another file.
    pub(crate) fn while_open<R>(&self, command: impl FnOnce(RawFd) -> Result<R>) -> Result<R> {
        // Not under the lock, as it may wait; only the parent's threads can hold that of a child.
        self.owner.check()?;
        let _closing = self.closing.try_lock_for(PATIENCE).ok_or(Errno::EBUSY)?;
        command(self.fd()?)
    }

    /// Whether commands may be sent, asked without waiting.
    pub(crate) fn is_usable(&self) -> bool {
        !self.closed.load(Ordering::Acquire) && self.owner.is_ours()
    }

    /// Whether this process, and not its parent, made the kernel objects behind it.
    pub(crate) fn is_owned(&self) -> bool {
        self.owner.is_ours()
    }

    fn close(&self) {
        // A child that outlived its parent may have got the lock in a thread that it has not.
        let _closing = self.is_owned().then(|| self.closing.try_lock_for(PATIENCE));
        if !self.closed.swap(true, Ordering::AcqRel) {
            // SAFETY: ours, and closed once.
            unsafe { libc::close(self.fd) };
        }
    }
}

impl Drop for DeviceFile {
    fn drop(&mut self) {
        self.close();
    }
}

/// What `struct rdma_event_channel *` points to.
#[repr(C)]
pub(crate) struct Channel {
    public: rdma_event_channel,
    file: Counted<DeviceFile>,
}

const _: () = assert!(offset_of!(Channel, public) == 0);

impl Channel {
    pub(crate) fn create() -> Result<Box<Channel>> {
        device::require_any()?;
        let file = DeviceFile::open()?;
        try_box(Channel { public: rdma_event_channel { fd: file.fd }, file })
    }

    /// # Safety
    /// A valid channel pointer or NULL.
    pub(crate) unsafe fn from_c<'a>(channel: *mut rdma_event_channel) -> Result<&'a Channel> {
        // SAFETY: by contract.
        unsafe { channel.cast::<Channel>().as_ref() }.ok_or(Errno::EINVAL)
    }

    pub(crate) fn into_c(self: Box<Channel>) -> *mut rdma_event_channel {
        Box::into_raw(self).cast()
    }

    /// Closes and frees a channel; NULL is nothing.
    ///
    /// # Safety
    /// A valid channel pointer that is not used again, or NULL.
    pub(crate) unsafe fn destroy(channel: *mut rdma_event_channel) {
        if channel.is_null() {
            return;
        }
        // SAFETY: by contract, from `into_c`.
        let channel = unsafe { Box::from_raw(channel.cast::<Channel>()) };
        channel.file.close();
    }

    pub(crate) fn as_c(&self) -> *mut rdma_event_channel {
        (&raw const self.public).cast_mut()
    }

    pub(crate) fn file(&self) -> &Counted<DeviceFile> {
        &self.file
    }
}
