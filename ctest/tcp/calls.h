// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The calls of a socket, by table: libc's own, or those of librdmacm. Under the preload library libc's are that
 * library's, so that one binary serves the three modes.
 */
#ifndef CALLS_H
#define CALLS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLS(X)                                                                          \
	X(int, socket, (int, int, int))                                                   \
	X(int, bind, (int, const struct sockaddr *, socklen_t))                           \
	X(int, listen, (int, int))                                                        \
	X(int, accept, (int, struct sockaddr *, socklen_t *))                             \
	X(int, connect, (int, const struct sockaddr *, socklen_t))                        \
	X(int, shutdown, (int, int))                                                      \
	X(int, close, (int))                                                              \
	X(ssize_t, recv, (int, void *, size_t, int))                                      \
	X(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *))  \
	X(ssize_t, recvmsg, (int, struct msghdr *, int))                                  \
	X(ssize_t, send, (int, const void *, size_t, int))                                \
	X(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t)) \
	X(ssize_t, sendmsg, (int, const struct msghdr *, int))                            \
	X(ssize_t, read, (int, void *, size_t))                                           \
	X(ssize_t, readv, (int, const struct iovec *, int))                               \
	X(ssize_t, write, (int, const void *, size_t))                                    \
	X(ssize_t, writev, (int, const struct iovec *, int))                              \
	X(int, poll, (struct pollfd *, nfds_t, int))                                      \
	X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))             \
	X(int, getsockname, (int, struct sockaddr *, socklen_t *))                        \
	X(int, getpeername, (int, struct sockaddr *, socklen_t *))                        \
	X(int, getsockopt, (int, int, int, void *, socklen_t *))                          \
	X(int, setsockopt, (int, int, int, const void *, socklen_t))                      \
	X(int, fcntl, (int, int, ...))                                                    \
	X(int, epoll_create1, (int))                                                      \
	X(int, epoll_ctl, (int, int, int, struct epoll_event *))                          \
	X(int, epoll_wait, (int, struct epoll_event *, int, int))

struct calls {
#define MEMBER(type, name, arguments) type(*name) arguments;
	CALLS(MEMBER)
#undef MEMBER
};

extern struct calls call;

/* rsockets: those of librdmacm. Otherwise libc's, or what is preloaded for them. */
void load_calls(int rsockets);

#endif
