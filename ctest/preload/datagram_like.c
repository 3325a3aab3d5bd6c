// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Datagrams that begin like a header of rsockets: each is the program's, with all its bytes, whatever came before it
 * from that peer. The peer has the same answers, with and without the preload library.
 * rdma: 2
 */
#include "others.h"

struct header {
	uint8_t tag[4], version, kind, length, reserved;
	uint8_t number[4], host[16];
};

enum { DATA = 0, CONTROL = 7 };

static int make(char *to, int version, int kind, int length, int number, const char *host, const char *text)
{
	struct header header = { { 0x55, 0x55, 0x55, 0x55 }, (uint8_t)version, (uint8_t)kind, (uint8_t)length, 0,
				 { 0, 0, (uint8_t)(number >> 8), (uint8_t)number }, { 0 } };
	int size = version == 6 ? 28 : 16;

	if (host)
		inet_pton(version == 6 ? AF_INET6 : AF_INET, host, header.host);
	memcpy(to, &header, size);
	memcpy(to + size, text, strlen(text));
	return size + (int)strlen(text);
}

/* The datagrams; 0 after the last. */
static int nth(int i, char *to)
{
	switch (i) {
	case 0:
		return make(to, 4, DATA, 16, 0, NULL, "like data");
	case 1:
		return make(to, 4, CONTROL, 16, 5, NULL, "");
	case 2:
		return make(to, 4, CONTROL, 16, 5, HERE, "");
	case 3:
		return make(to, 4, CONTROL, 16, 5, HERE, "and more");
	case 4:
		return make(to, 4, DATA, 16, 500, "10.1.2.3", "of somebody else");
	case 5:
		return make(to, 6, DATA, 28, 500, NULL, "like data");
	case 6:
		return make(to, 6, CONTROL, 28, 500, HERE6, "");
	case 7:
		return make(to, 4, DATA, 16, 500, NULL, "") - 1;
	case 8:
		return make(to, 4, DATA, 16, 500, NULL, "");
	case 9:
		return make(to, 4, 3, 16, 500, HERE, "another kind");
	case 10:
		memset(to, 'U', 40);
		return 40;
	case 11:
		strcpy(to, "plain words");
		return 11;
	case 12:
		/* After those nothing of it is a header. */
		return make(to, 4, DATA, 16, 500, HERE, "all of a header");
	case 13:
		return make(to, 4, CONTROL, 16, 500, HERE, "");
	default:
		return 0;
	}
}

/* The peer: one socket for each datagram, or one for all. */
static int peer(int port, int together)
{
	int fd = -1, size, wrong = 0;
	char out[100], in[100];

	for (int i = 0; (size = nth(i, out)); i++) {
		if (!together && i > 11)
			break;
		if (fd < 0 || !together) {
			close(fd);
			fd = socket(AF_INET, SOCK_DGRAM, 0);
			connect_to(fd, HERE, port);
		}
		/* Datagrams may be lost. */
		long n = -1;
		for (int tries = 0; tries < 10 && n < 0; tries++) {
			send(fd, out, size, 0);
			if (readable(fd, 300))
				n = recv(fd, in, sizeof in, 0);
		}
		if (n != size || memcmp(in, out, size)) {
			say("datagram %d: %ld of %d bytes came back", i, n, size);
			wrong++;
		}
	}
	send(fd, "end", 3, 0);
	return wrong;
}

static void serve(const char *title, const char *host, const char *role, int plain)
{
	int fd = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	pid_t pid;

	TITLE(title);
	MUST(bind_to(fd, host, 0));
	pid = start(role, port_of(fd), plain);
	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof from;
		char text[100];
		long n;

		if (!readable(fd, 10000)) {
			say("nothing");
			break;
		}
		n = MUST(recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&from, &length));
		if (n == 3)
			break;
		sendto(fd, text, n, 0, (struct sockaddr *)&from, length);
	}
	say("wrong: %d", exit_of(pid));
	close(fd);
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2)
		return peer(atoi(argv[2]), !strcmp(argv[1], "one"));
	for (int plain = 1; plain >= 0; plain--) {
		serve("a socket for each", HERE, "each", plain);
		serve("one socket", HERE, "one", plain);
		serve("a socket for each, to any address", "0.0.0.0", "each", plain);
		serve("one socket, to any address", "0.0.0.0", "one", plain);
	}
	return 0;
}
