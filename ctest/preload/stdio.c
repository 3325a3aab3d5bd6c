// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Streams of fdopen on a connection, and on a socket before it is one.
 * over-c: yes
 */
#include "common.h"

static void before(void)
{
	int server = listener(2), fd = MUST(socket(AF_INET, SOCK_STREAM, 0)), peer;
	FILE *stream = fdopen(fd, "r+");
	char text[8] = "";

	MUST(fcntl(fd, F_SETFL, O_NONBLOCK));
	connect_to(fd, HERE, port_of(server));
	peer = MUST(accept(server, NULL, NULL));
	MUST(poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, 5000));
	MUST(fcntl(fd, F_SETFL, 0));
	fprintf(stream, "early");
	SAY(fflush(stream));
	SAY(read_all(peer, text, 5));
	say("%s", text);
	SAY(fclose(stream));
	SAY(recv(peer, text, 1, 0));
	close(peer), close(server);
}

int main(void)
{
	int fds[2];
	char line[64];
	FILE *a, *b;

	pair(fds);
	a = fdopen(fds[0], "r+");
	b = fdopen(fds[1], "r+");
	fprintf(a, "a line\nanother\n");
	fflush(a);
	say("%s", fgets(line, sizeof line, b) ? line : "nothing");
	say("%s", fgets(line, sizeof line, b) ? line : "nothing");
	MUST(write(fds[1], "by number\n", 10));
	say("%s", fgets(line, sizeof line, a) ? line : "nothing");
	SAY(fclose(a));
	say("end %d", fgetc(b));
	SAY(fclose(b));
	before();
	return 0;
}
