// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* No RDMA device: plain TCP and UDP.
 * rdma: 0
 * fake: nodevices
 * over-c: yes
 */
#include "common.h"

int main(void)
{
	int fds[2], a = MUST(socket(AF_INET, SOCK_DGRAM, 0)), b = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	struct epoll_event event = { .events = EPOLLIN };
	int set = MUST(epoll_create1(0));
	struct sockaddr_in to;
	double start = now();

	pair(fds);
	say("%s", in_time(start, 0));
	ping(fds[0], fds[1]);
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	SAY(epoll_wait(set, &event, 1, 20));
	SAY(close(fds[1]));
	SAY(epoll_wait(set, &event, 1, 1000));
	close(fds[0]), close(set);
	MUST(bind_to(a, HERE, 0));
	to = ipv4(HERE, port_of(a));
	SAY(sendto(b, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
	SAY(recv(a, &(char){ 0 }, 1, 0));
	close(a), close(b);
	return 0;
}
