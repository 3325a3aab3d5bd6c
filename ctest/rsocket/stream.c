// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections within one process: data, ends, waiting, threads, signals, deadlines. */
#include "check.h"

static char out[1 << 20], in[1 << 20];
static int theirs;

static void exact(const char *name, double took, double want)
{
	printf("# %s took %.3f s\n", name, took);
	/* Not early; a busy machine makes it late. */
	CHECK_TRUE(name, took >= want - 0.002 && took <= want + 1);
}

static void deadlines(void)
{
	int pipes[2], fds[2];
	struct pollfd poll[2];
	struct timeval time = { 1, 200000 };
	fd_set set;
	double start;

	if (pipe(pipes))
		exit(2);
	pair(7100, fds);
	poll[0] = (struct pollfd){ pipes[0], POLLIN, 0 };
	poll[1] = (struct pollfd){ fds[0], POLLIN, 0 };
	start = now();
	CHECK("rpoll of a pipe ends in time", rpoll(poll, 1, 300), 0, 0);
	exact("rpoll of a pipe, 0.3 s", now() - start, 0.3);
	start = now();
	CHECK("rpoll ends", rpoll(poll, 2, 1500), 0, 0);
	exact("R-1 rpoll, 1.5 s", now() - start, 1.5);
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	start = now();
	CHECK("rselect ends", rselect(fds[0] + 1, &set, NULL, NULL, &time), 0, 0);
	exact("R-1 rselect, 1.2 s", now() - start, 1.2);
	CHECK("rselect clears", FD_ISSET(fds[0], &set), 0, 0);
	if (write(pipes[1], "x", 1) != 1)
		exit(2);
	CHECK("rpoll sees the pipe", rpoll(poll, 2, 1000), 1, 0);
	CHECK("rpoll says which", poll[0].revents, POLLIN, 0);
	poll[0].fd = 900;
	CHECK("rpoll of a closed descriptor", rpoll(poll, 2, 1000), 1, 0);
	CHECK("rpoll of a closed descriptor", poll[0].revents, POLLNVAL, 0);
	rclose(fds[0]);
	rclose(fds[1]);
	close(pipes[0]);
	close(pipes[1]);
}

static void data(void)
{
	int fds[2];
	struct iovec parts[3] = { { out, 3 }, { out + 3, 0 }, { out + 3, 5 } };
	struct iovec rooms[2] = { { in, 2 }, { in + 2, 100 } };
	struct msghdr message = { .msg_iov = rooms, .msg_iovlen = 2, .msg_flags = MSG_OOB };
	struct sockaddr_in a, b;
	socklen_t length = sizeof a;

	for (unsigned i = 0; i < sizeof out; i++)
		out[i] = (char)(i * 7 + (i >> 9));
	pair(7101, fds);
	rgetpeername(fds[0], (struct sockaddr *)&a, &length);
	length = sizeof b;
	rgetsockname(fds[1], (struct sockaddr *)&b, &length);
	CHECK("names of both sides agree", memcmp(&a, &b, 8), 0, 0);
	CHECK("rrecv with nothing there", rrecv(fds[0], in, 1, MSG_DONTWAIT), -1, EAGAIN);
	CHECK("rwritev", rwritev(fds[1], parts, 3), 8, 0);
	CHECK("R-30 peek", rrecv(fds[0], in, 4, MSG_PEEK), 4, 0);
	if (!theirs) {
		CHECK("R-30 rrecvmsg fills all pieces", rrecvmsg(fds[0], &message, 0), 8, 0);
		CHECK("R-30 rrecvmsg sets the flags", message.msg_flags, 0, 0);
		CHECK("R-30 rrecvmsg data", memcmp(in, out, 8), 0, 0);
	} else {
		rrecv(fds[0], in, 8, MSG_WAITALL);
	}
	CHECK("rsend of nothing", rsend(fds[1], out, 0, 0), 0, 0);
	CHECK("rsend", rsend(fds[1], out, 60000, 0), 60000, 0);
	CHECK("MSG_WAITALL", rrecv(fds[0], in, 60000, MSG_WAITALL), 60000, 0);
	CHECK("data", memcmp(in, out, 60000), 0, 0);

	long sent = 0, got = 0;
	int error = 0;

	rfcntl(fds[1], F_SETFL, O_NONBLOCK);
	for (;;) {
		long n = rsend(fds[1], out, 100000, 0);
		if (n < 0) {
			error = errno;
			break;
		}
		sent += n;
	}
	CHECK("full: EAGAIN", error, EAGAIN, 0);
	struct pollfd poll = { fds[1], POLLOUT, 0 };
	CHECK("full: not writable", rpoll(&poll, 1, 50), 0, 0);
	while (got < sent) {
		long n = rrecv(fds[0], in, sizeof in, 0);
		if (n <= 0)
			break;
		got += n;
	}
	CHECK_TRUE("all arrived", got == sent);
	CHECK("writable again", rpoll(&poll, 1, 2000), 1, 0);
	CHECK("writable again", poll.revents, POLLOUT, 0);
	rclose(fds[0]);
	rclose(fds[1]);
}

static void ends(void)
{
	int fds[2];
	struct pollfd poll;

	pair(7102, fds);
	CHECK("rsend", rsend(fds[1], "last", 4, 0), 4, 0);
	CHECK("SHUT_WR", rshutdown(fds[1], SHUT_WR), 0, 0);
	if (!theirs)
		CHECK("R-36 write after SHUT_WR", rsend(fds[1], "x", 1, MSG_NOSIGNAL), -1, EPIPE);
	CHECK("data before the end", rrecv(fds[0], in, 10, 0), 4, 0);
	CHECK("the end", rrecv(fds[0], in, 10, 0), 0, 0);
	CHECK("the other way still works", rsend(fds[0], "back", 4, 0), 4, 0);
	CHECK("the other way still works", rrecv(fds[1], in, 10, 0), 4, 0);
	CHECK("close", rclose(fds[0]), 0, 0);
	CHECK("the peer's close is an end", rrecv(fds[1], in, 10, 0), 0, 0);
	CHECK("close", rclose(fds[1]), 0, 0);

	pair(7103, fds);
	rsend(fds[1], "data", 4, 0);
	CHECK("close with data on its way", rclose(fds[1]), 0, 0);
	usleep(200000);
	poll = (struct pollfd){ fds[0], POLLIN, 0 };
	CHECK("unread data of a closed peer", rpoll(&poll, 1, 1000), 1, 0);
	CHECK("R-36 no hang-up before the data is read", poll.revents, POLLIN, 0);
	CHECK("unread data of a closed peer", rrecv(fds[0], in, 10, 0), 4, 0);
	CHECK("then the end", rrecv(fds[0], in, 10, 0), 0, 0);
	/* As with TCP, whose peer answers what it gets with a reset. */
	CHECK("R-36 write to a closed peer", rsend(fds[0], "x", 1, MSG_NOSIGNAL), 1, 0);
	CHECK("R-36 receive after it", rrecv(fds[0], in, 10, 0), 0, 0);
	poll = (struct pollfd){ fds[0], 0, 0 };
	CHECK("R-36 poll after it", rpoll(&poll, 1, 1000), 1, 0);
	CHECK("R-36 what poll says after it", poll.revents, POLLERR | POLLHUP, 0);
	CHECK("R-36 second write to a closed peer", rsend(fds[0], "x", 1, MSG_NOSIGNAL), -1, EPIPE);
	CHECK("R-36 shutdown after a closed peer", rshutdown(fds[0], SHUT_RDWR), -1, ENOTCONN);
	rclose(fds[0]);
}

struct waiting {
	int fd, kind;
	long result;
	int error;
	double took;
};

static void *wait_in(void *arg)
{
	struct waiting *w = arg;
	struct pollfd poll = { w->fd, POLLIN, 0 };
	double start = now();

	errno = 0;
	if (w->kind == 0)
		w->result = rrecv(w->fd, in, 1, 0);
	else if (w->kind == 1)
		w->result = rpoll(&poll, 1, 8000);
	else if (w->kind == 3)
		w->result = raccept(w->fd, NULL, NULL);
	else
		do
			w->result = rsend(w->fd, out, 100000, MSG_NOSIGNAL);
		while (w->result > 0);
	w->error = errno;
	w->took = now() - start;
	return NULL;
}

static void woken(void)
{
	static const char *const names[] = { "C 86520b8 rrecv woken by rshutdown",
		"C 86520b8 rpoll woken by rshutdown", "C 86520b8 rsend woken by rshutdown" };

	for (int kind = 0; kind < 3 && !theirs; kind++) {
		int fds[2];
		struct waiting w;
		pthread_t thread;

		pair(7105 + kind, fds);
		w = (struct waiting){ fds[0], kind, -2, 0, 0 };
		pthread_create(&thread, NULL, wait_in, &w);
		usleep(300000);
		rshutdown(fds[0], SHUT_RDWR);
		pthread_join(thread, NULL);
		report(names[kind], w.result, w.error, kind == 0 ? 0 : kind == 1 ? 1 : -1, EPIPE);
		CHECK_TRUE(names[kind], w.took < 2);
		rclose(fds[1]);
		rclose(fds[0]);
	}
	/* TCP leaves such a call alone until its peer speaks; here it ends, and always the same way. */
	for (int kind = 0; kind < 3 && !theirs; kind++) {
		int fds[2];
		struct waiting w;
		pthread_t thread;

		pair(7110 + kind, fds);
		w = (struct waiting){ fds[0], kind, -2, 0, 0 };
		pthread_create(&thread, NULL, wait_in, &w);
		usleep(300000);
		CHECK("R-37 close under a waiting thread", rclose(fds[0]), 0, 0);
		pthread_join(thread, NULL);
		report("R-37 woken by rclose", w.result, w.error, kind == 1 ? 1 : -1, EBADF);
		CHECK_TRUE("R-37 woken soon", w.took < 2);
		rclose(fds[1]);
	}
	if (!theirs) {
		int server = listener(7114, 4);
		pthread_t thread;
		struct waiting w = { server, 3, -2, 0, 0 };

		pthread_create(&thread, NULL, wait_in, &w);
		usleep(300000);
		CHECK("R-37 close under raccept", rclose(server), 0, 0);
		pthread_join(thread, NULL);
		report("R-37 raccept woken by rclose", w.result, w.error, -1, EBADF);
	}
}

static void *echo(void *arg)
{
	int fd = *(int *)arg;
	char byte;

	while (rrecv(fd, &byte, 1, 0) == 1)
		if (rsend(fd, &byte, 1, 0) != 1)
			break;
	return NULL;
}

struct poller {
	int fd;
	volatile int stop;
	double longest;
};

/* Polls for writing all the time, so that two threads want the same events. */
static void *poll_out(void *arg)
{
	struct poller *p = arg;

	while (!p->stop) {
		struct pollfd poll = { p->fd, POLLIN, 0 };

		rpoll(&poll, 1, 20);
	}
	return NULL;
}

static void shared(void)
{
	int fds[2];
	pthread_t threads[2];
	struct poller p = { 0, 0, 0 };
	char byte = 'x';
	int rounds = 2000, done = 0;

	pair(7113, fds);
	p.fd = fds[1];
	pthread_create(&threads[0], NULL, echo, &fds[0]);
	pthread_create(&threads[1], NULL, poll_out, &p);
	double longest = 0;
	for (; done < rounds; done++) {
		double start = now();

		if (rsend(fds[1], &byte, 1, 0) != 1 || rrecv(fds[1], &byte, 1, 0) != 1)
			break;
		if (now() - start > longest)
			longest = now() - start;
	}
	p.stop = 1;
	CHECK("C 23985e2 two threads on one socket", done, rounds, 0);
	printf("# longest round trip %.3f s\n", longest);
	CHECK_TRUE("C 23985e2 no stall", longest < 0.4);
	pthread_join(threads[1], NULL);
	rclose(fds[1]);
	pthread_join(threads[0], NULL);
	rclose(fds[0]);
}

struct sender {
	int fd;
	long bytes;
};

static void *send_all(void *arg)
{
	struct sender *s = arg;
	long done = 0;

	while (done < s->bytes) {
		long n = rsend(s->fd, out + done % 4096, 4096, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += n;
	}
	s->bytes = done;
	return NULL;
}

static void signals(void)
{
	int fds[2];
	struct sender s;
	pthread_t thread;
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, off = { { 0, 0 }, { 0, 0 } };
	struct pollfd poll;
	long got = 0;

	pair(7114, fds);
	handle(SIGALRM, 0);
	poll = (struct pollfd){ fds[0], POLLIN, 0 };
	alarm(1);
	CHECK("rpoll is interrupted", rpoll(&poll, 1, 5000), -1, EINTR);
	alarm(1);
	CHECK("rrecv is interrupted", rrecv(fds[0], in, 1, 0), -1, EINTR);
	s = (struct sender){ fds[1], 500L * 4096 };
	handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&thread, NULL, send_all, &s);
	while (got < 500L * 4096) {
		long n = rrecv(fds[0], in, 65536, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += n;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	pthread_join(thread, NULL);
	CHECK_TRUE("C 4eea770 data survives signals", got == 500L * 4096);
	rclose(fds[0]);
	rclose(fds[1]);
}

int main(int argc, char **argv)
{
	theirs = getenv("THEIRS") != NULL;
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "deadlines", deadlines }, { "data", data },	{ "ends", ends },
		{ "woken", woken },	    { "shared", shared }, { "signals", signals },
	};

	/* Each in a process of its own: one that hangs or dies costs only itself. */
	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		int status = 0;

		if (argc > 1 && strcmp(argv[1], parts[i].name))
			continue;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			close(STDIN_FILENO);
			parts[i].run();
			_exit(finish());
		}
		for (int tenths = 0; waitpid(pid, &status, WNOHANG) == 0; tenths++) {
			usleep(100000);
			if (tenths == 450)
				kill(pid, SIGKILL);
		}
		if (!WIFEXITED(status)) {
			printf("not-ok R-36 %s: signal %d\n", parts[i].name, WTERMSIG(status));
			failures++;
		} else {
			failures += WEXITSTATUS(status);
		}
	}
	return finish();
}
