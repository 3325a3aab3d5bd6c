/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sockets over RDMA: the functions of sys/socket.h with the prefix r.
 *
 * `make headers` generates the prototypes between "made from" marks from the Rust functions; change their
 * comments there.
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

/* Level of rsetsockopt and rgetsockopt for RDMA options. */
#define SOL_RDMA 0x10000

/* Options of level SOL_RDMA, to be set before the connection; all but the route are int. */
enum {
	/* Number of entries of the send queue. */
	RDMA_SQSIZE = 0,
	/* Number of entries of the receive queue. */
	RDMA_RQSIZE = 1,
	/* Size of inline data in bytes. */
	RDMA_INLINE = 2,
	/* Number of areas that the peer may map with riomap. */
	RDMA_IOMAPSIZE = 3,
	/* struct ibv_path_data[], route to the peer. */
	RDMA_ROUTE = 4
};

/* made from src/export/rsocket/socket.rs */

/**
 * Creates an rsocket.
 *
 * Arguments:
 *   domain: AF_INET or AF_INET6; for streams also AF_IB.
 *   type: SOCK_STREAM for a reliable byte stream, SOCK_DGRAM for datagrams; may be combined with
 *       SOCK_NONBLOCK and SOCK_CLOEXEC.
 *   protocol: 0; IPPROTO_TCP is allowed for streams, IPPROTO_UDP for datagrams.
 *
 * Description:
 *   Like socket(2). An rsocket is used with the functions of rsocket(7). Its number is that of an
 *   open file, and differs from that of any other file; system calls on that file have no useful
 *   effect. The defaults of options are in /etc/rdma/rsocket.
 *
 * Return value:
 *   The rsocket, to be closed by rclose; -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EAFNOSUPPORT, EAGAIN, EMFILE, ENODEV, ENOMEM, EPROTONOSUPPORT, ESOCKTNOSUPPORT; see
 *   rsocket(3).
 *
 * Notes:
 *   The first stream and the first datagram rsocket of a process each start a thread of the library,
 *   which blocks all signals.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rclose(3), rbind(3), rconnect(3), rlisten(3), socket(2), rsocket(7)
 */
int rsocket(int domain, int type, int protocol);

/**
 * Binds an rsocket to a local address.
 *
 * Arguments:
 *   socket: the rsocket.
 *   addr: the address.
 *   addrlen: size of addr in bytes.
 *
 * Description:
 *   Like bind(2). A wildcard address and port 0 are allowed.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EBADF, EINVAL, ENODEV, ENOMEM, ENOTSOCK, EPERM;
 *   see rbind(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), rlisten(3), rgetsockname(3), bind(2), rsocket(7)
 */
int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen);

/**
 * Listens for connections on an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   backlog: maximum number of connections that wait for raccept.
 *
 * Description:
 *   Like listen(2); streams only. An unbound rsocket is bound to a free port. A second call changes
 *   the backlog.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EADDRINUSE, EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EPERM; see rlisten(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rbind(3), raccept(3), listen(2), rsocket(7)
 */
int rlisten(int socket, int backlog);

/**
 * Accepts a connection on a listening rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   addr: buffer for the address of the peer, or NULL.
 *   addrlen: size of addr in bytes; set to the size of the address. NULL if addr is NULL.
 *
 * Description:
 *   Like accept(2). The new rsocket inherits the options of the listener, but not O_NONBLOCK.
 *
 * Return value:
 *   The new rsocket, to be closed by rclose; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, EFAULT, EINTR, EINVAL, ENODEV, ENOTSOCK, EOPNOTSUPP, EPERM; see raccept(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rlisten(3), rconnect(3), rpoll(3), accept(2), rsocket(7)
 */
int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Connects an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   addr: address of the peer.
 *   addrlen: size of addr in bytes.
 *
 * Description:
 *   Like connect(2). For a datagram rsocket the call sets the default destination. A stream is
 *   connected when the call returns or, if the rsocket is nonblocking, when rpoll reports POLLOUT.
 *   An address of AF_UNSPEC removes the destination; it aborts the connection of a stream, gives up
 *   its attempt or ends its listening.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EADDRINUSE, EAFNOSUPPORT, EALREADY, EBADF, ECONNABORTED, ECONNREFUSED, ECONNRESET, EHOSTUNREACH,
 *   EINPROGRESS, EINTR, EINVAL, EISCONN, ENETUNREACH, ENODEV, ENOMEM, ENOTSOCK, EPERM, EPROTO,
 *   ETIMEDOUT; see rconnect(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), rbind(3), raccept(3), rgetpeername(3), connect(2), rsocket(7)
 */
int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen);

/**
 * Shuts down one or both directions of an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   how: SHUT_RD, SHUT_WR or SHUT_RDWR.
 *
 * Description:
 *   Like shutdown(2). After SHUT_WR the peer receives the data that was sent and then the end of the
 *   stream; the call waits no longer than a round trip for that. SHUT_RD on a listening rsocket
 *   stops listening. A connection attempt is given up.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EINVAL, ENOTCONN, ENOTSOCK, EPERM; see rshutdown(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rclose(3), rsocket(3), shutdown(2), rsocket(7)
 */
int rshutdown(int socket, int how);

/**
 * Closes an rsocket.
 *
 * Arguments:
 *   socket: an rsocket, or an epoll set of repoll_create, which becomes invalid.
 *
 * Description:
 *   Like close(2). A connected stream is shut down; the call waits for the time of SO_LINGER, if
 *   that is set, and for a round trip otherwise. Data that the peer has not taken by then is
 *   delivered in the background for up to ten seconds. Connections that wait for raccept are closed.
 *   The rsocket is removed from its epoll sets.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF; see rclose(3).
 *
 * Notes:
 *   Calls of other threads with the rsocket fail with EBADF; rpoll reports POLLNVAL.
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), rshutdown(3), close(2), rsocket(7)
 */
int rclose(int socket);

/**
 * Ends the rsockets of a process that is about to end.
 *
 * Arguments:
 *   timeout: milliseconds to wait, -1 for ever.
 *
 * Description:
 *   Shuts down each connected stream, as the kernel does with a TCP socket at the end of a process,
 *   and waits until the peers have the data that was sent, also by streams that are closed. A stream
 *   with unread data, or with a zero SO_LINGER, is aborted. The library does the same when a program
 *   returns from main or calls exit(3), and waits two seconds at most. A program that ends by
 *   _exit(2) or exec(3) calls the function first.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   ETIMEDOUT; see rfinish(3).
 *
 * Notes:
 *   The C library does not have this function.
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rclose(3), rshutdown(3), exit(3), rsocket(7)
 */
int rfinish(int timeout);

/* end of src/export/rsocket/socket.rs */

/* made from src/export/rsocket/receive.rs */

/**
 * Receives data from an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: buffer for the data.
 *   len: size of buf in bytes.
 *   flags: bitwise OR of MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC and MSG_WAITALL, or 0.
 *
 * Description:
 *   Like recv(2). Data that does not fit into the buffer remains for the next call on a stream; the
 *   rest of a datagram is discarded.
 *
 * Return value:
 *   The number of bytes received, 0 at the end of a stream; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EFAULT, EINTR, EINVAL, EIO, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM,
 *   EPROTO, ETIMEDOUT; see rrecv(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rrecvfrom(3), rrecvmsg(3), rread(3), rsend(3), rpoll(3), recv(2), rsocket(7)
 */
ssize_t rrecv(int socket, void *buf, size_t len, int flags);

/**
 * Receives data from an rsocket, with the address of the sender.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: buffer for the data.
 *   len: size of buf in bytes.
 *   flags: bitwise OR of MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC and MSG_WAITALL, or 0.
 *   src_addr: buffer for the address of the sender, or NULL.
 *   addrlen: size of src_addr in bytes; set to the size of the address. NULL if src_addr is
 *       NULL.
 *
 * Description:
 *   Like recvfrom(2). A stream returns no address: addrlen is set to 0.
 *
 * Return value:
 *   The number of bytes received, 0 at the end of a stream; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EFAULT, EINTR, EINVAL, EIO, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM,
 *   EPROTO, ETIMEDOUT; see rrecvfrom(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
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
 *   socket: the rsocket.
 *   msg: buffers for the data, for the address of the sender, and for control data. MSG_TRUNC in
 *       msg_flags means that a datagram was truncated, MSG_CTRUNC that control data was. A datagram
 *       has the control data that was requested by IP_PKTINFO, IP_RECVTTL, IP_RECVTOS,
 *       IP_RECVORIGDSTADDR, IPV6_RECVPKTINFO, IPV6_RECVHOPLIMIT, IPV6_RECVTCLASS, SO_TIMESTAMP or
 *       SO_TIMESTAMPNS; a stream has none.
 *   flags: bitwise OR of MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC and MSG_WAITALL, or 0.
 *
 * Description:
 *   Like recvmsg(2).
 *
 * Return value:
 *   The number of bytes received, 0 at the end of a stream; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EFAULT, EINTR, EINVAL, EIO, EMSGSIZE, ENOTCONN, ENOTSOCK, EOPNOTSUPP,
 *   EPERM, EPROTO, ETIMEDOUT; see rrecvmsg(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rrecv(3), rsendmsg(3), recvmsg(2), rsocket(7)
 */
ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags);

/**
 * Reads data from an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: buffer for the data.
 *   count: size of buf in bytes.
 *
 * Description:
 *   Like read(2), or rrecv without flags.
 *
 * Return value:
 *   The number of bytes received, 0 at the end of a stream; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EFAULT, EINTR, EIO, ENOTCONN, ENOTSOCK, EPERM, EPROTO, ETIMEDOUT; see
 *   rread(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rrecv(3), rreadv(3), rwrite(3), read(2), rsocket(7)
 */
ssize_t rread(int socket, void *buf, size_t count);

/**
 * Reads data from an rsocket into several buffers.
 *
 * Arguments:
 *   socket: the rsocket.
 *   iov: array of buffers.
 *   iovcnt: number of entries in iov.
 *
 * Description:
 *   Like readv(2).
 *
 * Return value:
 *   The number of bytes received, 0 at the end of a stream; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EFAULT, EINTR, EINVAL, EIO, ENOTCONN, ENOTSOCK, EPERM, EPROTO,
 *   ETIMEDOUT; see rreadv(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rread(3), rwritev(3), readv(2), rsocket(7)
 */
ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt);

/* end of src/export/rsocket/receive.rs */

/* made from src/export/rsocket/send.rs */

/**
 * Sends data on an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: the data.
 *   len: number of bytes to send.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   Like send(2). The data is copied: the buffer may be reused when the call returns. No signal is
 *   raised if the peer has closed the connection.
 *
 * Return value:
 *   The number of bytes accepted, which may be less than requested; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EDESTADDRREQ, EFAULT, EHOSTUNREACH, EINTR, EIO, EMSGSIZE, ENOTCONN,
 *   ENOTSOCK, EOPNOTSUPP, EPERM, EPIPE, EPROTO, ETIMEDOUT; see rsend(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsendto(3), rsendmsg(3), rwrite(3), rrecv(3), rpoll(3), send(2), rsocket(7)
 */
ssize_t rsend(int socket, const void *buf, size_t len, int flags);

/**
 * Sends data on an rsocket to an address.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: the data.
 *   len: number of bytes to send.
 *   flags: MSG_DONTWAIT, or 0.
 *   dest_addr: destination address, or NULL for that of rconnect.
 *   addrlen: size of dest_addr in bytes.
 *
 * Description:
 *   Like sendto(2). A stream ignores the address.
 *
 * Return value:
 *   The number of bytes accepted, which may be less than requested; -1 with errno set on failure.
 *
 * Errors:
 *   EAFNOSUPPORT, EAGAIN, EBADF, ECONNRESET, EDESTADDRREQ, EFAULT, EHOSTUNREACH, EINTR, EINVAL, EIO,
 *   EMSGSIZE, ENODEV, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM, EPIPE, EPROTO, ETIMEDOUT; see
 *   rsendto(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
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
 *   socket: the rsocket.
 *   msg: the data and the destination address. Control data has no effect; it must be valid.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   Like sendmsg(2).
 *
 * Return value:
 *   The number of bytes accepted, which may be less than requested; -1 with errno set on failure.
 *
 * Errors:
 *   EAFNOSUPPORT, EAGAIN, EBADF, ECONNRESET, EDESTADDRREQ, EFAULT, EHOSTUNREACH, EINTR, EINVAL, EIO,
 *   EMSGSIZE, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM, EPIPE, EPROTO, ETIMEDOUT; see rsendmsg(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsend(3), rrecvmsg(3), sendmsg(2), rsocket(7)
 */
ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags);

/**
 * Writes data to an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: the data.
 *   count: number of bytes to write.
 *
 * Description:
 *   Like write(2), or rsend without flags.
 *
 * Return value:
 *   The number of bytes accepted, which may be less than requested; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EDESTADDRREQ, EFAULT, EHOSTUNREACH, EINTR, EIO, EMSGSIZE, ENOTCONN,
 *   ENOTSOCK, EPERM, EPIPE, EPROTO, ETIMEDOUT; see rwrite(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsend(3), rwritev(3), rread(3), write(2), rsocket(7)
 */
ssize_t rwrite(int socket, const void *buf, size_t count);

/**
 * Writes data to an rsocket from several buffers.
 *
 * Arguments:
 *   socket: the rsocket.
 *   iov: array of buffers.
 *   iovcnt: number of entries in iov.
 *
 * Description:
 *   Like writev(2).
 *
 * Return value:
 *   The number of bytes accepted, which may be less than requested; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EDESTADDRREQ, EFAULT, EHOSTUNREACH, EINTR, EINVAL, EIO, EMSGSIZE,
 *   ENOTCONN, ENOTSOCK, EPERM, EPIPE, EPROTO, ETIMEDOUT; see rwritev(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rwrite(3), rreadv(3), writev(2), rsocket(7)
 */
ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt);

/* end of src/export/rsocket/send.rs */

/* made from src/export/rsocket/poll.rs */

/**
 * Waits for events on rsockets and other files.
 *
 * Arguments:
 *   fds: rsockets and file descriptors of any type, with the events to wait for; revents is set.
 *   nfds: number of entries in fds.
 *   timeout: limit in milliseconds; 0 returns immediately, a negative value waits without limit.
 *
 * Description:
 *   Like poll(2). Before it sleeps, the call polls the completion queues for the time in
 *   /etc/rdma/rsocket/polling_time, in microseconds (see rsocket(7)).
 *
 * Return value:
 *   The number of entries with nonzero revents, 0 if the timeout expired; -1 with errno set on
 *   failure.
 *
 * Errors:
 *   EFAULT, EINTR, EINVAL, EMFILE, ENOMEM; see rpoll(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rselect(3), repoll_wait(3), poll(2), rsocket(7)
 */
int rpoll(struct pollfd *fds, nfds_t nfds, int timeout);

/**
 * Waits for events on sets of rsockets and other files.
 *
 * Arguments:
 *   nfds: the highest file descriptor in the sets, plus 1.
 *   readfds: file descriptors to wait for input, or NULL; updated to those that are ready.
 *   writefds: file descriptors to wait for output, or NULL; updated to those that are ready.
 *   exceptfds: file descriptors to wait for exceptional conditions, or NULL; updated to those
 *       that are ready.
 *   timeout: limit, or NULL for none; updated to the time that is left, as on Linux.
 *
 * Description:
 *   Like select(2).
 *
 * Return value:
 *   The number of ready file descriptors, 0 if the timeout expired; -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EINTR, EINVAL, EMFILE, ENOMEM; see rselect(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time.
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
 * Creates an epoll set for rsockets and other files.
 *
 * Arguments:
 *   flags: EPOLL_CLOEXEC, or 0.
 *
 * Description:
 *   Like epoll_create1(2), for rsockets too.
 *
 * Return value:
 *   The epoll set, to be closed by rclose; -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL, EMFILE, ENODEV, ENOMEM; see repoll_create(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   repoll_ctl(3), repoll_wait(3), epoll_create1(2), rsocket(7)
 */
int repoll_create(int flags);

/**
 * Changes an epoll set of repoll_create.
 *
 * Arguments:
 *   epfd: the epoll set.
 *   op: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL.
 *   fd: an rsocket, or a file descriptor that epoll supports.
 *   event: the events to wait for, and the data to return with them; ignored for EPOLL_CTL_DEL.
 *
 * Description:
 *   Like epoll_ctl(2). EPOLLET and EPOLLONESHOT work for rsockets too. Closing an rsocket removes it
 *   from its epoll sets.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EEXIST, EFAULT, EINVAL, ENOENT, ENOMEM, EPERM; see repoll_ctl(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   repoll_create(3), repoll_wait(3), epoll_ctl(2), rsocket(7)
 */
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event);

/**
 * Waits for events on an epoll set of repoll_create.
 *
 * Arguments:
 *   epfd: the epoll set.
 *   events: array for the events.
 *   maxevents: number of entries in events.
 *   timeout: limit in milliseconds; 0 returns immediately, a negative value waits without limit.
 *
 * Description:
 *   Like epoll_wait(2).
 *
 * Return value:
 *   The number of events, 0 if the timeout expired; -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EFAULT, EINTR, EINVAL; see repoll_wait(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   repoll_create(3), repoll_ctl(3), rpoll(3), epoll_wait(2), rsocket(7)
 */
int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);

/* end of src/export/rsocket/poll.rs */

/* made from src/export/rsocket/options.rs */

/**
 * Returns the peer's address of an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   addr: buffer for the address.
 *   addrlen: size of addr in bytes; set to the size of the address.
 *
 * Description:
 *   Like getpeername(2). An address that is longer than the buffer is truncated.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EFAULT, EINVAL, ENOTCONN, ENOTSOCK; see rgetpeername(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rgetsockname(3), rconnect(3), getpeername(2), rsocket(7)
 */
int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Returns the local address of an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   addr: buffer for the address.
 *   addrlen: size of addr in bytes; set to the size of the address.
 *
 * Description:
 *   Like getsockname(2). An address that is longer than the buffer is truncated.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EFAULT, EINVAL, ENOTSOCK; see rgetsockname(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rgetpeername(3), rbind(3), getsockname(2), rsocket(7)
 */
int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen);

/**
 * Sets an option of an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   level: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6 or SOL_RDMA.
 *   optname: the option.
 *   optval: the value. Only read during the call.
 *   optlen: size of the value in bytes.
 *
 * Description:
 *   Like setsockopt(2); rsocket(7) lists the options. Options of SOL_RDMA must be set before the
 *   connection.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EFAULT, EINVAL, ENOPROTOOPT, ENOTSOCK, EOPNOTSUPP, EPERM; see rsetsockopt(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rgetsockopt(3), setsockopt(2), rsocket(7)
 */
int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen);

/**
 * Returns an option of an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   level: SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6 or SOL_RDMA.
 *   optname: the option.
 *   optval: buffer for the value.
 *   optlen: size of optval in bytes; set to the size of the value.
 *
 * Description:
 *   Like getsockopt(2); rsocket(7) lists the options.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EFAULT, EINVAL, ENOPROTOOPT, ENOTSOCK, EPERM; see rgetsockopt(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsetsockopt(3), getsockopt(2), rsocket(7)
 */
int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen);

/**
 * Returns or sets flags of an rsocket.
 *
 * Arguments:
 *   socket: the rsocket.
 *   cmd: F_GETFL, F_SETFL, F_GETFD, F_SETFD or another command of fcntl(2), but F_DUPFD and
 *       F_DUPFD_CLOEXEC.
 *   arg: the command's argument.
 *
 * Description:
 *   Like fcntl(2). O_NONBLOCK belongs to the rsocket; all else is the descriptor's.
 *
 * Return value:
 *   That of fcntl(2); -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EINVAL, ENOTSOCK; see rfcntl(3).
 *
 * Notes:
 *   The third argument is read as one word; the header declares it as variable, like that of fcntl.
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   rsocket(3), fcntl(2), rsocket(7)
 */
int rfcntl(int socket, int cmd, ... /* arg */);

/* end of src/export/rsocket/options.rs */

/* made from src/export/rsocket/iomap.rs */

/**
 * Maps memory for the peer's riowrite.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: the memory, which must stay mapped until riounmap.
 *   len: size of the memory in bytes, less than 4 GiB.
 *   prot: PROT_WRITE; PROT_NONE maps the memory without access.
 *   flags: 0.
 *   offset: offset with which the peer addresses the memory, or -1 to use the address of buf.
 *
 * Description:
 *   The peer's riowrite writes to the memory without involving local software. The number of areas
 *   that can be mapped for the peer is the peer's RDMA_IOMAPSIZE, which must be set before the
 *   connection. The same memory can be mapped several times at the same offset, and must be unmapped
 *   as many times.
 *
 * Return value:
 *   The offset; -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, EBADF, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM; see riomap(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   riounmap(3), riowrite(3), rsetsockopt(3), rsocket(7)
 */
off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset);

/**
 * Unmaps memory for the peer's riowrite.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: memory that was mapped with riomap.
 *   len: size of the memory in bytes, or 0 for any size.
 *
 * Description:
 *   The peer can no longer write to the memory.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EPERM; see riounmap(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   riomap(3), rsocket(7)
 */
int riounmap(int socket, void *buf, size_t len);

/**
 * Writes to memory that the peer mapped.
 *
 * Arguments:
 *   socket: the rsocket.
 *   buf: the data.
 *   count: number of bytes to write.
 *   offset: destination: an offset of the peer's riomap, or a position inside that area.
 *   flags: MSG_DONTWAIT, or 0.
 *
 * Description:
 *   The peer is not notified. Data that is sent afterwards arrives after the written data.
 *
 * Return value:
 *   The number of bytes accepted, which may be less than requested; -1 as a size_t with errno set on
 *   failure.
 *
 * Errors:
 *   EAGAIN, EBADF, ECONNRESET, EFAULT, EINTR, EIO, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM, EPIPE,
 *   EPROTO, ETIMEDOUT; see riowrite(3).
 *
 * Thread safety:
 *   Any thread may call this function at any time, as with a socket.
 *
 * See also:
 *   riomap(3), rsend(3), rsocket(7)
 */
size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags);

/* end of src/export/rsocket/iomap.rs */

#ifdef __cplusplus
}
#endif

#endif
