// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* repoll: sets of rsockets and ordinary descriptors. */
#include "check.h"

static char buf[65536];

static int wait_for(int set, struct epoll_event *event, int timeout)
{
	memset(event, 0, sizeof *event);
	return repoll_wait(set, event, 1, timeout);
}

static void add(int set, int fd, unsigned events, int data)
{
	struct epoll_event event = { .events = events, .data.u32 = data };

	CHECK("add", repoll_ctl(set, EPOLL_CTL_ADD, fd, &event), 0, 0);
}

static void errors(int set, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	CHECK("E-1 ctl of a bad set", repoll_ctl(-1, EPOLL_CTL_ADD, fd, &event), -1, EBADF);
	CHECK("E-1 ctl of no set", repoll_ctl(fd, EPOLL_CTL_ADD, fd, &event), -1, EINVAL);
	CHECK("E-1 add a bad fd", repoll_ctl(set, EPOLL_CTL_ADD, 3000, &event), -1, EBADF);
	CHECK("E-1 add the set", repoll_ctl(set, EPOLL_CTL_ADD, set, &event), -1, EINVAL);
	CHECK("E-1 delete what is not in it", repoll_ctl(set, EPOLL_CTL_DEL, fd, NULL), -1, ENOENT);
	CHECK("E-1 modify what is not in it", repoll_ctl(set, EPOLL_CTL_MOD, fd, &event), -1, ENOENT);
	CHECK("E-1 no event", repoll_ctl(set, EPOLL_CTL_ADD, fd, NULL), -1, EFAULT);
	CHECK("E-1 wait of a bad set", repoll_wait(-1, &event, 1, 0), -1, EBADF);
	CHECK("E-1 wait for nothing", repoll_wait(set, &event, 0, 0), -1, EINVAL);
	CHECK("E-10 rrecv of a set", rrecv(set, buf, 1, 0), -1, ENOTSOCK);
	CHECK("E-1 create with unknown flags", repoll_create(12345), -1, EINVAL);
}

/* A socket that is ready, once, and another's completion in the same wait, whoever has the turn: the set goes on to
 * be ready for the second. */
static void two_at_once(int set, int fds[2])
{
	struct epoll_event events[4], once = { .events = EPOLLOUT | EPOLLET, .data.u32 = 8 };
	int others[2];

	pair(7202, others);
	add(set, others[0], EPOLLOUT | EPOLLET, 8);
	for (int turn = 0; turn < 4; turn++) {
		struct pollfd look = { set, POLLIN, 0 };

		/* Both idle, and asked to tell of what comes. */
		while (repoll_wait(set, events, 4, 50) > 0)
			;
		repoll_ctl(set, EPOLL_CTL_MOD, others[0], &once);
		rsend(fds[1], "f", 1, 0);
		usleep(50000);
		CHECK_TRUE("E-9 two at once: one or both", repoll_wait(set, events, 4, 1000) > 0);
		CHECK("E-9 the set wakes for the other", poll(&look, 1, 2000), 1, 0);
		CHECK("E-9 which is told", repoll_wait(set, events, 4, 2000), 1, 0);
		CHECK("E-9 which is told", events[0].data.u32, 3, 0);
		rrecv(fds[0], buf, 1, 0);
	}
	CHECK("delete", repoll_ctl(set, EPOLL_CTL_DEL, others[0], NULL), 0, 0);
	rclose(others[0]);
	rclose(others[1]);
}

static void *later(void *arg)
{
	usleep(300000);
	rsend(*(int *)arg, "x", 1, 0);
	return NULL;
}

int main(void)
{
	struct epoll_event event;
	int fds[2], pipes[2], set, server;
	pthread_t thread;
	double start;

	if (!repoll_create) {
		printf("# no repoll in this library\n");
		return 0;
	}
	set = repoll_create(EPOLL_CLOEXEC);
	CHECK_TRUE("create", set >= 0);
	pair(7200, fds);
	if (pipe(pipes))
		return 2;
	errors(set, fds[0]);
	add(set, fds[0], EPOLLIN, 1);
	add(set, pipes[0], EPOLLIN, 2);
	CHECK("add again", repoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event), -1, EEXIST);
	start = now();
	CHECK("E-5 nothing", wait_for(set, &event, 700), 0, 0);
	CHECK_TRUE("R-1 in time", now() - start >= 0.699 && now() - start < 1.0);
	pthread_create(&thread, NULL, later, &fds[1]);
	CHECK("data", wait_for(set, &event, 5000), 1, 0);
	CHECK("data", event.data.u32 * 100 + event.events, 101, 0);
	pthread_join(thread, NULL);
	CHECK("level: again", wait_for(set, &event, 0), 1, 0);
	struct pollfd look = { set, POLLIN, 0 };
	CHECK("the set itself is readable", rpoll(&look, 1, 0), 1, 0);
	rrecv(fds[0], buf, 1, 0);
	CHECK("read: no more", wait_for(set, &event, 50), 0, 0);
	if (write(pipes[1], "x", 1) != 1)
		return 2;
	CHECK("an ordinary descriptor", wait_for(set, &event, 1000), 1, 0);
	CHECK("an ordinary descriptor", event.data.u32, 2, 0);
	if (read(pipes[0], buf, 1) != 1)
		return 2;

	event = (struct epoll_event){ .events = EPOLLIN | EPOLLET, .data.u32 = 3 };
	CHECK("modify", repoll_ctl(set, EPOLL_CTL_MOD, fds[0], &event), 0, 0);
	CHECK("nothing yet", wait_for(set, &event, 50), 0, 0);
	rsend(fds[1], "ab", 2, 0);
	CHECK("E-2 edge", wait_for(set, &event, 2000), 1, 0);
	CHECK("E-2 edge: data", event.data.u32, 3, 0);
	usleep(100000);
	CHECK("E-2 edge: once", wait_for(set, &event, 50), 0, 0);
	rsend(fds[1], "c", 1, 0);
	CHECK("E-2 edge: more data", wait_for(set, &event, 2000), 1, 0);
	rrecv(fds[0], buf, 3, MSG_WAITALL);
	CHECK("E-2 edge: read", wait_for(set, &event, 50), 0, 0);
	rsend(fds[1], "c", 1, 0);
	CHECK("E-2 edge: new data", wait_for(set, &event, 2000), 1, 0);
	rrecv(fds[0], buf, 1, 0);

	event = (struct epoll_event){ .events = EPOLLIN, .data.u32 = 3 };
	repoll_ctl(set, EPOLL_CTL_MOD, fds[0], &event);
	two_at_once(set, fds);

	event = (struct epoll_event){ .events = EPOLLIN | EPOLLONESHOT, .data.u32 = 4 };
	repoll_ctl(set, EPOLL_CTL_MOD, fds[0], &event);
	rsend(fds[1], "d", 1, 0);
	CHECK("E-2 one shot", wait_for(set, &event, 2000), 1, 0);
	CHECK("E-2 one shot: once", wait_for(set, &event, 50), 0, 0);
	event = (struct epoll_event){ .events = EPOLLIN | EPOLLRDHUP | EPOLLOUT, .data.u32 = 5 };
	repoll_ctl(set, EPOLL_CTL_MOD, fds[0], &event);
	CHECK("E-2 armed again", wait_for(set, &event, 2000), 1, 0);
	CHECK("E-2 in and out", event.events, EPOLLIN | EPOLLOUT, 0);
	rrecv(fds[0], buf, 1, 0);
	rshutdown(fds[1], SHUT_WR);
	usleep(100000);
	CHECK("E-2 the peer shut down", wait_for(set, &event, 2000), 1, 0);
	CHECK("E-2 the peer shut down", event.events, EPOLLIN | EPOLLRDHUP | EPOLLOUT, 0);

	CHECK("delete while it is ready", repoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL), 0, 0);
	CHECK("ready and deleted", wait_for(set, &event, 50), 0, 0);
	add(set, fds[0], EPOLLIN, 5);
	CHECK("ready and added again", wait_for(set, &event, 50), 1, 0);
	rclose(fds[0]);
	CHECK("E-4 a closed one leaves", wait_for(set, &event, 50), 0, 0);
	rclose(fds[1]);

	server = listener(7201, 4);
	add(set, server, EPOLLIN, 6);
	CHECK("no connection", wait_for(set, &event, 50), 0, 0);
	struct dialer dialer = { 7201, -1 };
	pthread_create(&thread, NULL, dial_thread, &dialer);
	CHECK("a connection", wait_for(set, &event, 5000), 1, 0);
	CHECK("a connection", event.data.u32, 6, 0);
	int accepted = raccept(server, NULL, NULL);
	pthread_join(thread, NULL);
	CHECK("accepted", wait_for(set, &event, 50), 0, 0);
	CHECK("delete", repoll_ctl(set, EPOLL_CTL_DEL, server, NULL), 0, 0);
	handle(SIGALRM, 0);
	alarm(1);
	CHECK("E-5 a signal ends the wait", wait_for(set, &event, 4000), -1, EINTR);
	add(set, accepted, EPOLLIN, 7);
	CHECK("E-3 close with members", rclose(set), 0, 0);
	CHECK("E-3 closed", repoll_wait(set, &event, 1, 0), -1, EBADF);
	rclose(accepted);
	rclose(dialer.fd);
	rclose(server);
	return finish();
}
