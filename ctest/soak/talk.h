// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One connection: who sends what is in the hello that the client sends first; both sides run the same engine. */
#ifndef TALK_H
#define TALK_H

#include "page.h"

/* Ports of a server. */
enum { BLOCKING, IN_SET, IN_POLL, DATAGRAMS, PORTS };
enum { MAIN_PORT = 7600, VICTIM_PORT = 7620, CLOSED_PORT = 7640 };

/* How a connection ends, once both have what they were to have, or earlier. */
enum finish {
	HALF_CLOSE,	/* the client ends its side after what it sends, the server closes first */
	SERVER_CLOSES,
	CLIENT_CLOSES,
	CLIENT_SHUTS,	/* both directions, then closes */
	CLIENT_LINGERS,	/* with a time to linger */
	LATE_RESET,	/* the client resets, after all has come */
	CLIENT_RESETS,	/* in the middle */
	SERVER_RESETS,
	FINISHES,
};

enum { DUPLEX = 1, ROUGH = 2 };
enum { MAGIC = 0x736f616b, BUFFER = 1 << 18 };

struct hello {
	uint32_t magic, flags;
	uint64_t seed, up, down, stop_at;
	uint32_t finish, reserved;
};

struct talk {
	int fd, is_server, wants_in, wants_out, shut, in_use, edge;
	struct hello hello;
	/* With the hello, which is a part of what the client sends. */
	uint64_t sent, got, to_send, to_get, generation;
	double last;
};

enum progress { MORE, WAITS, OVER };

static inline int is_abort(const struct hello *h) { return h->finish == CLIENT_RESETS || h->finish == SERVER_RESETS; }

/* Bytes of one direction from an offset on. */
static inline void content(uint64_t seed, uint64_t at, unsigned char *to, size_t n)
{
	for (size_t i = 0; i < n; at++, i++) {
		if (!(at & 7) && n - i >= 8) {
			uint64_t word = mix(seed + at);

			memcpy(to + i, &word, 8);
			i += 7, at += 7;
		} else {
			to[i] = (unsigned char)(mix(seed + (at & ~(uint64_t)7)) >> (8 * (at & 7)));
		}
	}
}

static inline uint64_t seed_of(const struct talk *t, int of_server) { return mix(t->hello.seed + (of_server ? 77 : 11)); }

static __thread unsigned char *bytes, *other;

static inline void buffers(void)
{
	if (!bytes)
		bytes = malloc(2 * BUFFER);
	other = bytes + BUFFER;
}

static inline void drop_buffers(void)
{
	free(bytes);
	bytes = NULL;
}

static inline void outgoing(const struct talk *t, unsigned char *to, size_t n)
{
	uint64_t at = t->sent;
	size_t head = 0;

	if (!t->is_server && at < sizeof t->hello) {
		head = sizeof t->hello - at < n ? sizeof t->hello - at : n;
		memcpy(to, (const char *)&t->hello + at, head);
	}
	content(seed_of(t, t->is_server), at + head, to + head, n - head);
}

/* Bytes of the hello are compared by their meaning. */
static inline int right(struct talk *t, const unsigned char *in, size_t n)
{
	size_t head = 0;

	if (t->is_server && t->got < sizeof t->hello) {
		head = sizeof t->hello - t->got < n ? sizeof t->hello - t->got : n;
		memcpy((char *)&t->hello + t->got, in, head);
		if (t->got + head == sizeof t->hello) {
			if (t->hello.magic != MAGIC)
				return 0;
			t->to_send = t->hello.down;
			t->to_get = sizeof t->hello + t->hello.up;
		}
	}
	content(seed_of(t, !t->is_server), t->got + head, other, n - head);
	return !memcmp(in + head, other, n - head);
}

static inline int calm(const struct talk *t)
{
	return calm_since(t->generation) && !(t->hello.flags & ROUGH) && !is_abort(&t->hello) &&
	       (!t->is_server || t->got >= sizeof t->hello);
}

static inline enum progress ends(struct talk *t, int expected, int error, const char *what)
{
	struct sockaddr_in here = { 0 }, there = { 0 };
	socklen_t size = sizeof here;
	char text[200];

	/* The ports tell which of the other side's connections it was. */
	rgetsockname(t->fd, (struct sockaddr *)&here, &size);
	size = sizeof there;
	rgetpeername(t->fd, (struct sockaddr *)&there, &size);
	snprintf(text, sizeof text, "%s finish %u flags %u sent %lu/%lu got %lu/%lu%s ports %d %d", t->is_server ? "server" : "client",
		 t->hello.finish, t->hello.flags, t->sent, t->to_send, t->got, t->to_get, t->shut ? " shut" : "",
		 ntohs(here.sin_port), ntohs(there.sin_port));
	if (t->is_server && error == ETIMEDOUT)
		note("waited in vain: %s", text);
	failed(expected || !calm(t), error, what, t->hello.seed, text);
	return OVER;
}

/* Without waiting where `flags` has MSG_DONTWAIT. */
static inline ssize_t push(struct talk *t, size_t n, int flags)
{
	struct iovec parts[2] = { { bytes, n / 3 }, { bytes + n / 3, n - n / 3 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	outgoing(t, bytes, n);
	switch (below(flags ? 2 : 4)) {
	case 0: return TIMED(rsend(t->fd, bytes, n, flags | MSG_NOSIGNAL));
	case 1: return TIMED(rsendmsg(t->fd, &message, flags | MSG_NOSIGNAL));
	case 2: return TIMED(rwrite(t->fd, bytes, n));
	default: return TIMED(rwritev(t->fd, parts, 2));
	}
}

static inline ssize_t pull(struct talk *t, size_t n, int flags)
{
	struct iovec parts[2] = { { bytes, n / 2 }, { bytes + n / 2, n - n / 2 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	switch (below(flags ? 3 : 6)) {
	case 0: return TIMED(rrecv(t->fd, bytes, n, flags));
	case 1: return TIMED(rrecvmsg(t->fd, &message, flags));
	case 2: {
		ssize_t seen = TIMED(rrecv(t->fd, bytes, n < 64 ? n : 64, flags | MSG_PEEK));
		unsigned char peeked[64];

		if (seen <= 0)
			return seen;
		memcpy(peeked, bytes, seen);
		ssize_t got = TIMED(rrecv(t->fd, bytes, n, flags));
		if (got > 0 && memcmp(peeked, bytes, got < seen ? got : seen))
			bytes[0] ^= 0xff;
		return got;
	}
	case 3: return TIMED(rread(t->fd, bytes, n));
	case 4: return TIMED(rreadv(t->fd, parts, 2));
	default: return TIMED(rrecv(t->fd, bytes, n, MSG_WAITALL));
	}
}

/* Up to `left` bytes, one at least. */
static inline size_t portion(uint64_t left)
{
	size_t n = percent(20) ? 1 + below(64) : 1 + below(BUFFER);

	return left < n ? left : n;
}

static inline int may_send(const struct talk *t)
{
	if (t->sent >= t->to_send)
		return 0;
	return !t->is_server || (t->got >= sizeof t->hello && ((t->hello.flags & DUPLEX) || t->got >= t->to_get));
}

static inline void linger(int fd, int seconds)
{
	struct linger value = { 1, seconds };

	TIMED(rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &value, sizeof value));
}

static inline void limit_waits(int fd)
{
	struct timeval limit = { (time_t)page->patience, 0 };

	TIMED(rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	TIMED(rsetsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
}

static inline int aborts_now(const struct talk *t)
{
	return t->hello.finish == (t->is_server ? SERVER_RESETS : CLIENT_RESETS) && t->sent + t->got >= t->hello.stop_at &&
	       (!t->is_server || t->got >= sizeof t->hello);
}

/* Whether this side closes without waiting for the other's end. */
static inline int closes_first(const struct talk *t)
{
	if (t->is_server)
		return t->hello.finish == SERVER_CLOSES;
	return t->hello.finish != HALF_CLOSE && t->hello.finish != SERVER_CLOSES && t->hello.finish != SERVER_RESETS;
}

/* Both have what they were to have. */
static inline enum progress all_is_here(struct talk *t)
{
	page->complete++;
	if (t->is_server)
		return OVER;
	switch (t->hello.finish) {
	case CLIENT_SHUTS: {
		int r = TIMED(rshutdown(t->fd, SHUT_RDWR));
		if (r)
			return ends(t, 0, errno, "rshutdown");
		break;
	}
	case CLIENT_LINGERS: linger(t->fd, 5); break;
	case LATE_RESET: linger(t->fd, 0); break;
	default: break;
	}
	return OVER;
}

/* A send, a receive, or the end. */
static inline enum progress step(struct talk *t, int flags)
{
	int moved = 0;

	if (aborts_now(t)) {
		linger(t->fd, 0);
		return OVER;
	}
	if (may_send(t)) {
		ssize_t n = push(t, portion(t->to_send - t->sent), flags);

		if (n > 0) {
			t->sent += n;
			page->sent += n;
			moved = 1;
		} else if (n < 0 && errno != EINTR && (errno != EAGAIN || !flags)) {
			return ends(t, 0, errno, "send");
		}
	} else if (!t->is_server && !t->shut && t->hello.finish == HALF_CLOSE && t->sent == t->to_send) {
		int r = TIMED(rshutdown(t->fd, SHUT_WR));
		if (r)
			return ends(t, 0, errno, "rshutdown");
		t->shut = moved = 1;
	}
	t->wants_out = may_send(t);
	/* An end that is there already would wake at once. */
	t->wants_in = t->got < t->to_get || !t->wants_out;
	if (!flags && (t->wants_out || moved))
		return MORE;
	if (t->got >= t->to_get && t->sent >= t->to_send && closes_first(t))
		return all_is_here(t);
	if (!t->wants_in)
		return moved ? MORE : WAITS;
	/* At the end one byte more is asked for: there must be none. */
	ssize_t n = pull(t, t->got < t->to_get ? portion(t->to_get - t->got) : 1, flags);
	if (n > 0) {
		page->received += n;
		if (t->got >= t->to_get || !right(t, bytes, n)) {
			page->wrong++;
			note("WRONG bytes at %lu of %lu, seed %#lx", t->got, t->to_get, t->hello.seed);
			return OVER;
		}
		t->got += n;
		return MORE;
	}
	if (n < 0)
		return errno == EINTR ? MORE : errno == EAGAIN && flags ? moved ? MORE : WAITS :
		       ends(t, t->is_server && t->hello.finish == LATE_RESET && t->got == t->to_get, errno, "receive");
	if (t->got < t->to_get)
		return ends(t, 0, 0, "receive");
	return all_is_here(t);
}

static inline void begin(struct talk *t, int fd, int is_server)
{
	*t = (struct talk){ .fd = fd, .is_server = is_server, .to_get = sizeof t->hello, .in_use = 1,
			    .generation = page->generation, .last = now() };
}

static inline void closes(struct talk *t)
{
	int r = TIMED(rclose(t->fd));

	if (r)
		ends(t, 0, errno, "rclose");
	t->in_use = 0;
}

/* Waits by one of the ways; 0: nothing came in time. */
static inline int wait_for(int fd, int wants_in, int out, int way, int timeout)
{
	if (way == 0 && fd < FD_SETSIZE) {
		fd_set in, to;
		struct timeval limit = { timeout / 1000, timeout % 1000 * 1000 };

		FD_ZERO(&in);
		FD_ZERO(&to);
		if (wants_in)
			FD_SET(fd, &in);
		if (out)
			FD_SET(fd, &to);
		return TIMED(rselect(fd + 1, &in, &to, NULL, &limit)) > 0;
	}
	if (way == 1) {
		struct epoll_event event = { .events = (wants_in ? EPOLLIN : 0) | (out ? EPOLLOUT : 0) };
		int set = TIMED(repoll_create(0)), n = -1;

		if (set >= 0 && !TIMED(repoll_ctl(set, EPOLL_CTL_ADD, fd, &event)))
			n = TIMED(repoll_wait(set, &event, 1, timeout));
		if (set >= 0)
			TIMED(rclose(set));
		return n > 0;
	}
	struct pollfd poll = { fd, (wants_in ? POLLIN : 0) | (out ? POLLOUT : 0), 0 };

	return TIMED(rpoll(&poll, 1, timeout)) > 0;
}

/* To its end; `way` -1 blocks in the calls. */
static inline void run(struct talk *t, int way)
{
	for (;;) {
		/* In both directions at once only without blocking. */
		int blocks = way < 0 && !(t->hello.flags & DUPLEX);
		enum progress p = step(t, blocks ? 0 : MSG_DONTWAIT);

		if (p == OVER)
			break;
		if (p == MORE)
			t->last = now();
		else if (!wait_for(t->fd, t->wants_in, t->wants_out, way, 1000) && now() - t->last > (double)page->patience) {
			ends(t, 0, ETIMEDOUT, "waiting");
			break;
		}
	}
	closes(t);
}

#endif
