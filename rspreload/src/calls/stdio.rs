// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Streams of stdio on connections. glibc's own streams make their system calls without the dynamic
//! linker, so fdopen of a socket makes a stream that calls this library, by fopencookie(3).
//!
//! # Safety
//! A stream of libc's. fileno(3) reads the member `_fileno` of glibc's FILE, at its place on 64-bit
//! machines.
#![allow(unsafe_code)]

use super::descriptor;
use super::transfer::{read, write};
use crate::sys::errno::fail;
use crate::sys::original::{self, CookieFunctions};
use crate::table::descriptors::SOCKETS;
use crate::table::socket::Mode;
use base::errno::Errno;
use libc::{FILE, c_char, c_int, c_void, size_t, ssize_t};

/// The offset of `_fileno` in FILE.
const FILENO: usize = 112;

/// The cookie is the descriptor.
fn descriptor_of(cookie: *mut c_void) -> c_int {
    cookie as usize as c_int
}

extern "C" fn read_some(cookie: *mut c_void, to: *mut c_char, length: size_t) -> ssize_t {
    // SAFETY: stdio's buffer.
    unsafe { read(descriptor_of(cookie), to.cast(), length) }
}

extern "C" fn write_all(cookie: *mut c_void, from: *const c_char, length: size_t) -> ssize_t {
    let mut done = 0;
    while done < length {
        // SAFETY: stdio's buffer.
        let count = unsafe { write(descriptor_of(cookie), from.add(done).cast(), length - done) };
        match usize::try_from(count) {
            Ok(count) => done += count,
            Err(_) => break,
        }
    }
    // Zero means an error here.
    done as ssize_t
}

extern "C" fn seek(_cookie: *mut c_void, _offset: *mut i64, _whence: c_int) -> c_int {
    fail(Errno::of(libc::ESPIPE))
}

extern "C" fn close(cookie: *mut c_void) -> c_int {
    descriptor::close(descriptor_of(cookie))
}

/// # Safety
/// The caller's arguments of fdopen.
pub(crate) unsafe fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    // Also for a socket that is not connected yet.
    let may_use_rdma = SOCKETS.get(fd).is_some_and(|socket| {
        socket.is_stream() && matches!(socket.mode(), Mode::Open | Mode::Rdma | Mode::Connecting)
    });
    // SAFETY: the caller's.
    unsafe {
        if !may_use_rdma {
            return original::fdopen(fd, mode);
        }
        let functions = CookieFunctions { read: read_some, write: write_all, seek, close };
        let stream = original::fopencookie(fd as usize as *mut c_void, mode, functions);
        if !stream.is_null() {
            stream.cast::<u8>().add(FILENO).cast::<c_int>().write(fd);
        }
        stream
    }
}
