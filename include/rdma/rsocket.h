/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sockets over RDMA: the calls of sys/socket.h with an r in front.
 *
 * The prototypes between "made from" marks are made from the Rust functions by `cargo run -p headers`;
 * change their comments there.
 */
#ifndef RSOCKET_H
#define RSOCKET_H

#include <errno.h>
#include <poll.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Level of rsetsockopt and rgetsockopt for what only RDMA has. */
#define SOL_RDMA 0x10000

/* Options of level SOL_RDMA; all but the route are int and set before the connection. */
enum {
	/* Entries of the send queue. */
	RDMA_SQSIZE = 0,
	/* Entries of the receive queue. */
	RDMA_RQSIZE = 1,
	/* Bytes that travel inside a work request. */
	RDMA_INLINE = 2,
	/* How many riomap areas the peer may offer. */
	RDMA_IOMAPSIZE = 3,
	/* struct ibv_path_data[], the route to the peer. */
	RDMA_ROUTE = 4
};

/* made from src/export/rsocket.rs */

/**
 * Makes an rsocket.
 *
 * Arguments:
 *   domain: AF_INET or AF_INET6, and for streams AF_IB too.
 *   type: SOCK_STREAM for a reliable byte stream, SOCK_DGRAM for datagrams; SOCK_NONBLOCK and
 *       SOCK_CLOEXEC may be added.
 *   protocol: 0, or IPPROTO_TCP for streams and IPPROTO_UDP for datagrams.
 *
 * Description:
 *   An rsocket is used like a socket, with the calls of rsocket(7). Its number is that of an open
 *   file, so that it is never that of another file; calls without the r in front do nothing useful
 *   with it. Options start with the values in /etc/rdma/rsocket.
 *
 * Return value:
 *   The rsocket, or -1 with errno. It is given back by rclose.
 *
 * Errors:
 *   EACCES: the caller may not open the rdma_cm device.
 *   EAFNOSUPPORT: the domain is not supported.
 *   EAGAIN: no thread could be started.
 *   EMFILE: the process has too many open files.
 *   ENODEV: the machine has no RDMA device.
 *   ENOMEM: out of memory.
 *   EPROTONOSUPPORT: the protocol does not fit the type, or the type the domain.
 *   ESOCKTNOSUPPORT: the type is not supported.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The first stream and the first datagram rsocket of a process start a thread of the library,
 *   which has all signals blocked.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rclose(3), rbind(3), rconnect(3), rlisten(3), socket(2), rsocket(7)
 */
int rsocket(int domain, int type, int protocol);

/**
 * Binds an rsocket to a local address.
 *
 * Arguments:
 *   socket: an rsocket.
 *   addr: the address.
 *   addrlen: its size in bytes.
 *
 * Description:
 *   As bind. A wildcard address and port 0 are allowed.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EACCES: the port number is reserved for privileged processes.
 *   EADDRINUSE: the address is in use.
 *   EADDRNOTAVAIL: the address is not local, there is no free port, or the port is in use and
 *       one of the two addresses is a wildcard.
 *   EAFNOSUPPORT: the address is of another family than the rsocket.
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the rsocket is bound already, or the address is NULL, too short, too long or of an
 *       unknown family.
 *   ENODEV: the address belongs to no RDMA device.
 *   ENOMEM: out of memory, or more than the device has.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), rlisten(3), rgetsockname(3), bind(2), rsocket(7)
 */
int rbind(int socket,
          const struct sockaddr *addr,
          socklen_t addrlen);

/**
 * Waits for connections on an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   backlog: how many connections may wait for raccept.
 *
 * Description:
 *   As listen; streams only. An rsocket that is not bound gets a free port. A second call changes
 *   the backlog.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EADDRINUSE: another one listens on the address.
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the rsocket is connected, or has been.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rbind(3), raccept(3), listen(2), rsocket(7)
 */
int rlisten(int socket, int backlog);

/**
 * Takes the next connection of a listening rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   addr: where the peer's address is returned, or NULL.
 *   addrlen: room at addr in bytes, comes back as the address's size; NULL if addr is.
 *
 * Description:
 *   As accept. The new rsocket has the listener's options, and blocks unless told otherwise.
 *
 * Return value:
 *   The new rsocket, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no connection, and the rsocket does not block or its SO_RCVTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   EFAULT: addr is given, but not addrlen.
 *   EINTR: a signal came.
 *   EINVAL: the rsocket does not listen, or rshutdown has ended that.
 *   ENODEV: the device was removed.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rlisten(3), rconnect(3), rpoll(3), accept(2), rsocket(7)
 */
int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Connects an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   addr: the peer's address.
 *   addrlen: its size in bytes.
 *
 * Description:
 *   As connect. A datagram rsocket remembers the peer. A stream is connected when the call returns,
 *   or, if it does not block, when rpoll reports POLLOUT.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EADDRINUSE: the local address is in use.
 *   EAFNOSUPPORT: the address is of another family than the rsocket.
 *   EALREADY: the rsocket is being connected.
 *   EBADF: socket is no open rsocket.
 *   ECONNABORTED: an earlier attempt has failed, as SO_ERROR has told already. The next call is
 *       another attempt.
 *   ECONNREFUSED: nobody listens there.
 *   ECONNRESET: the peer gave up meanwhile.
 *   EHOSTUNREACH: the peer cannot be reached.
 *   EINPROGRESS: the rsocket is being connected, and it does not block or its SO_SNDTIMEO has
 *       passed.
 *   EINTR: a signal came; the connection goes on.
 *   EINVAL: the address is NULL, too short, too long or of an unknown family.
 *   EISCONN: the rsocket is connected, or listens.
 *   ENETUNREACH: there is no route to the peer.
 *   ENODEV: no RDMA device reaches the peer, or it was removed.
 *   ENOMEM: out of memory, or more than the device has.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPROTO: the peer is no rsocket.
 *   ETIMEDOUT: the peer did not answer in time.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), rbind(3), raccept(3), rgetpeername(3), connect(2), rsocket(7)
 */
int rconnect(int socket,
             const struct sockaddr *addr,
             socklen_t addrlen);

/**
 * Ends one or both directions of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   how: SHUT_RD, SHUT_WR or SHUT_RDWR.
 *
 * Description:
 *   As shutdown. After SHUT_WR the peer reads what was sent and then the end of the stream. Waits,
 *   for ten seconds at most, until what was sent has left. SHUT_RD on a listening rsocket ends the
 *   listening.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EINVAL: how is none of the three.
 *   ENOTCONN: the rsocket is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rclose(3), rsocket(3), shutdown(2), rsocket(7)
 */
int rshutdown(int socket, int how);

/**
 * Closes an rsocket.
 *
 * Arguments:
 *   socket: an rsocket or a set of repoll_create, not to be used afterwards.
 *
 * Description:
 *   As close. A connected stream is shut down, with the patience of SO_LINGER or ten seconds; what
 *   was sent is delivered if the peer answers. Connections that wait for raccept are ended. Sets of
 *   repoll_create forget the rsocket.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket or set.
 *
 * Notes:
 *   Calls of other threads with the rsocket end with EBADF; rpoll tells POLLNVAL.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), rshutdown(3), close(2), rsocket(7)
 */
int rclose(int socket);

/**
 * Receives from an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: where the bytes go.
 *   len: room there in bytes.
 *   flags: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, or 0.
 *
 * Description:
 *   As recv. What is longer than the room is kept for the next call on a stream, and cut off for
 *   datagrams.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EFAULT: a buffer is NULL.
 *   EINTR: a signal came before any byte.
 *   EINVAL: MSG_OOB on a stream.
 *   EIO: the device failed.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: MSG_OOB on a datagram rsocket.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rrecvfrom(3), rrecvmsg(3), rread(3), rsend(3), rpoll(3), recv(2), rsocket(7)
 */
ssize_t rrecv(int socket, void *buf, size_t len, int flags);

/**
 * Receives from an rsocket, with the sender's address.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: where the bytes go.
 *   len: room there in bytes.
 *   flags: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, or 0.
 *   src_addr: where the sender's address is returned, or NULL.
 *   addrlen: room there in bytes, comes back as the address's size; NULL if src_addr is.
 *
 * Description:
 *   As recvfrom. A stream tells no address: addrlen comes back as 0.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EFAULT: a buffer is NULL.
 *   EINTR: a signal came before any byte.
 *   EINVAL: MSG_OOB on a stream.
 *   EIO: the device failed.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: MSG_OOB on a datagram rsocket.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rrecv(3), rsendto(3), recvfrom(2), rsocket(7)
 */
ssize_t rrecvfrom(int socket,
                    void *buf,
                    size_t len,
                    int flags,
                    struct sockaddr *src_addr,
                    socklen_t *addrlen);

/**
 * Receives a message from an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   msg: buffers, and room for the sender's address. There is never control data; msg_flags says
 *       if a datagram was cut off.
 *   flags: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, or 0.
 *
 * Description:
 *   As recvmsg.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EFAULT: a buffer is NULL.
 *   EINTR: a signal came before any byte.
 *   EINVAL: msg is NULL, the lengths add up to too much, or MSG_OOB on a stream.
 *   EIO: the device failed.
 *   EMSGSIZE: there are too many buffers.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: MSG_OOB on a datagram rsocket.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rrecv(3), rsendmsg(3), recvmsg(2), rsocket(7)
 */
ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags);

/**
 * Sends on an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: the bytes.
 *   len: how many.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   As send. The bytes are copied: the buffer is the caller's again when the call returns. No signal
 *   is raised when the peer is gone.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EDESTADDRREQ: the rsocket is for datagrams, and there is no address.
 *   EFAULT: a buffer is NULL.
 *   EHOSTUNREACH: the peer of a datagram cannot be reached.
 *   EINTR: a signal came before any byte.
 *   EIO: the device failed.
 *   EMSGSIZE: the datagram is too long.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: MSG_OOB.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPIPE: this direction has ended.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsendto(3), rsendmsg(3), rwrite(3), rrecv(3), rpoll(3), send(2), rsocket(7)
 */
ssize_t rsend(int socket, const void *buf, size_t len, int flags);

/**
 * Sends on an rsocket to an address.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: the bytes.
 *   len: how many.
 *   flags: MSG_DONTWAIT, or 0.
 *   dest_addr: the peer's address, or NULL for the one of rconnect.
 *   addrlen: its size in bytes.
 *
 * Description:
 *   As sendto. A stream takes no notice of the address.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAFNOSUPPORT: the address is of another family than the rsocket.
 *   EAGAIN: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EDESTADDRREQ: the rsocket is for datagrams, and there is no address.
 *   EFAULT: a buffer is NULL.
 *   EHOSTUNREACH: the peer of a datagram cannot be reached.
 *   EINTR: a signal came before any byte.
 *   EINVAL: the address is too short or of an unknown family.
 *   EIO: the device failed.
 *   EMSGSIZE: the datagram is too long.
 *   ENODEV: no RDMA device reaches the peer.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: MSG_OOB.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPIPE: this direction has ended.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsend(3), rrecvfrom(3), sendto(2), rsocket(7)
 */
ssize_t rsendto(int socket,
                  const void *buf,
                  size_t len,
                  int flags,
                  const struct sockaddr *dest_addr,
                  socklen_t addrlen);

/**
 * Sends a message on an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   msg: buffers, and the peer's address. Control data is not looked at.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   As sendmsg.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAFNOSUPPORT: the address is of another family than the rsocket.
 *   EAGAIN: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EDESTADDRREQ: the rsocket is for datagrams, and there is no address.
 *   EFAULT: msg or a buffer is NULL.
 *   EHOSTUNREACH: the peer of a datagram cannot be reached.
 *   EINTR: a signal came before any byte.
 *   EINVAL: the address is wrong, or the lengths add up to too much.
 *   EIO: the device failed.
 *   EMSGSIZE: the datagram is too long, or there are too many buffers.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: MSG_OOB.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPIPE: this direction has ended.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsend(3), rrecvmsg(3), sendmsg(2), rsocket(7)
 */
ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags);

/**
 * Reads from an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: where the bytes go.
 *   count: room there in bytes.
 *
 * Description:
 *   As read, or rrecv without flags.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EFAULT: a buffer is NULL.
 *   EINTR: a signal came before any byte.
 *   EIO: the device failed.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rrecv(3), rreadv(3), rwrite(3), read(2), rsocket(7)
 */
ssize_t rread(int socket, void *buf, size_t count);

/**
 * Reads from an rsocket into several buffers.
 *
 * Arguments:
 *   socket: an rsocket.
 *   iov: the buffers.
 *   iovcnt: how many.
 *
 * Description:
 *   As readv.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block or SO_RCVTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EFAULT: a buffer is NULL.
 *   EINTR: a signal came before any byte.
 *   EINVAL: there are too many buffers, or fewer than none, or their lengths add up to too much.
 *   EIO: the device failed.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rread(3), rwritev(3), readv(2), rsocket(7)
 */
ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt);

/**
 * Writes to an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: the bytes.
 *   count: how many.
 *
 * Description:
 *   As write, or rsend without flags.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EDESTADDRREQ: the rsocket is for datagrams, and there is no address.
 *   EFAULT: a buffer is NULL.
 *   EHOSTUNREACH: the peer of a datagram cannot be reached.
 *   EINTR: a signal came before any byte.
 *   EIO: the device failed.
 *   EMSGSIZE: the datagram is too long.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPIPE: this direction has ended.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsend(3), rwritev(3), rread(3), write(2), rsocket(7)
 */
ssize_t rwrite(int socket, const void *buf, size_t count);

/**
 * Writes to an rsocket from several buffers.
 *
 * Arguments:
 *   socket: an rsocket.
 *   iov: the buffers.
 *   iovcnt: how many.
 *
 * Description:
 *   As writev.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EDESTADDRREQ: the rsocket is for datagrams, and there is no address.
 *   EFAULT: a buffer is NULL.
 *   EHOSTUNREACH: the peer of a datagram cannot be reached.
 *   EINTR: a signal came before any byte.
 *   EINVAL: there are too many buffers, or fewer than none, or their lengths add up to too much.
 *   EIO: the device failed.
 *   EMSGSIZE: the datagram is too long.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPIPE: this direction has ended.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rwrite(3), rreadv(3), writev(2), rsocket(7)
 */
ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt);

/**
 * Waits for events of rsockets and other files.
 *
 * Arguments:
 *   fds: rsockets and descriptors of any kind, with the events to wait for; revents comes back.
 *   nfds: how many.
 *   timeout: in milliseconds; 0 does not wait, a negative one waits without end.
 *
 * Description:
 *   As poll. How long it looks at the queues before it sleeps is /etc/rdma/rsocket/polling_time, in
 *   microseconds (see rsocket(7)).
 *
 * Return value:
 *   The number of entries with revents set, 0 after the timeout, or -1 with errno.
 *
 * Errors:
 *   EFAULT: fds is NULL.
 *   EINTR: a signal came.
 *   EINVAL: nfds is too large.
 *   EMFILE: the process has too many open files.
 *   ENOMEM: out of memory.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rselect(3), repoll_wait(3), poll(2), rsocket(7)
 */
int rpoll(struct pollfd *fds, nfds_t nfds, int timeout);

/**
 * Waits for events of rsockets and other files by descriptor sets.
 *
 * Arguments:
 *   nfds: one more than the largest number in the sets.
 *   readfds: to wait for input, or NULL; comes back with what is ready.
 *   writefds: to wait for output, or NULL; comes back with what is ready.
 *   exceptfds: to wait for errors, or NULL; comes back with what is ready.
 *   timeout: how long, or NULL for without end. Not changed.
 *
 * Description:
 *   As select.
 *
 * Return value:
 *   The number of ready entries, 0 after the timeout, or -1 with errno.
 *
 * Errors:
 *   EBADF: a set has a number that is no open file.
 *   EINTR: a signal came.
 *   EINVAL: nfds or the timeout is negative.
 *   EMFILE: the process has too many open files.
 *   ENOMEM: out of memory.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rpoll(3), select(2), rsocket(7)
 */
int rselect(int nfds,
            fd_set *readfds,
            fd_set *writefds,
            fd_set *exceptfds,
            struct timeval *timeout);

/**
 * Tells the peer's address of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   addr: where the address is returned.
 *   addrlen: room there in bytes, comes back as the address's size.
 *
 * Description:
 *   As getpeername. An address that is longer than the room is cut off.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EFAULT: addr or addrlen is NULL.
 *   EINVAL: the room is negative.
 *   ENOTCONN: the rsocket is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rgetsockname(3), rconnect(3), getpeername(2), rsocket(7)
 */
int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Tells the local address of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   addr: where the address is returned.
 *   addrlen: room there in bytes, comes back as the address's size.
 *
 * Description:
 *   As getsockname. An address that is longer than the room is cut off.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EFAULT: addr or addrlen is NULL.
 *   EINVAL: the room is negative.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rgetpeername(3), rbind(3), getsockname(2), rsocket(7)
 */
int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Sets an option of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   level: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6 or SOL_RDMA.
 *   optname: the option.
 *   optval: the value; only read during the call.
 *   optlen: its size in bytes.
 *
 * Description:
 *   As setsockopt; rsocket(7) lists the options. Those of SOL_RDMA are set before the connection.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EFAULT: optval is NULL.
 *   EINVAL: the size or the value does not fit, or the option can no longer be set.
 *   ENOPROTOOPT: the level or the option is not supported.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: RDMA_IOMAPSIZE on a datagram rsocket.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rgetsockopt(3), setsockopt(2), rsocket(7)
 */
int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen);

/**
 * Reads an option of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   level: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6 or SOL_RDMA.
 *   optname: the option.
 *   optval: where the value is returned.
 *   optlen: room there in bytes, comes back as the value's size.
 *
 * Description:
 *   As getsockopt; rsocket(7) lists the options.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EFAULT: optval or optlen is NULL.
 *   EINVAL: the room is negative.
 *   ENOPROTOOPT: the level or the option is not supported.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsetsockopt(3), getsockopt(2), rsocket(7)
 */
int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen);

/**
 * Reads or sets flags of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   cmd: F_GETFL, F_SETFL, F_GETFD or F_SETFD.
 *   arg: the flags, for F_SETFL and F_SETFD.
 *
 * Description:
 *   As fcntl. Of F_SETFL only O_NONBLOCK has an effect.
 *
 * Return value:
 *   The flags for F_GETFL and F_GETFD, 0 for the others, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the command is not supported.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The third argument is read as one word; the header declares it as C's fcntl does.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), fcntl(2), rsocket(7)
 */
int rfcntl(int socket, int cmd, ... /* arg */);

/**
 * Offers memory to the peer's riowrite.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: the memory, which must stay until riounmap.
 *   len: its size in bytes, less than 4 GiB.
 *   prot: PROT_WRITE; PROT_NONE offers nothing.
 *   flags: 0.
 *   offset: the number by which the peer names the memory, or -1 for its address.
 *
 * Description:
 *   The peer's riowrite puts bytes there while this side does nothing. How many areas a peer may be
 *   offered is its RDMA_IOMAPSIZE, set before the connection. The same memory at the same offset can
 *   be offered several times, and is taken back as often.
 *
 * Return value:
 *   The offset, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: the stream is being connected.
 *   EBADF: socket is no open rsocket.
 *   EINVAL: an argument is wrong.
 *   ENOMEM: out of memory, or the peer takes no more areas.
 *   ENOTCONN: the rsocket is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   riounmap(3), riowrite(3), rsetsockopt(3), rsocket(7)
 */
off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset);

/**
 * Takes memory back from the peer's riowrite.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: memory that was given to riomap.
 *   len: its size in bytes, or 0 for any.
 *
 * Description:
 *   The peer can no longer write there.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the memory is not offered.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   riomap(3), rsocket(7)
 */
int riounmap(int socket, void *buf, size_t len);

/**
 * Writes to memory that the peer offers.
 *
 * Arguments:
 *   socket: an rsocket.
 *   buf: the bytes.
 *   count: how many.
 *   offset: where; an offset of the peer's riomap, or between it and its end.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   The peer is not told. A message that is sent afterwards arrives after the bytes.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 as a size_t with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block or SO_SNDTIMEO has
 *       passed.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EFAULT: buf is NULL, or the peer offers no memory there.
 *   EINTR: a signal came before any byte.
 *   EIO: the device failed.
 *   ENOTCONN: the stream is not connected.
 *   ENOTSOCK: socket is a set of repoll_create.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   EPERM: the caller is a child of fork, and the process that made the rsocket still runs.
 *   EPIPE: this direction has ended.
 *   EPROTO: the peer does not keep to the protocol.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket.
 *
 * See also:
 *   riomap(3), rsend(3), rsocket(7)
 */
size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags);

/**
 * Makes a set of rsockets and other files to wait for.
 *
 * Arguments:
 *   flags: EPOLL_CLOEXEC, or 0.
 *
 * Description:
 *   As epoll_create1, for rsockets too.
 *
 * Return value:
 *   The set, or -1 with errno. It is given back by rclose.
 *
 * Errors:
 *   EINVAL: flags is wrong.
 *   EMFILE: the process has too many open files.
 *   ENODEV: the machine has no RDMA device.
 *   ENOMEM: out of memory.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   repoll_ctl(3), repoll_wait(3), epoll_create1(2), rsocket(7)
 */
int repoll_create(int flags);

/**
 * Changes a set of repoll_create.
 *
 * Arguments:
 *   epfd: the set.
 *   op: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL.
 *   fd: an rsocket, or a descriptor that epoll takes.
 *   event: the events to wait for, and the data that comes back with them; not looked at for
 *       EPOLL_CTL_DEL.
 *
 * Description:
 *   As epoll_ctl. EPOLLET and EPOLLONESHOT hold for rsockets too. An rsocket that is closed leaves
 *   its sets.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: epfd is no set, or fd no open file.
 *   EEXIST: the set has fd already.
 *   EFAULT: event is NULL.
 *   EINVAL: op is wrong, epfd is an rsocket, or fd is the set itself.
 *   ENOENT: the set does not have fd.
 *   ENOMEM: out of memory.
 *   EPERM: fd cannot be waited for.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   repoll_create(3), repoll_wait(3), epoll_ctl(2), rsocket(7)
 */
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event);

/**
 * Waits for events of a set of repoll_create.
 *
 * Arguments:
 *   epfd: the set.
 *   events: where the events are returned.
 *   maxevents: how many have room there.
 *   timeout: in milliseconds; 0 does not wait, a negative one waits without end.
 *
 * Description:
 *   As epoll_wait.
 *
 * Return value:
 *   The number of events, 0 after the timeout, or -1 with errno.
 *
 * Errors:
 *   EBADF: epfd is no set, or it was closed meanwhile.
 *   EFAULT: events is NULL.
 *   EINTR: a signal came.
 *   EINVAL: maxevents is not above 0, or epfd is an rsocket.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   repoll_create(3), repoll_ctl(3), rpoll(3), epoll_wait(2), rsocket(7)
 */
int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);

/* end of src/export/rsocket.rs */

#ifdef __cplusplus
}
#endif

#endif
