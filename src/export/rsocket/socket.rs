// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: making, connecting and closing rsockets.
#![allow(unsafe_code)]

use crate::export::arg;
use crate::export::ret::IntoC;
use crate::rsocket::exit;
use crate::rsocket::table::{self, find};
use base::deadline::Timeout;
use libc::{c_int, sockaddr, socklen_t};

/// Creates an rsocket.
///
/// # Arguments
///
/// - `domain`: AF_INET or AF_INET6; for streams also AF_IB.
/// - `type`: SOCK_STREAM for a reliable byte stream, SOCK_DGRAM for datagrams; may be combined
///   with SOCK_NONBLOCK and SOCK_CLOEXEC.
/// - `protocol`: 0; IPPROTO_TCP is allowed for streams, IPPROTO_UDP for datagrams.
///
/// # Description
///
/// Like socket(2). An rsocket is used with the functions of rsocket(7). Its number is that of an
/// open file, and differs from that of any other file; system calls on that file have no useful
/// effect. The defaults of options are in /etc/rdma/rsocket.
///
/// # Return value
///
/// The rsocket, to be closed by rclose; -1 with `errno` set on failure.
///
/// # Errors
///
/// - `EACCES`: the caller may not open the rdma_cm device.
/// - `EAFNOSUPPORT`: the domain is not supported.
/// - `EAGAIN`: no thread could be started.
/// - `EMFILE`: the process has too many open files.
/// - `ENODEV`: the system has no RDMA device.
/// - `ENOMEM`: out of memory.
/// - `EPROTONOSUPPORT`: the protocol does not suit the type, or the type does not suit the
///   domain.
/// - `ESOCKTNOSUPPORT`: the type is not supported.
///
/// {Errors: others}
///
/// # Notes
///
/// The first stream and the first datagram rsocket of a process each start a thread of the
/// library, which blocks all signals.
///
/// {Thread safety: any thread}
///
/// # See also
///
/// rclose(3), rbind(3), rconnect(3), rlisten(3), socket(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsocket(domain: c_int, type_: c_int, protocol: c_int) -> c_int {
    table::open(domain, type_, protocol).into_c()
}

/// Binds an rsocket to a local address.
///
/// {Arguments: rsocket}
/// - `addr`: the address.
/// - `addrlen`: size of `addr` in bytes.
///
/// # Description
///
/// Like bind(2). A wildcard address and port 0 are allowed.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EACCES`: the port is reserved for privileged processes.
/// - `EADDRINUSE`: the address is in use.
/// - `EADDRNOTAVAIL`: the address is not local, no port is free, or the port is in use and one of
///   the two addresses is a wildcard.
/// - `EAFNOSUPPORT`: the family of the address differs from that of the rsocket.
/// - `EINVAL`: the rsocket is bound already, or the address is NULL, too short, too long or of an
///   unknown family.
/// - `ENODEV`: the address belongs to no RDMA device.
/// - `ENOMEM`: out of memory or of device resources.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
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

/// Listens for connections on an rsocket.
///
/// {Arguments: rsocket}
/// - `backlog`: maximum number of connections that wait for raccept.
///
/// # Description
///
/// Like listen(2); streams only. An unbound rsocket is bound to a free port. A second call
/// changes the backlog.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EADDRINUSE`: another rsocket listens on the address.
/// - `EINVAL`: the rsocket is or was connected.
/// - `EOPNOTSUPP`: the rsocket is a datagram rsocket.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rbind(3), raccept(3), listen(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlisten(socket: c_int, backlog: c_int) -> c_int {
    find(socket).and_then(|socket| socket.as_stream()?.listen(backlog)).into_c()
}

/// Accepts a connection on a listening rsocket.
///
/// {Arguments: rsocket}
/// - `addr`: buffer for the address of the peer, or NULL.
/// - `addrlen`: size of `addr` in bytes; set to the size of the address. NULL if `addr` is NULL.
///
/// # Description
///
/// Like accept(2). The new rsocket inherits the options of the listener, but not O_NONBLOCK.
///
/// # Return value
///
/// The new rsocket, to be closed by rclose; -1 with `errno` set on failure.
///
/// # Errors
///
/// - `EAGAIN`: no connection is pending, and the rsocket is nonblocking or its SO_RCVTIMEO
///   expired.
/// - `EFAULT`: `addr` is not NULL, but `addrlen` is.
/// - `EINTR`: interrupted by a signal.
/// - `EINVAL`: the rsocket does not listen, or rshutdown stopped it.
/// - `ENODEV`: the device was removed.
/// - `EOPNOTSUPP`: the rsocket is a datagram rsocket.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
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
        // SAFETY: places for an address and its length, or NULL.
        let place = unsafe { arg::AddressPlace::new(addr, addrlen) }?;
        let (fd, peer) = table::accept(&socket, false)?;
        place.store(peer.as_ref());
        Ok(fd)
    });
    accepted.into_c()
}

/// Connects an rsocket.
///
/// {Arguments: rsocket}
/// - `addr`: address of the peer.
/// - `addrlen`: size of `addr` in bytes.
///
/// # Description
///
/// Like connect(2). For a datagram rsocket the call sets the default destination. A stream is
/// connected when the call returns or, if the rsocket is nonblocking, when rpoll reports POLLOUT.
/// An address of AF_UNSPEC removes the destination; it aborts the connection of a stream, gives up
/// its attempt or ends its listening.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EADDRINUSE`: the local address is in use.
/// - `EAFNOSUPPORT`: the family of the address differs from that of the rsocket.
/// - `EALREADY`: a connection attempt is in progress.
/// - `ECONNABORTED`: an earlier attempt failed, and another call has already returned its error. The
///   next call starts another attempt.
/// - `ECONNREFUSED`: no rsocket listens on the address.
/// - `ECONNRESET`: the peer closed the connection during the attempt, or another thread gave it up.
/// - `EHOSTUNREACH`: the peer cannot be reached.
/// - `EINPROGRESS`: the attempt continues; the rsocket is nonblocking or its SO_SNDTIMEO expired.
/// - `EINTR`: interrupted by a signal; the attempt continues.
/// - `EINVAL`: the address is NULL, too short, too long or of an unknown family; or the rsocket was
///   shut down after an attempt had failed.
/// - `EISCONN`: the rsocket is connected or listens.
/// - `ENETUNREACH`: there is no route to the peer.
/// - `ENODEV`: no RDMA device reaches the peer, or the device was removed.
/// - `ENOMEM`: out of memory or of device resources.
/// - `EPROTO`: the peer is not an rsocket.
/// - `ETIMEDOUT`: the peer did not respond in time.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
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

/// Shuts down one or both directions of an rsocket.
///
/// {Arguments: rsocket}
/// - `how`: SHUT_RD, SHUT_WR or SHUT_RDWR.
///
/// # Description
///
/// Like shutdown(2). After SHUT_WR the peer receives the data that was sent and then the end of
/// the stream; the call waits no longer than a round trip for that. SHUT_RD on a listening rsocket
/// stops listening. A connection attempt is given up.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EINVAL`: `how` is not one of the three.
/// - `ENOTCONN`: the rsocket is not connected.
///
/// {Errors: rsocket of this process}
///
/// {Thread safety: as with a socket}
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
/// - `socket`: an rsocket, or an epoll set of repoll_create, which becomes invalid.
///
/// # Description
///
/// Like close(2). A connected stream is shut down; the call waits for the time of SO_LINGER, if that
/// is set, and for a round trip otherwise. Data that the peer has not taken by then is delivered in
/// the background for up to ten seconds. Connections that wait for raccept are closed. The rsocket
/// is removed from its epoll sets.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `EBADF`: `socket` is not an open rsocket or epoll set.
///
/// # Notes
///
/// Calls of other threads with the rsocket fail with EBADF; rpoll reports POLLNVAL.
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsocket(3), rshutdown(3), close(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rclose(socket: c_int) -> c_int {
    table::close(socket).into_c()
}

/// Ends the rsockets of a process that is about to end.
///
/// # Arguments
///
/// - `timeout`: milliseconds to wait, -1 for ever.
///
/// # Description
///
/// Shuts down each connected stream, as the kernel does with a TCP socket at the end of a process,
/// and waits until the peers have the data that was sent, also by streams that are closed. A stream
/// with unread data, or with a zero SO_LINGER, is aborted. The library does the same when a program
/// returns from main or calls exit(3), and waits two seconds at most. A program that ends by
/// _exit(2) or exec(3) calls the function first.
///
/// {Return value: zero}
///
/// # Errors
///
/// - `ETIMEDOUT`: data is left.
///
/// # Notes
///
/// The C library does not have this function.
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rclose(3), rshutdown(3), exit(3), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rfinish(timeout: c_int) -> c_int {
    exit::finish(Timeout::from_millis(timeout)).into_c()
}
