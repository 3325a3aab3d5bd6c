// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Whether an instance is in another instance of the process already, and which other descriptors it
//! has. Later additions and copies, and poll and select, are intercepted.
//!
//! # Safety
//! readlinkat(2) and getdents64(2) into buffers on the stack; kcmp(2) without pointers.
#![allow(unsafe_code)]

use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::fd::{OwnedFd, RawFd, read_all};
use base::memory::try_push;
use core::ffi::CStr;
use core::fmt::{self, Arguments, Write};
use libc::c_int;

const DESCRIPTORS: &CStr = c"/proc/self/fd";
const INSTANCE: &[u8] = b"anon_inode:[eventpoll]";

/// Offsets in struct linux_dirent64.
const LENGTH: usize = 16;
const NAME: usize = 19;

fn is_instance(directory: RawFd, name: &CStr) -> Option<bool> {
    let mut target = [0_u8; INSTANCE.len() + 1];
    // SAFETY: a C string and a live buffer.
    let length = unsafe {
        libc::readlinkat(directory, name.as_ptr(), target.as_mut_ptr().cast(), target.len())
    };
    let length = usize::try_from(length).ok()?;
    Some(target.get(..length)? == INSTANCE)
}

/// What an instance has to do with other descriptors of the process.
pub(super) struct Relations {
    /// Also if that cannot be found out.
    pub(super) may_be_nested: bool,
    /// Other descriptors of the instance.
    pub(super) copies: Vec<c_int>,
}

impl Relations {
    pub(super) fn of(instance: c_int) -> Relations {
        let mut relations = Relations { may_be_nested: false, copies: Vec::new() };
        if relations.look_up(instance).is_err() {
            relations.may_be_nested = true;
        }
        relations
    }

    fn look_up(&mut self, instance: c_int) -> Result<()> {
        for_each_instance(|directory, name| {
            let other = name.to_str().ok().and_then(|name| name.parse().ok());
            match other.filter(|other| *other != instance) {
                Some(other) if is_same(instance, other) => try_push(&mut self.copies, other)?,
                _ if self.may_be_nested => {}
                _ => self.may_be_nested = has_instance(directory, name, instance)?,
            }
            Ok(())
        })
    }
}

/// Whether two descriptors are of one open file. Where the kernel does not say, they are not.
fn is_same(one: c_int, other: c_int) -> bool {
    const KCMP_FILE: c_int = 0;
    // SAFETY: no pointers.
    unsafe {
        let process = libc::getpid();
        libc::syscall(libc::SYS_kcmp, process, process, KCMP_FILE, one, other) == 0
    }
}

/// Calls with the folder of descriptors and the name of each that is an instance.
fn for_each_instance(mut work: impl FnMut(RawFd, &CStr) -> Result<()>) -> Result<()> {
    let directory = OwnedFd::open(DESCRIPTORS, libc::O_RDONLY | libc::O_DIRECTORY)?;
    let fd = directory.as_raw_fd();
    let mut entries = [0_u64; 128];
    loop {
        // SAFETY: a live, aligned buffer of that length.
        let length = unsafe {
            let size = size_of_val(&entries);
            libc::syscall(libc::SYS_getdents64, fd, entries.as_mut_ptr(), size)
        };
        let length = usize::try_from(length).map_err(|_| Errno::last())?;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: bytes of the buffer.
        let mut rest = unsafe {
            core::slice::from_raw_parts(
                entries.as_ptr().cast::<u8>(),
                length.min(size_of_val(&entries)),
            )
        };
        while let Some((name, left)) = first_entry(rest) {
            if is_instance(fd, name) == Some(true) {
                work(fd, name)?;
            }
            rest = left;
        }
    }
}

/// The name of the first entry that getdents64(2) stored, and the entries behind it.
fn first_entry(entries: &[u8]) -> Option<(&CStr, &[u8])> {
    let length = entries.get(LENGTH..)?.first_chunk::<2>()?;
    let (entry, left) = entries.split_at_checked(u16::from_ne_bytes(*length).into())?;
    Some((CStr::from_bytes_until_nul(entry.get(NAME..)?).ok()?, left))
}

/// A path in /proc, on the stack.
struct Path {
    bytes: [u8; 64],
    length: usize,
}

impl Write for Path {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let end = self.length + part.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(part.as_bytes());
        self.length = end;
        Ok(())
    }
}

impl Path {
    fn new(text: Arguments<'_>) -> Result<Path> {
        let mut path = Path { bytes: [0; 64], length: 0 };
        path.write_fmt(text).map_err(|_| Errno::EINVAL)?;
        Ok(path)
    }

    fn as_c_str(&self) -> Result<&CStr> {
        CStr::from_bytes_until_nul(&self.bytes).map_err(|_| Errno::EINVAL)
    }
}

/// Whether an instance contains this one, or an instance whose number was closed.
fn has_instance(directory: RawFd, name: &CStr, instance: c_int) -> Result<bool> {
    let name = name.to_str().map_err(|_| Errno::EINVAL)?;
    let info = Path::new(format_args!("/proc/self/fdinfo/{name}"))?;
    let Ok(info) = read_all(info.as_c_str()?) else { return Ok(false) };
    for line in info.split(|byte| *byte == b'\n') {
        let Some(member) = line.strip_prefix(b"tfd:") else { continue };
        let member =
            core::str::from_utf8(member).ok().and_then(|text| text.split_whitespace().next());
        let Some(member) = member else { continue };
        let link = Path::new(format_args!("{member}"))?;
        if member.parse() == Ok(instance)
            || is_instance(directory, link.as_c_str()?).unwrap_or(true)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
