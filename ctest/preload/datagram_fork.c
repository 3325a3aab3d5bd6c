// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Datagram sockets and fork: a daemon that bound its port before it left its parent, workers that share a port, a
 * child that writes on its parent's socket, a child for each answer.
 * rdma: 2
 * limit: 90
 */
#include "others.h"

static int bound(const char *host, int port)
{
	int fd = MUST(socket(AF_INET, SOCK_DGRAM, 0));

	MUST(bind_to(fd, host, port));
	return fd;
}

/* A port that is free: nobody else binds here. */
static int free_port(void)
{
	int fd = bound("127.0.0.1", 0), port = port_of(fd);

	close(fd);
	return port;
}

/* Answers until it is told to end; polls first or not. */
static void serve(int fd, int polls)
{
	struct sockaddr_in from;
	socklen_t length;
	char text[64];
	long n;

	alarm(50);
	for (;;) {
		struct pollfd one = { fd, POLLIN, 0 };

		if (polls && poll(&one, 1, 40000) != 1)
			_exit(4);
		length = sizeof from;
		n = recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&from, &length);
		if (n < 0)
			_exit(errno);
		sendto(fd, text, n, 0, (struct sockaddr *)&from, length);
		if (!strncmp(text, "end", 3))
			_exit(0);
	}
}

/* A question is asked until it is answered: datagrams may be lost, and the library takes up to ten
 * seconds to see that its peer is another one. */
static void ask(int fd, int port, const char *text)
{
	struct sockaddr_in to = ipv4(HERE, port);
	char answer[64] = "";

	for (int i = 0; i < 75; i++) {
		sendto(fd, text, strlen(text) + 1, 0, (struct sockaddr *)&to, sizeof to);
		while (readable(fd, 200) && recv(fd, answer, sizeof answer, 0) > 0)
			if (!strcmp(answer, text)) {
				say("%s: answered", text);
				return;
			}
	}
	say("%s: no answer", text);
}

static void daemon_of(const char *host, int port, int polls)
{
	int fd = bound(host, port);

	if (fork() == 0)
		serve(fd, polls);
}

static void daemons(const char *title, const char *role)
{
	int port = free_port(), client = bound(HERE, 0);

	TITLE(title);
	say("exit %d", exit_of(start(role, port, 0)));
	ask(client, port, "one");
	ask(client, port, "two");
	ask(client, port, "end");
	close(client);
}

/* The parent stays: whoever of the two gets a datagram answers it. */
static int workers_of(int port)
{
	int fd = bound("0.0.0.0", port);
	pid_t pids[2];

	for (int i = 0; i < 2; i++)
		if ((pids[i] = fork()) == 0)
			serve(fd, i);
	close(fd);
	return exit_of(pids[0]) | exit_of(pids[1]);
}

static void workers(void)
{
	int port = free_port(), client = bound(HERE, 0);
	pid_t pid;

	TITLE("two workers");
	pid = start("workers", port, 0);
	nap(300);
	ask(client, port, "one");
	ask(client, port, "two");
	ask(client, port, "three");
	ask(client, port, "end");
	nap(100);
	ask(client, port, "four");
	ask(client, port, "end");
	say("exit %d", exit_of(pid));
	close(client);
}

static void writers(void)
{
	int server = bound(HERE, 0), client = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	struct sockaddr_in to = ipv4(HERE, port_of(server));
	char text[16] = "";
	pid_t pid;

	TITLE("a child writes");
	MUST(connect(client, (struct sockaddr *)&to, sizeof to));
	SAY(send(client, "parent", 7, 0));
	SAY(recv(server, text, sizeof text, 0));
	say("%s", text);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		SAY(send(client, "child", 6, 0));
		_exit(0);
	}
	say("exit %d", exit_of(pid));
	say("readable %d", readable(server, 3000));
	SAY(recv(server, text, sizeof text, MSG_DONTWAIT));
	say("%s", text);
	SAY(send(client, "again", 6, 0));
	SAY(recv(server, text, sizeof text, 0));
	say("%s", text);
	close(server), close(client);
}

/* Asks with each datagram; what comes back, and from where. */
static int asker(int port, int connects)
{
	int fd = MUST(socket(AF_INET, SOCK_DGRAM, 0)), wrong = 0;
	struct sockaddr_in to = ipv4(HERE, port), from;

	if (connects)
		MUST(connect(fd, (struct sockaddr *)&to, sizeof to));
	for (int i = 0; i < 4; i++) {
		char question[16], answer[64] = "";
		socklen_t length = sizeof from;

		snprintf(question, sizeof question, "question %d", i);
		/* Datagrams may be lost. */
		for (int tries = 0; tries < 5; tries++) {
			sendto(fd, question, strlen(question), 0, connects ? NULL : (struct sockaddr *)&to,
			       connects ? 0 : sizeof to);
			if (readable(fd, 1000))
				break;
		}
		long n = recvfrom(fd, answer, sizeof answer, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
		if (n != 10 || memcmp(answer + 1, question + 1, 9) || *answer != 'Q' || from.sin_port != to.sin_port ||
		    from.sin_addr.s_addr != to.sin_addr.s_addr) {
			say("%s: %ld %s, from port %d", question, n, answer, ntohs(from.sin_port));
			wrong++;
		}
	}
	sendto(fd, "end", 3, 0, connects ? NULL : (struct sockaddr *)&to, connects ? 0 : sizeof to);
	return wrong;
}

/* Answers in a child, or a child's child, by one of the calls. */
static void answer(int fd, int way, char *text, long n, struct sockaddr_in *to)
{
	struct iovec piece = { text, n };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_name = to, .msg_namelen = sizeof *to };
	struct mmsghdr messages = { .msg_hdr = message };
	struct pollfd one = { fd, POLLOUT, 0 };
	struct sockaddr_in own;
	long sent = -1;

	*text = 'Q';
	switch (way % 6) {
	case 0:
		sent = sendto(fd, text, n, 0, (struct sockaddr *)to, sizeof *to);
		break;
	case 1:
		sent = sendmsg(fd, &message, 0);
		break;
	case 2:
		sent = sendmmsg(fd, &messages, 1, 0) == 1 ? n : -1;
		break;
	case 3:
		if (fork() == 0) {
			_exit(sendto(fd, text, n, 0, (struct sockaddr *)to, sizeof *to) != n);
		}
		wait(NULL);
		sent = n;
		break;
	case 4:
		if (poll(&one, 1, 1000) == 1)
			sent = sendto(fd, text, n, 0, (struct sockaddr *)to, sizeof *to);
		break;
	case 5:
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ 100000 }, sizeof(int));
		if (getsockname(fd, (struct sockaddr *)&own, &(socklen_t){ sizeof own }) == 0 && own.sin_port)
			sent = sendto(fd, text, n, 0, (struct sockaddr *)to, sizeof *to);
		break;
	}
	if (sent != n)
		say("way %d: %s", way, errno_name(errno));
}

static void child_each(const char *title, const char *host, const char *role, int plain)
{
	static int way;
	int fd = bound(host, 0);
	pid_t pid, child;

	say("-- a child answers: %s, %s", title, plain ? "plain UDP" : "rsocket");
	pid = start(role, port_of(fd), plain);
	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof from;
		char text[64];
		long n;

		if (!readable(fd, 10000)) {
			say("nothing");
			break;
		}
		n = MUST(recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&from, &length));
		if (n == 3)
			break;
		fflush(stdout);
		child = MUST(fork());
		if (child == 0) {
			answer(fd, way, text, n, &from);
			_exit(0);
		}
		way++;
		exit_of(child);
	}
	say("wrong: %d", exit_of(pid));
	close(fd);
}

static int exit_of_any(void)
{
	int status = -1;

	wait(&status);
	return status;
}

/* A child's datagrams come from its parent's port, which the kernel has chosen. */
static void same_port(void)
{
	int server = bound(HERE, 0), client = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	struct sockaddr_in to = ipv4(HERE, port_of(server)), from[2];
	char text[16];

	TITLE("a port that the kernel has chosen");
	for (int i = 0; i < 2; i++) {
		socklen_t length = sizeof from[i];

		fflush(stdout);
		if (i == 0)
			sendto(client, "parent", 6, 0, (struct sockaddr *)&to, sizeof to);
		else if (fork() == 0)
			_exit(sendto(client, "child", 5, 0, (struct sockaddr *)&to, sizeof to) != 5);
		MUST(readable(server, 3000) - 1);
		say("%ld", (long)recvfrom(server, text, sizeof text, 0, (struct sockaddr *)&from[i], &length));
	}
	say("exit %d, the same port %d", exit_of_any(), from[0].sin_port == from[1].sin_port);
	close(server), close(client);
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2) {
		int port = atoi(argv[2]);

		if (!strcmp(argv[1], "workers"))
			return workers_of(port);
		if (!strcmp(argv[1], "asker") || !strcmp(argv[1], "connected"))
			return asker(port, *argv[1] == 'c');
		daemon_of(strchr(argv[1], 'a') ? "0.0.0.0" : HERE, port, !!strchr(argv[1], 'p'));
		return 0;
	}
	daemons("a daemon on one address", "-");
	daemons("a daemon on one address that polls", "p");
	daemons("a daemon on any address", "a");
	daemons("a daemon on any address that polls", "ap");
	workers();
	writers();
	same_port();
	for (int plain = 0; plain < 2; plain++) {
		child_each("one address", HERE, "asker", plain);
		child_each("any address", "0.0.0.0", "asker", plain);
		child_each("one address, connected", HERE, "connected", plain);
		child_each("any address, connected", "0.0.0.0", "connected", plain);
	}
	return 0;
}
