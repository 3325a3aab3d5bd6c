/* Connections come and go: no descriptors are left behind, and few bytes.
 * rdma: 400
 * limit: 60
 */
#include "common.h"
#include <dirent.h>

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static long kilobytes(void)
{
	char text[200] = "";
	long size = 0, resident = 0;
	int fd = open("/proc/self/statm", O_RDONLY);

	read(fd, text, sizeof text - 1);
	close(fd);
	sscanf(text, "%ld %ld", &size, &resident);
	return resident * 4;
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
	memory = kilobytes();
	some(server, set, 150);
	for (int i = 0; i < 100 && open_files() > files; i++)
		nap(30);
	say("descriptors left: %d", open_files() > files ? open_files() - files : 0);
	say("memory stays: %d", kilobytes() - memory < 4000);
	for (int i = 0; i < 300; i++) {
		int fd = MUST(socket(AF_INET, i % 2 ? SOCK_DGRAM : SOCK_STREAM, 0));

		if (i % 3 == 0)
			MUST(bind_to(fd, HERE, 0));
		if (i % 6 == 0)
			MUST(listen(fd, 1));
		close(fd);
	}
	for (int i = 0; i < 100 && open_files() > files; i++)
		nap(30);
	say("descriptors left: %d", open_files() > files ? open_files() - files : 0);
	return 0;
}
