// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sockets.h"

struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, text, &sin.sin_addr);
	return sin;
}

struct sockaddr_in6 address6(const char *text, int port)
{
	struct sockaddr_in6 sin = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	inet_pton(AF_INET6, text, &sin.sin6_addr);
	return sin;
}

int port_of(int fd)
{
	struct sockaddr_storage name = { 0 };
	socklen_t length = sizeof name;

	MUST(call.getsockname(fd, (struct sockaddr *)&name, &length));
	return ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
						: ((struct sockaddr_in *)&name)->sin_port);
}

int bind_to(int fd, const char *text, int port)
{
	struct sockaddr_in sin = address(text, port);

	return call.bind(fd, (struct sockaddr *)&sin, sizeof sin);
}

int connect_to(int fd, const char *text, int port)
{
	struct sockaddr_in sin = address(text, port);

	return call.connect(fd, (struct sockaddr *)&sin, sizeof sin);
}

void set_blocking(int fd, int on)
{
	MUST(call.fcntl(fd, F_SETFL, on ? 0 : O_NONBLOCK));
}

int set_int(int fd, int level, int option, int value)
{
	return call.setsockopt(fd, level, option, &value, sizeof value);
}

void set_linger(int fd, int on, int seconds)
{
	struct linger linger = { on, seconds };

	MUST(call.setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

void set_timeout(int fd, int option, int milliseconds)
{
	struct timeval limit = { milliseconds / 1000, milliseconds % 1000 * 1000 };

	MUST(call.setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit));
}

int stream(void)
{
	return MUST(call.socket(AF_INET, SOCK_STREAM, 0));
}

int datagram(void)
{
	return MUST(call.socket(AF_INET, SOCK_DGRAM, 0));
}

int bound_datagram(void)
{
	int fd = datagram();

	MUST(bind_to(fd, HERE, 0));
	return fd;
}

void datagram_pair(int fds[2])
{
	fds[0] = bound_datagram();
	fds[1] = bound_datagram();
	MUST(connect_to(fds[0], HERE, port_of(fds[1])));
	MUST(connect_to(fds[1], HERE, port_of(fds[0])));
}

int listener(int backlog)
{
	int fd = stream();

	MUST(bind_to(fd, HERE, 0));
	MUST(call.listen(fd, backlog));
	poll_now(fd, POLLIN);
	return fd;
}

static void *take_one(void *server)
{
	int fd;

	do
		poll_now((int)(long)server, POLLIN);
	while ((fd = call.accept((int)(long)server, NULL, NULL)) < 0 && errno == EAGAIN);
	return (void *)(long)fd;
}

pthread_t begin_accept(int server)
{
	pthread_t thread;

	MUST(-pthread_create(&thread, NULL, take_one, (void *)(long)server));
	return thread;
}

int end_accept(pthread_t thread)
{
	void *accepted;

	pthread_join(thread, &accepted);
	return MUST((long)accepted);
}

void pair_of(int server, int fds[2])
{
	pthread_t thread = begin_accept(server);

	fds[0] = stream();
	MUST(connect_to(fds[0], HERE, port_of(server)));
	fds[1] = end_accept(thread);
}

void pair(int fds[2])
{
	int server = listener(8);

	pair_of(server, fds);
	MUST(call.close(server));
}

long receive_all(int fd, void *to, long size)
{
	long done = 0, n;

	while (done < size && (n = call.recv(fd, (char *)to + done, size - done, 0)) > 0)
		done += n;
	return done;
}

long send_all(int fd, const void *from, long size)
{
	long done = 0, n;

	while (done < size && (n = call.send(fd, (const char *)from + done, size - done, MSG_NOSIGNAL)) > 0)
		done += n;
	return done;
}

void check_receive(const char *name, int fd, long size, int flags)
{
	char room[64] = { 0 };
	ssize_t got;

	watch_call();
	got = call.recv(fd, room, size < 63 ? size : 63, flags);
	if (got < 0 || call_was_asleep())
		check_result(name, got, errno);
	else
		check(name, "%zd %s", got, got ? room : "");
}

void deliver(int from, int to, const char *text)
{
	MUST(call.send(from, text, strlen(text), MSG_NOSIGNAL));
	settle(to, POLLIN);
}

long fill(int fd)
{
	static const char block[65536];
	long total = 0, n;

	/* The kernel finds no more room than this. */
	set_int(fd, SOL_SOCKET, SO_SNDBUF, 65536);
	for (size_t size = sizeof block; size; size /= 256) {
		/* What has left makes room for a while. */
		for (int vain = 0; vain < 20; vain++) {
			while ((n = call.send(fd, block, size, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
				total += n, vain = 0;
			nap(1);
		}
	}
	return total;
}

long drain(int fd)
{
	static char block[65536];
	long total = 0, n;

	while ((n = call.recv(fd, block, sizeof block, MSG_DONTWAIT)) > 0)
		total += n;
	return total;
}

static struct {
	int port;
	const char *whose;
} known_ports[8];

void know_port(int port, const char *whose)
{
	for (int i = 0; i < 8; i++) {
		if (!known_ports[i].whose || !strcmp(known_ports[i].whose, whose)) {
			known_ports[i].whose = whose;
			known_ports[i].port = port;
			return;
		}
	}
}

const char *name_text(const void *address, socklen_t length)
{
	const struct sockaddr_in *v4 = address;
	const struct sockaddr_in6 *v6 = address;
	char text[INET6_ADDRSTRLEN] = "?";
	const char *whose = "some port";
	int port;

	if (length == 0)
		return "nothing";
	if (v4->sin_family != AF_INET && v4->sin_family != AF_INET6)
		return named("family %d, length %u", v4->sin_family, length);
	port = ntohs(v4->sin_family == AF_INET ? v4->sin_port : v6->sin6_port);
	inet_ntop(v4->sin_family, v4->sin_family == AF_INET ? (void *)&v4->sin_addr : (void *)&v6->sin6_addr, text,
		  sizeof text);
	if (port == 0)
		whose = "port 0";
	for (int i = 0; i < 8 && port; i++)
		if (known_ports[i].whose && known_ports[i].port == port)
			whose = known_ports[i].whose;
	return named("%s %s, length %u", text, whose, length);
}

static void check_name(const char *name, int fd, int (*ask)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_storage found = { 0 };
	socklen_t length = sizeof found;

	if (ask(fd, (struct sockaddr *)&found, &length))
		check_result(name, -1, errno);
	else
		check(name, "%s", name_text(&found, length));
}

void check_names(const char *name, int fd)
{
	check_name(named("%s.own", name), fd, call.getsockname);
	check_name(named("%s.peer", name), fd, call.getpeername);
}

static void *later_run(void *arg)
{
	struct later *later = arg;

	nap(later->milliseconds);
	later->action(later->fd, later->arg);
	return NULL;
}

void do_later(struct later *later, void (*action)(int, int), int fd, int arg)
{
	*later = (struct later){ .milliseconds = 100, .fd = fd, .arg = arg, .action = action };
	MUST(-pthread_create(&later->thread, NULL, later_run, later));
}

void was_done(struct later *later)
{
	pthread_join(later->thread, NULL);
}

void later_send(int fd, int bytes)
{
	call.send(fd, "abcdefghijklmnopqrstuvwxyz", bytes, MSG_NOSIGNAL);
}

void later_close(int fd, int unused)
{
	(void)unused;
	call.close(fd);
}

void later_shutdown(int fd, int how)
{
	call.shutdown(fd, how);
}

void later_reset(int fd, int unused)
{
	(void)unused;
	set_linger(fd, 1, 0);
	call.close(fd);
}

void later_drain(int fd, int bytes)
{
	static char block[65536];
	long n;

	while (bytes > 0 && (n = call.recv(fd, block, sizeof block, 0)) > 0)
		bytes -= n;
}

static void *blocked_run(void *arg)
{
	struct blocked *blocked = arg;

	__atomic_store_n(&blocked->task, gettid(), __ATOMIC_RELEASE);
	errno = 0;
	blocked->result = blocked->run(blocked->fd);
	blocked->error = errno;
	__atomic_store_n(&blocked->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* R for one that runs, S for one that sleeps, 0 for one that has ended. */
static char state_of(pid_t task)
{
	char path[64], state = 'R';
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", task);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d %*s %c", &state) != 1)
		state = 'R';
	fclose(file);
	return state;
}

void until_asleep(const pid_t *task)
{
	int quiet = 0;

	for (int i = 0; i < 2000 && quiet < 50; i++) {
		pid_t known = __atomic_load_n(task, __ATOMIC_ACQUIRE);
		char state = known ? state_of(known) : 'R';

		/* On a busy machine it may be over already. */
		if (!state)
			return;
		quiet = state == 'S' ? quiet + 1 : 0;
		nap(1);
	}
}

void block(struct blocked *blocked, long (*run)(int), int fd)
{
	*blocked = (struct blocked){ .run = run, .fd = fd };
	MUST(-pthread_create(&blocked->thread, NULL, blocked_run, blocked));
	until_asleep(&blocked->task);
}

void check_interrupted(const char *name, struct blocked *blocked, int number)
{
	const char *wanted = oracle_says(name);
	double start = now(), limit = !wanted ? 1 : strncmp(wanted, "asleep", 6) ? 2 : 0.3;

	while (!__atomic_load_n(&blocked->ended, __ATOMIC_ACQUIRE) && now() - start < limit) {
		if (number)
			pthread_kill(blocked->thread, number);
		nap(number ? 40 : 2);
	}
	if (!__atomic_load_n(&blocked->ended, __ATOMIC_ACQUIRE)) {
		check(name, "asleep");
		pthread_detach(blocked->thread);
		return;
	}
	pthread_join(blocked->thread, NULL);
	check_result(name, blocked->result, blocked->error);
}

void check_blocked(const char *name, struct blocked *blocked)
{
	check_interrupted(name, blocked, 0);
}
