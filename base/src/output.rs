// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Files that the libraries write for the user: the log and the trace.
//!
//! A program may close the descriptor of such a file, and get another file by its number. So before
//! each write the file behind the descriptor is compared with what it was. Calls go to the kernel
//! directly: the preload library intercepts libc's.
//!
//! # Safety
//! System calls on live buffers and on descriptors, whose numbers may be anything.
#![allow(unsafe_code)]

use crate::environment;
use crate::errno::{Errno, Result};
use crate::fd::{RawFd, identity};
use crate::system_call::system_call;
use core::ffi::CStr;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use libc::{c_int, c_long};

/// Descriptors of such files are away from those that programs choose or count on.
const LOWEST: usize = 200;
/// At least not standard input, output or error.
const LOWEST_OF_ALL: usize = 3;
const PATH_ROOM: usize = 1024;
/// With the process in it, and the zero byte.
const NAME_ROOM: usize = PATH_ROOM + 16;
/// `%p` in a file's name stands for the process.
const PROCESS: &[u8] = b"%p";

fn call(number: c_long, arguments: [usize; 4]) -> Result<usize> {
    // SAFETY: of the callers in this file: live buffers, or no pointers.
    unsafe { system_call(number, arguments) }
}

/// The calling process, and not one that shares its memory.
pub(crate) fn process() -> i32 {
    call(libc::SYS_getpid, [0; 4]).unwrap_or(0) as i32
}

pub(crate) fn thread() -> i32 {
    call(libc::SYS_gettid, [0; 4]).unwrap_or(0) as i32
}

/// Whose files are that this process makes.
pub(crate) fn user() -> u32 {
    call(libc::SYS_geteuid, [0; 4]).map_or(u32::MAX, |user| user as u32)
}

/// A file, by device and inode. No file has the number 0 for both.
pub(crate) struct File {
    device: AtomicU64,
    inode: AtomicU64,
}

impl File {
    pub(crate) const fn none() -> File {
        File { device: AtomicU64::new(0), inode: AtomicU64::new(0) }
    }

    pub(crate) fn remember(&self, (device, inode): (u64, u64)) {
        self.device.store(device, Ordering::Relaxed);
        self.inode.store(inode, Ordering::Relaxed);
    }

    pub(crate) fn is_behind(&self, fd: RawFd) -> bool {
        let known = (self.device.load(Ordering::Relaxed), self.inode.load(Ordering::Relaxed));
        known != (0, 0) && identity(fd) == Ok(known)
    }
}

/// A file's name, as a variable has it.
pub(crate) struct Name([u8; PATH_ROOM]);

impl Name {
    /// None where the variable is not set, is empty, or too long.
    pub(crate) fn read(variable: &CStr) -> Option<Name> {
        environment::read(variable, |name| {
            let mut path = [0; PATH_ROOM];
            let place = path.get_mut(..name.len()).filter(|place| !place.is_empty())?;
            place.copy_from_slice(name.as_bytes());
            Some(Name(path))
        })
    }

    /// Each process has a file of its own.
    pub(crate) fn is_per_process(&self) -> bool {
        self.0.windows(PROCESS.len()).any(|part| part == PROCESS)
    }

    /// The file of a process, for people.
    pub(crate) fn of(&self, process: i32) -> Shown<'_> {
        Shown(self, process)
    }

    /// Opens the file of a process; 0600 where it is made. Its descriptor is closed by exec(2).
    pub(crate) fn open(&self, process: i32, flags: c_int) -> Result<RawFd> {
        let mut name = [0; NAME_ROOM];
        expand(&self.0, process.unsigned_abs(), &mut name)?;
        let flags = flags | libc::O_CLOEXEC | libc::O_NOCTTY;
        let name = name.as_ptr().expose_provenance();
        let made = call(libc::SYS_openat, [libc::AT_FDCWD as usize, name, flags as usize, 0o600])?;
        let higher = |lowest| {
            let command = libc::F_DUPFD_CLOEXEC as usize;
            call(libc::SYS_fcntl, [made, command, lowest, 0])
        };
        let moved = higher(LOWEST).or_else(|_| higher(LOWEST_OF_ALL));
        close(made as RawFd);
        moved.map(|fd| fd as RawFd)
    }
}

/// A file's name as it is opened.
pub(crate) struct Shown<'a>(&'a Name, i32);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = [0; NAME_ROOM];
        expand(&self.0.0, self.1.unsigned_abs(), &mut name).map_err(|_| fmt::Error)?;
        let name = CStr::from_bytes_until_nul(&name).map_err(|_| fmt::Error)?;
        name.to_bytes().utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            if chunk.invalid().is_empty() { Ok(()) } else { f.write_str("?") }
        })
    }
}

/// The name with the process in the place of each `%p`, ended by a zero byte.
fn expand(path: &[u8], process: u32, name: &mut [u8]) -> Result<()> {
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut rest = process;
    while rest > 0 || first == digits.len() {
        first -= 1;
        if let Some(place) = digits.get_mut(first) {
            *place = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
    }
    let number = digits.get(first..).unwrap_or_default();
    let mut left = path.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut length = 0;
    let mut add = |bytes: &[u8]| -> Result<()> {
        let place = name.get_mut(length..length + bytes.len()).ok_or(Errno::ENOSPC)?;
        place.copy_from_slice(bytes);
        length += bytes.len();
        Ok(())
    };
    while let Some((byte, after)) = left.split_first() {
        match left.strip_prefix(PROCESS) {
            Some(after) => {
                add(number)?;
                left = after;
            }
            None => {
                add(&[*byte])?;
                left = after;
            }
        }
    }
    add(&[0])
}

pub(crate) fn close(fd: RawFd) {
    let _ = call(libc::SYS_close, [fd as usize, 0, 0, 0]);
}

pub(crate) fn write_all(fd: RawFd, mut rest: &[u8]) -> Result<()> {
    while !rest.is_empty() {
        let start = rest.as_ptr().expose_provenance();
        match call(libc::SYS_write, [fd as usize, start, rest.len(), 0]) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Cuts a file to a length.
pub(crate) fn cut(fd: RawFd, length: u64) -> Result<()> {
    let length = libc::off64_t::try_from(length).map_err(|_| Errno::EOVERFLOW)?;
    crate::errno::preserve_errno(|| {
        // SAFETY: no pointers.
        if unsafe { libc::ftruncate64(fd, length) } == 0 { Ok(()) } else { Err(Errno::last()) }
    })
}

/// Takes a file for this process alone; EAGAIN where another one has it.
pub(crate) fn take_alone(fd: RawFd) -> Result<()> {
    let operation = libc::LOCK_EX | libc::LOCK_NB;
    call(libc::SYS_flock, [fd as usize, operation as usize, 0, 0]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &str, process: u32) -> Result<String> {
        let mut name = [0xFF; 64];
        expand(path.as_bytes(), process, &mut name)?;
        let length = name.iter().position(|byte| *byte == 0).ok_or(Errno::EIO)?;
        Ok(String::from_utf8_lossy(&name[..length]).into_owned())
    }

    #[test]
    fn a_name_has_the_process_in_it() {
        assert_eq!(named("/tmp/log", 7).as_deref(), Ok("/tmp/log"));
        assert_eq!(named("/tmp/%p.%p.log\0rest", 4021).as_deref(), Ok("/tmp/4021.4021.log"));
        assert_eq!(named("%", 0).as_deref(), Ok("%"));
        assert_eq!(named("%p", 0).as_deref(), Ok("0"));
        assert_eq!(named(&"x".repeat(64), 1), Err(Errno::ENOSPC));
    }

    #[test]
    fn a_name_is_shown_as_it_is_opened() {
        let mut path = [0; PATH_ROOM];
        path[..10].copy_from_slice(b"/a\xFF/%p.log");
        assert_eq!(Name(path).of(12).to_string(), "/a?/12.log");
    }

    #[test]
    fn another_file_behind_the_number_is_noticed() {
        let mut ends = [0; 4];
        // SAFETY: room for two descriptors each.
        let made = unsafe { (libc::pipe(ends.as_mut_ptr()), libc::pipe(ends[2..].as_mut_ptr())) };
        assert_eq!(made, (0, 0));
        let file = File::none();
        assert!(!file.is_behind(ends[1]));
        file.remember(identity(ends[1]).unwrap_or_default());
        assert!(file.is_behind(ends[1]) && !file.is_behind(ends[3]) && !file.is_behind(-1));
        for fd in ends {
            // SAFETY: no pointers.
            unsafe { libc::close(fd) };
        }
        assert!(!file.is_behind(ends[1]));
    }
}
