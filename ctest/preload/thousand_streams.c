// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A thousand streams on a device, both ends in this process: what an end costs, in descriptors and in memory, and nothing
 * of it is left.
 * native: no
 * rdma: 2000
 * env: RDMAFAKE_HEAP=1024
 * fds: 16384
 * limit: 120
 */
#include "check.h"

enum { STREAMS = 1000, ENDS = 2 * STREAMS };

/* Descriptors of a kind among those of the process. */
static void kinds(void)
{
	static const char *names[] = { "socket:", "anon_inode:[eventfd]", "anon_inode:[eventpoll]", "anon_inode:[infinibandevent]",
				       "/dev/infiniband", "pipe:" };
	long seen[sizeof names / sizeof *names] = { 0 }, others = 0;
	DIR *all = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[300], target[300];

	while ((entry = readdir(all))) {
		long length, found = 0;

		snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
		if ((length = readlink(path, target, sizeof target - 1)) < 0)
			continue;
		target[length] = 0;
		for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
			if (strstr(target, names[i]))
				seen[i]++, found = 1;
		others += !found;
	}
	closedir(all);
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		say("# %s %ld", names[i], seen[i]);
	say("# others %ld", others);
}

int main(void)
{
	static int fds[STREAMS + 1][2];
	int server = listener(64), good = 0;
	long before, after, size, grown;

	pair_of(server, fds[STREAMS]);
	ping(fds[STREAMS][0], fds[STREAMS][1]);
	before = open_files(), size = resident();
	for (int i = 0; i < STREAMS; i++)
		pair_of(server, fds[i]);
	after = open_files() - before, grown = (resident() - size) / 1024;
	kinds();
	say("# %.2f descriptors and %ld kB for each end", (double)after / ENDS, grown / ENDS);
	check("two or three descriptors", after <= 3 * ENDS);
	check("half a megabyte", grown / ENDS <= 512);
	for (int i = 0; i < STREAMS; i++) {
		char byte = 0;

		good += send(fds[i][0], "x", 1, 0) == 1 && recv(fds[i][1], &byte, 1, 0) == 1 && byte == 'x';
	}
	check("all work", good == STREAMS);
	grown = (resident() - size) / 1024;
	say("# %ld kB for each end that was used", grown / ENDS);
	for (int i = 0; i < STREAMS; i++)
		close(fds[i][0]), close(fds[i][1]);
	check("none is left", open_files() - before <= 64);
	say("# %ld are left", open_files() - before);
	return failures != 0;
}
