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
	/* How many riomap areas the peer may have here. */
	RDMA_IOMAPSIZE = 3,
	/* struct ibv_path_data[], the route to the peer. */
	RDMA_ROUTE = 4
};

/* made from src/export/rsocket.rs */

/**
 * Makes an rsocket.
 *
 * Arguments:
 *   domain: AF_INET, AF_INET6 or AF_IB.
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
 *   The rsocket, or -1 with errno.
 *
 * Errors:
 *   EAFNOSUPPORT: the domain is not supported.
 *   EINVAL: the type is not supported, or the protocol does not fit it.
 *   EMFILE: the process has too many open files.
 *   ENODEV: the machine has no RDMA device.
 *   ENOMEM: out of memory.
 *   Other values are the kernel's or the device's.
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
 *   EADDRINUSE: the address is in use.
 *   EADDRNOTAVAIL: the address is not local.
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the rsocket is bound already, or the address is too short or of another family.
 *   ENODEV: no RDMA device has the address.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
 *
 * See also:
 *   rsocket(3), rlisten(3), rgetsockname(3), bind(2), rsocket(7)
 */
int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen);

/**
 * Waits for connections on an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   backlog: how many connections may wait for raccept.
 *
 * Description:
 *   As listen; streams only.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EADDRINUSE: another rsocket listens on the address.
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the rsocket is connected.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   As accept. The new rsocket has the listener's options, and blocks if the listener does.
 *
 * Return value:
 *   The new rsocket, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no connection, and the rsocket does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNABORTED: the peer gave up meanwhile.
 *   EINTR: a signal came.
 *   EINVAL: the rsocket does not listen.
 *   EMFILE: the process has too many open files.
 *   ENOMEM: out of memory.
 *   EOPNOTSUPP: the rsocket is for datagrams.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   As connect. A datagram rsocket remembers the peer; a stream is connected when the call returns,
 *   or, if it does not block, when rpoll reports POLLOUT.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EALREADY: the rsocket is being connected.
 *   EBADF: socket is no open rsocket.
 *   ECONNREFUSED: nobody listens there.
 *   EHOSTUNREACH: the peer does not answer.
 *   EINPROGRESS: the rsocket does not block and is being connected.
 *   EINTR: a signal came; the connection goes on.
 *   EINVAL: the address is too short or of another family.
 *   EISCONN: the rsocket is connected.
 *   ENETUNREACH: there is no route to the peer.
 *   ENODEV: no RDMA device reaches the peer.
 *   ETIMEDOUT: the peer did not answer in time.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
 *
 * See also:
 *   rsocket(3), rbind(3), raccept(3), rgetpeername(3), connect(2), rsocket(7)
 */
int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen);

/**
 * Ends one or both directions of an rsocket.
 *
 * Arguments:
 *   socket: an rsocket.
 *   how: SHUT_RD, SHUT_WR or SHUT_RDWR.
 *
 * Description:
 *   As shutdown. After SHUT_WR the peer reads what was sent and then the end of the stream.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EINVAL: how is none of the three.
 *   ENOTCONN: the rsocket is not connected.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
 *
 * See also:
 *   rclose(3), rsocket(3), shutdown(2), rsocket(7)
 */
int rshutdown(int socket, int how);

/**
 * Closes an rsocket.
 *
 * Arguments:
 *   socket: an rsocket, not to be used afterwards.
 *
 * Description:
 *   As close. A connected stream is shut down; what was sent is delivered if the peer answers.
 *
 * Return value:
 *   0, or -1 with errno. The rsocket is closed in either case.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   No other thread may be in a call with the rsocket.
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
 *   flags: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, or 0.
 *
 * Description:
 *   As recv. What is longer than the room is kept for the next call on a stream, and cut off for
 *   datagrams.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   ENOTCONN: the rsocket is not connected.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   flags: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, or 0.
 *   src_addr: where the sender's address is returned, or NULL.
 *   addrlen: room there in bytes, comes back as the address's size; NULL if src_addr is.
 *
 * Description:
 *   As recvfrom.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   ENOTCONN: the rsocket is not connected.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   msg: buffers, and room for the sender's address. Control data is not supported.
 *   flags: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, or 0.
 *
 * Description:
 *   As recvmsg.
 *
 * Return value:
 *   The number of bytes, 0 at the end of a stream, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is nothing, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   EINVAL: msg is wrong.
 *   ENOTCONN: the rsocket is not connected.
 *   ENOTSUP: msg asks for control data.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   As send. The bytes are copied: the buffer is the caller's again when the call returns.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   ENOTCONN: the rsocket is not connected.
 *   EPIPE: this direction was shut down.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   dest_addr: the peer's address; NULL on a connected rsocket.
 *   addrlen: its size in bytes.
 *
 * Description:
 *   As sendto. On a stream the address must be NULL.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   EISCONN: the rsocket is a stream, and there is an address.
 *   ENODEV: no RDMA device reaches the peer.
 *   ENOTCONN: the rsocket is not connected.
 *   EPIPE: this direction was shut down.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   msg: buffers, and the peer's address. Control data is not supported.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   As sendmsg.
 *
 * Return value:
 *   The number of bytes taken, which can be fewer than given, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no room, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   EINVAL: msg is wrong.
 *   ENOTCONN: the rsocket is not connected.
 *   ENOTSUP: msg has control data.
 *   EPIPE: this direction was shut down.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   EAGAIN: there is nothing, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   ENOTCONN: the rsocket is not connected.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   EAGAIN: there is nothing, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   EINVAL: the list is wrong.
 *   ENOTCONN: the rsocket is not connected.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   EAGAIN: there is no room, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   ENOTCONN: the rsocket is not connected.
 *   EPIPE: this direction was shut down.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   EAGAIN: there is no room, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   EINVAL: the list is wrong.
 *   ENOTCONN: the rsocket is not connected.
 *   EPIPE: this direction was shut down.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   microseconds.
 *
 * Return value:
 *   The number of entries with revents set, 0 after the timeout, or -1 with errno.
 *
 * Errors:
 *   EFAULT: fds is NULL.
 *   EINTR: a signal came.
 *   EINVAL: nfds is too large.
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
 *   timeout: how long, or NULL for without end.
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
 *   EINVAL: nfds or the timeout is wrong.
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
 *   ENOTCONN: the rsocket is not connected.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   level: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IPV6 or SOL_RDMA.
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
 *   EINVAL: the size or the value does not fit, or the option can no longer be set.
 *   ENOPROTOOPT: the option is not supported.
 *   ENOTSUP: the level is not supported.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   level: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IPV6 or SOL_RDMA.
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
 *   EINVAL: there is no room.
 *   ENOPROTOOPT: the option is not supported.
 *   ENOTSUP: the level is not supported.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   cmd: F_GETFL or F_SETFL.
 *   arg: for F_SETFL, the flags: O_NONBLOCK or 0.
 *
 * Description:
 *   As fcntl. Only O_NONBLOCK can be changed.
 *
 * Return value:
 *   The flags for F_GETFL, 0 for F_SETFL, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EINVAL: the flags cannot be set.
 *   ENOTSUP: the command is not supported.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The third argument is read as one word; the header declares it as C's fcntl does.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   len: its size in bytes.
 *   prot: PROT_WRITE; PROT_NONE offers nothing.
 *   flags: 0.
 *   offset: the number by which the peer names the memory, or -1 to have one chosen.
 *
 * Description:
 *   The peer's riowrite puts bytes there while this side does nothing. How many areas a peer may be
 *   offered is RDMA_IOMAPSIZE, set before the connection.
 *
 * Return value:
 *   The offset, or -1 with errno.
 *
 * Errors:
 *   EBADF: socket is no open rsocket.
 *   EINVAL: flags, prot or the size is wrong, or the offset is taken.
 *   ENOMEM: out of memory, or no offset is free.
 *   ENOTCONN: the rsocket is not connected.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   len: its size in bytes.
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
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   EAGAIN: there is no room, and the rsocket or the call does not block.
 *   EBADF: socket is no open rsocket.
 *   ECONNRESET: the connection broke.
 *   EINTR: a signal came before any byte.
 *   EINVAL: the peer offers no memory there.
 *   ENOTCONN: the rsocket is not connected.
 *   EPIPE: this direction was shut down.
 *   ETIMEDOUT: the peer stopped answering.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread at any time, as with a socket; close it when no other thread uses it.
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
 *   The set, or -1 with errno. It is given back by rclose or close.
 *
 * Errors:
 *   EINVAL: flags is wrong.
 *   EMFILE: the process has too many open files.
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
 *   As epoll_ctl. EPOLLET and EPOLLONESHOT hold for rsockets too.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: epfd is no set, or fd no open file.
 *   EEXIST: the set has fd already.
 *   EINVAL: op or event is wrong.
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
 *   EBADF: epfd is no set.
 *   EFAULT: events is NULL.
 *   EINTR: a signal came.
 *   EINVAL: maxevents is not above 0.
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
