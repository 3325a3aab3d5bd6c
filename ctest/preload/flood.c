// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Children of fork that break the rules of the link to their parent, by which they ask for inherited connections: they
 * flood it with requests, read no answers, or send what is no request. Such a child loses its own connections, and
 * nothing else: its parent and its other children go on, and the parent's descriptors are bounded.
 * native: no
 * rdma: 4
 * limit: 90
 */
#include "check.h"

static int fds[2], other[2];

/* The link: the one Unix socket of this process that keeps message boundaries. */
static int link_of(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		int type = 0, domain = 0;
		socklen_t length = sizeof type;

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_SEQPACKET)
			continue;
		length = sizeof domain;
		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX)
			return fd;
	}
	return -1;
}

enum { CLAIM = 1, CLOSED = 2, FORK = 3 };

static void ask(int link, unsigned long request, unsigned long number)
{
	unsigned long words[2] = { request, number };

	send(link, words, sizeof words, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void drop_answers(int link)
{
	char room[16], control[CMSG_SPACE(sizeof(int))];
	struct iovec piece = { room, sizeof room };

	for (;;) {
		struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control,
					  .msg_controllen = sizeof control };

		if (recvmsg(link, &message, MSG_DONTWAIT) <= 0)
			return;
		/* The descriptor is kept. */
	}
}

static void forks_unread(int link, double end)
{
	while (now() < end)
		ask(link, FORK, 0);
}

static void forks_and_reads(int link, double end)
{
	while (now() < end) {
		ask(link, FORK, 0);
		readable(link, 10);
		drop_answers(link);
	}
}

static void claims_unread(int link, double end)
{
	for (unsigned long number = 0; now() < end; number++)
		ask(link, CLAIM, number % 64);
}

static void closes(int link, double end)
{
	for (unsigned long number = 1000; now() < end; number++)
		ask(link, CLOSED, number);
}

static void unknown(int link, double end)
{
	for (unsigned long number = 0; now() < end; number++)
		ask(link, number * 7 + 4, number);
}

static void long_words(int link, double end)
{
	static char room[60000];

	room[0] = FORK;
	for (size_t size = 0; now() < end; size = (size + 777) % sizeof room)
		send(link, room, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void passes_descriptors(int link, double end)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	unsigned long words[2] = { CLOSED, 1000 };
	struct iovec piece = { words, sizeof words };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int own = 1;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof own);
	memcpy(CMSG_DATA(header), &own, sizeof own);
	while (now() < end)
		sendmsg(link, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void half_closes(int link, double end)
{
	ask(link, FORK, 0);
	shutdown(link, SHUT_RD);
	while (now() < end)
		ask(link, FORK, 0);
}

/* A child that uses what it inherited, as it may. */
static int honest(int fd)
{
	pid_t pid = MUST(fork());

	if (pid == 0) {
		alarm(10);
		char byte = 0;
		int good = recv(fd, &byte, 1, 0) == 1 && send(fd, &byte, 1, 0) == 1;

		/* And its own child, too. */
		pid = fork();
		if (pid == 0)
			_exit(send(fd, "g", 1, 0) != 1);
		_exit(!good || exit_of(pid));
	}
	return pid;
}

static void broken(const char *title, void (*work)(int link, double end))
{
	double start = now();
	int before = open_files(), most = 0;
	char text[4] = "";
	pid_t pid, good;

	TITLE(title);
	pair(other);
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		int link = link_of();

		if (link < 0)
			_exit(7);
		work(link, now() + 1.5);
		nap(300);
		_exit(0);
	}
	nap(300);
	/* Meanwhile everybody else is served. */
	good = honest(other[0]);
	MUST(send(other[1], "h", 1, 0));
	check("an honest child is served", read_all(other[1], text, 2) == 2 && !strcmp(text, "hg"));
	check("and ends well", exit_of(good) == 0);
	MUST(send(fds[1], "p", 1, 0));
	check("the parent's connection works", recv(fds[0], text, 1, 0) == 1);
	for (int i = 0; i < 10; i++) {
		most = open_files() > most ? open_files() : most;
		nap(100);
	}
	check("no more than 150 descriptors", most - before < 150);
	if (most - before >= 150)
		say("# %d", most - before);
	check("the broken child ends", exit_of(pid) == 0);
	close(other[0]), close(other[1]);
	for (int i = 0; i < 30 && open_files() > before + 4; i++)
		nap(100);
	check("nothing is left", open_files() <= before + 4);
	check("in time", now() - start < 8);
}

int main(void)
{
	pair(fds);
	broken("forks, and reads no answers", forks_unread);
	broken("forks, and keeps the answers", forks_and_reads);
	broken("claims, and reads no answers", claims_unread);
	broken("closes without end", closes);
	broken("unknown requests", unknown);
	broken("long messages", long_words);
	broken("descriptors", passes_descriptors);
	broken("a half closed link", half_closes);
	close(fds[0]), close(fds[1]);
	say("failures %d", failures);
	return failures != 0;
}
