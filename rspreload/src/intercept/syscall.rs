// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! syscall(2): a program that makes a system call on a descriptor by itself (libuv closes and sends
//! that way) gets the function of that name. syscall is variadic in C; a caller passes its arguments
//! in the registers, and the sixth on the stack, as it would fixed ones.
//!
//! # Safety
//! Each argument is what the kernel's call of that number takes, by the caller's contract.
#![allow(unsafe_code)]

use super::{descriptor, epoll, message, poll, positioned, socket};
use crate::calls::clone;
use crate::sys::original;
use core::mem::MaybeUninit;
use libc::{c_int, c_long, c_uint, c_void, nfds_t, sigset_t, size_t, timespec};

/// The arguments, as numbers.
type Arguments = [c_long; 6];

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let arguments = [a, b, c, d, e, f];
    // SAFETY: the caller's.
    unsafe {
        on_descriptor(number, &arguments)
            .or_else(|| on_socket(number, &arguments))
            .or_else(|| on_bytes(number, &arguments))
            .or_else(|| on_readiness(number, &arguments))
            .or_else(|| of_process(number, &arguments))
            .unwrap_or_else(|| original::syscall(number, a, b, c, d, e, f))
    }
}

const fn int(value: c_long) -> c_int {
    value as c_int
}

fn pointer<T>(value: c_long) -> *mut T {
    core::ptr::with_exposed_provenance_mut(value as usize)
}

/// # Safety
/// As for `syscall`; so for the functions below.
unsafe fn on_descriptor(number: c_long, arguments: &Arguments) -> Option<c_long> {
    let [a, b, c, ..] = *arguments;
    // SAFETY: the caller's.
    let answer = unsafe {
        match number {
            libc::SYS_close => descriptor::close(int(a)),
            libc::SYS_close_range => descriptor::close_range(a as c_uint, b as c_uint, int(c)),
            libc::SYS_dup => descriptor::dup(int(a)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_dup2 => descriptor::dup2(int(a), int(b)),
            libc::SYS_dup3 => descriptor::dup3(int(a), int(b), int(c)),
            libc::SYS_fcntl => descriptor::fcntl(int(a), int(b), c),
            libc::SYS_ioctl => descriptor::ioctl(int(a), b as _, pointer(c)),
            _ => return None,
        }
    };
    Some(answer.into())
}

unsafe fn on_socket(number: c_long, arguments: &Arguments) -> Option<c_long> {
    let [a, b, c, d, e, _] = *arguments;
    // SAFETY: the caller's.
    let answer = unsafe {
        match number {
            libc::SYS_socket => socket::socket(int(a), int(b), int(c)),
            libc::SYS_bind => socket::bind(int(a), pointer(b), c as c_uint),
            libc::SYS_listen => socket::listen(int(a), int(b)),
            libc::SYS_accept => socket::accept(int(a), pointer(b), pointer(c)),
            libc::SYS_accept4 => socket::accept4(int(a), pointer(b), pointer(c), int(d)),
            libc::SYS_connect => socket::connect(int(a), pointer(b), c as c_uint),
            libc::SYS_shutdown => socket::shutdown(int(a), int(b)),
            libc::SYS_getsockname => socket::getsockname(int(a), pointer(b), pointer(c)),
            libc::SYS_getpeername => socket::getpeername(int(a), pointer(b), pointer(c)),
            libc::SYS_setsockopt => {
                socket::setsockopt(int(a), int(b), int(c), pointer(d), e as c_uint)
            }
            libc::SYS_getsockopt => {
                socket::getsockopt(int(a), int(b), int(c), pointer(d), pointer(e))
            }
            _ => return None,
        }
    };
    Some(answer.into())
}

unsafe fn on_bytes(number: c_long, arguments: &Arguments) -> Option<c_long> {
    let [a, b, c, d, e, f] = *arguments;
    let size = c as size_t;
    // SAFETY: the caller's. Kernels of 64 bits take a position whole, in the fourth argument.
    let answer = unsafe {
        match number {
            libc::SYS_read => message::read(int(a), pointer(b), size),
            libc::SYS_readv => message::readv(int(a), pointer(b), int(c)),
            libc::SYS_recvfrom => {
                message::recvfrom(int(a), pointer(b), size, int(d), pointer(e), pointer(f))
            }
            libc::SYS_recvmsg => message::recvmsg(int(a), pointer(b), int(c)),
            libc::SYS_recvmmsg => {
                let (count, timeout) = (c as c_uint, pointer(e));
                message::recvmmsg(int(a), pointer(b), count, int(d), timeout) as isize
            }
            libc::SYS_write => message::write(int(a), pointer::<c_void>(b), size),
            libc::SYS_writev => message::writev(int(a), pointer(b), int(c)),
            libc::SYS_sendto => {
                message::sendto(int(a), pointer::<c_void>(b), size, int(d), pointer(e), f as c_uint)
            }
            libc::SYS_sendmsg => message::sendmsg(int(a), pointer(b), int(c)),
            libc::SYS_sendmmsg => {
                message::sendmmsg(int(a), pointer(b), c as c_uint, int(d)) as isize
            }
            libc::SYS_sendfile => message::sendfile(int(a), int(b), pointer(c), d as size_t),
            libc::SYS_splice => {
                let (to, flags) = (int(c), f as c_uint);
                message::splice(int(a), pointer(b), to, pointer(d), e as size_t, flags)
            }
            libc::SYS_preadv2 => positioned::preadv2(int(a), pointer(b), int(c), d, int(f)),
            libc::SYS_pwritev2 => positioned::pwritev2(int(a), pointer(b), int(c), d, int(f)),
            _ => return None,
        }
    };
    Some(answer as c_long)
}

/// The kernel's signal mask, which is shorter than libc's.
struct Mask(Option<sigset_t>);

impl Mask {
    /// # Safety
    /// NULL, or `size` readable bytes.
    unsafe fn read(mask: *const u8, size: size_t) -> Mask {
        let mut whole = MaybeUninit::<sigset_t>::zeroed();
        let size = size.min(size_of::<sigset_t>());
        // SAFETY: by contract; a set of signals is valid when zero.
        Mask((!mask.is_null()).then(|| unsafe {
            mask.copy_to_nonoverlapping(whole.as_mut_ptr().cast(), size);
            whole.assume_init()
        }))
    }

    fn as_ptr(&self) -> *const sigset_t {
        self.0.as_ref().map_or(core::ptr::null(), core::ptr::from_ref)
    }
}

unsafe fn on_readiness(number: c_long, arguments: &Arguments) -> Option<c_long> {
    let [a, b, c, d, e, f] = *arguments;
    // SAFETY: the caller's.
    let answer = unsafe {
        match number {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => poll::poll(pointer(a), b as nfds_t, int(c)),
            libc::SYS_ppoll => {
                let mask = Mask::read(pointer(d), e as size_t);
                poll::ppoll(pointer(a), b as nfds_t, pointer::<timespec>(c), mask.as_ptr())
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => {
                poll::select(int(a), pointer(b), pointer(c), pointer(d), pointer(e))
            }
            libc::SYS_pselect6 => {
                // The mask and its size, as there is no seventh argument.
                let pair = pointer::<[c_long; 2]>(f);
                let [mask, size] = if pair.is_null() { [0; 2] } else { pair.read_unaligned() };
                let mask = Mask::read(pointer(mask), size as size_t);
                let timeout = pointer::<timespec>(e);
                poll::pselect(int(a), pointer(b), pointer(c), pointer(d), timeout, mask.as_ptr())
            }
            libc::SYS_epoll_ctl => epoll::epoll_ctl(int(a), int(b), int(c), pointer(d)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => epoll::epoll_wait(int(a), pointer(b), int(c), int(d)),
            libc::SYS_epoll_pwait => {
                let mask = Mask::read(pointer(e), f as size_t);
                epoll::epoll_pwait(int(a), pointer(b), int(c), int(d), mask.as_ptr())
            }
            libc::SYS_epoll_pwait2 => {
                let mask = Mask::read(pointer(e), f as size_t);
                epoll::epoll_pwait2(int(a), pointer(b), int(c), pointer(d), mask.as_ptr())
            }
            _ => return None,
        }
    };
    Some(answer.into())
}

fn fork() -> c_long {
    // SAFETY: no arguments.
    unsafe { libc::fork() }.into()
}

/// A plain fork becomes libc's, so that the handlers of both libraries run.
unsafe fn of_process(number: c_long, arguments: &Arguments) -> Option<c_long> {
    let [flags, stack, ..] = *arguments;
    match number {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork => Some(fork()),
        // With neither a stack nor a flag that takes a pointer or makes a namespace.
        libc::SYS_clone if flags == c_long::from(libc::SIGCHLD) && stack == 0 => Some(fork()),
        libc::SYS_clone if stack == 0 => clone::clone(c_int::try_from(flags).ok()?),
        // SAFETY: no pointers.
        libc::SYS_exit_group => unsafe { descriptor::_exit(int(flags)) },
        _ => None,
    }
}
