// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "tries.h"

#include <stdarg.h>

static char more[200];
static char room[64];

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
	size_t length = strlen(more);
	va_list list;

	va_start(list, format);
	vsnprintf(more + length, sizeof more - length, format, list);
	va_end(list);
}

static long received(long got)
{
	int error = errno;

	if (got > 0)
		add(" %.*s", (int)got, room);
	errno = error;
	return got;
}

/* Receiving. */

static long try_recv(const struct try *try, const struct ends *ends)
{
	return received(call.recv(ends->fd, room, try->size, try->flags));
}

/* No memory to write to: nothing may be counted as read. */
static long try_recv_null(const struct try *try, const struct ends *ends)
{
	return call.recv(ends->fd, NULL, try->size, try->flags);
}

static long try_recvfrom(const struct try *try, const struct ends *ends)
{
	struct sockaddr_storage from = { 0 };
	socklen_t length = sizeof from;
	long got = received(call.recvfrom(ends->fd, room, try->size, try->flags, (struct sockaddr *)&from, &length));
	int error = errno;

	if (got >= 0)
		add(" from %s", name_text(&from, length));
	errno = error;
	return got;
}

/* The address has no room, or a wrong one. */
static long try_recvfrom_room(const struct try *try, const struct ends *ends)
{
	struct sockaddr_storage from = { 0 };
	socklen_t length = try->size;
	long got = received(call.recvfrom(ends->fd, room, 16, 0, (struct sockaddr *)&from, &length));
	int error = errno;

	if (got >= 0)
		add(" length %d", (int)length);
	errno = error;
	return got;
}

static long try_recvmsg(const struct try *try, const struct ends *ends)
{
	struct iovec parts[2] = { { room, 2 }, { room + 2, try->size } };
	struct sockaddr_storage from = { 0 };
	char control[64];
	struct msghdr message = { .msg_name = &from,	   .msg_namelen = sizeof from,	   .msg_iov = parts, .msg_iovlen = 2,
				  .msg_control = control, .msg_controllen = sizeof control, .msg_flags = 0x40 };
	long got = received(call.recvmsg(ends->fd, &message, try->flags));
	int error = errno;

	if (got >= 0)
		add(" name %d control %d flags 0x%x", (int)message.msg_namelen, (int)message.msg_controllen,
		    message.msg_flags);
	errno = error;
	return got;
}

static struct iovec vectors[1100];

static long try_recvmsg_vectors(const struct try *try, const struct ends *ends)
{
	struct msghdr message = { .msg_iov = try->flags ? NULL : vectors, .msg_iovlen = try->size };

	return call.recvmsg(ends->fd, &message, 0);
}

static long try_recvmsg_null(const struct try *try, const struct ends *ends)
{
	(void)try;
	return call.recvmsg(ends->fd, NULL, 0);
}

static long try_recvmsg_name(const struct try *try, const struct ends *ends)
{
	struct iovec part = { room, 16 };
	struct sockaddr_storage from = { 0 };
	struct msghdr message = { .msg_name = &from, .msg_namelen = try->size, .msg_iov = &part, .msg_iovlen = 1 };
	long got = received(call.recvmsg(ends->fd, &message, 0));
	int error = errno;

	if (got >= 0)
		add(" name %d", (int)message.msg_namelen);
	errno = error;
	return got;
}

static long try_read(const struct try *try, const struct ends *ends)
{
	return received(call.read(ends->fd, room, try->size));
}

static long try_readv(const struct try *try, const struct ends *ends)
{
	struct iovec parts[3] = { { room, 2 }, { NULL, 0 }, { room + 2, 8 } };

	return received(call.readv(ends->fd, parts, try->size));
}

static long try_readv_vectors(const struct try *try, const struct ends *ends)
{
	return call.readv(ends->fd, try->flags ? NULL : vectors, try->size);
}

/* The first part is good, the second is no memory. */
static long try_readv_half(const struct try *try, const struct ends *ends)
{
	struct iovec parts[2] = { { room, 2 }, { NULL, 8 } };

	(void)try;
	return received(call.readv(ends->fd, parts, 2));
}

/* Sending. */

static long try_send(const struct try *try, const struct ends *ends)
{
	return call.send(ends->fd, "world", try->size, try->flags | MSG_NOSIGNAL);
}

static long try_send_null(const struct try *try, const struct ends *ends)
{
	return call.send(ends->fd, NULL, try->size, MSG_NOSIGNAL);
}

static struct sockaddr_storage destination(const struct ends *ends, int family)
{
	struct sockaddr_storage to = { 0 };
	struct sockaddr_in sin = address(HERE, ends->port);

	if (family == AF_INET6)
		*(struct sockaddr_in6 *)&to = address6(HERE6, ends->port);
	else
		memcpy(&to, &sin, sizeof sin);
	to.ss_family = family;
	return to;
}

static long try_sendto(const struct try *try, const struct ends *ends)
{
	struct sockaddr_storage to = destination(ends, try->flags);

	return call.sendto(ends->fd, "world", 5, MSG_NOSIGNAL, (struct sockaddr *)&to, try->size);
}

static long try_sendto_null(const struct try *try, const struct ends *ends)
{
	return call.sendto(ends->fd, "world", 5, MSG_NOSIGNAL, NULL, try->size);
}

static long try_sendmsg(const struct try *try, const struct ends *ends)
{
	struct iovec parts[2] = { { "wo", 2 }, { "rld", 3 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = try->size };

	return call.sendmsg(ends->fd, &message, try->flags | MSG_NOSIGNAL);
}

static long try_sendmsg_vectors(const struct try *try, const struct ends *ends)
{
	struct msghdr message = { .msg_iov = try->flags ? NULL : vectors, .msg_iovlen = try->size };

	return call.sendmsg(ends->fd, &message, MSG_NOSIGNAL);
}

static long try_sendmsg_null(const struct try *try, const struct ends *ends)
{
	(void)try;
	return call.sendmsg(ends->fd, NULL, MSG_NOSIGNAL);
}

/* Ancillary data that is too short for its header, or of a type that nobody knows. */
static long try_sendmsg_control(const struct try *try, const struct ends *ends)
{
	union {
		struct cmsghdr head;
		char room[64];
	} control = { .head = { .cmsg_len = try->size, .cmsg_level = SOL_SOCKET, .cmsg_type = 77 } };
	struct iovec part = { "world", 5 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof control };

	return call.sendmsg(ends->fd, &message, MSG_NOSIGNAL);
}

static long try_write(const struct try *try, const struct ends *ends)
{
	return call.write(ends->fd, "world", try->size);
}

static long try_writev(const struct try *try, const struct ends *ends)
{
	struct iovec parts[3] = { { "wo", 2 }, { NULL, 0 }, { "rld", 3 } };

	return call.writev(ends->fd, parts, try->size);
}

static long try_writev_vectors(const struct try *try, const struct ends *ends)
{
	return call.writev(ends->fd, try->flags ? NULL : vectors, try->size);
}

static long try_writev_half(const struct try *try, const struct ends *ends)
{
	struct iovec parts[2] = { { "wo", 2 }, { NULL, 3 } };

	(void)try;
	return call.writev(ends->fd, parts, 2);
}

/* The connection. */

static long try_shutdown(const struct try *try, const struct ends *ends)
{
	return call.shutdown(ends->fd, try->flags);
}

static long try_connect(const struct try *try, const struct ends *ends)
{
	struct sockaddr_storage to = destination(ends, try->flags);

	return call.connect(ends->fd, (struct sockaddr *)&to, try->size);
}

static long try_connect_null(const struct try *try, const struct ends *ends)
{
	return call.connect(ends->fd, NULL, try->size);
}

static long try_bind(const struct try *try, const struct ends *ends)
{
	struct sockaddr_storage own = destination(ends, try->flags);

	((struct sockaddr_in *)&own)->sin_port = 0;
	return call.bind(ends->fd, (struct sockaddr *)&own, try->size);
}

static long try_bind_null(const struct try *try, const struct ends *ends)
{
	return call.bind(ends->fd, NULL, try->size);
}

static long try_listen(const struct try *try, const struct ends *ends)
{
	return call.listen(ends->fd, try->size);
}

static long try_accept(const struct try *try, const struct ends *ends)
{
	struct sockaddr_storage from = { 0 };
	socklen_t length = sizeof from;
	int fd = call.accept(ends->fd, (struct sockaddr *)&from, &length), error = errno;

	(void)try;
	if (fd >= 0) {
		add(" from %s", name_text(&from, length));
		call.close(fd);
	}
	errno = error;
	return fd < 0 ? -1 : 0;
}

/* Names. */

static long ask_name(int (*ask)(int, struct sockaddr *, socklen_t *), long size, int fd)
{
	struct sockaddr_storage found = { 0 };
	socklen_t length = size;
	int result = ask(fd, (struct sockaddr *)&found, &length), error = errno;

	if (result == 0)
		add(" %s", size >= 16 ? name_text(&found, length) : named("length %d", (int)length));
	errno = error;
	return result;
}

static long try_getsockname(const struct try *try, const struct ends *ends)
{
	return ask_name(call.getsockname, try->size, ends->fd);
}

static long try_getpeername(const struct try *try, const struct ends *ends)
{
	return ask_name(call.getpeername, try->size, ends->fd);
}

static long try_getsockname_null(const struct try *try, const struct ends *ends)
{
	socklen_t length = 16;
	struct sockaddr_in own;

	return call.getsockname(ends->fd, try->flags ? NULL : (struct sockaddr *)&own, try->flags ? &length : NULL);
}

/* Options and flags. */

static long try_option(const struct try *try, const struct ends *ends)
{
	int value = 0;
	socklen_t size = sizeof value;
	int result = call.getsockopt(ends->fd, SOL_SOCKET, try->flags, &value, &size), error = errno;

	if (result == 0)
		add(" %s", try->flags == SO_ERROR ? errno_name(value) : named("%d", value));
	errno = error;
	return result;
}

static long try_nodelay(const struct try *try, const struct ends *ends)
{
	(void)try;
	return set_int(ends->fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static long try_linger(const struct try *try, const struct ends *ends)
{
	struct linger linger = { 1, 1 };

	(void)try;
	return call.setsockopt(ends->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

static long try_tcp_info(const struct try *try, const struct ends *ends)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof info;
	int result = call.getsockopt(ends->fd, IPPROTO_TCP, TCP_INFO, &info, &size), error = errno;

	(void)try;
	if (result == 0)
		/* An end is acknowledged a little later. */
		add(" state %d", info.tcpi_state == TCP_FIN_WAIT1 ? TCP_FIN_WAIT2 : info.tcpi_state);
	errno = error;
	return result;
}

static long try_getfl(const struct try *try, const struct ends *ends)
{
	(void)try;
	return call.fcntl(ends->fd, F_GETFL);
}

/* Waiting. */

static long try_poll(const struct try *try, const struct ends *ends)
{
	struct pollfd one = { ends->fd, try->flags, 0 };
	int count = call.poll(&one, 1, 0), error = errno;

	add(" %s", event_names(one.revents));
	errno = error;
	return count;
}

static long try_select(const struct try *try, const struct ends *ends)
{
	struct timeval none = { 0, 0 };
	fd_set sets[3];
	int count, error;

	for (int i = 0; i < 3; i++) {
		FD_ZERO(&sets[i]);
		if (ends->fd >= 0)
			FD_SET(ends->fd, &sets[i]);
	}
	count = call.select(ends->fd + 1, &sets[0], &sets[1], &sets[2], &none);
	error = errno;
	for (int i = 0; i < 3 && count > 0; i++)
		if (FD_ISSET(ends->fd, &sets[i]))
			add(" %s", i == 0 ? "read" : i == 1 ? "write" : "except");
	(void)try;
	errno = error;
	return count;
}

static long try_epoll(const struct try *try, const struct ends *ends)
{
	struct epoll_event event = { .events = try->flags, .data.u64 = 77 }, got = { 0 };
	int set = MUST(call.epoll_create1(0)), count, error;

	count = call.epoll_ctl(set, EPOLL_CTL_ADD, ends->fd, &event);
	if (count == 0) {
		count = call.epoll_wait(set, &got, 1, 0);
		if (count > 0)
			add(" %s%s", event_names(got.events), got.data.u64 == 77 ? "" : " wrong data");
	}
	error = errno;
	call.close(set);
	errno = error;
	return count;
}

#define V4 sizeof(struct sockaddr_in)
#define V6 sizeof(struct sockaddr_in6)

const struct try tries[] = {
	{ "recv", try_recv, 0, 16, CHANGES | ALWAYS },
	{ "recv_part", try_recv, 0, 2, CHANGES | ALWAYS },
	{ "recv_peek", try_recv, MSG_PEEK, 16, CHANGES | ALWAYS },
	{ "recv_dontwait", try_recv, MSG_DONTWAIT, 16, 0 },
	{ "recv_waitall", try_recv, MSG_WAITALL, 16, CHANGES | ALWAYS },
	{ "recv_oob", try_recv, MSG_OOB, 16, CHANGES | ALWAYS },
	{ "recv_oob_peek", try_recv, MSG_OOB | MSG_PEEK, 16, 0 },
	{ "recv_errqueue", try_recv, MSG_ERRQUEUE, 16, CHANGES | ALWAYS },
	{ "recv_cmsg_cloexec", try_recv, MSG_CMSG_CLOEXEC, 16, 0 },
	{ "recv_unknown_flag", try_recv, 0x1000000, 16, 0 },
	{ "recv_zero", try_recv, 0, 0, CHANGES | ALWAYS },
	{ "recv_zero_peek", try_recv, MSG_PEEK, 0, 0 },
	{ "recv_trunc", try_recv_null, MSG_TRUNC, 3, CHANGES | ALWAYS },
	{ "recv_trunc_more", try_recv_null, MSG_TRUNC, 16, CHANGES },
	{ "recv_trunc_peek", try_recv, MSG_TRUNC | MSG_PEEK, 3, CHANGES | ALWAYS },
	{ "recv_null", try_recv_null, 0, 16, CHANGES | ALWAYS },
	{ "recv_null_zero", try_recv_null, 0, 0, 0 },
	{ "recvfrom", try_recvfrom, 0, 16, ALWAYS },
	{ "recvfrom_room_4", try_recvfrom_room, 0, 4, 0 },
	{ "recvfrom_room_0", try_recvfrom_room, 0, 0, 0 },
	{ "recvfrom_room_negative", try_recvfrom_room, 0, -1, CHANGES | ALWAYS },
	{ "recvmsg", try_recvmsg, 0, 14, CHANGES | ALWAYS },
	{ "recvmsg_short", try_recvmsg, 0, 1, CHANGES },
	{ "recvmsg_trunc", try_recvmsg, MSG_TRUNC, 1, CHANGES },
	{ "recvmsg_errqueue", try_recvmsg, MSG_ERRQUEUE, 14, CHANGES | ALWAYS },
	{ "recvmsg_no_vectors", try_recvmsg_vectors, 0, 0, CHANGES | ALWAYS },
	{ "recvmsg_null_vectors", try_recvmsg_vectors, 1, 1, CHANGES },
	{ "recvmsg_1024_vectors", try_recvmsg_vectors, 0, 1024, 0 },
	{ "recvmsg_1025_vectors", try_recvmsg_vectors, 0, 1025, CHANGES },
	{ "recvmsg_null", try_recvmsg_null, 0, 0, 0 },
	{ "recvmsg_name_4", try_recvmsg_name, 0, 4, 0 },
	{ "recvmsg_name_negative", try_recvmsg_name, 0, -1, CHANGES },
	{ "read", try_read, 0, 16, CHANGES | ALWAYS },
	{ "read_zero", try_read, 0, 0, ALWAYS },
	{ "readv", try_readv, 0, 3, CHANGES | ALWAYS },
	{ "readv_none", try_readv, 0, 0, ALWAYS },
	{ "readv_negative", try_readv, 0, -1, 0 },
	{ "readv_1025", try_readv_vectors, 0, 1025, 0 },
	{ "readv_null", try_readv_vectors, 1, 1, CHANGES },
	{ "readv_half_null", try_readv_half, 0, 0, CHANGES | ALWAYS },
	{ "send", try_send, 0, 5, CHANGES | ALWAYS },
	{ "send_dontwait", try_send, MSG_DONTWAIT, 5, 0 },
	{ "send_more", try_send, MSG_MORE, 5, 0 },
	{ "send_eor", try_send, MSG_EOR, 5, 0 },
	{ "send_confirm", try_send, MSG_CONFIRM, 5, 0 },
	{ "send_dontroute", try_send, MSG_DONTROUTE, 5, 0 },
	{ "send_errqueue", try_send, MSG_ERRQUEUE, 5, 0 },
	{ "send_peek", try_send, MSG_PEEK, 5, 0 },
	{ "send_oob", try_send, MSG_OOB, 5, CHANGES | ALWAYS },
	{ "send_unknown_flag", try_send, 0x1000000, 5, 0 },
	{ "send_zero", try_send, 0, 0, CHANGES | ALWAYS },
	{ "send_null", try_send_null, 0, 5, CHANGES | ALWAYS },
	{ "send_null_zero", try_send_null, 0, 0, 0 },
	{ "sendto", try_sendto, AF_INET, V4, CHANGES | ALWAYS },
	{ "sendto_short", try_sendto, AF_INET, 7, 0 },
	{ "sendto_no_length", try_sendto, AF_INET, 0, 0 },
	{ "sendto_long", try_sendto, AF_INET, 128, 0 },
	{ "sendto_longer", try_sendto, AF_INET, 129, 0 },
	{ "sendto_negative", try_sendto, AF_INET, -1, 0 },
	{ "sendto_inet6", try_sendto, AF_INET6, V6, 0 },
	{ "sendto_unspec", try_sendto, AF_UNSPEC, V4, 0 },
	{ "sendto_null", try_sendto_null, 0, V4, 0 },
	{ "sendmsg", try_sendmsg, 0, 2, CHANGES | ALWAYS },
	{ "sendmsg_no_vectors", try_sendmsg, 0, 0, CHANGES | ALWAYS },
	{ "sendmsg_null_vectors", try_sendmsg_vectors, 1, 1, 0 },
	{ "sendmsg_1025_vectors", try_sendmsg_vectors, 0, 1025, 0 },
	{ "sendmsg_null", try_sendmsg_null, 0, 0, 0 },
	{ "sendmsg_control_short", try_sendmsg_control, 0, 4, 0 },
	{ "sendmsg_control_unknown", try_sendmsg_control, 0, 20, 0 },
	{ "write", try_write, 0, 5, CHANGES | ALWAYS },
	{ "write_zero", try_write, 0, 0, ALWAYS },
	{ "writev", try_writev, 0, 3, CHANGES | ALWAYS },
	{ "writev_none", try_writev, 0, 0, ALWAYS },
	{ "writev_negative", try_writev, 0, -1, 0 },
	{ "writev_1025", try_writev_vectors, 0, 1025, 0 },
	{ "writev_null", try_writev_vectors, 1, 1, 0 },
	{ "writev_half_null", try_writev_half, 0, 0, CHANGES },
	{ "shutdown_read", try_shutdown, SHUT_RD, 0, CHANGES | ALWAYS },
	{ "shutdown_write", try_shutdown, SHUT_WR, 0, CHANGES | ALWAYS },
	{ "shutdown_both", try_shutdown, SHUT_RDWR, 0, CHANGES | ALWAYS },
	{ "shutdown_3", try_shutdown, 3, 0, 0 },
	{ "shutdown_negative", try_shutdown, -1, 0, 0 },
	{ "connect", try_connect, AF_INET, V4, CHANGES | ALWAYS },
	{ "connect_unspec", try_connect, AF_UNSPEC, V4, CHANGES | ALWAYS },
	{ "connect_unspec_2", try_connect, AF_UNSPEC, 2, CHANGES },
	{ "connect_short", try_connect, AF_INET, 8, 0 },
	{ "connect_1", try_connect, AF_INET, 1, 0 },
	{ "connect_0", try_connect, AF_INET, 0, 0 },
	{ "connect_inet6", try_connect, AF_INET6, V6, 0 },
	{ "connect_null", try_connect_null, 0, V4, 0 },
	{ "connect_negative", try_connect, AF_INET, -1, 0 },
	{ "bind", try_bind, AF_INET, V4, CHANGES | ALWAYS },
	{ "bind_short", try_bind, AF_INET, 8, 0 },
	{ "bind_inet6", try_bind, AF_INET6, V6, 0 },
	{ "bind_null", try_bind_null, 0, V4, 0 },
	{ "listen", try_listen, 0, 4, CHANGES | ALWAYS },
	{ "accept", try_accept, 0, 0, CHANGES | ALWAYS },
	{ "getsockname", try_getsockname, 0, 128, ALWAYS },
	{ "getsockname_4", try_getsockname, 0, 4, 0 },
	{ "getsockname_0", try_getsockname, 0, 0, 0 },
	{ "getsockname_negative", try_getsockname, 0, -1, 0 },
	{ "getsockname_null", try_getsockname_null, 1, 0, 0 },
	{ "getsockname_no_length", try_getsockname_null, 0, 0, 0 },
	{ "getpeername", try_getpeername, 0, 128, ALWAYS },
	{ "getpeername_4", try_getpeername, 0, 4, 0 },
	{ "getpeername_negative", try_getpeername, 0, -1, 0 },
	{ "so_error", try_option, SO_ERROR, 0, CHANGES | ALWAYS },
	{ "so_acceptconn", try_option, SO_ACCEPTCONN, 0, ALWAYS },
	{ "so_type", try_option, SO_TYPE, 0, 0 },
	{ "so_domain", try_option, SO_DOMAIN, 0, 0 },
	{ "so_protocol", try_option, SO_PROTOCOL, 0, 0 },
	{ "set_nodelay", try_nodelay, 0, 0, ALWAYS },
	{ "set_linger", try_linger, 0, 0, ALWAYS },
	{ "tcp_info", try_tcp_info, 0, 0, ALWAYS },
	{ "getfl", try_getfl, 0, 0, 0 },
	{ "poll_all", try_poll, 0x7fff, 0, ALWAYS },
	{ "poll_none", try_poll, 0, 0, ALWAYS },
	{ "poll_in", try_poll, POLLIN, 0, ALWAYS },
	{ "poll_out", try_poll, POLLOUT, 0, ALWAYS },
	{ "poll_rdhup", try_poll, POLLRDHUP, 0, ALWAYS },
	{ "select", try_select, 0, 0, ALWAYS },
	{ "epoll", try_epoll, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI, 0, ALWAYS },
	{ "epoll_none", try_epoll, 0, 0, ALWAYS },
	{ "epoll_edge", try_epoll, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 0, ALWAYS },
	{ "epoll_oneshot", try_epoll, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLONESHOT, 0, ALWAYS },
	{ "epoll_exclusive", try_epoll, EPOLLIN | EPOLLOUT | EPOLLEXCLUSIVE, 0, ALWAYS },
	{ "epoll_exclusive_oneshot", try_epoll, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT, 0, 0 },
	{ "epoll_exclusive_rdhup", try_epoll, EPOLLIN | EPOLLEXCLUSIVE | EPOLLRDHUP, 0, 0 },
	{ "epoll_wakeup", try_epoll, EPOLLIN | EPOLLWAKEUP, 0, 0 },
};
const unsigned tries_count = sizeof tries / sizeof tries[0];

void run_try(const struct try *one, const struct ends *ends)
{
	int before = one->kind & CHANGES ? poll_now(ends->fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP) : 0, error;
	long got;

	more[0] = 0;
	memset(room, 0, sizeof room);
	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
		vectors[i] = (struct iovec){ room, 0 };
	errno = 0;
	got = one->run(one, ends);
	error = errno;
	if (got < 0)
		check(one->name, "%ld %s%s", got, errno_name(error), more);
	else
		check(one->name, "%ld%s", got, more);
	if (one->kind & CHANGES)
		check_change(named("%s.then", one->name), ends->fd, before);
}
