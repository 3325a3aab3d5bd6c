// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Packets with the address of a peer of a datagram rsocket, which another host may send: they name a queue pair that is
 * not the peer's. No datagram of the program is lost or led there. The C library believes each of them.
 * shared: yes
 * network: yes
 */
#include "datagram_peer.h"
#include <endian.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

enum { ROUNDS = 100, DATA = 0, CONTROL = 7 };

static char in[4096];

/* From the address of another: as root of a namespace or a guest. */
static void spoof(int raw, int from, int to, int kind, uint32_t number)
{
	struct sockaddr_in source = address(from), target = address(to);
	struct {
		struct iphdr ip;
		struct udphdr udp;
		uint32_t tag;
		uint8_t version, kind, length, reserved;
		uint32_t number, address;
		char data[4];
	} __attribute__((packed)) packet = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP, .saddr = source.sin_addr.s_addr,
			.daddr = target.sin_addr.s_addr },
		.udp = { .source = source.sin_port, .dest = target.sin_port },
		.tag = htobe32(0x55555555), .version = 4, .kind = kind, .length = 16, .number = htobe32(number),
		.address = target.sin_addr.s_addr, .data = "evil",
	};
	size_t size = kind == DATA ? sizeof packet : sizeof packet - sizeof packet.data;

	packet.udp.len = htons(size - sizeof packet.ip);
	if (sendto(raw, &packet, size, 0, (struct sockaddr *)&target, sizeof target) != (ssize_t)size) {
		perror("spoof");
		exit(2);
	}
}

/* One on its way, and never sent again, with so many spoofed packets before each. */
static int exchange(int fd, int raw, int own, int peer, int each, int kind)
{
	struct sockaddr_in to = address(peer);
	int back = 0;

	for (int i = 0; i < ROUNDS; i++) {
		char out[16];
		double end = now() + 1;

		for (int n = 0; n < each; n++)
			spoof(raw, peer, own, kind, 0xABC000 + n);
		snprintf(out, sizeof out, "number %d", i);
		rsendto(fd, out, sizeof out, 0, (struct sockaddr *)&to, sizeof to);
		while (now() < end) {
			struct pollfd place = { fd, POLLIN, 0 };

			if (rpoll(&place, 1, 100) == 1 && rrecv(fd, in, sizeof in, 0) > 0 && !strcmp(in, out)) {
				back++;
				break;
			}
		}
		/* Nobody waits for what does not come any more. */
		if (i - back > 5)
			break;
		usleep(2000);
	}
	return back;
}

int main(void)
{
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW), own = 7981, peer = 7980, fd;
	pid_t pid;

	/* on RoCE the C library has no datagrams to lose. */
	if (getenv("THEIRS"))
		return 0;
	if (raw < 0)
		return perror("raw socket"), 2;
	pid = echoes(peer);
	fd = bound(own);
	CHECK("spoofed: nobody does", exchange(fd, raw, own, peer, 0, CONTROL), ROUNDS, 0);
	spoof(raw, peer, own, CONTROL, 0xABCDEF);
	CHECK("spoofed: one answer", exchange(fd, raw, own, peer, 0, CONTROL), ROUNDS, 0);
	CHECK("spoofed: an answer before each", exchange(fd, raw, own, peer, 1, CONTROL), ROUNDS, 0);
	CHECK("spoofed: ten different answers before each", exchange(fd, raw, own, peer, 10, CONTROL), ROUNDS, 0);
	spoof(raw, peer, own, DATA, 0xABCDEF);
	CHECK("spoofed: one datagram", exchange(fd, raw, own, peer, 0, DATA), ROUNDS, 0);
	CHECK("spoofed: a datagram before each", exchange(fd, raw, own, peer, 1, DATA), ROUNDS, 0);
	/* Also what the peer is told. */
	spoof(raw, own, peer, CONTROL, 0xABCDEF);
	CHECK("spoofed: an answer to the other side", exchange(fd, raw, own, peer, 0, CONTROL), ROUNDS, 0);
	spoof(raw, own, peer, DATA, 0xABCDEF);
	CHECK("spoofed: a datagram to the other side", exchange(fd, raw, own, peer, 0, CONTROL), ROUNDS, 0);
	rclose(fd);
	kill(pid, SIGKILL), waitpid(pid, NULL, 0);
	return finish();
}
