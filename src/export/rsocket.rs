//! `<rdma/rsocket.h>`: sockets over RDMA.
//!
//! Every call finds its socket by the descriptor, EBADF where there is none, and asks it.
#![allow(unsafe_code)]

use super::arg;
use super::ret::IntoC;
use crate::error::{Errno, Result};
use crate::rsocket::socket::{self, Received, find};
use crate::rsocket::{self, Buffers, Set};
use crate::types::SocketAddress;
use libc::{
    c_int, c_long, c_void, epoll_event, fd_set, iovec, msghdr, nfds_t, off_t, pollfd, sockaddr,
    socklen_t, timeval,
};

/// Receives where the sender's address is not asked for.
#[inline(always)]
fn read<'a>(
    fd: c_int,
    buffers: impl FnOnce() -> Result<Buffers<'a>>,
    flags: c_int,
) -> Result<isize> {
    find(fd)?.read(&mut buffers()?, flags).map(|count| count as isize)
}

fn receive<'a>(
    fd: c_int,
    buffers: impl FnOnce() -> Result<Buffers<'a>>,
    flags: c_int,
) -> Result<Received> {
    find(fd)?.receive(&mut buffers()?, flags)
}

#[inline(always)]
fn send<'a>(
    fd: c_int,
    buffers: impl FnOnce() -> Result<Buffers<'a>>,
    flags: c_int,
    to: impl FnOnce() -> Result<Option<SocketAddress>>,
) -> Result<isize> {
    let socket = find(fd)?;
    socket.send(&mut buffers()?, flags, to()?.as_ref()).map(|count| count as isize)
}

/// Makes an rsocket.
///
/// # Arguments
///
/// - `domain`: AF_INET or AF_INET6, and for streams AF_IB too.
/// - `type`: SOCK_STREAM for a reliable byte stream, SOCK_DGRAM for datagrams; SOCK_NONBLOCK
///   and SOCK_CLOEXEC may be added.
/// - `protocol`: 0, or IPPROTO_TCP for streams and IPPROTO_UDP for datagrams.
///
/// # Description
///
/// An rsocket is used like a socket, with the calls of rsocket(7). Its number is that of an
/// open file, so that it is never that of another file; calls without the r in front do nothing
/// useful with it. Options start with the values in /etc/rdma/rsocket.
///
/// # Return value
///
/// The rsocket, or -1 with `errno`. It is given back by rclose.
///
/// # Errors
///
/// - `EACCES`: the caller may not open the rdma_cm device.
/// - `EAFNOSUPPORT`: the domain is not supported.
/// - `EAGAIN`: no thread could be started.
/// - `EMFILE`: the process has too many open files.
/// - `ENODEV`: the machine has no RDMA device.
/// - `ENOMEM`: out of memory.
/// - `EPROTONOSUPPORT`: the protocol does not fit the type, or the type the domain.
/// - `ESOCKTNOSUPPORT`: the type is not supported.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// The first stream and the first datagram rsocket of a process start a thread of the library,
/// which has all signals blocked.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rclose(3), rbind(3), rconnect(3), rlisten(3), socket(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsocket(domain: c_int, type_: c_int, protocol: c_int) -> c_int {
    socket::open(domain, type_, protocol).into_c()
}

/// Binds an rsocket to a local address.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `addr`: the address.
/// - `addrlen`: its size in bytes.
///
/// # Description
///
/// As bind. A wildcard address and port 0 are allowed.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EACCES`: the port number is reserved for privileged processes.
/// - `EADDRINUSE`: the address is in use.
/// - `EADDRNOTAVAIL`: the address is not local, there is no free port, or the port is in use and one of the
///   two addresses is a wildcard.
/// - `EAFNOSUPPORT`: the address is of another family than the rsocket.
/// - `EBADF`: `socket` is no open rsocket.
/// - `EINVAL`: the rsocket is bound already, or the address is NULL, too short, too long or of
///   an unknown family.
/// - `ENODEV`: the address belongs to no RDMA device.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsocket(3), rlisten(3), rgetsockname(3), bind(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rbind(socket: c_int, addr: *const sockaddr, addrlen: socklen_t) -> c_int {
    let bound = find(socket).and_then(|socket| {
        // SAFETY: readable for `addrlen` bytes, by the C contract.
        let address = unsafe { arg::socket_address(addr, addrlen) }?;
        socket.bind(&address)
    });
    bound.into_c()
}

/// Waits for connections on an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `backlog`: how many connections may wait for raccept.
///
/// # Description
///
/// As listen; streams only. An rsocket that is not bound gets a free port. A second call
/// changes the backlog.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EADDRINUSE`: another one listens on the address.
/// - `EBADF`: `socket` is no open rsocket.
/// - `EINVAL`: the rsocket is connected, or has been.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: the rsocket is for datagrams.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rbind(3), raccept(3), listen(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlisten(socket: c_int, backlog: c_int) -> c_int {
    find(socket).and_then(|socket| socket.as_stream()?.listen(backlog)).into_c()
}

/// Takes the next connection of a listening rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `addr`: where the peer's address is returned, or NULL.
/// - `addrlen`: room at `addr` in bytes, comes back as the address's size; NULL if `addr` is.
///
/// # Description
///
/// As accept. The new rsocket has the listener's options, and blocks unless told otherwise.
///
/// # Return value
///
/// The new rsocket, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is no connection, and the rsocket does not block or its SO_RCVTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `EFAULT`: `addr` is given, but not `addrlen`.
/// - `EINTR`: a signal came.
/// - `EINVAL`: the rsocket does not listen, or rshutdown has ended that.
/// - `ENODEV`: the device was removed.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: the rsocket is for datagrams.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rlisten(3), rconnect(3), rpoll(3), accept(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raccept(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let accepted = find(socket).and_then(|socket| {
        let (fd, peer) = socket.as_stream()?.accept(false)?;
        // SAFETY: places for an address and its length, or NULL.
        unsafe { arg::store_address(peer.as_ref(), addr, addrlen) }?;
        Ok(fd)
    });
    accepted.into_c()
}

/// Connects an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `addr`: the peer's address.
/// - `addrlen`: its size in bytes.
///
/// # Description
///
/// As connect. A datagram rsocket remembers the peer. A stream is connected when the call
/// returns, or, if it does not block, when rpoll reports POLLOUT.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EADDRINUSE`: the local address is in use.
/// - `EAFNOSUPPORT`: the address is of another family than the rsocket.
/// - `EALREADY`: the rsocket is being connected.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNABORTED`: an earlier attempt has failed, as SO_ERROR has told already. The next call is another attempt.
/// - `ECONNREFUSED`: nobody listens there.
/// - `ECONNRESET`: the peer gave up meanwhile.
/// - `EHOSTUNREACH`: the peer cannot be reached.
/// - `EINPROGRESS`: the rsocket is being connected, and it does not block or its SO_SNDTIMEO
///   has passed.
/// - `EINTR`: a signal came; the connection goes on.
/// - `EINVAL`: the address is NULL, too short, too long or of an unknown family.
/// - `EISCONN`: the rsocket is connected, or listens.
/// - `ENETUNREACH`: there is no route to the peer.
/// - `ENODEV`: no RDMA device reaches the peer, or it was removed.
/// - `ENOMEM`: out of memory, or more than the device has.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPROTO`: the peer is no rsocket.
/// - `ETIMEDOUT`: the peer did not answer in time.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsocket(3), rbind(3), raccept(3), rgetpeername(3), connect(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rconnect(
    socket: c_int,
    addr: *const sockaddr,
    addrlen: socklen_t,
) -> c_int {
    let connected = find(socket).and_then(|socket| {
        // SAFETY: readable for `addrlen` bytes, by the C contract.
        if unsafe { arg::is_unspecified(addr, addrlen) } {
            return socket.disconnect();
        }
        // SAFETY: as above.
        let address = unsafe { arg::socket_address(addr, addrlen) }?;
        socket.connect(&address)
    });
    connected.into_c()
}

/// Ends one or both directions of an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `how`: SHUT_RD, SHUT_WR or SHUT_RDWR.
///
/// # Description
///
/// As shutdown. After SHUT_WR the peer reads what was sent and then the end of the stream.
/// Waits, for ten seconds at most, until what was sent has left. SHUT_RD on a listening rsocket
/// ends the listening.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EINVAL`: `how` is none of the three.
/// - `ENOTCONN`: the rsocket is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rclose(3), rsocket(3), shutdown(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rshutdown(socket: c_int, how: c_int) -> c_int {
    find(socket).and_then(|socket| socket.shutdown(how)).into_c()
}

/// Closes an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket or a set of repoll_create, not to be used afterwards.
///
/// # Description
///
/// As close. A connected stream is shut down, with the patience of SO_LINGER or ten seconds;
/// what was sent is delivered if the peer answers. Connections that wait for raccept are ended.
/// Sets of repoll_create forget the rsocket.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket or set.
///
/// # Notes
///
/// Calls of other threads with the rsocket end with EBADF; rpoll tells POLLNVAL.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsocket(3), rshutdown(3), close(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rclose(socket: c_int) -> c_int {
    socket::close(socket).into_c()
}

/// Receives from an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: where the bytes go.
/// - `len`: room there in bytes.
/// - `flags`: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, or 0.
///
/// # Description
///
/// As recv. What is longer than the room is kept for the next call on a stream, and cut off for
/// datagrams.
///
/// # Return value
///
/// The number of bytes, 0 at the end of a stream, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EFAULT`: a buffer is NULL.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: MSG_OOB on a stream.
/// - `EIO`: the device failed.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: MSG_OOB on a datagram rsocket.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rrecvfrom(3), rrecvmsg(3), rread(3), rsend(3), rpoll(3), recv(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecv(socket: c_int, buf: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: writable for `len` bytes, by the C contract.
    let buffers = || unsafe { Buffers::one(buf, len) };
    read(socket, buffers, flags).into_c()
}

/// Receives from an rsocket, with the sender's address.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: where the bytes go.
/// - `len`: room there in bytes.
/// - `flags`: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, or 0.
/// - `src_addr`: where the sender's address is returned, or NULL.
/// - `addrlen`: room there in bytes, comes back as the address's size; NULL if `src_addr` is.
///
/// # Description
///
/// As recvfrom. A stream tells no address: `addrlen` comes back as 0.
///
/// # Return value
///
/// The number of bytes, 0 at the end of a stream, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EFAULT`: a buffer is NULL.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: MSG_OOB on a stream.
/// - `EIO`: the device failed.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: MSG_OOB on a datagram rsocket.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rrecv(3), rsendto(3), recvfrom(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvfrom(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    flags: c_int,
    src_addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> isize {
    // SAFETY: writable for `len` bytes, by the C contract.
    let buffers = || unsafe { Buffers::one(buf, len) };
    let received = receive(socket, buffers, flags).and_then(|received| {
        // SAFETY: places for an address and its length, or NULL.
        unsafe { arg::store_address(received.from.as_ref(), src_addr, addrlen) }?;
        Ok(received.count as isize)
    });
    received.into_c()
}

/// Receives a message from an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `msg`: buffers, and room for the sender's address. There is never control data;
///   `msg_flags` says if a datagram was cut off.
/// - `flags`: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, or 0.
///
/// # Description
///
/// As recvmsg.
///
/// # Return value
///
/// The number of bytes, 0 at the end of a stream, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EFAULT`: a buffer is NULL.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: `msg` is NULL, the lengths add up to too much, or MSG_OOB on a stream.
/// - `EIO`: the device failed.
/// - `EMSGSIZE`: there are too many buffers.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: MSG_OOB on a datagram rsocket.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rrecv(3), rsendmsg(3), recvmsg(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvmsg(socket: c_int, msg: *mut msghdr, flags: c_int) -> isize {
    // SAFETY: a valid message header or NULL.
    let received = unsafe { arg::out(msg) }.and_then(|msg| {
        // SAFETY: by the C contract of the header.
        let buffers = || unsafe { Buffers::many(msg.msg_iov, msg.msg_iovlen) };
        let received = receive(socket, buffers, flags)?;
        msg.msg_flags = if received.truncated { libc::MSG_TRUNC } else { 0 };
        msg.msg_controllen = 0;
        let (name, length) = (msg.msg_name.cast(), &raw mut msg.msg_namelen);
        // SAFETY: as above.
        unsafe { arg::store_address(received.from.as_ref(), name, length) }?;
        Ok(received.count as isize)
    });
    received.into_c()
}

/// Sends on an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: the bytes.
/// - `len`: how many.
/// - `flags`: MSG_DONTWAIT, or 0.
///
/// # Description
///
/// As send. The bytes are copied: the buffer is the caller's again when the call returns. No
/// signal is raised when the peer is gone.
///
/// # Return value
///
/// The number of bytes taken, which can be fewer than given, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EDESTADDRREQ`: the rsocket is for datagrams, and there is no address.
/// - `EFAULT`: a buffer is NULL.
/// - `EHOSTUNREACH`: the peer of a datagram cannot be reached.
/// - `EINTR`: a signal came before any byte.
/// - `EIO`: the device failed.
/// - `EMSGSIZE`: the datagram is too long.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: MSG_OOB.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPIPE`: this direction has ended.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsendto(3), rsendmsg(3), rwrite(3), rrecv(3), rpoll(3), send(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsend(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
) -> isize {
    // SAFETY: readable for `len` bytes, by the C contract.
    let buffers = || unsafe { Buffers::one(buf.cast_mut(), len) };
    send(socket, buffers, flags, || Ok(None)).into_c()
}

/// Sends on an rsocket to an address.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: the bytes.
/// - `len`: how many.
/// - `flags`: MSG_DONTWAIT, or 0.
/// - `dest_addr`: the peer's address, or NULL for the one of rconnect.
/// - `addrlen`: its size in bytes.
///
/// # Description
///
/// As sendto. A stream takes no notice of the address.
///
/// # Return value
///
/// The number of bytes taken, which can be fewer than given, or -1 with `errno`.
///
/// # Errors
///
/// - `EAFNOSUPPORT`: the address is of another family than the rsocket.
/// - `EAGAIN`: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EDESTADDRREQ`: the rsocket is for datagrams, and there is no address.
/// - `EFAULT`: a buffer is NULL.
/// - `EHOSTUNREACH`: the peer of a datagram cannot be reached.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: the address is too short or of an unknown family.
/// - `EIO`: the device failed.
/// - `EMSGSIZE`: the datagram is too long.
/// - `ENODEV`: no RDMA device reaches the peer.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: MSG_OOB.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPIPE`: this direction has ended.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsend(3), rrecvfrom(3), sendto(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendto(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
    dest_addr: *const sockaddr,
    addrlen: socklen_t,
) -> isize {
    // SAFETY: readable for the lengths given, by the C contract.
    let buffers = || unsafe { Buffers::one(buf.cast_mut(), len) };
    // SAFETY: the same.
    let to = || unsafe { arg::destination(dest_addr, addrlen) };
    send(socket, buffers, flags, to).into_c()
}

/// Sends a message on an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `msg`: buffers, and the peer's address. Control data is not looked at.
/// - `flags`: MSG_DONTWAIT, or 0.
///
/// # Description
///
/// As sendmsg.
///
/// # Return value
///
/// The number of bytes taken, which can be fewer than given, or -1 with `errno`.
///
/// # Errors
///
/// - `EAFNOSUPPORT`: the address is of another family than the rsocket.
/// - `EAGAIN`: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EDESTADDRREQ`: the rsocket is for datagrams, and there is no address.
/// - `EFAULT`: `msg` or a buffer is NULL.
/// - `EHOSTUNREACH`: the peer of a datagram cannot be reached.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: the address is wrong, or the lengths add up to too much.
/// - `EIO`: the device failed.
/// - `EMSGSIZE`: the datagram is too long, or there are too many buffers.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: MSG_OOB.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPIPE`: this direction has ended.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsend(3), rrecvmsg(3), sendmsg(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendmsg(socket: c_int, msg: *const msghdr, flags: c_int) -> isize {
    // SAFETY: a valid message header or NULL, which is not written to.
    let sent = unsafe { msg.as_ref() }.ok_or(Errno::EFAULT).and_then(|msg| {
        // SAFETY: by the C contract of the header.
        let buffers = || unsafe { Buffers::many(msg.msg_iov, msg.msg_iovlen) };
        // SAFETY: the same.
        let to = || unsafe { arg::destination(msg.msg_name.cast(), msg.msg_namelen) };
        send(socket, buffers, flags, to)
    });
    sent.into_c()
}

/// Reads from an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: where the bytes go.
/// - `count`: room there in bytes.
///
/// # Description
///
/// As read, or rrecv without flags.
///
/// # Return value
///
/// The number of bytes, 0 at the end of a stream, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EFAULT`: a buffer is NULL.
/// - `EINTR`: a signal came before any byte.
/// - `EIO`: the device failed.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rrecv(3), rreadv(3), rwrite(3), read(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rread(socket: c_int, buf: *mut c_void, count: usize) -> isize {
    // SAFETY: writable for `count` bytes, by the C contract.
    let buffers = || unsafe { Buffers::one(buf, count) };
    read(socket, buffers, 0).into_c()
}

/// Reads from an rsocket into several buffers.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `iov`: the buffers.
/// - `iovcnt`: how many.
///
/// # Description
///
/// As readv.
///
/// # Return value
///
/// The number of bytes, 0 at the end of a stream, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EFAULT`: a buffer is NULL.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: there are too many buffers, or fewer than none, or their lengths add up to too
///   much.
/// - `EIO`: the device failed.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rread(3), rwritev(3), readv(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rreadv(socket: c_int, iov: *const iovec, iovcnt: c_int) -> isize {
    // SAFETY: valid pieces, by the C contract.
    let buffers = || unsafe { arg::pieces(iov, iovcnt) };
    read(socket, buffers, 0).into_c()
}

/// Writes to an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: the bytes.
/// - `count`: how many.
///
/// # Description
///
/// As write, or rsend without flags.
///
/// # Return value
///
/// The number of bytes taken, which can be fewer than given, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EDESTADDRREQ`: the rsocket is for datagrams, and there is no address.
/// - `EFAULT`: a buffer is NULL.
/// - `EHOSTUNREACH`: the peer of a datagram cannot be reached.
/// - `EINTR`: a signal came before any byte.
/// - `EIO`: the device failed.
/// - `EMSGSIZE`: the datagram is too long.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPIPE`: this direction has ended.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsend(3), rwritev(3), rread(3), write(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwrite(socket: c_int, buf: *const c_void, count: usize) -> isize {
    // SAFETY: readable for `count` bytes, by the C contract.
    let buffers = || unsafe { Buffers::one(buf.cast_mut(), count) };
    send(socket, buffers, 0, || Ok(None)).into_c()
}

/// Writes to an rsocket from several buffers.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `iov`: the buffers.
/// - `iovcnt`: how many.
///
/// # Description
///
/// As writev.
///
/// # Return value
///
/// The number of bytes taken, which can be fewer than given, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EDESTADDRREQ`: the rsocket is for datagrams, and there is no address.
/// - `EFAULT`: a buffer is NULL.
/// - `EHOSTUNREACH`: the peer of a datagram cannot be reached.
/// - `EINTR`: a signal came before any byte.
/// - `EINVAL`: there are too many buffers, or fewer than none, or their lengths add up to too
///   much.
/// - `EIO`: the device failed.
/// - `EMSGSIZE`: the datagram is too long.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPIPE`: this direction has ended.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rwrite(3), rreadv(3), writev(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwritev(socket: c_int, iov: *const iovec, iovcnt: c_int) -> isize {
    // SAFETY: valid pieces, by the C contract.
    let buffers = || unsafe { arg::pieces(iov, iovcnt) };
    send(socket, buffers, 0, || Ok(None)).into_c()
}

/// Waits for events of rsockets and other files.
///
/// # Arguments
///
/// - `fds`: rsockets and descriptors of any kind, with the events to wait for; `revents` comes
///   back.
/// - `nfds`: how many.
/// - `timeout`: in milliseconds; 0 does not wait, a negative one waits without end.
///
/// # Description
///
/// As poll. How long it looks at the queues before it sleeps is /etc/rdma/rsocket/polling_time,
/// in microseconds (see rsocket(7)).
///
/// # Return value
///
/// The number of entries with `revents` set, 0 after the timeout, or -1 with `errno`.
///
/// # Errors
///
/// - `EFAULT`: `fds` is NULL.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `nfds` is too large.
/// - `EMFILE`: the process has too many open files.
/// - `ENOMEM`: out of memory.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rselect(3), repoll_wait(3), poll(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpoll(fds: *mut pollfd, nfds: nfds_t, timeout: c_int) -> c_int {
    let checked = rsocket::check_count(nfds);
    // SAFETY: an array of `nfds` places, by the C contract.
    let ready = checked
        .and_then(|()| unsafe { arg::array(fds, nfds as usize) })
        .and_then(|fds| rsocket::poll(fds, rsocket::Limit::milliseconds(timeout)));
    ready.map(|count| count as c_int).into_c()
}

/// Waits for events of rsockets and other files by descriptor sets.
///
/// # Arguments
///
/// - `nfds`: one more than the largest number in the sets.
/// - `readfds`: to wait for input, or NULL; comes back with what is ready.
/// - `writefds`: to wait for output, or NULL; comes back with what is ready.
/// - `exceptfds`: to wait for errors, or NULL; comes back with what is ready.
/// - `timeout`: how long, or NULL for without end. Not changed.
///
/// # Description
///
/// As select.
///
/// # Return value
///
/// The number of ready entries, 0 after the timeout, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: a set has a number that is no open file.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `nfds` or the timeout is negative.
/// - `EMFILE`: the process has too many open files.
/// - `ENOMEM`: out of memory.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// rpoll(3), select(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rselect(
    nfds: c_int,
    readfds: *mut fd_set,
    writefds: *mut fd_set,
    exceptfds: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: sets and a time, each valid or NULL.
    let (sets, limit) =
        unsafe { ([readfds.as_mut(), writefds.as_mut(), exceptfds.as_mut()], arg::limit(timeout)) };
    let ready = limit.and_then(|limit| rsocket::select(nfds, sets, limit));
    ready.map(|count| count as c_int).into_c()
}

/// Tells the peer's address of an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `addr`: where the address is returned.
/// - `addrlen`: room there in bytes, comes back as the address's size.
///
/// # Description
///
/// As getpeername. An address that is longer than the room is cut off.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EFAULT`: `addr` or `addrlen` is NULL.
/// - `EINVAL`: the room is negative.
/// - `ENOTCONN`: the rsocket is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rgetsockname(3), rconnect(3), getpeername(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetpeername(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let stored = find(socket).and_then(|socket| socket.peer_name()).and_then(|name| {
        // SAFETY: places for an address and its length, or NULL.
        unsafe { arg::store_name(&name, addr, addrlen) }
    });
    stored.into_c()
}

/// Tells the local address of an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `addr`: where the address is returned.
/// - `addrlen`: room there in bytes, comes back as the address's size.
///
/// # Description
///
/// As getsockname. An address that is longer than the room is cut off.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EFAULT`: `addr` or `addrlen` is NULL.
/// - `EINVAL`: the room is negative.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rgetpeername(3), rbind(3), getsockname(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockname(
    socket: c_int,
    addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> c_int {
    let stored = find(socket).and_then(|socket| socket.local_name()).and_then(|name| {
        // SAFETY: places for an address and its length, or NULL.
        unsafe { arg::store_name(&name, addr, addrlen) }
    });
    stored.into_c()
}

/// Sets an option of an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `level`: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6 or SOL_RDMA.
/// - `optname`: the option.
/// - `optval`: the value; only read during the call.
/// - `optlen`: its size in bytes.
///
/// # Description
///
/// As setsockopt; rsocket(7) lists the options. Those of SOL_RDMA are set before the
/// connection.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EFAULT`: `optval` is NULL.
/// - `EINVAL`: the size or the value does not fit, or the option can no longer be set.
/// - `ENOPROTOOPT`: the level or the option is not supported.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: RDMA_IOMAPSIZE on a datagram rsocket.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rgetsockopt(3), setsockopt(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *const c_void,
    optlen: socklen_t,
) -> c_int {
    let set = find(socket).and_then(|socket| {
        // SAFETY: readable for `optlen` bytes, by the C contract.
        let bytes = unsafe { arg::option_bytes(optval, optlen) }?;
        socket.set_option(level, optname, bytes)
    });
    set.into_c()
}

/// Reads an option of an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `level`: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6 or SOL_RDMA.
/// - `optname`: the option.
/// - `optval`: where the value is returned.
/// - `optlen`: room there in bytes, comes back as the value's size.
///
/// # Description
///
/// As getsockopt; rsocket(7) lists the options.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EFAULT`: `optval` or `optlen` is NULL.
/// - `EINVAL`: the room is negative.
/// - `ENOPROTOOPT`: the level or the option is not supported.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsetsockopt(3), getsockopt(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: *mut socklen_t,
) -> c_int {
    let stored = find(socket).and_then(|socket| {
        // SAFETY: a length and as many writable bytes, by the C contract.
        let place = unsafe { arg::Place::new(optval, optlen) }?;
        place.store(&socket.option(level, optname)?);
        Ok(())
    });
    stored.into_c()
}

/// Reads or sets flags of an rsocket.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `cmd`: F_GETFL, F_SETFL, F_GETFD or F_SETFD.
/// - `arg`: the flags, for F_SETFL and F_SETFD.
///
/// # Description
///
/// As fcntl. Of F_SETFL only O_NONBLOCK has an effect.
///
/// # Return value
///
/// The flags for F_GETFL and F_GETFD, 0 for the others, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EINVAL`: the command is not supported.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// The third argument is read as one word; the header declares it as C's fcntl does.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// rsocket(3), fcntl(2), rsocket(7)
// Stable Rust cannot define a function with variable arguments. A C caller passes the one optional
// argument in the third integer register on x86-64 (System V) and AArch64 (AAPCS64), which is where a
// fixed third argument is read from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rfcntl(socket: c_int, cmd: c_int, arg: c_long) -> c_int {
    find(socket).and_then(|socket| socket.control(cmd, arg)).into_c()
}

/// Offers memory to the peer's riowrite.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: the memory, which must stay until riounmap.
/// - `len`: its size in bytes, less than 4 GiB.
/// - `prot`: PROT_WRITE; PROT_NONE offers nothing.
/// - `flags`: 0.
/// - `offset`: the number by which the peer names the memory, or -1 for its address.
///
/// # Description
///
/// The peer's riowrite puts bytes there while this side does nothing. How many areas a peer may
/// be offered is its RDMA_IOMAPSIZE, set before the connection. The same memory at the same
/// offset can be offered several times, and is taken back as often.
///
/// # Return value
///
/// The offset, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: the stream is being connected.
/// - `EBADF`: `socket` is no open rsocket.
/// - `EINVAL`: an argument is wrong.
/// - `ENOMEM`: out of memory, or the peer takes no more areas.
/// - `ENOTCONN`: the rsocket is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: the rsocket is for datagrams.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// riounmap(3), riowrite(3), rsetsockopt(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riomap(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    offset: off_t,
) -> off_t {
    let mapped = find(socket).and_then(|socket| {
        // SAFETY: memory that stays until riounmap, by the contract of this function.
        unsafe { socket.as_stream()?.map(buf, len, prot, flags, offset) }
    });
    mapped.map(|offset| offset as isize).into_c() as off_t
}

/// Takes memory back from the peer's riowrite.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: memory that was given to riomap.
/// - `len`: its size in bytes, or 0 for any.
///
/// # Description
///
/// The peer can no longer write there.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `socket` is no open rsocket.
/// - `EINVAL`: the memory is not offered.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: the rsocket is for datagrams.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// riomap(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riounmap(socket: c_int, buf: *mut c_void, len: usize) -> c_int {
    find(socket).and_then(|socket| socket.as_stream()?.unmap(buf, len)).into_c()
}

/// Writes to memory that the peer offers.
///
/// # Arguments
///
/// - `socket`: an rsocket.
/// - `buf`: the bytes.
/// - `count`: how many.
/// - `offset`: where; an offset of the peer's riomap, or between it and its end.
/// - `flags`: MSG_DONTWAIT, or 0.
///
/// # Description
///
/// The peer is not told. A message that is sent afterwards arrives after the bytes.
///
/// # Return value
///
/// The number of bytes taken, which can be fewer than given, or -1 as a size_t with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
///   passed.
/// - `EBADF`: `socket` is no open rsocket.
/// - `ECONNRESET`: the connection broke.
/// - `EFAULT`: `buf` is NULL, or the peer offers no memory there.
/// - `EINTR`: a signal came before any byte.
/// - `EIO`: the device failed.
/// - `ENOTCONN`: the stream is not connected.
/// - `ENOTSOCK`: `socket` is a set of repoll_create.
/// - `EOPNOTSUPP`: the rsocket is for datagrams.
/// - `EPERM`: the caller is a child of fork, and the process that made the rsocket still runs.
/// - `EPIPE`: this direction has ended.
/// - `EPROTO`: the peer does not keep to the protocol.
/// - `ETIMEDOUT`: the peer stopped answering.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time, as with a socket.
///
/// # See also
///
/// riomap(3), rsend(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riowrite(
    socket: c_int,
    buf: *const c_void,
    count: usize,
    offset: off_t,
    flags: c_int,
) -> usize {
    // SAFETY: readable for `count` bytes, by the C contract.
    let buffers = unsafe { Buffers::one(buf.cast_mut(), count) };
    let written = find(socket)
        .and_then(|socket| socket.as_stream()?.write_directly(&mut buffers?, offset, flags));
    written.map(|count| count as isize).into_c() as usize
}

/// Makes a set of rsockets and other files to wait for.
///
/// # Arguments
///
/// - `flags`: EPOLL_CLOEXEC, or 0.
///
/// # Description
///
/// As epoll_create1, for rsockets too.
///
/// # Return value
///
/// The set, or -1 with `errno`. It is given back by rclose.
///
/// # Errors
///
/// - `EINVAL`: `flags` is wrong.
/// - `EMFILE`: the process has too many open files.
/// - `ENODEV`: the machine has no RDMA device.
/// - `ENOMEM`: out of memory.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// repoll_ctl(3), repoll_wait(3), epoll_create1(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_create(flags: c_int) -> c_int {
    Set::open(flags).into_c()
}

/// Changes a set of repoll_create.
///
/// # Arguments
///
/// - `epfd`: the set.
/// - `op`: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL.
/// - `fd`: an rsocket, or a descriptor that epoll takes.
/// - `event`: the events to wait for, and the data that comes back with them; not looked at for
///   EPOLL_CTL_DEL.
///
/// # Description
///
/// As epoll_ctl. EPOLLET and EPOLLONESHOT hold for rsockets too. An rsocket that is closed
/// leaves its sets.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `epfd` is no set, or `fd` no open file.
/// - `EEXIST`: the set has `fd` already.
/// - `EFAULT`: `event` is NULL.
/// - `EINVAL`: `op` is wrong, `epfd` is an rsocket, or `fd` is the set itself.
/// - `ENOENT`: the set does not have `fd`.
/// - `ENOMEM`: out of memory.
/// - `EPERM`: `fd` cannot be waited for.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// repoll_create(3), repoll_wait(3), epoll_ctl(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_ctl(
    epfd: c_int,
    op: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: a valid event or NULL.
    let event = unsafe { event.as_ref() }.copied();
    find(epfd).and_then(|set| Set::control(set.as_set()?, op, fd, event)).into_c()
}

/// Waits for events of a set of repoll_create.
///
/// # Arguments
///
/// - `epfd`: the set.
/// - `events`: where the events are returned.
/// - `maxevents`: how many have room there.
/// - `timeout`: in milliseconds; 0 does not wait, a negative one waits without end.
///
/// # Description
///
/// As epoll_wait.
///
/// # Return value
///
/// The number of events, 0 after the timeout, or -1 with `errno`.
///
/// # Errors
///
/// - `EBADF`: `epfd` is no set, or it was closed meanwhile.
/// - `EFAULT`: `events` is NULL.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `maxevents` is not above 0, or `epfd` is an rsocket.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread at any time.
///
/// # See also
///
/// repoll_create(3), repoll_ctl(3), rpoll(3), epoll_wait(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_wait(
    epfd: c_int,
    events: *mut epoll_event,
    maxevents: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: an array of `maxevents` places, by the C contract.
    let events = usize::try_from(maxevents)
        .map_err(|_| Errno::EINVAL)
        .and_then(|count| unsafe { arg::array(events, count) });
    let ready = find(epfd).and_then(|set| {
        set.as_set()?
            .wait(events?, rsocket::Limit::milliseconds(timeout))
            .map(|count| count as c_int)
    });
    ready.into_c()
}
