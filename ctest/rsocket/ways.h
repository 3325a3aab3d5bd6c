// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Two pairs of sockets are used alike, in a random order: one by rsend, rwrite, rrecv, rread and rpoll of few entries, which may do
 * a call in one step, the other by rsendmsg, rrecvmsg and rpoll of many, which never do. Every result, errno and byte is the same.
 */
#ifndef WAYS_H
#define WAYS_H

#include "check.h"

enum { STEPS = 400, MOST = 70000, MANY = 16 };

static char out[MOST], in[2][MOST];
static int port = 7900;
/* Bytes that each side has received. */
static long arrived[2];
static unsigned seed;

static unsigned draw(unsigned below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 12) % below;
}

static long send_on(int slow, int fd, const void *from, size_t length, int flags)
{
	struct iovec piece = { (void *)from, length };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (slow)
		return flags || !length ? rsendmsg(fd, &message, flags) : rwritev(fd, &piece, 1);
	return flags ? rsend(fd, from, length, flags) : rwrite(fd, from, length);
}

static long receive_on(int slow, int fd, void *to, size_t length, int flags)
{
	struct iovec piece = { to, length };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (slow)
		return flags ? rrecvmsg(fd, &message, flags) : rreadv(fd, &piece, 1);
	return flags ? rrecv(fd, to, length, flags) : rread(fd, to, length);
}

static long poll_on(int slow, int fd, int events)
{
	struct pollfd fds[MANY] = { { fd, events, 0 } };
	int ready;

	for (int i = 1; i < MANY; i++)
		fds[i].fd = -1;
	ready = rpoll(fds, slow ? MANY : 1, 0);
	return ready < 0 ? ready : ready << 16 | (unsigned short)fds[0].revents;
}

static size_t some_length(void)
{
	switch (draw(8)) {
	case 0: return 0;
	case 1: return 1 + draw(4);
	case 2: return 60 + draw(10);
	case 3: return 2040 + draw(20);
	case 4: return 16380 + draw(10);
	case 5: return draw(MOST);
	default: return 1 + draw(3000);
	}
}

/* What one step has said of one pair. */
struct said {
	long result;
	int error;
};

#define SAID(call)                                         \
	({                                                 \
		errno = 0;                                 \
		long got_ = (call);                        \
		(struct said){ got_, got_ < 0 ? errno : 0 }; \
	})

static struct said step(int slow, int kind, int fd, size_t length, int flags, int value)
{
	socklen_t size = sizeof value;
	struct said said;
	int error = 0;

	switch (kind) {
	case 0: return SAID(send_on(slow, fd, out + value % 256, length, flags));
	case 1:
		memset(in[slow], 0, MOST);
		return SAID(receive_on(slow, fd, in[slow], length, flags));
	case 2: return SAID(poll_on(slow, fd, value));
	case 3: return SAID(rsetsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &value, size));
	case 4:
		said = SAID(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size));
		said.result = error;
		return said;
	case 5: return SAID(rshutdown(fd, value));
	case 6: return SAID(send_on(slow, fd, NULL, length, flags));
	case 7: return SAID(receive_on(slow, fd, NULL, length, flags));
	default: return SAID(rclose(fd));
	}
}

static const char *const names[] = { "send", "receive", "poll", "SO_RCVLOWAT", "SO_ERROR", "shutdown",
				     "send of NULL", "receive to NULL", "close" };

static int some_kind(void)
{
	unsigned kind = draw(1000);

	return kind < 380 ? 0 : kind < 720 ? 1 : kind < 920 ? 2 : kind < 950 ? 3 : kind < 970 ? 4 : kind < 976 ? 5 :
	       kind < 984 ? 6 : kind < 992 ? 7 : kind < 994 ? 8 : 1;
}

/* Whether both ways have said the same. */
static int same_life(unsigned number)
{
	static const int sends[] = { 0, 0, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_OOB, MSG_MORE, MSG_ERRQUEUE, MSG_PEEK };
	static const int receives[] = { 0, 0, 0, MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, MSG_PEEK | MSG_WAITALL, MSG_TRUNC,
					MSG_OOB, MSG_ERRQUEUE, MSG_WAITALL | MSG_DONTWAIT, MSG_NOSIGNAL };
	static const int polls[] = { POLLIN, POLLOUT, POLLIN | POLLOUT, POLLIN | POLLRDHUP, 0, -1 };
	int fds[2][2], open[2] = { 1, 1 }, good = 1;
	char log[STEPS][160];

	seed = number * 2654435761u;
	for (int slow = 0; slow < 2; slow++) {
		pair(port, fds[slow]);
		for (int side = 0; side < 2; side++)
			rfcntl(fds[slow][side], F_SETFL, O_NONBLOCK);
	}
	for (int i = 0; i < STEPS && good; i++) {
		int kind = some_kind(), side = draw(2), flags = 0, value = draw(1 << 16);
		size_t length = some_length();
		struct said said[2];

		if (kind == 0 || kind == 6)
			flags = sends[draw(sizeof sends / sizeof *sends)];
		if (kind == 1 || kind == 7)
			flags = receives[draw(sizeof receives / sizeof *receives)];
		if (kind == 2)
			value = polls[draw(sizeof polls / sizeof *polls)];
		if (kind == 3)
			value = draw(4) ? 1 : 1 + draw(3000);
		if (kind == 5)
			value = draw(3);
		if (!open[side] || (kind == 8 && i < STEPS / 4))
			continue;
		for (int slow = 0; slow < 2; slow++)
			said[slow] = step(slow, kind, fds[slow][side], length, flags, value);
		snprintf(log[i], sizeof log[i], "%d %s %zu flags %#x value %#x: %ld %s, %ld %s", side, names[kind], length, flags,
			 value, said[0].result, errno_name(said[0].error), said[1].result, errno_name(said[1].error));
		good = said[0].result == said[1].result && said[0].error == said[1].error;
		if (kind == 1) {
			good &= !memcmp(in[0], in[1], MOST);
			arrived[side] += said[0].result > 0 && !(flags & MSG_PEEK) ? said[0].result : 0;
		}
		if (kind == 8)
			open[side] = 0;
		if (kind == 8 || kind == 5)
			usleep(20000);
		if (getenv("SHOW") && atoi(getenv("SHOW")) == (int)number)
			printf("# %s\n", log[i]);
		if (!good)
			printf("# life %u, step %d: %s\n", number, i, log[i]);
	}
	for (int side = 0; side < 2; side++)
		for (int slow = 0; slow < 2 && open[side]; slow++)
			rclose(fds[slow][side]);
	return good;
}

int main(int argc, char **argv)
{
	unsigned from = argc > 1 ? atoi(argv[1]) : 1, lives = argc > 2 ? atoi(argv[2]) : 60, good = 0;

	for (int i = 0; i < MOST; i++)
		out[i] = i * 7 + i / 251;
	for (unsigned i = from; i < from + lives; i++)
		good += same_life(i);
	CHECK("lives that are the same in both ways", good, lives, 0);
	CHECK_TRUE("bytes go both ways", arrived[0] > 10000 && arrived[1] > 10000);
	return finish();
}

#endif
