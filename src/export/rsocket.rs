//! `<rdma/rsocket.h>`: sockets over RDMA.
//!
//! Nothing here works yet: each function fails with ENOSYS, so that the symbol table is whole.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::error::{Errno, Result};
use libc::{
    c_int, c_long, c_void, epoll_event, fd_set, iovec, msghdr, nfds_t, off_t, pollfd, sockaddr,
    socklen_t, timeval,
};

/// Makes an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsocket(domain: c_int, type_: c_int, protocol: c_int) -> c_int {
    let _ = (domain, type_, protocol);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Binds an rsocket to a local address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rbind(socket: c_int, addr: *const sockaddr, addrlen: socklen_t) -> c_int {
    let _ = (socket, addr, addrlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Waits for connections on an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlisten(socket: c_int, backlog: c_int) -> c_int {
    let _ = (socket, backlog);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Takes the next connection of a listening rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raccept(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let _ = (socket, addr, addrlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Connects an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rconnect(
    socket: c_int,
    addr: *const sockaddr,
    addrlen: socklen_t,
) -> c_int {
    let _ = (socket, addr, addrlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Ends one or both directions of an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rshutdown(socket: c_int, how: c_int) -> c_int {
    let _ = (socket, how);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Closes an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rclose(socket: c_int) -> c_int {
    let _ = socket;
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Receives from an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecv(socket: c_int, buf: *mut c_void, len: usize, flags: c_int) -> isize {
    let _ = (socket, buf, len, flags);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Receives from an rsocket, with the sender's address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvfrom(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    flags: c_int,
    src_addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> isize {
    let _ = (socket, buf, len, flags, src_addr, addrlen);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Receives a message from an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvmsg(socket: c_int, msg: *mut msghdr, flags: c_int) -> isize {
    let _ = (socket, msg, flags);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Sends on an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsend(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
) -> isize {
    let _ = (socket, buf, len, flags);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Sends on an rsocket to an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendto(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
    dest_addr: *const sockaddr,
    addrlen: socklen_t,
) -> isize {
    let _ = (socket, buf, len, flags, dest_addr, addrlen);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Sends a message on an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendmsg(socket: c_int, msg: *const msghdr, flags: c_int) -> isize {
    let _ = (socket, msg, flags);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Reads from an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rread(socket: c_int, buf: *mut c_void, count: usize) -> isize {
    let _ = (socket, buf, count);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Reads from an rsocket into several buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rreadv(socket: c_int, iov: *const iovec, iovcnt: c_int) -> isize {
    let _ = (socket, iov, iovcnt);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Writes to an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwrite(socket: c_int, buf: *const c_void, count: usize) -> isize {
    let _ = (socket, buf, count);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Writes to an rsocket from several buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwritev(socket: c_int, iov: *const iovec, iovcnt: c_int) -> isize {
    let _ = (socket, iov, iovcnt);
    Result::<isize>::Err(Errno::ENOSYS).into_c()
}

/// Waits for events of rsockets and other descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpoll(fds: *mut pollfd, nfds: nfds_t, timeout: c_int) -> c_int {
    let _ = (fds, nfds, timeout);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Waits for events of rsockets and other descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rselect(
    nfds: c_int,
    readfds: *mut fd_set,
    writefds: *mut fd_set,
    exceptfds: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    let _ = (nfds, readfds, writefds, exceptfds, timeout);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// The peer's address of an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetpeername(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let _ = (socket, addr, addrlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// The local address of an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockname(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let _ = (socket, addr, addrlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Sets an option of an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *const c_void,
    optlen: socklen_t,
) -> c_int {
    let _ = (socket, level, optname, optval, optlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Reads an option of an rsocket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: *mut socklen_t,
) -> c_int {
    let _ = (socket, level, optname, optval, optlen);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Reads or sets flags of an rsocket.
///
/// C declares this function with variable arguments. Stable Rust cannot define such a function, but a
/// C caller passes the one optional argument in the third integer register on x86-64 (System V) and
/// AArch64 (AAPCS64), which is where a fixed third argument is read from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rfcntl(socket: c_int, cmd: c_int, arg: c_long) -> c_int {
    let _ = (socket, cmd, arg);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Offers memory to the peer's riowrite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riomap(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    offset: off_t,
) -> off_t {
    let _ = (socket, buf, len, prot, flags, offset);
    Result::<isize>::Err(Errno::ENOSYS).into_c() as off_t
}

/// Takes memory back from the peer's riowrite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riounmap(socket: c_int, buf: *mut c_void, len: usize) -> c_int {
    let _ = (socket, buf, len);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Writes to memory that the peer offers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riowrite(
    socket: c_int,
    buf: *const c_void,
    count: usize,
    offset: off_t,
    flags: c_int,
) -> usize {
    let _ = (socket, buf, count, offset, flags);
    Result::<isize>::Err(Errno::ENOSYS).into_c() as usize
}

/// Makes a set of rsockets and other descriptors to wait for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_create(flags: c_int) -> c_int {
    let _ = flags;
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Changes a set of repoll_create.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_ctl(
    epfd: c_int,
    op: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    let _ = (epfd, op, fd, event);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}

/// Waits for events of a set of repoll_create.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_wait(
    epfd: c_int,
    events: *mut epoll_event,
    maxevents: c_int,
    timeout: c_int,
) -> c_int {
    let _ = (epfd, events, maxevents, timeout);
    Result::<c_int>::Err(Errno::ENOSYS).into_c()
}
