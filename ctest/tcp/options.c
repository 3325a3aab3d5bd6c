// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Options and flags: values, lengths, and what they do. */
#include "sockets.h"

#include <limits.h>

struct option {
	const char *name;
	int level, option, value;
	/* The value without a set differs from kernel to kernel. */
	int varies;
};

static const struct option options[] = {
	{ "so_reuseaddr", SOL_SOCKET, SO_REUSEADDR, 1, 0 },
	{ "so_reuseport", SOL_SOCKET, SO_REUSEPORT, 1, 0 },
	{ "so_keepalive", SOL_SOCKET, SO_KEEPALIVE, 1, 0 },
	{ "so_broadcast", SOL_SOCKET, SO_BROADCAST, 1, 0 },
	{ "so_oobinline", SOL_SOCKET, SO_OOBINLINE, 1, 0 },
	{ "so_dontroute", SOL_SOCKET, SO_DONTROUTE, 1, 0 },
	{ "so_priority", SOL_SOCKET, SO_PRIORITY, 3, 0 },
	{ "so_rcvlowat", SOL_SOCKET, SO_RCVLOWAT, 4, 0 },
	{ "so_sndlowat", SOL_SOCKET, SO_SNDLOWAT, 4, 0 },
	{ "so_sndbuf", SOL_SOCKET, SO_SNDBUF, 65536, 1 },
	{ "so_rcvbuf", SOL_SOCKET, SO_RCVBUF, 65536, 1 },
	{ "so_timestamp", SOL_SOCKET, SO_TIMESTAMP, 1, 0 },
	{ "so_busy_poll", SOL_SOCKET, SO_BUSY_POLL, 50, 1 },
	{ "so_zerocopy", SOL_SOCKET, SO_ZEROCOPY, 1, 0 },
	{ "so_error", SOL_SOCKET, SO_ERROR, 1, 0 },
	{ "so_type", SOL_SOCKET, SO_TYPE, 1, 0 },
	{ "so_acceptconn", SOL_SOCKET, SO_ACCEPTCONN, 1, 0 },
	{ "so_domain", SOL_SOCKET, SO_DOMAIN, 1, 0 },
	{ "so_protocol", SOL_SOCKET, SO_PROTOCOL, 1, 0 },
	{ "so_mark", SOL_SOCKET, SO_MARK, 3, 0 },
	{ "so_12345", SOL_SOCKET, 12345, 1, 0 },
	{ "tcp_nodelay", IPPROTO_TCP, TCP_NODELAY, 1, 0 },
	{ "tcp_cork", IPPROTO_TCP, TCP_CORK, 1, 0 },
	{ "tcp_maxseg", IPPROTO_TCP, TCP_MAXSEG, 1000, 1 },
	{ "tcp_keepidle", IPPROTO_TCP, TCP_KEEPIDLE, 70, 0 },
	{ "tcp_keepintvl", IPPROTO_TCP, TCP_KEEPINTVL, 7, 0 },
	{ "tcp_keepcnt", IPPROTO_TCP, TCP_KEEPCNT, 5, 0 },
	{ "tcp_syncnt", IPPROTO_TCP, TCP_SYNCNT, 3, 0 },
	{ "tcp_linger2", IPPROTO_TCP, TCP_LINGER2, 5, 0 },
	{ "tcp_quickack", IPPROTO_TCP, TCP_QUICKACK, 1, 1 },
	{ "tcp_user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT, 5000, 0 },
	{ "tcp_notsent_lowat", IPPROTO_TCP, TCP_NOTSENT_LOWAT, 5000, 1 },
	{ "tcp_defer_accept", IPPROTO_TCP, TCP_DEFER_ACCEPT, 0, 0 },
	{ "tcp_fastopen", IPPROTO_TCP, TCP_FASTOPEN, 5, 0 },
	{ "tcp_12345", IPPROTO_TCP, 12345, 1, 0 },
	{ "ip_tos", IPPROTO_IP, IP_TOS, 16, 0 },
	{ "ip_ttl", IPPROTO_IP, IP_TTL, 50, 0 },
	{ "ip_recverr", IPPROTO_IP, IP_RECVERR, 1, 0 },
	{ "ip_pktinfo", IPPROTO_IP, IP_PKTINFO, 1, 0 },
	{ "ip_freebind", IPPROTO_IP, IP_FREEBIND, 1, 0 },
	{ "ip_mtu_discover", IPPROTO_IP, IP_MTU_DISCOVER, 2, 0 },
	{ "ip_12345", IPPROTO_IP, 12345, 1, 0 },
	{ "ipv6_v6only", IPPROTO_IPV6, IPV6_V6ONLY, 1, 0 },
	{ "ipv6_unicast_hops", IPPROTO_IPV6, IPV6_UNICAST_HOPS, 50, 0 },
	{ "ipv6_12345", IPPROTO_IPV6, 12345, 1, 0 },
	{ "udp_option", IPPROTO_UDP, 1, 1, 0 },
	{ "level_77", 77, 1, 1, 0 },
	{ "level_negative", -1, 1, 1, 0 },
};

/* A value, or what getsockopt says instead. */
static const char *get_text(const struct option *one, int fd, int length, int varies)
{
	unsigned char room[8] = { 0 };
	socklen_t size = length;
	int value;

	if (call.getsockopt(fd, one->level, one->option, room, &size))
		return errno_name(errno);
	memcpy(&value, room, sizeof value);
	return varies ? named("%d bytes", (int)size) : named("%d in %d bytes", value, (int)size);
}

static const char *set_text(const struct option *one, int fd, const void *value, int length)
{
	return call.setsockopt(fd, one->level, one->option, value, length) ? errno_name(errno) : "0";
}

static const char *null_text(const struct option *one, int fd, int null_value)
{
	socklen_t size = 4;
	int value;

	return call.getsockopt(fd, one->level, one->option, null_value ? NULL : &value, null_value ? &size : NULL)
		       ? errno_name(errno)
		       : "0";
}

static void check_option(const struct option *one, int fd)
{
	const long long value = one->value, none = 0, minus = -1;
	const char *text[5];
	int again = one->varies && one->option != SO_SNDBUF && one->option != SO_RCVBUF;

	check(named("%s.default", one->name), "%s", get_text(one, fd, 4, one->varies));
	text[0] = set_text(one, fd, &value, 4);
	check(named("%s.set", one->name), "%s, then %s", text[0], get_text(one, fd, 4, again));
	check(named("%s.get_lengths", one->name), "%s; %s; %s; %s", get_text(one, fd, 8, again),
	      get_text(one, fd, 1, again), get_text(one, fd, 0, again), get_text(one, fd, -1, again));
	check(named("%s.null", one->name), "%s %s %s", null_text(one, fd, 1), null_text(one, fd, 0),
	      set_text(one, fd, NULL, 4));
	for (int i = 0; i < 5; i++)
		text[i] = set_text(one, fd, &none, (const int[]){ 8, 3, 1, 0, -1 }[i]);
	check(named("%s.set_lengths", one->name), "%s; %s; %s; %s; %s", text[0], text[1], text[2], text[3], text[4]);
	text[0] = set_text(one, fd, &minus, 4);
	check(named("%s.minus_1", one->name), "%s, then %s", text[0], get_text(one, fd, 4, again));
}

/* Of the options of other protocols one is enough. */
static void check_options(int (*make)(void), int other)
{
	for (unsigned i = 0; i < sizeof options / sizeof options[0]; i++) {
		int fd;

		if (options[i].level == other && options[i].option != 12345)
			continue;
		fd = make();
		check_option(&options[i], fd);
		call.close(fd);
	}
}

static int make_connected(void)
{
	int fds[2];

	pair(fds);
	/* Its end is nobody's concern. */
	call.close(fds[1]);
	return fds[0];
}

static int make_stream6(void)
{
	return MUST(call.socket(AF_INET6, SOCK_STREAM, 0));
}

SCENARIO(options_stream)
{
	check_options(stream, IPPROTO_IPV6);
}

SCENARIO(options_connected, .pairs = 2)
{
	check_options(make_connected, IPPROTO_IPV6);
}

SCENARIO(options_datagram)
{
	check_options(bound_datagram, IPPROTO_TCP);
}

SCENARIO(options_stream6)
{
	check_options(make_stream6, -2);
}

/* Values at the edges of what is allowed. */
SCENARIO(option_ranges)
{
	static const struct {
		const char *name;
		int level, option, values[6];
	} ranges[] = { { "keepidle", IPPROTO_TCP, TCP_KEEPIDLE, { 0, -1, 1, 32767, 32768, INT_MAX } },
		       { "keepintvl", IPPROTO_TCP, TCP_KEEPINTVL, { 0, -1, 1, 32767, 32768, INT_MAX } },
		       { "keepcnt", IPPROTO_TCP, TCP_KEEPCNT, { 0, -1, 1, 127, 128, INT_MAX } },
		       { "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT, { 0, -1, 1, 32767, INT_MAX, INT_MIN } },
		       { "maxseg", IPPROTO_TCP, TCP_MAXSEG, { 0, -1, 87, 88, 32767, 32768 } },
		       { "nodelay", IPPROTO_TCP, TCP_NODELAY, { 0, -1, 1, 2, INT_MAX, INT_MIN } },
		       { "rcvlowat", SOL_SOCKET, SO_RCVLOWAT, { 0, -1, 1, 100, INT_MIN, 2 } },
		       { "sndbuf", SOL_SOCKET, SO_SNDBUF, { 0, -1, 1, 5000, 100000, INT_MIN } },
		       { "rcvbuf", SOL_SOCKET, SO_RCVBUF, { 0, -1, 1, 5000, 100000, INT_MIN } },
		       { "keepalive", SOL_SOCKET, SO_KEEPALIVE, { 0, -1, 1, 2, INT_MAX, INT_MIN } },
		       { "priority", SOL_SOCKET, SO_PRIORITY, { 0, -1, 6, 7, INT_MAX, INT_MIN } },
		       { "tos", IPPROTO_IP, IP_TOS, { 0, -1, 255, 256, 3, 4 } } };
	int fd = stream();

	for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
		for (int j = 0; j < 6; j++) {
			const char *name = named("%s.%d", ranges[i].name, ranges[i].values[j]);
			int value = -77;
			socklen_t size = sizeof value;

			CHECK(name, set_int(fd, ranges[i].level, ranges[i].option, ranges[i].values[j]));
			call.getsockopt(fd, ranges[i].level, ranges[i].option, &value, &size);
			check(named("%s.get", name), "%d", value);
		}
	}
}

static void check_linger(const char *name, int fd)
{
	struct linger got = { 77, 77 };
	socklen_t size = sizeof got;

	if (call.getsockopt(fd, SOL_SOCKET, SO_LINGER, &got, &size))
		check_result(name, -1, errno);
	else
		check(name, "%d %d, length %u", got.l_onoff, got.l_linger, size);
}

SCENARIO(option_linger)
{
	static const struct linger values[] = { { 1, 5 }, { 0, 9 }, { 7, 3 }, { 1, -1 }, { 1, 0 }, { 1, 100000 } };
	struct linger one = { 1, 6 }, got;
	int fd = stream();
	socklen_t size = 4;

	check_linger("default", fd);
	for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
		CHECK(named("set_%u", i), call.setsockopt(fd, SOL_SOCKET, SO_LINGER, &values[i], sizeof one));
		check_linger(named("get_%u", i), fd);
	}
	CHECK("short", call.setsockopt(fd, SOL_SOCKET, SO_LINGER, &one, 4));
	check_linger("short.get", fd);
	CHECK("long", call.setsockopt(fd, SOL_SOCKET, SO_LINGER, &(char[16]){ 1 }, 16));
	check_linger("long.get", fd);
	got.l_onoff = got.l_linger = 77;
	CHECK("get_short", call.getsockopt(fd, SOL_SOCKET, SO_LINGER, &got, &size));
	check("get_short.value", "%d %d, length %u", got.l_onoff, got.l_linger, size);
	check_linger("datagram", datagram());
}

/* Names of what is not an int. */
SCENARIO(option_strings)
{
	char room[64] = "";
	struct tcp_info info = { 0 };
	socklen_t size = sizeof room;
	int fd = stream();

	CHECK("congestion", call.getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, room, &size));
	check("congestion.length", "%u", size);
	CHECK("congestion.set", call.setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
	CHECK("congestion.unknown", call.setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "nobody", 6));
	size = sizeof room;
	CHECK("bindtodevice", call.getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, room, &size));
	check("bindtodevice.length", "%u", size);
	CHECK("bindtodevice.set", call.setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "d0", 3));
	CHECK("bindtodevice.unknown", call.setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "nobody", 7));
	size = 1;
	CHECK("tcp_info.short", call.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size));
	check("tcp_info.short.length", "%u", size);
	size = sizeof info;
	CHECK("tcp_info", call.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size));
	check("tcp_info.length", "%s", size >= 104 ? "whole" : "short");
	CHECK("tcp_info.set", call.setsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, sizeof info));
}

/* TCP_USER_TIMEOUT: a peer that takes nothing loses the connection. */
SCENARIO(option_user_timeout, .pairs = 2)
{
	int fds[2];
	double start = now();

	pair(fds);
	CHECK("set", set_int(fds[0], IPPROTO_TCP, TCP_USER_TIMEOUT, 500));
	fill(fds[0]);
	while (!(poll_now(fds[0], POLLIN) & POLLERR) && now() - start < 4)
		nap(10);
	check_state("then", fds[0]);
	CHECK("send", call.send(fds[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
	set_linger(fds[0], 1, 0);
}

/* SO_ERROR and its room: is an error that was not told still there? */
SCENARIO(option_error_room)
{
	static const struct {
		const char *name;
		int length, null;
	} rooms[] = { { "short", 1, 0 }, { "zero", 0, 0 }, { "negative", -1, 0 }, { "null", 4, 1 }, { "no_length", 4, 2 } };

	for (unsigned i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
		int fd = stream(), value = 0;
		socklen_t size = rooms[i].length;

		set_blocking(fd, 0);
		connect_to(fd, HERE, NO_PORT);
		settle(fd, POLLERR | POLLHUP);
		CHECK(rooms[i].name, call.getsockopt(fd, SOL_SOCKET, SO_ERROR, rooms[i].null == 1 ? NULL : &value,
						     rooms[i].null == 2 ? NULL : &size));
		check(named("%s.left", rooms[i].name), "%s", errno_name(so_error(fd)));
		call.close(fd);
	}
}

/* The flags of a socket that mean something. */
static const char *flags_text(int flags)
{
	const char *text = named("%s%s%s%s%s", flags & O_NONBLOCK ? " NONBLOCK" : "", flags & O_APPEND ? " APPEND" : "",
				 flags & O_ASYNC ? " ASYNC" : "", flags & O_DIRECT ? " DIRECT" : "",
				 flags & O_NOATIME ? " NOATIME" : "");

	flags &= ~(O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME);
	return named("0x%x%s", flags, text);
}

static void check_flags(const char *name, int fd)
{
	int flags = call.fcntl(fd, F_GETFL);

	if (flags < 0)
		check_result(name, flags, errno);
	else
		check(name, "%s", flags_text(flags));
}

static void check_fcntl(int fd)
{
	static const struct {
		const char *name;
		int flags;
	} sets[] = { { "nonblock", O_NONBLOCK }, { "none", 0 },		   { "append", O_APPEND },
		     { "both", O_NONBLOCK | O_APPEND }, { "rdonly", O_RDONLY }, { "creat", O_CREAT | O_TRUNC | O_EXCL },
		     { "noatime", O_NOATIME },		 { "direct", O_DIRECT }, { "async", O_ASYNC },
		     { "none_again", 0 },		 { "sync", O_SYNC } };
	int copy;

	check_flags("fresh", fd);
	for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		CHECK(named("setfl.%s", sets[i].name), call.fcntl(fd, F_SETFL, sets[i].flags));
		check_flags(named("getfl.%s", sets[i].name), fd);
	}
	CHECK("getfd", call.fcntl(fd, F_GETFD));
	CHECK("setfd", call.fcntl(fd, F_SETFD, FD_CLOEXEC));
	CHECK("getfd.set", call.fcntl(fd, F_GETFD));
	CHECK("setfd.0", call.fcntl(fd, F_SETFD, 0));
	CHECK("setfd.other", call.fcntl(fd, F_SETFD, 2));
	CHECK("getfd.other", call.fcntl(fd, F_GETFD));
	CHECK("getown", call.fcntl(fd, F_GETOWN));
	CHECK("setown", call.fcntl(fd, F_SETOWN, getpid()));
	check("getown.set", "%s", call.fcntl(fd, F_GETOWN) == getpid() ? "the same" : "another");
	CHECK("setown.0", call.fcntl(fd, F_SETOWN, 0));
	CHECK("getsig", call.fcntl(fd, F_GETSIG));
	CHECK("setsig", call.fcntl(fd, F_SETSIG, SIGUSR1));
	CHECK("getsig.set", call.fcntl(fd, F_GETSIG));
	CHECK("setsig.wrong", call.fcntl(fd, F_SETSIG, 1000));
	CHECK("pipe_size", call.fcntl(fd, F_GETPIPE_SZ));
	CHECK("seals", call.fcntl(fd, F_GET_SEALS));
	CHECK("lease", call.fcntl(fd, F_GETLEASE));
	CHECK("unknown", call.fcntl(fd, 7777));
	CHECK("dupfd.negative", call.fcntl(fd, F_DUPFD, -1));
	CHECK("dupfd.huge", call.fcntl(fd, F_DUPFD, 1 << 30));
	copy = CHECK_FD("dupfd", call.fcntl(fd, F_DUPFD, 100));
	if (copy >= 0) {
		check("dupfd.number", "%s", copy >= 100 ? "as asked" : "too low");
		CHECK("dupfd.setfl", call.fcntl(copy, F_SETFL, O_NONBLOCK));
		check_flags("dupfd.shared", fd);
		CHECK("dupfd.close", call.close(copy));
	}
	copy = CHECK_FD("dupfd_cloexec", call.fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (copy >= 0) {
		CHECK("dupfd_cloexec.getfd", call.fcntl(copy, F_GETFD));
		call.close(copy);
	}
	check_flags("last", fd);
}

SCENARIO(fcntl_stream)
{
	check_fcntl(stream());
}

SCENARIO(fcntl_connected, .pairs = 2)
{
	int fds[2];

	pair(fds);
	check_fcntl(fds[0]);
	CHECK("send", call.send(fds[0], "hello", 5, 0));
	settle(fds[1], POLLIN);
	check_receive("recv", fds[1], 16, 0);
}

SCENARIO(fcntl_listener)
{
	check_fcntl(listener(4));
}

SCENARIO(fcntl_datagram)
{
	check_fcntl(bound_datagram());
}

SCENARIO(fcntl_wrong)
{
	CHECK("getfl.minus_1", call.fcntl(-1, F_GETFL));
	CHECK("getfl.not_open", call.fcntl(777, F_GETFL));
	CHECK("setfl.not_open", call.fcntl(777, F_SETFL, 0));
	CHECK("getfd.not_open", call.fcntl(777, F_GETFD));
	CHECK("dupfd.not_open", call.fcntl(777, F_DUPFD, 0));
}

/* Types and flags of socket(). */
SCENARIO(socket_arguments)
{
	static const struct {
		const char *name;
		int domain, type, protocol;
	} sockets[] = { { "stream", AF_INET, SOCK_STREAM, 0 },
			{ "stream_tcp", AF_INET, SOCK_STREAM, IPPROTO_TCP },
			{ "stream_udp", AF_INET, SOCK_STREAM, IPPROTO_UDP },
			{ "stream_1000", AF_INET, SOCK_STREAM, 1000 },
			{ "stream_negative", AF_INET, SOCK_STREAM, -1 },
			{ "datagram", AF_INET, SOCK_DGRAM, 0 },
			{ "datagram_udp", AF_INET, SOCK_DGRAM, IPPROTO_UDP },
			{ "datagram_tcp", AF_INET, SOCK_DGRAM, IPPROTO_TCP },
			{ "stream6", AF_INET6, SOCK_STREAM, 0 },
			{ "datagram6", AF_INET6, SOCK_DGRAM, 0 },
			{ "seqpacket", AF_INET, SOCK_SEQPACKET, 0 },
			{ "rdm", AF_INET, SOCK_RDM, 0 },
			{ "type_0", AF_INET, 0, 0 },
			{ "type_77", AF_INET, 77, 0 },
			{ "type_flags", AF_INET, SOCK_STREAM | 0x100000, 0 },
			{ "domain_77", 77, SOCK_STREAM, 0 },
			{ "domain_negative", -1, SOCK_STREAM, 0 },
			{ "domain_0", 0, SOCK_STREAM, 0 },
			{ "both_flags", AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0 },
			{ "datagram_flags", AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0 } };

	for (unsigned i = 0; i < sizeof sockets / sizeof sockets[0]; i++) {
		int fd = CHECK_FD(sockets[i].name,
				  call.socket(sockets[i].domain, sockets[i].type, sockets[i].protocol));

		if (fd < 0)
			continue;
		check_flags(named("%s.flags", sockets[i].name), fd);
		CHECK(named("%s.cloexec", sockets[i].name), call.fcntl(fd, F_GETFD));
		CHECK(named("%s.close", sockets[i].name), call.close(fd));
	}
}
