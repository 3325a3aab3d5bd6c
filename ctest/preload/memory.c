// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Every allocation of the preload library fails once, each in a process of its own: a call fails with ENOMEM and succeeds
 * when it is made again, or the library does without. No process ends by a signal, and none hangs.
 * native: no
 * rdma: 2
 * limit: 180
 */
#include "check.h"

#define LIBRARY_NAME "/librspreload.so"
#include "failing_malloc.h"

#include <signal.h>
#include <sys/wait.h>

enum { MOST = 1000, SIZE = 3000, LONG_VALUE = 20 };

static const char *in_work = "nothing";

static void late(int number)
{
	static const char text[] = "# hangs in ";

	write(2, text, sizeof text - 1), write(2, in_work, strlen(in_work)), write(2, "\n", 1);
	_exit(4);
}

/* A call that may fail once for want of memory. */
#define AGAIN(call)                                                               \
	({                                                                        \
		in_work = #call;                                                  \
		long again_ = (long)(call);                                       \
		if (again_ < 0 && errno == ENOMEM)                                \
			again_ = (long)(call);                                    \
		if (again_ < 0) {                                                 \
			fprintf(stderr, "# %s: %s\n", #call, errno_name(errno));  \
			_exit(3);                                                 \
		}                                                                 \
		again_;                                                           \
	})

static void transfer(int from, int to)
{
	static char text[SIZE];
	long done = 0;

	AGAIN(send(from, text, SIZE, 0));
	while (done < SIZE)
		done += AGAIN(recv(to, text, SIZE - done, 0));
}

/* A connection, made with an epoll instance; both ends are in it. */
static void connected(int set, int fds[2])
{
	struct epoll_event event = { .events = EPOLLIN };
	int server = AGAIN(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)), one = 1;

	AGAIN(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
	setsockopt(server, IPPROTO_TCP, TCP_CONGESTION, "reno\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", LONG_VALUE);
	AGAIN(bind_to(server, HERE, 0));
	AGAIN(listen(server, 5));
	AGAIN(epoll_ctl(set, EPOLL_CTL_ADD, server, &event));
	AGAIN(epoll_wait(set, &event, 1, 0));
	fds[1] = AGAIN(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	event.events = EPOLLOUT;
	AGAIN(epoll_ctl(set, EPOLL_CTL_ADD, fds[1], &event));
	in_work = "connect";
	if (connect_to(fds[1], HERE, port_of(server)) < 0 && errno != EINPROGRESS)
		_exit(5);
	while ((fds[0] = accept4(server, NULL, NULL, 0)) < 0 && (errno == EAGAIN || errno == ENOMEM))
		AGAIN(epoll_wait(set, &event, 1, 100));
	while (!error_of(fds[1]) && !(AGAIN(poll(&(struct pollfd){ fds[1], POLLOUT, 0 }, 1, 100))))
		;
	AGAIN(fcntl(fds[1], F_SETFL, 0));
	event.events = EPOLLIN | EPOLLET;
	AGAIN(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	close(server);
}

static void waits(int set, int fds[2])
{
	struct pollfd both[2] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN | POLLOUT, 0 } };
	struct epoll_event event[4];
	struct timeval zero = { 0 };
	sigset_t mask;
	fd_set readers;

	sigemptyset(&mask);
	AGAIN(poll(both, 2, 100));
	AGAIN(ppoll(both, 2, &(struct timespec){ 0 }, &mask));
	FD_ZERO(&readers);
	FD_SET(fds[0], &readers);
	AGAIN(select(fds[0] + 1, &readers, NULL, NULL, &zero));
	AGAIN(epoll_wait(set, event, 4, 0));
	AGAIN(epoll_pwait(set, event, 4, 0, &mask));
}

static void copies(int fds[2])
{
	int file = MUST(open("/proc/self/exe", O_RDONLY)), pipes[2], unread, copy;
	static char text[SIZE];

	MUST(pipe(pipes));
	AGAIN(sendfile(fds[0], file, NULL, 100));
	AGAIN(ioctl(fds[1], FIONREAD, &unread));
	AGAIN(splice(fds[1], NULL, pipes[1], NULL, 100, 0));
	read(pipes[0], text, 100);
	copy = AGAIN(dup(fds[0]));
	close(copy);
	copy = AGAIN(fcntl(fds[0], F_DUPFD, 70));
	close(copy);
	close(file), close(pipes[0]), close(pipes[1]);
}

/* What a child may lose is its connection. */
static void inherits(int fds[2])
{
	pid_t pid = MUST(fork()), grandchild;
	char byte;

	if (pid == 0) {
		alarm(5);
		grandchild = fork();
		if (grandchild == 0)
			_exit(0);
		if (send(fds[0], "c", 1, MSG_NOSIGNAL) == 1)
			recv(fds[0], &byte, 1, 0);
		exit_of(grandchild);
		_exit(0);
	}
	close(fds[0]);
	while (recv(fds[1], &byte, 1, 0) == 1)
		send(fds[1], &byte, 1, MSG_NOSIGNAL);
	if (exit_of(pid) < 0)
		_exit(6);
	close(fds[1]);
}

static void datagrams(int set)
{
	int fds[2] = { AGAIN(socket(AF_INET, SOCK_DGRAM, 0)), AGAIN(socket(AF_INET, SOCK_DGRAM, 0)) };
	struct epoll_event event = { .events = EPOLLIN };
	struct sockaddr_in to;
	char byte;

	AGAIN(bind_to(fds[0], HERE, 0));
	AGAIN(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	to = ipv4(HERE, port_of(fds[0]));
	AGAIN(sendto(fds[1], "x", 1, 0, (struct sockaddr *)&to, sizeof to));
	AGAIN(epoll_wait(set, &event, 1, 1000));
	AGAIN(recv(fds[0], &byte, 1, 0));
	close(fds[0]), close(fds[1]);
}

static void everything(void)
{
	int set = MUST(epoll_create1(0)), fds[2];

	connected(set, fds);
	transfer(fds[1], fds[0]);
	waits(set, fds);
	copies(fds);
	AGAIN(dprintf(fds[1], "%s", "printed"));
	close(fds[0]), close(fds[1]);
	connected(set, fds);
	inherits(fds);
	datagrams(set);
	close(set);
}

/* Whether there is an allocation of that number. */
static bool attempt(long number)
{
	char text[20];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		snprintf(text, sizeof text, "%ld", number);
		execl("/proc/self/exe", "memory", text, NULL);
		_exit(2);
	}
	MUST(waitpid(pid, &status, 0));
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		say("# allocation %ld: status %x", number, status);
		failures++;
		return true;
	}
	return WEXITSTATUS(status) == 1;
}

int main(int argc, char **argv)
{
	long number = 1;

	if (argc > 1) {
		signal(SIGALRM, late);
		alarm(20);
		find_library();
		left = atol(argv[1]);
		everything();
		left = 0;
		fflush(stdout);
		return fired;
	}
	while (number < MOST && failures < 5 && attempt(number))
		number++;
	say("# %ld allocations", number - 1);
	check("the library has allocations, and each may fail", number > 30 && number < MOST && !failures);
	return failures != 0;
}
