// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The checked functions of glibc, to which a program compiled with -D_FORTIFY_SOURCE calls.
 * fortify: yes
 * over-c: yes
 */
#include "common.h"

/* Sizes that the compiler cannot know, rooms that it can. */
static volatile size_t few = 5, want = 8;

int main(void)
{
	char room[64] = "", other[64] = "";
	struct sockaddr_in name;
	socklen_t length = sizeof name;
	struct pollfd set[2];
	volatile nfds_t count = 1;
	fd_set in;
	int fds[2];

	pair(fds);
	MUST(write(fds[1], "hello", few));
	SAY(read(fds[0], room, want));
	say("%s", room);
	MUST(write(fds[1], "again", few));
	SAY(recv(fds[0], room, want, 0));
	MUST(write(fds[1], "third", few));
	SAY(recvfrom(fds[0], other, want, 0, (struct sockaddr *)&name, &length));
	say("%s %s", room, other);
	set[0] = (struct pollfd){ fds[0], POLLIN | POLLOUT, 0 };
	SAY(poll(set, count, 0));
	say("[%s]", events(set[0].revents));
	SAY(ppoll(set, count, &(struct timespec){ 0, 0 }, NULL));
	FD_ZERO(&in);
	FD_SET(fds[0], &in);
	SAY(select(fds[0] + 1, &in, NULL, NULL, &(struct timeval){ 0, 1000 }));
	say("in %d", !!FD_ISSET(fds[0], &in));
	SAY(pread(fds[0], room, want, 0));
	MUST(write(fds[1], "1 formatted", 11));
	SAY(read_all(fds[0], room, 11));
	say("%.11s", room);
	shutdown(fds[1], SHUT_WR);
	SAY(read(fds[0], room, want));
	SAY(recv(fds[0], room, want, MSG_DONTWAIT));
	close(fds[0]), close(fds[1]);
	return 0;
}
