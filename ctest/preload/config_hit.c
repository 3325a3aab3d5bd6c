// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* preload_config: a rule for this program takes its streams, whatever flags their type has (P-9).
 * rdma: 2
 * config: # a comment, then rules
 * config: other INET STREAM TCP
 * config: config_hit INET stream *
 * over-c: yes
 */
#include "common.h"

int main(void)
{
	int server = MUST(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), client, peer;

	MUST(bind_to(server, HERE, 0));
	MUST(listen(server, 2));
	readable(server, 0);
	client = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
	SAY(connect_to(client, HERE, port_of(server)));
	peer = SAY_FD(accept4(server, NULL, NULL, SOCK_CLOEXEC));
	struct pollfd one = { client, POLLOUT, 0 };
	SAY(poll(&one, 1, 3000));
	MUST(fcntl(client, F_SETFL, 0));
	ping(client, peer);
	close(client), close(peer), close(server);
	return 0;
}
