// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which way a socket went and why, in the lines of RDMACM_LOG and of RS_STATS: with its descriptor, its peer and the
 * port. And the words that RS_REQUIRE_RDMA takes.
 * native: no
 * rdma: 2
 * config: why INET * *
 */
#include "check.h"

#include <arpa/inet.h>
#include <sys/wait.h>

static char text[40000];

/* Runs a part of this program in a process of its own; what it says on standard error. */
static const char *errors_of(const char *part, const char *const settings[])
{
	long n, done = 0;
	int pipes[2];
	pid_t pid;

	MUST(pipe(pipes));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		dup2(pipes[1], 2);
		close(pipes[0]), close(pipes[1]);
		for (int i = 0; settings[i]; i++)
			putenv((char *)settings[i]);
		execl("/proc/self/exe", "why", part, NULL);
		_exit(1);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], text + done, sizeof text - 1 - done)) > 0)
		done += n;
	text[done] = 0;
	close(pipes[0]);
	check(part, exit_of(pid) == 0);
	printf("# %s\n", text);
	return text;
}

/* Whether a line has all the words, in this order; at the first number of the format, a descriptor. */
static int has_line(const char *said, const char *first, const char *format, ...)
{
	char wanted[300], *lines = strdup(said), *rest = lines, *line;
	va_list list;
	int found = 0;

	va_start(list, format);
	vsnprintf(wanted, sizeof wanted, format, list);
	va_end(list);
	while ((line = strsep(&rest, "\n")))
		found += strstr(line, first) && strstr(line, wanted) > strstr(line, first);
	free(lines);
	if (found != 1)
		say("# %d lines with \"%s\" and \"%s\"", found, first, wanted);
	return found == 1;
}

/* The log has the decision once, and the statistics have it with the bytes. */
#define BOTH(said, format, ...)                                                                                        \
	do {                                                                                                           \
		check("log: " format, has_line(said, "socket: ", format, ##__VA_ARGS__));                                \
		check("statistics: " format, has_line(said, "rspreload: pid ", format ": rdma in ", ##__VA_ARGS__));   \
	} while (0)

enum { PORT = 7341, FREE = 7342, DNS = 53 };

/* Numbers that the parts give their sockets. */
enum { SERVER = 50, CLIENT, ACCEPTED };

static int moved(int fd, int number)
{
	MUST(dup2(fd, number));
	close(fd);
	return number;
}

static void listen_at(const char *host)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));

	MUST(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)));
	MUST(bind_to(fd, host, PORT));
	MUST(listen(fd, 5));
	moved(fd, SERVER);
}

static void *connect_thread(void *host)
{
	int fd = moved(MUST(socket(AF_INET, SOCK_STREAM, 0)), CLIENT);

	MUST(connect_to(fd, host, PORT));
	return NULL;
}

static void meet_at(const char *host)
{
	pthread_t thread;
	char byte;

	listen_at(host);
	/* Or the client might come before the RDMA listener. */
	readable(SERVER, 0);
	MUST(-pthread_create(&thread, NULL, connect_thread, (void *)host));
	moved(MUST(accept(SERVER, NULL, NULL)), ACCEPTED);
	pthread_join(thread, NULL);
	MUST(send(CLIENT, "x", 1, 0));
	MUST(recv(ACCEPTED, &byte, 1, 0));
	close(CLIENT), close(ACCEPTED), close(SERVER);
}

/* Nobody listens. */
static void meet_nobody(int number, int non_blocking)
{
	struct pollfd one = { number, POLLOUT, 0 };

	moved(MUST(socket(AF_INET, SOCK_STREAM | (non_blocking ? SOCK_NONBLOCK : 0), 0)), number);
	connect_to(number, HERE, FREE);
	if (non_blocking)
		poll(&one, 1, 5000);
	close(number);
}

/* The listener hears of no request. */
static void meet_silent(void)
{
	listen_at(HERE);
	readable(SERVER, 0);
	for (int number = CLIENT; number <= ACCEPTED; number++) {
		moved(MUST(socket(AF_INET, SOCK_STREAM, 0)), number);
		MUST(connect_to(number, HERE, PORT));
		close(number);
	}
	close(SERVER);
}

/* preload_config takes IPv4 alone. */
static void meet_left_out(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(FREE) };

	inet_pton(AF_INET6, HERE6, &to.sin6_addr);
	moved(MUST(socket(AF_INET6, SOCK_STREAM, 0)), CLIENT);
	FAILS(connect(CLIENT, (struct sockaddr *)&to, sizeof to), ECONNREFUSED);
	close(CLIENT);
}

static void send_to(const char *host, int port)
{
	struct sockaddr_in to = ipv4(host, port);

	moved(MUST(socket(AF_INET, SOCK_DGRAM, 0)), CLIENT);
	sendto(CLIENT, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
	close(CLIENT);
}

static void join_a_group(void)
{
	struct ip_mreq group = { .imr_interface.s_addr = inet_addr(HERE), .imr_multiaddr.s_addr = inet_addr("239.1.2.3") };

	moved(MUST(socket(AF_INET, SOCK_DGRAM, 0)), CLIENT);
	MUST(setsockopt(CLIENT, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group));
	MUST(bind_to(CLIENT, "0.0.0.0", PORT));
	close(CLIENT);
}

static int part(const char *name)
{
	if (!strcmp(name, "rdma"))
		meet_at(HERE);
	else if (!strcmp(name, "loopback"))
		meet_at("127.0.0.1");
	else if (!strcmp(name, "refused"))
		meet_nobody(CLIENT, 0), meet_nobody(ACCEPTED, 1);
	else if (!strcmp(name, "silent"))
		meet_silent();
	else if (!strcmp(name, "left out"))
		meet_left_out();
	else if (!strcmp(name, "datagrams"))
		send_to(HERE, PORT), send_to(HERE, DNS), send_to("127.0.0.1", PORT), join_a_group();
	return 0;
}

static const char *const both[] = { "RS_STATS=1", "RDMACM_LOG=preload=info", NULL };

static void required(const char *setting, int works, int is_said)
{
	const char *settings[] = { setting, "RDMACM_LOG=preload=info", NULL };
	const char *said = errors_of("refused", settings);

	say("-- %s", setting);
	CHECK(!!strstr(said, "failed, RDMA is required (refused over RDMA: ECONNREFUSED)") == works);
	CHECK(!!strstr(said, "is ignored: it takes 1, yes or true") == is_said);
	CHECK(!is_said || strstr(said, setting));
}

int main(int argc, char **argv)
{
	const char *said;

	if (argc > 1)
		return part(argv[1]);
	said = errors_of("rdma", both);
	CHECK(has_line(said, "socket: listener ", "fd %d at %s:%d by RDMA and TCP", SERVER, HERE, PORT));
	BOTH(said, "fd %d to %s:%d by RDMA", CLIENT, HERE, PORT);
	CHECK(has_line(said, "socket: stream ", "from %s:", HERE));
	CHECK(has_line(said, "rspreload: ", "fd %d from %s:", ACCEPTED, HERE));
	said = errors_of("loopback", both);
	BOTH(said, "fd %d at 127.0.0.1:%d by TCP (loopback)", SERVER, PORT);
	BOTH(said, "fd %d to 127.0.0.1:%d by TCP (loopback)", CLIENT, PORT);
	CHECK(has_line(said, "rspreload: ", "fd %d from 127.0.0.1:", ACCEPTED));
	said = errors_of("refused", both);
	BOTH(said, "fd %d to %s:%d by TCP (refused over RDMA: ECONNREFUSED)", CLIENT, HERE, FREE);
	BOTH(said, "fd %d to %s:%d by TCP (refused over RDMA: ECONNREFUSED)", ACCEPTED, HERE, FREE);
	said = errors_of("silent", (const char *[]){ "RS_STATS=1", "RDMACM_LOG=preload=info", "RS_CONNECT_TIMEOUT_MS=600",
						     "RDMAFAKE=drop CONNECT_REQUEST always", NULL });
	BOTH(said, "fd %d to %s:%d by TCP (no answer over RDMA in time)", CLIENT, HERE, PORT);
	BOTH(said, "fd %d to %s:%d by TCP (the host was silent over RDMA within the last minute)", ACCEPTED, HERE, PORT);
	said = errors_of("left out", both);
	BOTH(said, "fd %d to [%s]:%d by TCP (left out by preload_config)", CLIENT, HERE6, FREE);
	said = errors_of("datagrams", both);
	BOTH(said, "fd %d to %s:%d by RDMA", CLIENT, HERE, PORT);
	BOTH(said, "fd %d to %s:%d by UDP (port 53 is that of a service on UDP)", CLIENT, HERE, DNS);
	BOTH(said, "fd %d to 127.0.0.1:%d by UDP (loopback)", CLIENT, PORT);
	CHECK(has_line(said, "socket: datagram ", "fd %d by UDP (IP_ADD_MEMBERSHIP was asked for)", CLIENT));
	required("RS_REQUIRE_RDMA=1", 1, 0);
	required("RS_REQUIRE_RDMA=yes", 1, 0);
	required("RS_REQUIRE_RDMA=True", 1, 0);
	required("RS_REQUIRE_RDMA=no", 0, 0);
	required("RS_REQUIRE_RDMA=on", 0, 1);
	required("RS_REQUIRE_RDMA=2", 0, 1);
	return failures != 0;
}
