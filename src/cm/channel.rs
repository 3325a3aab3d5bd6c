// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Event channels: an open rdma_cm device, and the public struct around it.
//!
//! # Safety
//! `Channel` starts with the public struct, so a pointer to it is one to the channel. Each channel is in an
//! `Arc`: C has one, and each id on it.
#![allow(unsafe_code)]

use super::wake;
use crate::device;
use crate::types::rdma_event_channel;
use crate::uapi;
use base::arc::Arc;
use base::because;
use base::errno::{Errno, Result};
use base::fd::{OwnedFd, RawFd};
use base::lock::Mutex;
use base::owner::Owner;
use base::witness;
use core::mem::{ManuallyDrop, offset_of};
use core::ops::Deref;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use core::time::Duration;
use libc::{O_CLOEXEC, O_NONBLOCK, c_int};

/// Longest wait for a command of another thread; a command that does not sleep is shorter.
const COMMAND_LIMIT: Duration = Duration::from_secs(1);

/// An open rdma_cm device. An id that outlives its channel gets EBADF, even where the number names
/// another file by then.
pub(crate) struct DeviceFile {
    /// Changes in `move_away` alone.
    fd: AtomicI32,
    closed: AtomicBool,
    /// Held by a close, and by a thread of the library while it sends a command.
    closing: Mutex<()>,
    owner: Owner,
}

impl DeviceFile {
    fn open(flags: c_int) -> Result<DeviceFile> {
        let fd = uapi::open(flags)?.into_raw_fd();
        Ok(DeviceFile {
            fd: AtomicI32::new(fd),
            closed: AtomicBool::new(false),
            closing: Mutex::new(()),
            owner: Owner::current(),
        })
    }

    fn number(&self) -> RawFd {
        self.fd.load(Ordering::Relaxed)
    }

    /// Frees the descriptor's number for the program, which has closed what it knows by it; the new
    /// one. The caller knows that no other thread uses the old one.
    pub(crate) fn move_away(&self) -> Result<RawFd> {
        let _closing = self.closing.try_lock_for(COMMAND_LIMIT).ok_or(Errno::EBUSY)?;
        let old = self.fd()?;
        let fresh = OwnedFd::duplicate(old)?.into_raw_fd();
        self.fd.store(fresh, Ordering::Relaxed);
        // SAFETY: ours, and closed once under this number.
        unsafe { libc::close(old) };
        Ok(fresh)
    }

    /// The descriptor, for a command: EBADF when closed. EACCES in a fork's child, as the kernel
    /// answers for a device that another process has opened.
    #[inline]
    pub(crate) fn fd(&self) -> Result<RawFd> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Errno::EBADF);
        }
        self.owner.check().map_err(|_| Errno::EACCES)?;
        Ok(self.number())
    }

    /// The descriptor, to name the channel in a command on another one. The kernel allows that in a fork's
    /// child, whose parent lives, too.
    pub(crate) fn fd_to_leave(&self) -> Result<RawFd> {
        if self.closed.load(Ordering::Acquire) { Err(Errno::EBADF) } else { Ok(self.number()) }
    }

    /// As `fd`, but never waits; `None` where `fd` would have to. May be called under a lock.
    #[inline]
    pub(crate) fn fd_at_once(&self) -> Option<RawFd> {
        (!self.closed.load(Ordering::Acquire) && self.owner.is_maker()).then_some(self.number())
    }

    /// Sends a command that does not sleep from a thread of the library. A concurrent close waits,
    /// so that the descriptor cannot name another file.
    pub(crate) fn while_open<R>(&self, command: impl FnOnce(RawFd) -> Result<R>) -> Result<R> {
        // Before the lock, as it may wait.
        self.owner.check().map_err(|_| Errno::EACCES)?;
        let _closing = self.closing.try_lock_for(COMMAND_LIMIT).ok_or(Errno::EBUSY)?;
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
        if self.owner.is_lost() {
            // The number is not ours any more.
            self.closed.store(true, Ordering::Release);
            return;
        }
        // In a child of fork the lock may be held by a thread that only the parent has.
        let _closing = self.is_owned().then(|| self.closing.try_lock_for(COMMAND_LIMIT));
        if !self.closed.swap(true, Ordering::AcqRel) {
            // SAFETY: ours, and closed once.
            unsafe { libc::close(self.number()) };
        }
    }
}

impl Drop for DeviceFile {
    fn drop(&mut self) {
        if !*self.closed.get_mut() {
            self.close();
        }
    }
}

/// What `struct rdma_event_channel *` points to.
#[repr(C)]
pub(crate) struct Channel {
    public: rdma_event_channel,
    file: DeviceFile,
    /// Threads in `while_reading`, and those that were cancelled there.
    readers: AtomicU32,
}

const _: () = assert!(offset_of!(Channel, public) == 0);

impl Channel {
    pub(crate) fn create() -> Result<Arc<Channel>> {
        Channel::open(O_CLOEXEC)
    }

    /// One whose events are taken where there are any, and never waited for.
    pub(crate) fn create_non_blocking(close_on_exec: bool) -> Result<Arc<Channel>> {
        Channel::open(O_NONBLOCK | if close_on_exec { O_CLOEXEC } else { 0 })
    }

    fn open(flags: c_int) -> Result<Arc<Channel>> {
        witness::check();
        device::require_any()?;
        let file = DeviceFile::open(flags)?;
        let public = rdma_event_channel { fd: file.number() };
        Arc::try_new(Channel { public, file, readers: AtomicU32::new(0) })
    }

    /// # Safety
    /// A valid channel pointer or NULL.
    pub(crate) unsafe fn from_c(
        channel: *mut rdma_event_channel,
    ) -> Result<ManuallyDrop<Arc<Channel>>> {
        if channel.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: by contract, from `into_c`. C keeps its own.
        Ok(ManuallyDrop::new(unsafe { Arc::from_raw(channel.cast::<Channel>()) }))
    }

    pub(crate) fn into_c(channel: Arc<Channel>) -> *mut rdma_event_channel {
        Arc::into_raw(channel).cast_mut().cast()
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
        let channel = unsafe { Arc::from_raw(channel.cast::<Channel>()) };
        if channel.has_readers() && channel.file.is_owned() {
            // They use it until they leave, and may call again.
            let readers = Arc::clone(&channel);
            core::mem::forget(Arc::clone(&channel));
            if let Err(error) = wake::later(channel.file.number(), move || readers.has_readers()) {
                because!(error, "a thread still waits for events of a channel that was destroyed");
            }
        }
        channel.file.close();
    }

    /// Waits for an event. Where another thread destroys the channel meanwhile, the call ends with EBADF.
    #[inline]
    pub(crate) fn while_reading<R>(&self, read: impl FnOnce(&DeviceFile) -> R) -> R {
        self.readers.fetch_add(1, Ordering::Relaxed);
        let result = read(&self.file);
        self.readers.fetch_sub(1, Ordering::Release);
        result
    }

    fn has_readers(&self) -> bool {
        self.readers.load(Ordering::Acquire) > 0
    }

    pub(crate) fn as_c(&self) -> *mut rdma_event_channel {
        (&raw const self.public).cast_mut()
    }

    pub(crate) fn file(&self) -> &DeviceFile {
        &self.file
    }
}

impl Deref for Channel {
    type Target = DeviceFile;

    fn deref(&self) -> &DeviceFile {
        &self.file
    }
}
