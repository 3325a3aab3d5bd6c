// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A thousand datagram sockets on a device: no more than three descriptors and a megabyte each, and each works. One that
 * has to hold more gets more memory.
 * native: no
 * rdma: 1000
 * env: RDMAFAKE_HEAP=1024
 * fds: 4096
 * limit: 120
 */
#include "check.h"

enum { SOCKETS = 1000, BURST = 700 };

/* Datagrams that nobody reads yet; how many are there in the end. */
static int burst(int from, int to, int count)
{
	struct sockaddr_in address = ipv4(HERE, port_of(to));
	char byte;
	int seen = 0;

	for (int i = 0; i < count; i++) {
		sendto(from, "b", 1, 0, (struct sockaddr *)&address, sizeof address);
		readable(to, 0);
	}
	while (seen < count && readable(to, 5000) && recv(to, &byte, 1, 0) == 1)
		seen++;
	return seen;
}

int main(void)
{
	static int fds[SOCKETS];
	int good = 0;
	long before, size, each;

	fds[0] = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind_to(fds[0], HERE, 0));
	burst(fds[0], fds[0], 1);
	before = open_files(), size = resident();
	for (int i = 1; i < SOCKETS; i++) {
		fds[i] = MUST(socket(AF_INET, SOCK_DGRAM, 0));
		MUST(bind_to(fds[i], HERE, 0));
		good += burst(fds[i - 1], fds[i], 1) == 1;
	}
	check("each gets its datagram", good == SOCKETS - 1);
	each = (open_files() - before) / (SOCKETS - 1);
	say("# %ld descriptors and %ld kB for each", each, (resident() - size) / 1024 / (SOCKETS - 1));
	check("three descriptors", each <= 3);
	check("a megabyte", (resident() - size) / 1024 / (SOCKETS - 1) <= 1024);
	good = burst(fds[1], fds[2], BURST);
	say("# %d of %d", good, BURST);
	check("it holds more where it has to", good > 500);
	return failures != 0;
}
