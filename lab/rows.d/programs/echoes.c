// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Bytes there and back over a network that loses, delays and reorders: what comes back is compared.
 *
 *   echoes stream ADDRESS [CONNECTIONS BYTES]    a server without the numbers, else a client
 *   echoes datagram ADDRESS [COUNT BYTES]        one that is not answered is sent again
 */
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 7171, LARGEST = 1 << 20, TRIES = 60 };

static unsigned char out[LARGEST], in[LARGEST];

static void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void fill(uint64_t seed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		out[i] = (unsigned char)(seed >> 56);
	}
}

static void stream_server(int server)
{
	for (;;) {
		int fd = raccept(server, NULL, NULL);
		ssize_t n;

		must(fd >= 0, "raccept");
		while ((n = rrecv(fd, in, sizeof in, 0)) > 0)
			for (ssize_t done = 0, r; done < n; done += r)
				must((r = rsend(fd, in + done, n - done, 0)) > 0, "rsend");
		must(n == 0, "rrecv");
		rclose(fd);
	}
}

/* Both ways at once: what the server has no room for would stop it. */
static void stream_client(const struct sockaddr_in *to, int connections, size_t bytes)
{
	for (int i = 0; i < connections; i++) {
		int fd = rsocket(AF_INET, SOCK_STREAM, 0);
		size_t sent = 0, got = 0;

		must(fd >= 0 && !rconnect(fd, (const struct sockaddr *)to, sizeof *to), "rconnect");
		fill(i, bytes);
		while (got < bytes) {
			struct pollfd poll = { fd, POLLIN | (sent < bytes ? POLLOUT : 0), 0 };
			ssize_t n;

			must(rpoll(&poll, 1, 30000) == 1, "rpoll");
			if (sent < bytes && (n = rsend(fd, out + sent, bytes - sent, MSG_DONTWAIT)) > 0)
				sent += n;
			if ((n = rrecv(fd, in + got, bytes - got, MSG_DONTWAIT)) > 0)
				got += n;
			else
				must(n < 0, "the end too early");
		}
		must(!memcmp(in, out, bytes), "bytes differ");
		must(!rshutdown(fd, SHUT_WR), "rshutdown");
		must(rrecv(fd, in, 1, 0) == 0, "the end");
		must(!rclose(fd), "rclose");
	}
	printf("%d connections of %zu bytes\n", connections, bytes);
}

static void datagram_server(int fd)
{
	for (;;) {
		struct sockaddr_in from;
		socklen_t size = sizeof from;
		ssize_t n = rrecvfrom(fd, in, sizeof in, 0, (struct sockaddr *)&from, &size);

		if (n >= 0)
			rsendto(fd, in, n, 0, (struct sockaddr *)&from, size);
	}
}

static void datagram_client(int fd, int count, size_t bytes)
{
	int again = 0;

	for (int i = 0; i < count; i++) {
		int tries = 0, answered = 0;

		for (; !answered && tries < TRIES; tries++) {
			struct pollfd poll = { fd, POLLIN, 0 };

			fill(i, bytes);
			must(rsend(fd, out, bytes, 0) == (ssize_t)bytes, "rsend");
			/* Answers to those before may come late. */
			while (!answered && rpoll(&poll, 1, 200) == 1)
				answered = rrecv(fd, in, sizeof in, 0) == (ssize_t)bytes && !memcmp(in, out, bytes);
		}
		must(answered, "no answer");
		again += tries - 1;
	}
	printf("%d datagrams of %zu bytes, %d sent again\n", count, bytes, again);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int is_stream = argc > 2 && !strcmp(argv[1], "stream"), one = 1;

	if (argc < 3 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
		return 2;
	if (argc > 4 && is_stream) {
		stream_client(&address, atoi(argv[3]), atoi(argv[4]));
		return 0;
	}
	int fd = rsocket(AF_INET, is_stream ? SOCK_STREAM : SOCK_DGRAM, 0);
	must(fd >= 0, "rsocket");
	if (argc > 4) {
		must(!rconnect(fd, (struct sockaddr *)&address, sizeof address), "rconnect");
		datagram_client(fd, atoi(argv[3]), atoi(argv[4]));
		return 0;
	}
	rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	must(!rbind(fd, (struct sockaddr *)&address, sizeof address), "rbind");
	if (!is_stream)
		datagram_server(fd);
	must(!rlisten(fd, 8), "rlisten");
	stream_server(fd);
	return 0;
}
