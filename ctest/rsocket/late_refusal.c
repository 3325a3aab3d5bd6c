// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A refusal that comes late, after another send of the connected datagram socket has failed for a reason of its own, is told.
 * device: soft
 * network: yes
 */
#include "check.h"
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>

enum { PORT = 7090, HEADERS = sizeof(struct iphdr) + sizeof(struct udphdr) };

static unsigned short checksum(const void *from, size_t length)
{
	const unsigned short *words = from;
	unsigned sum = 0;

	for (size_t i = 0; i < length / 2; i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return (unsigned short)~sum;
}

/* What a machine without that port answers to a datagram. */
static void refuse(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	struct {
		struct icmphdr icmp;
		struct iphdr ip;
		struct udphdr udp;
	} answer = {
		{ .type = ICMP_DEST_UNREACH, .code = ICMP_PORT_UNREACH },
		{ .ihl = 5, .version = 4, .ttl = 64, .protocol = IPPROTO_UDP, .tot_len = htons(HEADERS + 1),
		  .saddr = from->sin_addr.s_addr, .daddr = to->sin_addr.s_addr },
		{ .source = from->sin_port, .dest = to->sin_port, .len = htons(sizeof answer.udp + 1) },
	};
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);

	answer.ip.check = checksum(&answer.ip, sizeof answer.ip);
	answer.icmp.checksum = checksum(&answer, sizeof answer);
	CHECK("an ICMP answer", sendto(raw, &answer, sizeof answer, 0, (const struct sockaddr *)from, sizeof *from), sizeof answer, 0);
	close(raw);
}

int main(void)
{
	struct sockaddr_in to = address(PORT), from, everyone = ipv4("255.255.255.255", PORT);
	int udp = socket(AF_INET, SOCK_DGRAM, 0), fd = rsocket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	struct pollfd poll = { fd, POLLIN, 0 };
	socklen_t size = sizeof from;
	char room[200];

	CHECK("a port that says nothing", bind(udp, (struct sockaddr *)&to, sizeof to), 0, 0);
	CHECK("rconnect", rconnect(fd, (struct sockaddr *)&to, sizeof to), 0, 0);
	CHECK("rsend", rsend(fd, "x", 1, 0), 1, 0);
	CHECK_TRUE("it comes", recvfrom(udp, room, sizeof room, 0, (struct sockaddr *)&from, &size) > 0);
	CHECK("rsendto everyone", rsendto(fd, "x", 1, 0, (struct sockaddr *)&everyone, sizeof everyone), -1, EACCES);
	refuse(&from, &to);
	CHECK("rpoll", rpoll(&poll, 1, 2000), 1, 0);
	CHECK("rrecv", rrecv(fd, room, 1, 0), -1, ECONNREFUSED);
	CHECK("rrecv once more", rrecv(fd, room, 1, 0), -1, EAGAIN);
	rclose(fd);
	close(udp);
	return finish();
}
