// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What one thread does to a socket while another waits on it: close, shutdown, dup2 over it, changes of an epoll set.
 * rdma: 30
 * limit: 60
 */
#include "common.h"

static int fds[2], server, set;
/* What the waiting thread found; it is said when both are done. */
static char found[80];

static void *reads(void *unused)
{
	char text[8];
	long n = recv(fds[0], text, 5, 0);

	snprintf(found, sizeof found, "recv %ld %s", n, n < 0 ? errno_name(errno) : "");
	return NULL;
}

static void *polls(void *fd)
{
	struct pollfd one = { (int)(long)fd, POLLIN, 0 };
	int n = poll(&one, 1, 3000);

	snprintf(found, sizeof found, "poll %d [%s]", n, events(one.revents));
	return NULL;
}

static void *accepts(void *unused)
{
	int fd = accept(server, NULL, NULL);

	snprintf(found, sizeof found, "accept %s", fd < 0 ? errno_name(errno) : "a descriptor");
	return NULL;
}

static void *waits(void *unused)
{
	struct epoll_event event;
	int n = epoll_wait(set, &event, 1, 1500);

	snprintf(found, sizeof found, "epoll_wait %d [%s]", n, n > 0 ? events(event.events) : "");
	return NULL;
}

static void *sends(void *unused)
{
	static char block[4 << 20];
	long n = send(fds[0], block, sizeof block, MSG_NOSIGNAL);

	snprintf(found, sizeof found, "send %s %s", n < 0 ? "fails" : n < (long)sizeof block ? "a part" : "all",
		 n < 0 ? errno_name(errno) : "");
	return NULL;
}

static void meanwhile(const char *title, void *(*wait)(void *), int fd, void (*act)(void))
{
	pthread_t thread;

	TITLE(title);
	pthread_create(&thread, NULL, wait, (void *)(long)fd);
	nap(200);
	act();
	pthread_join(thread, NULL);
	say("%s", found);
}

static void on_pair(const char *title, void *(*wait)(void *), void (*act)(void))
{
	pair(fds);
	meanwhile(title, wait, fds[0], act);
	close(fds[0]), close(fds[1]);
}

static void close_then_send(void)
{
	SAY(close(fds[0]));
	nap(100);
	SAY(send(fds[1], "hello", 5, MSG_NOSIGNAL));
}

static void close_then_end(void)
{
	SAY(close(fds[0]));
	nap(100);
	SAY(shutdown(fds[1], SHUT_WR));
}

static void close_one_of_two(void)
{
	int copy = MUST(dup(fds[0]));

	SAY(close(fds[0]));
	SAY(send(fds[1], "hello", 5, MSG_NOSIGNAL));
	nap(100);
	SAY(close(copy));
}

static void replace(void)
{
	int pipes[2];

	MUST(pipe(pipes));
	SAY(dup2(pipes[0], fds[0]) == fds[0]);
	nap(100);
	SAY(send(fds[1], "hello", 5, MSG_NOSIGNAL));
	nap(100);
	close(pipes[0]), close(pipes[1]);
}

static void end_reading(void)
{
	SAY(shutdown(fds[0], SHUT_RD));
}

static void end_writing(void)
{
	SAY(shutdown(fds[0], SHUT_WR));
}

static void end_both(void)
{
	SAY(shutdown(fds[0], SHUT_RDWR));
}

static void peer_goes(void)
{
	SAY(close(fds[1]));
}

static void end_listening(void)
{
	SAY(shutdown(server, SHUT_RD));
}

static void on_listener(const char *title, void *(*wait)(void *))
{
	server = listener(4);
	meanwhile(title, wait, server, end_listening);
	close(server);
}

static void in_set(const char *title, void (*act)(void))
{
	struct epoll_event event = { .events = EPOLLIN };

	set = MUST(epoll_create1(0));
	pair(fds);
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	meanwhile(title, waits, set, act);
	close(fds[0]), close(fds[1]), close(set);
}

static void modify(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT };

	SAY(epoll_ctl(set, EPOLL_CTL_MOD, fds[0], &event));
}

static void delete(void)
{
	SAY(epoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL));
	SAY(send(fds[1], "x", 1, MSG_NOSIGNAL));
}

static void only_close(void)
{
	SAY(close(fds[0]));
}

static void delete_and_add(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	delete();
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
}

int main(void)
{
	on_pair("recv, closed", reads, close_then_send);
	on_pair("recv, closed, the peer ends", reads, close_then_end);
	on_pair("recv, closed with a copy left", reads, close_one_of_two);
	on_pair("recv, dup2 over it", reads, replace);
	on_pair("recv, SHUT_RD", reads, end_reading);
	on_pair("recv, SHUT_RDWR", reads, end_both);
	on_pair("poll, SHUT_RD", polls, end_reading);
	on_pair("poll, SHUT_RDWR", polls, end_both);
	on_pair("poll, the peer closes", polls, peer_goes);
	on_pair("send, SHUT_WR", sends, end_writing);
	on_pair("send, SHUT_RDWR", sends, end_both);
	on_pair("send, the peer closes", sends, peer_goes);
	on_listener("accept, SHUT_RD", accepts);
	on_listener("poll, SHUT_RD of a listener", polls);
	in_set("epoll, modified", modify);
	in_set("epoll, deleted", delete);
	in_set("epoll, deleted and added", delete_and_add);
	in_set("epoll, closed", only_close);
	in_set("epoll, SHUT_RDWR", end_both);
	return 0;
}
