// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A thousand connections at once, over one epoll set, from threads of the same program.
 * rdma: 2000
 * limit: 120
 * env: RDMAFAKE_HEAP=1024
 * fds: 16384
 */
#include "common.h"

enum { COUNT = 1000, THREADS = 4 };

static int port, fds[COUNT], failed;

static void *connect_part(void *arg)
{
	for (long i = (long)arg; i < COUNT; i += THREADS) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (fds[i] < 0 || connect_to(fds[i], HERE, port) || send(fds[i], &(int){ (int)i }, 4, 0) != 4)
			__atomic_add_fetch(&failed, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

int main(void)
{
	static int peers[COUNT], seen[COUNT];
	int server = listener(128), set = MUST(epoll_create1(0)), accepted = 0, told = 0, number, wrong = 0;
	struct epoll_event event, got[64];
	pthread_t threads[THREADS];
	double end = now() + 100;

	port = port_of(server);
	MUST(fcntl(server, F_SETFL, O_NONBLOCK));
	event = (struct epoll_event){ .events = EPOLLIN, .data.u32 = COUNT };
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, server, &event));
	for (long i = 0; i < THREADS; i++)
		MUST(-pthread_create(&threads[i], NULL, connect_part, (void *)i));
	while (told < COUNT && now() < end) {
		int n = epoll_wait(set, got, 64, 2000);

		for (int i = 0; i < n; i++) {
			if (got[i].data.u32 == COUNT) {
				int fd;

				while (accepted < COUNT && (fd = accept(server, NULL, NULL)) >= 0) {
					event.data.u32 = accepted;
					peers[accepted++] = fd;
					MUST(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
				}
				continue;
			}
			int fd = peers[got[i].data.u32];

			if (recv(fd, &number, 4, MSG_DONTWAIT) != 4 || number < 0 || number >= COUNT || seen[number]++)
				wrong++;
			else
				told++, send(fd, &number, 4, 0);
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < COUNT; i++)
		if (recv(fds[i], &number, 4, 0) != 4 || number != i)
			failed++;
	say("accepted %d, told %d, wrong %d, failed %d", accepted, told, wrong, failed);
	for (int i = 0; i < COUNT; i++)
		close(fds[i]);
	for (int i = 0; i < COUNT; i++)
		if (recv(peers[i], &number, 4, 0) != 0)
			failed++;
	say("ends: failed %d", failed);
	SAY(epoll_wait(set, got, 64, 0) > 0);
	for (int i = 0; i < COUNT; i++)
		close(peers[i]);
	SAY(epoll_wait(set, got, 64, 0));
	return 0;
}
