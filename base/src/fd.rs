// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Descriptors that are owned, and files that are read.
//!
//! # Safety
//! System calls on live buffers and on descriptors that are owned here.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result, preserve_errno};
use crate::system_call::system_call;
use alloc::vec::Vec;
use core::ffi::CStr;
use libc::c_int;

/// A descriptor's number.
pub type RawFd = c_int;

/// A descriptor that is closed with its owner, as std's.
#[repr(transparent)]
#[derive(Debug)]
pub struct OwnedFd(RawFd);

impl OwnedFd {
    /// Takes what a system call returned: a new descriptor, or -1 with errno.
    pub fn made(returned: c_int) -> Result<OwnedFd> {
        if returned < 0 { Err(Errno::last()) } else { Ok(OwnedFd(returned)) }
    }

    /// Another descriptor of the same open file, closed by exec(2). It is never standard input, output or
    /// error.
    pub fn duplicate(fd: RawFd) -> Result<OwnedFd> {
        const LOWEST: c_int = 3;
        // SAFETY: no pointers.
        OwnedFd::made(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, LOWEST) })
    }

    #[must_use]
    pub fn as_raw_fd(&self) -> RawFd {
        self.0
    }

    /// Gives the descriptor away.
    #[must_use]
    pub fn into_raw_fd(self) -> RawFd {
        let fd = self.0;
        core::mem::forget(self);
        fd
    }

    /// open(2) with O_CLOEXEC.
    pub fn open(path: &CStr, flags: c_int) -> Result<OwnedFd> {
        OwnedFd::open_as(path, flags | libc::O_CLOEXEC)
    }

    /// open(2) with these flags alone.
    pub fn open_as(path: &CStr, flags: c_int) -> Result<OwnedFd> {
        // SAFETY: a C string.
        OwnedFd::made(unsafe { libc::open(path.as_ptr(), flags) })
    }

    /// read(2); goes on after a signal.
    pub fn read(&self, to: &mut [u8]) -> Result<usize> {
        loop {
            // SAFETY: a live buffer.
            let count = unsafe { libc::read(self.0, to.as_mut_ptr().cast(), to.len()) };
            match usize::try_from(count).map_err(|_| Errno::last()) {
                Err(Errno::EINTR) => {}
                result => return result,
            }
        }
    }

    /// fstat(2) of libc: a soft device answers for its nodes.
    pub fn status(&self) -> Result<libc::stat> {
        // SAFETY: integers: valid when zero.
        let mut status: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: a live struct.
        let failed = unsafe { libc::fstat(self.0, &raw mut status) };
        if failed != 0 { Err(Errno::last()) } else { Ok(status) }
    }
}

impl Drop for OwnedFd {
    fn drop(&mut self) {
        // SAFETY: owned.
        preserve_errno(|| unsafe { libc::close(self.0) });
    }
}

/// The status of an open file. Without libc's functions, which the preload library may intercept.
pub(crate) fn status(fd: RawFd) -> Result<libc::stat> {
    // SAFETY: integers: valid when zero.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: a live struct.
    unsafe {
        system_call(libc::SYS_fstat, [fd as usize, (&raw mut status).expose_provenance(), 0, 0])
    }?;
    // Elsewhere libc's struct is not the kernel's.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    preserve_errno(|| {
        // SAFETY: a live struct.
        if unsafe { libc::fstat(fd, &raw mut status) } == 0 { Ok(()) } else { Err(Errno::last()) }
    })?;
    Ok(status)
}

/// Device and inode behind a number, which may be anything.
pub(crate) fn identity(fd: RawFd) -> Result<(u64, u64)> {
    status(fd).map(|status| (status.st_dev, status.st_ino))
}

/// The first bytes of a file, as many as `to` has room for.
pub fn read_start<'a>(path: &CStr, to: &'a mut [u8]) -> Result<&'a [u8]> {
    let file = OwnedFd::open(path, libc::O_RDONLY)?;
    let mut length = 0;
    while let Some(room) = to.get_mut(length..).filter(|room| !room.is_empty()) {
        match file.read(room)? {
            0 => break,
            count => length += count,
        }
    }
    to.get(..length).ok_or(Errno::EIO)
}

/// All of a file.
pub fn read_all(path: &CStr) -> Result<Vec<u8>> {
    let file = OwnedFd::open(path, libc::O_RDONLY)?;
    let mut all = Vec::new();
    let mut part = [0; 1024];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(all),
            count => {
                let read = part.get(..count).ok_or(Errno::EIO)?;
                all.try_reserve(read.len()).map_err(|_| Errno::ENOMEM)?;
                all.extend_from_slice(read);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_whole_or_their_start() {
        let mut start = [0; 4];
        assert_eq!(read_start(c"/proc/self/stat", &mut start).map(<[u8]>::len), Ok(4));
        let all = read_all(c"/proc/self/maps").unwrap_or_default();
        assert!(all.len() > 1024 && all.ends_with(b"\n"));
        assert_eq!(read_all(c"/nowhere"), Err(Errno::ENOENT));
    }
}
