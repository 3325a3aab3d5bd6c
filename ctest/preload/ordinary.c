// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Descriptors that are not the library's: files, pipes, Unix sockets and their passed descriptors, timers, sets.
 * rdma: 0
 * over-c: yes
 */
#include "common.h"
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <linux/netlink.h>

static void unix_sockets(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int server = MUST(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), client = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), peer, set;
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 7 };
	struct iovec part = { (char[8]){ "passing" }, 8 };
	char control[CMSG_SPACE(sizeof(int))] = "", text[16] = "";
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	int pipes[2], passed;

	TITLE("Unix sockets");
	SAY(bind(server, (struct sockaddr *)&name, sizeof name));
	SAY(listen(server, 1));
	SAY(connect(client, (struct sockaddr *)&name, sizeof name));
	peer = SAY_FD(accept4(server, NULL, NULL, SOCK_CLOEXEC));
	set = MUST(epoll_create1(0));
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, peer, &event));
	SAY(epoll_wait(set, &event, 1, 0));
	MUST(pipe(pipes));
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(head), &pipes[1], sizeof(int));
	SAY(sendmsg(client, &message, 0));
	SAY(epoll_wait(set, &event, 1, 1000));
	memset(control, 0, sizeof control);
	SAY(recvmsg(peer, &message, MSG_CMSG_CLOEXEC));
	memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	say("close-on-exec %d", fcntl(passed, F_GETFD));
	MUST(write(passed, "through", 7));
	SAY(read(pipes[0], text, 16));
	say("%s", text);
	close(server), close(client), close(peer), close(set), close(pipes[0]), close(pipes[1]), close(passed);
	unlink("socket");
}

static void others(void)
{
	int set = MUST(epoll_create1(0)), counter = MUST(eventfd(0, EFD_NONBLOCK)), timer = MUST(timerfd_create(CLOCK_MONOTONIC, 0));
	struct itimerspec when = { .it_value = { 0, 100000000 } };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = 1 }, got[4];
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	unsigned long value = 3;
	int netlink = MUST(socket(AF_NETLINK, SOCK_RAW, 0)), pipes[2], file;
	double start = now();

	TITLE("counters, timers, netlink, pipes");
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, counter, &event));
	event.data.u32 = 2;
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, timer, &event));
	SAY(timerfd_settime(timer, 0, &when, NULL));
	SAY(epoll_wait(set, got, 4, 2000));
	say("data %u, %s", got[0].data.u32, in_time(start, 0.1));
	SAY(write(counter, &value, sizeof value));
	SAY(epoll_pwait(set, got, 4, 2000, NULL));
	say("data %u", got[0].data.u32);
	SAY(read(counter, &value, 8));
	SAY(read(counter, &value, 8));
	SAY(bind(netlink, (struct sockaddr *)&kernel, sizeof kernel));
	MUST(pipe2(pipes, O_NONBLOCK));
	SAY(read(pipes[0], &value, 8));
	file = MUST(open("/proc/self/exe", O_RDONLY));
	SAY(sendfile(pipes[1], file, NULL, 100));
	SAY(splice(pipes[0], NULL, open("/dev/null", O_WRONLY), NULL, 100, 0));
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, file, &event));
	SAY(dup2(pipes[0], 100));
	SAY(fcntl(100, F_GETPIPE_SZ) > 0);
	SAY(fcntl(file, F_SETLK, &(struct flock){ .l_type = F_RDLCK }));
	SAY(fcntl(file, F_GETLEASE));
	SAY(close(netlink));
	SAY(pread(file, &value, 4, 1));
	say("%.3s", (char *)&value);
	SAY(close(set));
	SAY(epoll_wait(set, got, 1, 0));
}

static void errors(void)
{
	char byte;
	fd_set in;

	TITLE("errors");
	SAY(close(-1));
	SAY(close(12345));
	SAY(read(12345, &byte, 1));
	SAY(write(-5, &byte, 1));
	SAY(send(1 << 30, &byte, 1, 0));
	SAY(recv(-1, &byte, 1, 0));
	SAY(fcntl(-1, F_GETFL));
	SAY(dup2(-1, 5));
	SAY(getsockname(12345, NULL, NULL));
	SAY(poll(NULL, 5, 0));
	SAY(select(5, NULL, NULL, NULL, &(struct timeval){ 0, 0 }));
	FD_ZERO(&in);
	SAY(select(0, &in, NULL, NULL, &(struct timeval){ 0, 0 }));
	SAY(epoll_wait(12345, NULL, 1, 0));
	SAY(epoll_create(0));
	SAY(epoll_create1(12345));
	SAY(accept(12345, NULL, NULL));
	SAY(sendfile(12345, 0, NULL, 1));
	SAY(ioctl(12345, FIONREAD, &byte));
	SAY(send(0, &byte, 1, 0));
	SAY(listen(0, 1));
	errno = E2BIG;
	byte = poll(NULL, 0, 0) == 0 && dup2(0, 50) == 50 && close(50) == 0;
	say("good calls leave errno: %d %s", byte, errno_name(errno));
}

/* 127.0.0.1 has no RDMA device: plain TCP and UDP. */
static void loopback(void)
{
	int server = MUST(socket(AF_INET, SOCK_STREAM, 0)), client = MUST(socket(AF_INET, SOCK_STREAM, 0)), peer;

	TITLE("127.0.0.1");
	MUST(bind_to(server, "127.0.0.1", 0));
	MUST(listen(server, 1));
	SAY(connect_to(client, "127.0.0.1", port_of(server)));
	peer = SAY_FD(accept(server, NULL, NULL));
	ping(client, peer);
	close(client), close(peer), close(server);
	server = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	client = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SAY(bind_to(server, "127.0.0.1", 0));
	SAY(connect_to(client, "127.0.0.1", port_of(server)));
	SAY(send(client, "datagram", 8, 0));
	char text[16] = "";
	SAY(recv(server, text, 16, 0));
	say("%s", text);
	close(client), close(server);
}

int main(void)
{
	unix_sockets();
	others();
	errors();
	loopback();
	return 0;
}
