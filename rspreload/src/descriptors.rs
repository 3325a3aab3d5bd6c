//! Descriptor numbers: which of them mean a socket, and the calls that make, copy and close them.
//!
//! # Safety
//! System calls without pointers, on numbers that the program gave.
#![allow(unsafe_code)]

use crate::counted::Counted;
use crate::detach::detach;
use crate::epoll::{EPOLLS, Epoll};
use crate::error::{Errno, Result, quietly};
use crate::fork;
use crate::process;
use crate::real;
use crate::socket::{Mode, SOCKETS, Socket};
use libc::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFL, O_NONBLOCK, c_int, c_long, c_uint, c_ulong, c_void,
};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// Entries of both tables: with none, nobody needs to look.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicI32 = AtomicI32::new(0);

/// One more than the highest number that ever was in a table.
pub(crate) fn highest() -> c_int {
    HIGHEST.load(Ordering::Relaxed)
}

/// No socket has ever been entered.
pub(crate) fn is_unused() -> bool {
    ENTRIES.load(Ordering::Relaxed) == 0
}

pub(crate) fn entered(fd: c_int) {
    ENTRIES.fetch_add(1, Ordering::Relaxed);
    HIGHEST.fetch_max(fd.saturating_add(1), Ordering::Relaxed);
}

/// A socket under a new number, which the program does not know yet.
pub(crate) fn enter(fd: c_int, socket: &Counted<Socket>) -> Result<()> {
    leave(fd);
    socket.state.lock().fds.push(fd);
    SOCKETS.insert(fd, Counted::clone(socket))?;
    entered(fd);
    Ok(())
}

/// The number means nothing more; the last one ends what it meant.
pub(crate) fn leave(fd: c_int) {
    if let Some(socket) = SOCKETS.remove(fd) {
        let watches = {
            let mut state = socket.state.lock();
            state.fds.retain(|other| *other != fd);
            if state.fds.is_empty() { std::mem::take(&mut state.watches) } else { Vec::new() }
        };
        for (epoll, key) in watches {
            if let Some(epoll) = epoll.upgrade() {
                epoll.drop_registration(key);
            }
        }
        quietly(|| drop(socket));
    }
    if let Some(epoll) = EPOLLS.remove(fd) {
        quietly(|| epoll.leave(fd));
    }
}

/// In a fork's child, as the first thing. The kernel copies the descriptors before the memory: what other
/// threads entered between the two is in the tables and not open, and its number will be something else's.
pub(crate) fn in_child() {
    if is_unused() {
        return;
    }
    for fd in 0..highest() {
        let is_known = SOCKETS.get(fd).is_some() || EPOLLS.get(fd).is_some();
        // SAFETY: no pointers.
        if is_known && unsafe { real::fcntl(fd, F_GETFD, 0) } < 0 {
            // Ending it is its own process's affair.
            std::mem::forget((SOCKETS.remove(fd), EPOLLS.remove(fd)));
        }
    }
}

fn is_known(fd: c_int) -> bool {
    !is_unused()
        && (SOCKETS.get(fd).is_some() || EPOLLS.get(fd).is_some())
        && process::is_own_memory()
}

pub(crate) fn close(fd: c_int) -> c_int {
    if is_known(fd) {
        leave(fd);
    } else if !is_unused() {
        fork::closed(fd, fd);
    }
    // SAFETY: no pointers.
    unsafe { real::close(fd) }
}

const CLOSE_RANGE_UNSHARE: c_int = 2;

pub(crate) fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let closes = flags & !CLOSE_RANGE_UNSHARE == 0;
    if closes && process::is_own_memory() {
        let number = |fd: c_uint| c_int::try_from(fd).unwrap_or(c_int::MAX);
        fork::closed(number(first), number(last));
    }
    // SAFETY: no pointers.
    let failed = unsafe { real::close_range(first, last, flags) };
    if failed == 0 && closes && !is_unused() && process::is_own_memory() {
        let last = last.min(highest().unsigned_abs());
        for fd in first..=last {
            leave(fd as c_int);
        }
    }
    failed
}

/// What `from` means, `to` means now, too.
fn copied(from: c_int, to: c_int) {
    if from == to || !process::is_own_memory() {
        return;
    }
    if let Some(socket) = SOCKETS.get(from) {
        let is_foreign = fork::is_foreign(&socket);
        socket.state.lock().fds.push(to);
        if SOCKETS.insert(to, socket).is_ok() {
            entered(to);
        }
        // What follows may be another program, or stdio.
        if is_foreign || to <= libc::STDERR_FILENO {
            detach(to);
        }
    } else if let Some(epoll) = EPOLLS.get(from) {
        Epoll::enter(&epoll, to);
    }
}

pub(crate) fn duplicate(fd: c_int) -> c_int {
    // SAFETY: no pointers.
    let copy = unsafe { real::dup(fd) };
    if copy >= 0 && is_known(fd) {
        copied(fd, copy);
    }
    copy
}

/// dup2 and dup3.
pub(crate) fn duplicate_to(fd: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: no pointers.
    let is_open = || unsafe { real::fcntl(fd, F_GETFD, 0) } >= 0;
    if fd != to && is_known(to) && is_open() {
        leave(to);
    }
    let copy = call();
    if copy >= 0 && is_known(fd) {
        copied(fd, copy);
    }
    copy
}

pub(crate) fn control(fd: c_int, command: c_int, argument: c_long) -> c_int {
    // SAFETY: the caller's argument for the command.
    let answer = unsafe { real::fcntl(fd, command, argument) };
    if answer < 0 || is_unused() {
        return answer;
    }
    match command {
        F_DUPFD | F_DUPFD_CLOEXEC if is_known(fd) => copied(fd, answer),
        F_SETFL => set_blocking(fd, argument & c_long::from(O_NONBLOCK) == 0),
        _ => {}
    }
    answer
}

fn set_blocking(fd: c_int, blocks: bool) {
    if let Some(socket) = SOCKETS.get(fd) {
        quietly(|| socket.set_non_blocking(!blocks));
    }
}

/// `argument` is a place for, or a place with, an integer where the request is one of ours.
///
/// # Safety
/// The caller's argument of ioctl.
pub(crate) unsafe fn input_output(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    let socket = if is_unused() { None } else { SOCKETS.get(fd) };
    let by_rdma = socket.as_ref().filter(|socket| socket.mode() == Mode::Rdma);
    if let (Some(socket), libc::FIONREAD | libc::TIOCOUTQ) = (by_rdma, request) {
        if argument.is_null() {
            // SAFETY: the location is valid for the life of the thread.
            unsafe { *libc::__errno_location() = Errno::EFAULT.raw() };
            return -1;
        }
        let count = if request == libc::FIONREAD { crate::transfer::unread(socket) } else { 0 };
        // SAFETY: a place for an integer, by ioctl's contract.
        unsafe { *argument.cast::<c_int>() = count };
        return 0;
    }
    // SAFETY: the caller's.
    let answer = unsafe { real::ioctl(fd, request, argument) };
    if answer >= 0 && request == libc::FIONBIO && socket.is_some() && !argument.is_null() {
        // SAFETY: the kernel has read an integer there.
        set_blocking(fd, unsafe { *argument.cast::<c_int>() } == 0);
    }
    answer
}
