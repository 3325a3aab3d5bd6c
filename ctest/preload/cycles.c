// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections come and go: no descriptors are left behind, and few bytes.
 * rdma: 400
 * limit: 60
 */
#include "common.h"

/* Beyond FILES; threads that happen to wait at the same time keep a descriptor each for the next time. */
static int left(int files)
{
	int more = open_files() - files;

	return more > 2 ? more : 0;
}

static void some(int server, int set, int count)
{
	for (int i = 0; i < count; i++) {
		struct epoll_event event = { .events = EPOLLIN };
		int fds[2], copy;
		char byte;

		pair_of(server, fds);
		if (i % 2)
			MUST(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
		copy = MUST(dup(fds[0]));
		MUST(send(fds[1], "x", 1, 0));
		MUST(recv(copy, &byte, 1, 0));
		close(fds[0]);
		if (i % 3)
			shutdown(copy, SHUT_RDWR);
		close(copy);
		close(fds[1]);
	}
}

int main(void)
{
	int server = listener(8), set = MUST(epoll_create1(0)), files;
	long memory;

	some(server, set, 50);
	nap(300);
	files = open_files();
	memory = resident();
	some(server, set, 150);
	for (int i = 0; i < 100 && left(files); i++)
		nap(30);
	say("descriptors left: %d", left(files));
	say("memory stays: %d", resident() - memory < 4000 * 1024);
	for (int i = 0; i < 300; i++) {
		int fd = MUST(socket(AF_INET, i % 2 ? SOCK_DGRAM : SOCK_STREAM, 0));

		if (i % 3 == 0)
			MUST(bind_to(fd, HERE, 0));
		if (i % 6 == 0)
			MUST(listen(fd, 1));
		close(fd);
	}
	for (int i = 0; i < 100 && left(files); i++)
		nap(30);
	say("descriptors left: %d", left(files));
	return 0;
}
