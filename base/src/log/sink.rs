// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Where lines go: standard error, or `RDMACM_LOG_FILE`.
//!
//! A program may close a descriptor that lines go to, and get another file by its number. So before
//! each line the file behind the descriptor is compared with what it was: a line never goes to a file
//! of the program's. Standard error that is another file than at load gets no more lines; a log file
//! is opened again. Calls go to the kernel directly: the preload library intercepts libc's.
//!
//! # Safety
//! System calls on live buffers and on descriptors, whose numbers may be anything.
#![allow(unsafe_code)]

use super::line::{Line, process};
use crate::errno::{Errno, Result};
use crate::fd::{RawFd, identity};
use crate::once::OnceLock;
use crate::system_call::system_call;
use crate::{environment, settings};
use core::fmt::Write;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use libc::{c_int, c_long};

/// The log's descriptor is away from those that programs choose or count on.
const LOWEST: usize = 200;
/// At least not standard input, output or error.
const LOWEST_OF_ALL: usize = 3;
const PATH_ROOM: usize = 1024;
/// `%p` in a file's name stands for the process.
const PROCESS: &[u8] = b"%p";

/// A file, by device and inode. No file has the number 0 for both.
struct File {
    device: AtomicU64,
    inode: AtomicU64,
}

impl File {
    const fn none() -> File {
        File { device: AtomicU64::new(0), inode: AtomicU64::new(0) }
    }

    fn remember(&self, (device, inode): (u64, u64)) {
        self.device.store(device, Ordering::Relaxed);
        self.inode.store(inode, Ordering::Relaxed);
    }

    fn is_behind(&self, fd: RawFd) -> bool {
        let known = (self.device.load(Ordering::Relaxed), self.inode.load(Ordering::Relaxed));
        known != (0, 0) && identity(fd) == Ok(known)
    }
}

/// Standard error as it was at load.
static STANDARD_ERROR: File = File::none();
/// The name in `RDMACM_LOG_FILE`, with a zero byte behind it.
static PATH: OnceLock<Option<[u8; PATH_ROOM]>> = OnceLock::new();
static LOG_FILE: File = File::none();
static LOG_FD: AtomicI32 = AtomicI32::new(-1);
/// The process that opened it.
static OPENER: AtomicI32 = AtomicI32::new(0);

fn call(number: c_long, arguments: [usize; 4]) -> Result<usize> {
    // SAFETY: of the callers in this file: live buffers, or no pointers.
    unsafe { system_call(number, arguments) }
}

/// Remembers what standard error is and where the log goes.
pub(super) fn at_load() {
    if let Ok(file) = identity(libc::STDERR_FILENO) {
        STANDARD_ERROR.remember(file);
    }
    PATH.get_or_init(|| {
        environment::read(settings::LOG_FILE.name, |name| {
            let mut path = [0; PATH_ROOM];
            // Room for a zero byte, and for a process in the place of `%p`.
            let place = path.get_mut(..name.len()).filter(|place| !place.is_empty())?;
            place.copy_from_slice(name.as_bytes());
            Some(path)
        })
    });
}

/// Writes a whole line.
pub(super) fn put(line: &[u8]) {
    match PATH.get() {
        Some(Some(path)) => match log_file(path) {
            Ok(fd) => write_all(fd, line),
            Err(error) => {
                if OPENER.swap(-process(), Ordering::Relaxed) != -process() {
                    tell_failure(error);
                }
                put_on_standard_error(line);
            }
        },
        _ => put_on_standard_error(line),
    }
}

fn tell_failure(error: Errno) {
    let mut line = Line::new();
    line.begin("cm", "error");
    let _ = write!(line, "cannot open RDMACM_LOG_FILE, lines go to standard error: {error}");
    put_on_standard_error(line.end());
}

fn put_on_standard_error(line: &[u8]) {
    if STANDARD_ERROR.is_behind(libc::STDERR_FILENO) {
        write_all(libc::STDERR_FILENO, line);
    }
}

/// The log's descriptor; opened where there is none, where the program has closed it, and where a
/// fork's child has a name of its own.
fn log_file(path: &[u8; PATH_ROOM]) -> Result<RawFd> {
    let own = process();
    let known = LOG_FD.load(Ordering::Acquire);
    if known >= 0 && LOG_FILE.is_behind(known) {
        let is_per_process = path.windows(PROCESS.len()).any(|part| part == PROCESS);
        if !is_per_process || OPENER.load(Ordering::Relaxed) == own {
            return Ok(known);
        }
        let _ = call(libc::SYS_close, [known as usize, 0, 0, 0]);
    }
    let fresh = open(path, own)?;
    LOG_FILE.remember(identity(fresh)?);
    OPENER.store(own, Ordering::Relaxed);
    if LOG_FD.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        return Ok(fresh);
    }
    // Another thread was first.
    let _ = call(libc::SYS_close, [fresh as usize, 0, 0, 0]);
    Ok(LOG_FD.load(Ordering::Acquire))
}

fn open(path: &[u8; PATH_ROOM], process: i32) -> Result<RawFd> {
    let mut name = [0; PATH_ROOM + 16];
    expand(path, process.unsigned_abs(), &mut name)?;
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOCTTY;
    let name = name.as_ptr().expose_provenance();
    let made = call(libc::SYS_openat, [libc::AT_FDCWD as usize, name, flags as usize, 0o600])?;
    let higher = |lowest| {
        let command = libc::F_DUPFD_CLOEXEC as usize;
        call(libc::SYS_fcntl, [made, command, lowest, 0])
    };
    let moved = higher(LOWEST).or_else(|_| higher(LOWEST_OF_ALL));
    let _ = call(libc::SYS_close, [made, 0, 0, 0]);
    moved.map(|fd| fd as c_int)
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

fn write_all(fd: RawFd, mut rest: &[u8]) {
    while !rest.is_empty() {
        let start = rest.as_ptr().expose_provenance();
        match call(libc::SYS_write, [fd as usize, start, rest.len(), 0]) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

/// The last words of the process, wherever standard error goes.
pub(super) fn put_and_abort(line: &[u8]) -> ! {
    write_all(libc::STDERR_FILENO, line);
    // SAFETY: no arguments.
    unsafe { libc::abort() }
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
