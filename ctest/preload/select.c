// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* select and pselect: sets, remaining time, masks, descriptors beyond FD_SETSIZE. */
#include "common.h"
#include <sys/mman.h>
#include <sys/resource.h>

static fd_set in, out, other;

static void sets(int reader, int writer)
{
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&other);
	if (reader >= 0) {
		FD_SET(reader, &in);
		FD_SET(reader, &other);
	}
	if (writer >= 0)
		FD_SET(writer, &out);
}

static void basic(void)
{
	struct timeval wait = { 9, 0 };
	struct timespec exact = { 0, 200000000 };
	struct later later;
	double start = now();
	int fds[2];

	TITLE("a connection");
	pair(fds);
	sets(fds[0], fds[0]);
	SAY(select(fds[0] + 1, &in, &out, &other, &wait));
	say("in %d out %d other %d", FD_ISSET(fds[0], &in), FD_ISSET(fds[0], &out), FD_ISSET(fds[0], &other));
	say("time left: %s", wait.tv_sec > 5 ? "most of it" : "little");
	sets(fds[0], -1);
	start = now();
	wait = (struct timeval){ 0, 200000 };
	SAY(select(fds[0] + 1, &in, NULL, NULL, &wait));
	say("in %d, %s, time left %ld", FD_ISSET(fds[0], &in), in_time(start, 0.2), (long)wait.tv_sec * 1000000 + wait.tv_usec);
	sets(fds[0], -1);
	start = now();
	SAY(pselect(fds[0] + 1, &in, NULL, NULL, &exact, NULL));
	say("%s, the time stays %ld", in_time(start, 0.2), exact.tv_nsec);
	do_later(&later, 200, fds[1], 's');
	sets(fds[0], -1);
	wait = (struct timeval){ 5, 0 };
	SAY(select(fds[0] + 1, &in, NULL, &other, &wait));
	say("in %d other %d, seconds left %ld", FD_ISSET(fds[0], &in), FD_ISSET(fds[0], &other), (long)wait.tv_sec);
	was_done(&later);
	MUST(recv(fds[0], (char[8]){ 0 }, 8, 0));
	do_later(&later, 200, fds[1], 'c');
	sets(fds[0], -1);
	SAY(select(fds[0] + 1, &in, NULL, &other, NULL));
	say("the peer closed: in %d other %d", FD_ISSET(fds[0], &in), FD_ISSET(fds[0], &other));
	was_done(&later);
	SAY(recv(fds[0], (char[8]){ 0 }, 8, 0));
	sets(fds[0], -1);
	close(fds[0]);
	wait = (struct timeval){ 0, 0 };
	SAY(select(fds[0] + 1, &in, NULL, NULL, &wait));
}

static void mixed(void)
{
	struct timeval wait = { 2, 0 };
	int fds[2], pipes[2], server = listener(4), high, client;
	struct dialer dialer;

	TITLE("with a pipe and a listener");
	pair(fds);
	MUST(pipe(pipes));
	FD_ZERO(&in);
	FD_SET(pipes[0], &in);
	FD_SET(fds[0], &in);
	FD_SET(server, &in);
	MUST(write(pipes[1], "x", 1));
	high = 64;
	SAY(select(high, &in, NULL, NULL, &wait));
	say("pipe %d connection %d listener %d", FD_ISSET(pipes[0], &in), FD_ISSET(fds[0], &in), FD_ISSET(server, &in));
	MUST(read(pipes[0], (char[1]){ 0 }, 1));
	dial(&dialer, port_of(server));
	FD_ZERO(&in);
	FD_SET(pipes[0], &in);
	FD_SET(server, &in);
	wait = (struct timeval){ 5, 0 };
	SAY(select(high, &in, NULL, NULL, &wait));
	say("pipe %d listener %d", FD_ISSET(pipes[0], &in), FD_ISSET(server, &in));
	int peer = MUST(accept(server, NULL, NULL));
	client = dialed(&dialer);
	ping(peer, client);
	/* P-3: a hang-up makes a pipe readable. */
	close(pipes[1]);
	FD_ZERO(&in);
	FD_SET(pipes[0], &in);
	FD_SET(peer, &in);
	SAY(select(high, &in, NULL, NULL, &wait));
	say("P-3: closed pipe %d", FD_ISSET(pipes[0], &in));
	FD_ZERO(&in);
	FD_SET(peer, &in);
	FD_SET(pipes[1], &in);
	SAY(select(high, &in, NULL, NULL, &wait));
	say("the sets stay on an error: %d %d", FD_ISSET(peer, &in), FD_ISSET(pipes[1], &in));
	wait.tv_usec = -1;
	SAY(select(high, NULL, NULL, NULL, &wait));
	SAY(select(-1, NULL, NULL, NULL, NULL));
	close(peer), close(client), close(server), close(fds[0]), close(fds[1]), close(pipes[0]);
}

static void signals(void)
{
	struct timespec wait = { 3, 0 };
	struct alarm_clock clock;
	sigset_t none, some;
	double start;
	int fds[2];

	TITLE("signals");
	pair(fds);
	handle(SIGUSR1, SA_RESTART);
	ring_after(&clock, 200, SIGUSR1);
	sets(fds[0], -1);
	start = now();
	SAY(select(fds[0] + 1, &in, NULL, NULL, NULL));
	say("%s, %d seen", in_time(start, 0.2), (int)signals_seen);
	pthread_join(clock.thread, NULL);
	sigemptyset(&none);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	raise(SIGUSR1);
	sets(fds[0], -1);
	start = now();
	SAY(pselect(fds[0] + 1, &in, NULL, NULL, &wait, &none));
	say("%s, %d seen", in_time(start, 0), (int)signals_seen);
	pthread_sigmask(SIG_UNBLOCK, &some, NULL);
	close(fds[0]), close(fds[1]);
}

/* Programs with thousands of connections make their own, longer sets. */
static void beyond(void)
{
	struct rlimit limit = { 4096, 4096 };
	struct timeval wait = { 5, 0 };
	static unsigned long words[64];
	fd_set *set = (fd_set *)words;
	int fds[2], high;

	TITLE("beyond FD_SETSIZE");
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		say("no right to 4096 descriptors");
		exit(3);
	}
	pair(fds);
	high = SAY(fcntl(fds[0], F_DUPFD, 2500));
	close(fds[0]);
	words[high / 64] |= 1ul << high % 64;
	MUST(send(fds[1], "x", 1, 0));
	SAY(select(high + 1, set, NULL, NULL, &wait));
	say("in %d", (int)(words[high / 64] >> high % 64 & 1));
	MUST(recv(high, (char[1]){ 0 }, 1, 0));
	ping(high, fds[1]);
	close(high), close(fds[1]);
}

/* As old programs do: the most descriptors there could be, with sets that are as short as ever. What is behind the set
 * must not be read, less written.
 */
static void shorter_sets(void)
{
	struct timeval wait = { 5, 0 };
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd_set *set = (fd_set *)(pages + 4096 - sizeof *set);
	int fds[2];

	TITLE("more descriptors than bits");
	MUST(mprotect(pages + 4096, 4096, PROT_NONE));
	pair(fds);
	MUST(send(fds[1], "x", 1, 0));
	FD_ZERO(set);
	FD_SET(fds[0], set);
	SAY(select(1 << 20, set, NULL, NULL, &wait));
	say("in %d", FD_ISSET(fds[0], set));
	SAY(pselect(1 << 20, NULL, set, NULL, NULL, NULL));
	close(fds[0]), close(fds[1]);
	munmap(pages, 8192);
}

int main(void)
{
	basic();
	mixed();
	signals();
	shorter_sets();
	beyond();
	return 0;
}
