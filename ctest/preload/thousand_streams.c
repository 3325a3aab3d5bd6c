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

#include <dirent.h>

enum { STREAMS = 1000, ENDS = 2 * STREAMS };

static long descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	long count = 0;

	while (readdir(all))
		count++;
	closedir(all);
	return count;
}

/* Kilobytes in memory, shared with the device or not. */
static long memory(void)
{
	char line[200];
	FILE *status = fopen("/proc/self/status", "r");
	long size = -1;

	while (fgets(line, sizeof line, status))
		if (sscanf(line, "VmRSS: %ld", &size) == 1)
			break;
	fclose(status);
	return size;
}

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
	before = descriptors(), size = memory();
	for (int i = 0; i < STREAMS; i++)
		pair_of(server, fds[i]);
	after = descriptors() - before, grown = memory() - size;
	kinds();
	say("# %.2f descriptors and %ld kB for each end", (double)after / ENDS, grown / ENDS);
	check("two or three descriptors", after <= 3 * ENDS);
	check("half a megabyte", grown / ENDS <= 512);
	for (int i = 0; i < STREAMS; i++) {
		char byte = 0;

		good += send(fds[i][0], "x", 1, 0) == 1 && recv(fds[i][1], &byte, 1, 0) == 1 && byte == 'x';
	}
	check("all work", good == STREAMS);
	grown = memory() - size;
	say("# %ld kB for each end that was used", grown / ENDS);
	for (int i = 0; i < STREAMS; i++)
		close(fds[i][0]), close(fds[i][1]);
	check("none is left", descriptors() - before <= 64);
	say("# %ld are left", descriptors() - before);
	return failures != 0;
}
