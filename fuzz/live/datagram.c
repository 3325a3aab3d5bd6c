// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A datagram socket beside scripted peers, which are UDP sockets: they send whatever the input says, packets of the protocol
 * among it, while this side sends, receives, connects and polls. Runs where the soft device's address is one of the machine. */
#include "live.h"
#include <sys/ioctl.h>

enum { PEERS = 4, LONGEST = 3000 };

static int peers[PEERS], ports[PEERS];
static struct sockaddr_in own;
static uint8_t packet[LONGEST], in[LONGEST];
/* Bytes that may arrive: a peer of this host may name this side's own queue pair, so that its datagrams come back. */
static uint64_t sent, got;

static void begin(void)
{
	for (int i = 0; i < PEERS; i++) {
		struct sockaddr_in sin = device(0);
		socklen_t length = sizeof sin;

		peers[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		MUST(peers[i] >= 0 && !bind(peers[i], (struct sockaddr *)&sin, sizeof sin));
		MUST(!getsockname(peers[i], (struct sockaddr *)&sin, &length));
		ports[i] = ntohs(sin.sin_port);
	}
}

/* A header of the protocol with the given fields; its length. */
static size_t header(struct script *script)
{
	uint8_t kind = byte(script), changes = byte(script);
	struct sockaddr_in names = device(changes & 1 ? ports[changes >> 4 & 3] : ntohs(own.sin_port));
	uint32_t tag = htobe32(0x55555555), number = htobe32(changes & 2 ? word(script) : changes >> 4);

	memset(packet, 0, 16);
	memcpy(packet, &tag, 4);
	packet[4] = 4;
	packet[5] = kind & 3;
	packet[6] = 16;
	memcpy(packet + 8, &number, 4);
	/* The address, as the protocol has it: at once behind the number. */
	memcpy(packet + 12, &names.sin_addr, 4);
	if (changes & 4)
		kind = byte(script), packet[kind % 16] = byte(script);
	return 16;
}

static void step_of_peer(struct script *script, uint8_t what)
{
	int from = peers[what >> 4 & 3];
	size_t length = 0;

	if (what & 1)
		length = header(script);
	for (size_t rest = byte(script) % 64; rest && length < LONGEST; rest--)
		packet[length++] = byte(script);
	if (what & 2)
		length = LONGEST - (size_t)byte(script) * 4;
	/* The service thread has to get its turn: the kernel drops what has no room. */
	if (sendto(from, packet, length, 0, (struct sockaddr *)&own, sizeof own) == (ssize_t)length)
		sent += length;
	while (recv(from, packet, sizeof packet, MSG_DONTWAIT) >= 0)
		;
}

static void own_call(struct script *script, int fd, uint8_t what)
{
	struct sockaddr_in to = device(ports[what >> 4 & 3]), from;
	struct pollfd poll_one = { fd, POLLIN | POLLOUT, 0 };
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	socklen_t length = sizeof from;
	int error;
	long n;

	switch (what & 7) {
	case 0:
	case 1:
		n = IN_TIME(rrecvfrom(fd, in, sizeof in, 0, (struct sockaddr *)&from, &length));
		MUST(n <= (long)sizeof in);
		if (n > 0)
			got += (uint64_t)n;
		MUST(n < 0 || from.sin_family == AF_INET);
		break;
	case 2:
		n = IN_TIME(rsendto(fd, in, word(script) % LONGEST, 0, (struct sockaddr *)&to, sizeof to));
		sent += n > 0 ? (uint64_t)n : 0;
		break;
	case 3:
		IN_TIME(rpoll(&poll_one, 1, byte(script) & 1));
		break;
	case 4:
		IN_TIME(rconnect(fd, (struct sockaddr *)&to, sizeof to));
		break;
	case 5:
		IN_TIME(rconnect(fd, &nobody, sizeof nobody));
		break;
	case 6:
		n = IN_TIME(rsend(fd, in, byte(script), 0));
		sent += n > 0 ? (uint64_t)n : 0;
		break;
	default:
		length = sizeof error;
		IN_TIME(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length));
	}
	MUST(got <= sent);
}

int live_datagram(const uint8_t *bytes, size_t length)
{
	struct script script = { bytes, bytes + length };
	struct sockaddr_in sin = device(0);
	socklen_t size = sizeof own;
	int fd, steps = 0;

	if (!ports[0])
		begin();
	sent = got = 0;
	fd = rsocket(AF_INET, SOCK_DGRAM, 0);
	MUST(fd >= 0 && !rfcntl(fd, F_SETFL, O_NONBLOCK) && !rbind(fd, (struct sockaddr *)&sin, sizeof sin));
	MUST(!rgetsockname(fd, (struct sockaddr *)&own, &size));
	while (!ended(&script) && steps++ < 100) {
		uint8_t what = byte(&script);

		if (what & 8)
			own_call(&script, fd, what);
		else
			step_of_peer(&script, what);
	}
	MUST(!IN_TIME(rclose(fd)));
	look_for_leaks();
	return 0;
}
