//! Streams of stdio on a connection. glibc's streams call the kernel without the dynamic linker, so a
//! stream on an rsocket gets functions of its own, as of fopencookie(3).
//!
//! # Safety
//! libc's stream with our functions; the place of its descriptor is glibc's, on 64-bit machines.
#![allow(unsafe_code)]

use crate::descriptors;
use crate::error::Errno;
use crate::export::{fail, read, write};
use crate::real::{self, CookieFunctions};
use crate::socket::{Mode, SOCKETS};
use libc::{FILE, c_char, c_int, c_void, size_t, ssize_t};

/// Of `_fileno` in glibc's FILE.
const FILENO: usize = 112;

fn number(cookie: *mut c_void) -> c_int {
    cookie as usize as c_int
}

extern "C" fn fill(cookie: *mut c_void, to: *mut c_char, length: size_t) -> ssize_t {
    // SAFETY: stdio's buffer.
    unsafe { read(number(cookie), to.cast(), length) }
}

extern "C" fn flush(cookie: *mut c_void, from: *const c_char, length: size_t) -> ssize_t {
    let mut done = 0;
    while done < length {
        // SAFETY: stdio's buffer.
        let count = unsafe { write(number(cookie), from.add(done).cast(), length - done) };
        match usize::try_from(count) {
            Ok(count) => done += count,
            Err(_) => break,
        }
    }
    // Zero means an error here.
    done as ssize_t
}

extern "C" fn seek(_cookie: *mut c_void, _place: *mut i64, _whence: c_int) -> c_int {
    fail(Errno::of(libc::ESPIPE))
}

extern "C" fn close(cookie: *mut c_void) -> c_int {
    descriptors::close(number(cookie))
}

/// # Safety
/// The caller's arguments of fdopen.
pub(crate) unsafe fn open(fd: c_int, mode: *const c_char) -> *mut FILE {
    // Also one that is not connected yet.
    let may_need_us = SOCKETS.get(fd).is_some_and(|socket| {
        socket.is_stream() && matches!(socket.mode(), Mode::Open | Mode::Rdma | Mode::Connecting)
    });
    // SAFETY: the caller's.
    unsafe {
        if !may_need_us {
            return real::fdopen(fd, mode);
        }
        let functions = CookieFunctions { read: fill, write: flush, seek, close };
        let stream = real::fopencookie(fd as usize as *mut c_void, mode, functions);
        if !stream.is_null() {
            // For fileno(3).
            stream.cast::<u8>().add(FILENO).cast::<c_int>().write(fd);
        }
        stream
    }
}
