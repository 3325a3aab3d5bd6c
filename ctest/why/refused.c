// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls of rsockets that are refused for what they ask: each writes one line, which ends with its error. The program
 * runs itself with a log file.
 */
#include "trace.h"

#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>

int repoll_create(int flags) __attribute__((weak));
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event) __attribute__((weak));
int repoll_wait(int epfd, struct epoll_event *events, int max, int timeout) __attribute__((weak));

static int wrong;
static FILE *lines;

/* One line more, with that error at its end. */
static void refused(const char *call, long result, int error)
{
	char line[2000] = "", more[2000], end[40];
	int got = errno, count = 0;

	while (fgets(more, sizeof more, lines)) {
		memcpy(line, more, sizeof line);
		count++;
	}
	clearerr(lines);
	snprintf(end, sizeof end, ": %s\n", errno_name(error));
	if (result < 0 && got == error && count == 1 && strlen(line) > strlen(end) &&
	    !strcmp(line + strlen(line) - strlen(end), end))
		return;
	printf("wrong: %s: %ld %s, %d lines, the last: %s\n", call, result, errno_name(got), count, line);
	wrong++;
}

#define REFUSED(call, error) refused(#call, (errno = 0, (long)(call)), error)

static int option(int fd, int level, int name, int value) { return rsetsockopt(fd, level, name, &value, sizeof value); }

static void calls(void)
{
	int fd = MUST(rsocket(AF_INET, SOCK_STREAM, 0)), server = MUST(rsocket(AF_INET, SOCK_STREAM, 0));
	int set = MUST(repoll_create(0));
	struct sockaddr_in at = ipv4("10.77.0.1", 7471);
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT }, fine = { .events = EPOLLIN };
	struct msghdr header = { .msg_namelen = 1U << 31 };
	char byte = 0;

	REFUSED(rsocket(AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT);
	REFUSED(rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
	REFUSED(rsocket(AF_INET, SOCK_RAW, 0), ESOCKTNOSUPPORT);
	REFUSED(raccept(fd, NULL, NULL), EINVAL);
	REFUSED(rsend(fd, &byte, 1, MSG_OOB), EOPNOTSUPP);
	REFUSED(rrecv(fd, &byte, 1, MSG_OOB), EINVAL);
	REFUSED(rsend(fd, &byte, 1, 0), ENOTCONN);
	REFUSED(rrecv(fd, &byte, 1, 0), ENOTCONN);
	REFUSED(rrecvmsg(fd, &header, 0), EINVAL);
	REFUSED(rshutdown(fd, SHUT_WR), ENOTCONN);
	REFUSED(rshutdown(fd, 7), EINVAL);
	REFUSED(option(fd, IPPROTO_TCP, TCP_MAXSEG, 5), EINVAL);
	REFUSED(option(fd, IPPROTO_TCP, TCP_KEEPCNT, 0), EINVAL);
	REFUSED(riounmap(fd, &byte, 1), EINVAL);
	REFUSED(rpoll(NULL, 1UL << 40, 0), EINVAL);
	REFUSED(repoll_ctl(set, EPOLL_CTL_ADD, fd, &event), EINVAL);
	REFUSED(repoll_ctl(set, EPOLL_CTL_ADD, set, &fine), EINVAL);
	REFUSED(repoll_wait(set, &event, -1, 0), EINVAL);
	REFUSED(repoll_wait(set, &event, 0, 0), EINVAL);
	MUST(rbind(server, (struct sockaddr *)&at, sizeof at));
	MUST(rlisten(server, 1));
	REFUSED(rconnect(server, (struct sockaddr *)&at, sizeof at), EISCONN);
	REFUSED(rbind(server, (struct sockaddr *)&at, sizeof at), EINVAL);
	/* What the program asks in order to know is no failure. */
	if (rgetpeername(fd, (struct sockaddr *)&at, &(socklen_t){ sizeof at }) != -1 || errno != ENOTCONN ||
	    getc(lines) != EOF) {
		printf("wrong: rgetpeername writes a line\n");
		wrong++;
	}
}

int main(int argc, char **argv)
{
	char file[] = "/tmp/rdmacm-refused.XXXXXX";

	if (argc < 2) {
		close(MUST(mkstemp(file)));
		setenv("RDMACM_LOG", "warn", 1);
		setenv("RDMACM_LOG_FILE", file, 1);
		execl(argv[0], argv[0], file, NULL);
		return 2;
	}
	lines = fopen(argv[1], "r");
	if (!lines)
		return 2;
	calls();
	unlink(argv[1]);
	return wrong ? 1 : 0;
}
