// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Datagrams longer than a packet of the device: the sizes that UDP can carry go through, in order with short ones. */
#include "common.h"

static char buf[65536], back[65536];

int main(void)
{
	int a = MUST(socket(AF_INET, SOCK_DGRAM, 0)), b = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	size_t sizes[] = { 10, 2000, 2048, 4000, 9000, 30000, 60000, 10 };

	MUST(bind_to(a, HERE, 0));
	MUST(bind_to(b, HERE, 0));
	MUST(connect_to(a, HERE, port_of(b)));
	for (size_t i = 0; i < sizeof buf; i++)
		buf[i] = pattern(i);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		say("send %zu: %ld", sizes[i], (long)send(a, buf, sizes[i], 0));
		if (!readable(b, 3000)) {
			say("nothing came");
			continue;
		}
		long n = recv(b, back, sizeof back, 0);
		say("received %ld, right %d", n, n > 0 && !memcmp(buf, back, n));
	}
	SAY(send(a, buf, 65536, 0));
	close(a), close(b);
	return 0;
}
