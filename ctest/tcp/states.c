// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Every call of tries.c on a socket in every state. One scenario is one state; each call has a socket of its own. */
#include "tries.h"

struct state {
	const char *name;
	int type;
	/* Makes ends->fd. A stream has ends->server, which listens, already. */
	void (*make)(struct ends *ends);
	/* Where it has none, a connection is made. */
	int unconnected;
	int pairs;
	/* The tries of arguments, too. */
	int arguments;
};

/* Streams without a connection. */

static void fresh(struct ends *ends)
{
	ends->fd = stream();
}

static void bound(struct ends *ends)
{
	ends->fd = stream();
	MUST(bind_to(ends->fd, HERE, 0));
}

static void listening(struct ends *ends)
{
	ends->fd = listener(4);
}

static void listening_ready(struct ends *ends)
{
	ends->fd = listener(4);
	ends->peer = stream();
	MUST(connect_to(ends->peer, HERE, port_of(ends->fd)));
	settle(ends->fd, POLLIN);
}

static void connecting(struct ends *ends)
{
	ends->fd = stream();
	set_blocking(ends->fd, 0);
	connect_to(ends->fd, SILENT, 80);
}

static void refused(struct ends *ends)
{
	ends->fd = stream();
	set_blocking(ends->fd, 0);
	connect_to(ends->fd, HERE, NO_PORT);
	settle(ends->fd, POLLERR | POLLHUP);
}

/* Connected, and the connect has not been asked for its end. */
static void arrived(struct ends *ends)
{
	pthread_t thread = begin_accept(ends->server);

	ends->fd = stream();
	set_blocking(ends->fd, 0);
	connect_to(ends->fd, HERE, ends->port);
	settle(ends->fd, POLLOUT);
	ends->peer = end_accept(thread);
}

/* Streams with one. */

static void connected(struct ends *ends)
{
	(void)ends;
}

static void unread(struct ends *ends)
{
	deliver(ends->peer, ends->fd, "hello");
}

static void peer_shut(struct ends *ends)
{
	MUST(call.shutdown(ends->peer, SHUT_WR));
	settle(ends->fd, POLLIN | POLLRDHUP);
}

static void peer_shut_unread(struct ends *ends)
{
	deliver(ends->peer, ends->fd, "hello");
	peer_shut(ends);
}

static void peer_shut_read(struct ends *ends)
{
	MUST(call.shutdown(ends->peer, SHUT_RD));
	nap(5);
}

static void own_shut(struct ends *ends)
{
	MUST(call.shutdown(ends->fd, SHUT_WR));
	settle(ends->peer, POLLRDHUP);
}

static void own_shut_unread(struct ends *ends)
{
	deliver(ends->peer, ends->fd, "hello");
	own_shut(ends);
}

static void own_shut_read(struct ends *ends)
{
	MUST(call.shutdown(ends->fd, SHUT_RD));
}

static void own_shut_read_unread(struct ends *ends)
{
	deliver(ends->peer, ends->fd, "hello");
	MUST(call.shutdown(ends->fd, SHUT_RD));
}

static void own_shut_both(struct ends *ends)
{
	MUST(call.shutdown(ends->fd, SHUT_RDWR));
	settle(ends->peer, POLLRDHUP);
}

static void both_shut(struct ends *ends)
{
	own_shut(ends);
	MUST(call.shutdown(ends->peer, SHUT_WR));
	settle(ends->fd, POLLIN | POLLRDHUP | POLLHUP);
}

static void close_peer(struct ends *ends)
{
	MUST(call.close(ends->peer));
	ends->peer = -1;
}

static void peer_closed(struct ends *ends)
{
	close_peer(ends);
	settle(ends->fd, POLLIN | POLLRDHUP);
}

static void peer_closed_unread(struct ends *ends)
{
	deliver(ends->peer, ends->fd, "hello");
	peer_closed(ends);
}

/* The peer is gone and has answered what was sent meanwhile. */
static void peer_closed_sent(struct ends *ends)
{
	peer_closed(ends);
	call.send(ends->fd, "lost", 4, MSG_NOSIGNAL);
	settle(ends->fd, POLLIN | POLLERR | POLLHUP | POLLRDHUP);
}

static void own_shut_peer_closed(struct ends *ends)
{
	own_shut(ends);
	close_peer(ends);
	settle(ends->fd, POLLIN | POLLRDHUP | POLLHUP);
}

/* The peer has closed, and had not read what was sent. */
static void peer_closed_over_data(struct ends *ends)
{
	deliver(ends->fd, ends->peer, "unread");
	close_peer(ends);
	settle(ends->fd, POLLIN | POLLERR | POLLHUP);
}

static void reset(struct ends *ends)
{
	set_linger(ends->peer, 1, 0);
	close_peer(ends);
	settle(ends->fd, POLLIN | POLLERR | POLLHUP);
}

static void reset_unread(struct ends *ends)
{
	deliver(ends->peer, ends->fd, "hello");
	reset(ends);
}

static void reset_told(struct ends *ends)
{
	reset(ends);
	so_error(ends->fd);
}

/* Datagrams. */

static void datagram_fresh(struct ends *ends)
{
	ends->peer = bound_datagram();
	ends->port = port_of(ends->peer);
	ends->fd = datagram();
}

static void datagram_bound(struct ends *ends)
{
	ends->peer = bound_datagram();
	ends->port = port_of(ends->peer);
	ends->fd = bound_datagram();
}

static void datagram_connected(struct ends *ends)
{
	int fds[2];

	datagram_pair(fds);
	ends->fd = fds[0];
	ends->peer = fds[1];
	ends->port = port_of(ends->peer);
	know_port(port_of(ends->fd), "own port");
	know_port(ends->port, "peer's port");
}

static void datagram_unread(struct ends *ends)
{
	datagram_connected(ends);
	deliver(ends->peer, ends->fd, "hello");
	MUST(call.send(ends->peer, "again", 5, 0));
}

static void datagram_empty(struct ends *ends)
{
	datagram_connected(ends);
	deliver(ends->peer, ends->fd, "");
	MUST(call.send(ends->peer, "again", 5, 0));
}

static void datagram_to_nobody(struct ends *ends)
{
	ends->fd = datagram();
	MUST(connect_to(ends->fd, HERE, NO_PORT));
}

static void datagram_refused(struct ends *ends)
{
	datagram_to_nobody(ends);
	call.send(ends->fd, "lost", 4, 0);
	settle(ends->fd, POLLERR);
}

static void datagram_shut_read(struct ends *ends)
{
	datagram_connected(ends);
	MUST(call.shutdown(ends->fd, SHUT_RD));
}

static void datagram_shut_write(struct ends *ends)
{
	datagram_connected(ends);
	MUST(call.shutdown(ends->fd, SHUT_WR));
}

/* No sockets. */

static void negative(struct ends *ends)
{
	(void)ends;
}

static void not_open(struct ends *ends)
{
	ends->fd = 777;
}

static const struct state states[] = {
	{ "fresh", SOCK_STREAM, fresh, 1, 0, 1 },
	{ "bound", SOCK_STREAM, bound, 1, 0, 0 },
	{ "listening", SOCK_STREAM, listening, 1, 0, 1 },
	{ "listening_ready", SOCK_STREAM, listening_ready, 1, 2, 0 },
	{ "connecting", SOCK_STREAM, connecting, 1, 0, 0 },
	{ "refused", SOCK_STREAM, refused, 1, 0, 0 },
	{ "arrived", SOCK_STREAM, arrived, 1, 2, 0 },
	{ "connected", SOCK_STREAM, connected, 0, 2, 1 },
	{ "unread", SOCK_STREAM, unread, 0, 2, 1 },
	{ "peer_shut", SOCK_STREAM, peer_shut, 0, 2, 0 },
	{ "peer_shut_unread", SOCK_STREAM, peer_shut_unread, 0, 2, 0 },
	{ "peer_shut_read", SOCK_STREAM, peer_shut_read, 0, 2, 0 },
	{ "own_shut", SOCK_STREAM, own_shut, 0, 2, 0 },
	{ "own_shut_unread", SOCK_STREAM, own_shut_unread, 0, 2, 0 },
	{ "own_shut_read", SOCK_STREAM, own_shut_read, 0, 2, 0 },
	{ "own_shut_read_unread", SOCK_STREAM, own_shut_read_unread, 0, 2, 0 },
	{ "own_shut_both", SOCK_STREAM, own_shut_both, 0, 2, 0 },
	{ "both_shut", SOCK_STREAM, both_shut, 0, 2, 0 },
	{ "peer_closed", SOCK_STREAM, peer_closed, 0, 2, 0 },
	{ "peer_closed_unread", SOCK_STREAM, peer_closed_unread, 0, 2, 0 },
	{ "peer_closed_sent", SOCK_STREAM, peer_closed_sent, 0, 2, 0 },
	{ "peer_closed_over_data", SOCK_STREAM, peer_closed_over_data, 0, 2, 0 },
	{ "own_shut_peer_closed", SOCK_STREAM, own_shut_peer_closed, 0, 2, 0 },
	{ "reset", SOCK_STREAM, reset, 0, 2, 0 },
	{ "reset_unread", SOCK_STREAM, reset_unread, 0, 2, 0 },
	{ "reset_told", SOCK_STREAM, reset_told, 0, 2, 0 },
	{ "datagram_fresh", SOCK_DGRAM, datagram_fresh, 1, 0, 1 },
	{ "datagram_bound", SOCK_DGRAM, datagram_bound, 1, 0, 0 },
	{ "datagram_connected", SOCK_DGRAM, datagram_connected, 1, 0, 1 },
	{ "datagram_unread", SOCK_DGRAM, datagram_unread, 1, 0, 1 },
	{ "datagram_empty", SOCK_DGRAM, datagram_empty, 1, 0, 0 },
	{ "datagram_to_nobody", SOCK_DGRAM, datagram_to_nobody, 1, 0, 0 },
	{ "datagram_refused", SOCK_DGRAM, datagram_refused, 1, 0, 0 },
	{ "datagram_shut_read", SOCK_DGRAM, datagram_shut_read, 1, 0, 0 },
	{ "datagram_shut_write", SOCK_DGRAM, datagram_shut_write, 1, 0, 0 },
	{ "descriptor_negative", 0, negative, 1, 0, 0 },
	{ "descriptor_not_open", 0, not_open, 1, 0, 0 },
};
#define STATES (sizeof states / sizeof states[0])

static void run_state(const struct scenario *self)
{
	const struct state *state = self->arg;
	int server = state->type == SOCK_STREAM ? listener(64) : -1;
	int port = server < 0 ? NO_PORT : port_of(server);

	know_port(port, "the listener");
	for (unsigned i = 0; i < tries_count; i++) {
		struct ends ends = { -1, -1, server, port };
		int fds[2];

		if (!(tries[i].kind & ALWAYS) && !state->arguments)
			continue;
		if (state->type == SOCK_STREAM && !state->unconnected) {
			pair_of(server, fds);
			ends.fd = fds[0];
			ends.peer = fds[1];
		}
		state->make(&ends);
		if (state->type)
			set_blocking(ends.fd, 0);
		if (state->type && i == 0)
			check_events("begins", ends.fd);
		run_try(&tries[i], &ends);
		if (state->type)
			call.close(ends.fd);
		if (ends.peer >= 0)
			call.close(ends.peer);
	}
}

__attribute__((constructor)) static void add_states(void)
{
	static struct scenario of[STATES];
	static char names[STATES][40];

	for (unsigned i = 0; i < STATES; i++) {
		snprintf(names[i], sizeof names[i], "state_%s", states[i].name);
		of[i] = (struct scenario){ .name = names[i], .run = run_state, .pairs = states[i].pairs,
					   .queued = states[i].make == listening_ready, .arg = &states[i] };
		add_scenario(&of[i]);
	}
}
