/* Connecting without waiting: refused, twice, and both sides in one thread. */
#include "check.h"

static char in[16];

/* The second time the first is on its way, or, on a busy machine, refused and told: then another try. */
static int connect_twice(const struct sockaddr_in *sin)
{
	int fd, error, tries = 0;

	do {
		if (tries)
			rclose(fd);
		fd = rsocket(AF_INET, SOCK_STREAM, 0);
		rfcntl(fd, F_SETFL, O_NONBLOCK);
		CHECK("non-blocking connect", rconnect(fd, (const struct sockaddr *)sin, sizeof *sin), -1, EINPROGRESS);
		error = rconnect(fd, (const struct sockaddr *)sin, sizeof *sin) ? errno : 0;
	} while (error == ECONNREFUSED && ++tries < 50);
	report("connect again", error ? -1 : 0, error, -1, EALREADY);
	return fd;
}

static void refused(void)
{
	struct sockaddr_in sin = address(7199);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), value = 0;
	socklen_t size = sizeof value;
	struct pollfd poll = { fd, POLLOUT, 0 };

	CHECK("nobody listens", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, ECONNREFUSED);
	rclose(fd);
	if (getenv("THEIRS"))
		return;
	poll.fd = fd = connect_twice(&sin);
	CHECK("its failure is seen", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("its failure is seen", !!(poll.revents & POLLERR), 1, 0);
	CHECK("C 74d5844 send keeps the error", rsend(fd, "x", 1, MSG_NOSIGNAL), -1, ECONNREFUSED);
	CHECK("SO_ERROR", rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size), 0, 0);
	CHECK("SO_ERROR", value, ECONNREFUSED, 0);
	rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size);
	CHECK("SO_ERROR is told once", value, 0, 0);
	rclose(fd);
	fd = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	poll.fd = fd;
	CHECK("non-blocking connect", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, EINPROGRESS);
	CHECK("its failure is seen", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("connect again tells it", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, ECONNREFUSED);
	rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size);
	CHECK("which is told once", value, 0, 0);
	rclose(fd);
}

/* One thread alone: connect and accept without blocking. */
static void single_threaded(void)
{
	struct sockaddr_in sin = address(7104);
	int server = listener(7104, 4), fd = rsocket(AF_INET, SOCK_STREAM, 0), accepted;
	struct pollfd poll = { server, POLLIN, 0 };

	rfcntl(fd, F_SETFL, O_NONBLOCK);
	rfcntl(server, F_SETFL, O_NONBLOCK);
	CHECK("non-blocking connect", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, EINPROGRESS);
	CHECK("the request is seen", rpoll(&poll, 1, 5000), 1, 0);
	accepted = raccept(server, NULL, NULL);
	CHECK_TRUE("accepted", accepted >= 0);
	CHECK("accepted is blocking", !!(rfcntl(accepted, F_GETFL) & O_NONBLOCK), 0, 0);
	poll = (struct pollfd){ fd, POLLOUT, 0 };
	CHECK("connected", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("connected", poll.revents, POLLOUT, 0);
	CHECK("data", rsend(fd, "x", 1, 0), 1, 0);
	CHECK("data", rrecv(accepted, in, 1, 0), 1, 0);
	rclose(accepted);
	rclose(fd);
	rclose(server);
}

int main(void)
{
	refused();
	single_threaded();
	return finish();
}
