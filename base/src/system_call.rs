// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! System calls that go to the kernel directly. libc's functions for them would not do under locks:
//! they are cancellation points, they store errno, and the preload library has functions of its own in
//! their place, syscall(2) among them. (On other architectures they have to do.)
//!
//! # Safety
//! The kernel's calling convention: it changes the result's register and, on x86-64, rcx and r11.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;
use libc::c_long;

/// # Safety
/// What the call of that number demands of its arguments.
#[cfg(target_arch = "x86_64")]
unsafe fn direct(number: c_long, [a, b, c, d]: [usize; 4]) -> isize {
    let result;
    // SAFETY: by contract.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// # Safety
/// As above.
#[cfg(target_arch = "aarch64")]
unsafe fn direct(number: c_long, [a, b, c, d]: [usize; 4]) -> isize {
    let result;
    // SAFETY: by contract.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d,
            options(nostack),
        );
    }
    result
}

/// # Safety
/// As above.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn direct(number: c_long, [a, b, c, d]: [usize; 4]) -> isize {
    crate::errno::preserve_errno(|| {
        // SAFETY: by contract.
        let result = unsafe { libc::syscall(number, a, b, c, d) };
        if result == -1 { -Errno::last().raw() as isize } else { result as isize }
    })
}

/// What the kernel returns; errno stays as it was.
///
/// # Safety
/// What the call of that number demands of its arguments.
#[inline]
pub(crate) unsafe fn system_call(number: c_long, arguments: [usize; 4]) -> Result<usize> {
    // SAFETY: by contract.
    let result = unsafe { direct(number, arguments) };
    usize::try_from(result).map_err(|_| Errno::of(result as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_are_the_kernels() {
        // SAFETY: the thread's own errno.
        unsafe { *libc::__errno_location() = libc::EPIPE };
        let byte = [0_u8];
        // SAFETY: calls without pointers, and one with a live byte.
        unsafe {
            let process = system_call(libc::SYS_getpid, [0; 4]);
            assert_eq!(process, Ok(libc::getpid() as usize));
            let write = [usize::MAX, byte.as_ptr().addr(), 1, 0];
            assert_eq!(system_call(libc::SYS_write, write), Err(Errno::EBADF));
            let mut limits = [0_u64; 2];
            let [own, resource, none] = [0, libc::RLIMIT_NOFILE as usize, 0];
            let asked = [own, resource, none, (&raw mut limits).expose_provenance()];
            assert_eq!(system_call(libc::SYS_prlimit64, asked), Ok(0));
            assert!(limits[0] > 0 && limits[0] <= limits[1]);
        }
        assert_eq!(Errno::last(), Errno::EPIPE);
    }
}
