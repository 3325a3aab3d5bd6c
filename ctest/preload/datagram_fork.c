/* Datagram sockets and fork: a daemon that bound its port before it left its parent, workers that share a port, a
 * child that writes on its parent's socket.
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
	struct sockaddr_in to = address(HERE, port);
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
	struct sockaddr_in to = address(HERE, port_of(server));
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

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2) {
		int port = atoi(argv[2]);

		if (!strcmp(argv[1], "workers"))
			return workers_of(port);
		daemon_of(strchr(argv[1], 'a') ? "0.0.0.0" : HERE, port, !!strchr(argv[1], 'p'));
		return 0;
	}
	daemons("a daemon on one address", "-");
	daemons("a daemon on one address that polls", "p");
	daemons("a daemon on any address", "a");
	daemons("a daemon on any address that polls", "ap");
	workers();
	writers();
	return 0;
}
