// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs that close what they have not opened, as daemons do: all descriptors from 3 on, those of the library among
 * them. The next rsocket works, and nothing is written to the files that have their numbers by then.
 */
#include "check.h"
#include <sys/stat.h>

enum { FILES = 64 };

static int files[FILES], count;

static void exchange(const char *name, int port)
{
	int fds[2];
	char byte = 0, text[100];
	struct pollfd poll;
	pthread_t thread;

	pair(port, fds);
	snprintf(text, sizeof text, "%s: rsend", name);
	CHECK(text, rsend(fds[0], "x", 1, 0), 1, 0);
	snprintf(text, sizeof text, "%s: rrecv", name);
	CHECK(text, rrecv(fds[1], &byte, 1, 0), 1, 0);
	poll = (struct pollfd){ fds[1], POLLIN, 0 };
	snprintf(text, sizeof text, "%s: rpoll", name);
	CHECK(text, rpoll(&poll, 1, 50), 0, 0);
	/* Sleepers, which others wake. */
	struct dialer dialer = { port + 1, -1 };
	int server = listener(port + 1, 8);
	pthread_create(&thread, NULL, dial_thread, &dialer);
	poll = (struct pollfd){ server, POLLIN, 0 };
	snprintf(text, sizeof text, "%s: rpoll of a listener", name);
	CHECK(text, rpoll(&poll, 1, 5000), 1, 0);
	int accepted = raccept(server, NULL, NULL);
	pthread_join(thread, NULL);
	snprintf(text, sizeof text, "%s: rclose", name);
	CHECK(text, rclose(accepted), 0, 0);
	CHECK(text, rrecv(dialer.fd, &byte, 1, 0), 0, 0);
	CHECK(text, rclose(dialer.fd) | rclose(server) | rclose(fds[0]) | rclose(fds[1]), 0, 0);
}

static void close_all(void)
{
	CHECK("R-40 daemon: close_range", close_range(3, ~0u, 0), 0, 0);
}

/* Files of the program under the numbers that the library had. */
static void take_numbers(void)
{
	char path[] = "/tmp/daemon-XXXXXX";
	int first = mkstemp(path);

	unlink(path);
	files[count++] = first;
	while (count < FILES)
		files[count++] = dup(first);
}

static double processor(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

/* What the program's files say of itself. */
static void untouched(const char *name)
{
	struct stat status = { 0 };

	CHECK(name, fstat(files[0], &status), 0, 0);
	CHECK(name, status.st_size, 0, 0);
	CHECK(name, lseek(files[0], 0, SEEK_CUR), 0, 0);
}

static void daemon_of(int takes_numbers, int port)
{
	const char *name = takes_numbers ? "R-40 daemon with files" : "R-40 daemon";
	int old[2], set;
	double start;

	exchange("R-40 before", port);
	pair(port + 2, old);
	set = repoll_create ? repoll_create(0) : -1;
	close_all();
	if (takes_numbers)
		take_numbers();
	exchange(name, port + 4);
	exchange("R-40 and again", port + 6);
	if (takes_numbers) {
		untouched("R-40 daemon: its files");
		CHECK_TRUE("R-40 daemon: an old rsocket", rsend(old[0], "x", 1, 0) < 0);
		CHECK("R-40 daemon: an old rsocket", rclose(old[1]), 0, 0);
		CHECK_TRUE("R-40 daemon: its file", fcntl(old[1], F_GETFD) >= 0);
		CHECK_TRUE("R-40 daemon: its file", fcntl(set, F_GETFD) >= 0);
		untouched("R-40 daemon: its files, then");
	}
	start = processor();
	usleep(300000);
	CHECK_TRUE("R-40 daemon: no thread is busy", processor() - start < 0.1);
}

int main(void)
{
	for (int takes_numbers = 0; takes_numbers < 2; takes_numbers++) {
		fflush(stdout);
		pid_t pid = fork();
		if (!pid) {
			alarm(30);
			daemon_of(takes_numbers, 7100 + 20 * takes_numbers);
			exit(finish());
		}
		CHECK("R-40 daemon: exit", exit_of(pid), 0, 0);
	}
	return finish();
}
