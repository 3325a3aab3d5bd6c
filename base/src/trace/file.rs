// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The file of a trace: a regular one of the user's own, which no other process writes, and whose end is
//! a whole record whatever happens.

use crate::errno::{Errno, Result};
use crate::fd::{RawFd, identity, status};
use crate::output::{self, Name};

/// A file that is written at its end alone. Copies are of one file.
#[derive(Clone, Copy)]
pub(super) struct TraceFile {
    fd: RawFd,
    identity: (u64, u64),
    /// Bytes that are written.
    length: u64,
    process: i32,
}

/// Neither a link nor something that an open waits for.
const FLAGS: i32 = libc::O_WRONLY | libc::O_APPEND | libc::O_NOFOLLOW | libc::O_NONBLOCK;

impl TraceFile {
    /// Makes the file of a process. One that is there is written anew, where it is the user's own.
    pub(super) fn create(name: &Name, process: i32) -> Result<TraceFile> {
        let fd = name.open(process, FLAGS | libc::O_CREAT)?;
        match TraceFile::take(fd) {
            Ok(identity) => Ok(TraceFile { fd, identity, length: 0, process }),
            Err(error) => {
                output::close(fd);
                Err(error)
            }
        }
    }

    /// EPERM for what another user could have put there, EAGAIN for what another process writes.
    fn take(fd: RawFd) -> Result<(u64, u64)> {
        let status = status(fd)?;
        let is_own = status.st_uid == output::user();
        let is_file = status.st_mode & libc::S_IFMT == libc::S_IFREG;
        if !is_own || !is_file || status.st_nlink != 1 {
            return Err(Errno::EPERM);
        }
        output::take_alone(fd)?;
        output::cut(fd, 0)?;
        Ok((status.st_dev, status.st_ino))
    }

    /// Appends whole records; where it fails, nothing of them is there.
    pub(super) fn append(&mut self, name: &Name, records: &[u8]) -> Result<()> {
        if identity(self.fd) != Ok(self.identity) {
            self.reopen(name)?;
        }
        output::write_all(self.fd, records).inspect_err(|_| {
            let _ = output::cut(self.fd, self.length);
        })?;
        self.length += records.len() as u64;
        Ok(())
    }

    /// The program has closed the descriptor. ENOENT where the file has gone since.
    fn reopen(&mut self, name: &Name) -> Result<()> {
        let fd = name.open(self.process, FLAGS)?;
        if identity(fd) != Ok(self.identity) || output::take_alone(fd).is_err() {
            output::close(fd);
            return Err(Errno::ENOENT);
        }
        self.fd = fd;
        Ok(())
    }

    /// In a fork's child: the file is the parent's.
    pub(super) fn leave(self) {
        if identity(self.fd) == Ok(self.identity) {
            output::close(self.fd);
        }
    }
}
