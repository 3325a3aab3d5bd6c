// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The same calls on TCP and UDP sockets, on rsockets, and on sockets that became rsockets. What TCP says is right.
 *
 * usage: tcp --list              each scenario: name, whether it needs calls that rsockets lack, queue pairs, whether its clients
 *                              connect before anybody accepts
 *        tcp MODE SCENARIO       MODE is tcp, rsocket, or preload: tcp with the preload library around it
 *        tcp MODE --peer NAME PORT
 * TCP_SAYS names a file with what a run on TCP printed: states are waited for that are to come.
 */
#include "check.h"

#include <spawn.h>
#include <sys/wait.h>

const struct scenario *current;
static struct scenario *scenarios;
static struct peer *peers;
static char *program, *mode;

void add_scenario(struct scenario *scenario)
{
	struct scenario **place = &scenarios;

	while (*place && strcmp((*place)->name, scenario->name) < 0)
		place = &(*place)->next;
	scenario->next = *place;
	*place = scenario;
}

void add_peer(struct peer *peer)
{
	peer->next = peers;
	peers = peer;
}

pid_t start_peer(const char *name, int port)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof number, "%d", port);
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		execl(program, program, mode, "--peer", name, number, NULL);
		_exit(99);
	}
	return pid;
}

static void ignore(int number)
{
	(void)number;
}

static int play_peer(const char *name, int port)
{
	for (struct peer *peer = peers; peer; peer = peer->next)
		if (!strcmp(peer->name, name))
			return peer->run(port);
	return 98;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (struct scenario *one = scenarios; one; one = one->next)
			printf("%s %d %d %d\n", one->name, one->kernel_only, one->pairs, one->queued);
		return 0;
	}
	if (argc < 3)
		return fprintf(stderr, "usage: tcp --list | tcp|rsocket|preload SCENARIO\n"), 2;
	program = argv[0];
	mode = argv[1];
	load_calls(!strcmp(mode, "rsocket"));
	/* Caught, not ignored: a scenario counts them. */
	signal(SIGPIPE, ignore);
	if (argc == 5 && !strcmp(argv[2], "--peer"))
		return play_peer(argv[3], atoi(argv[4]));
	for (struct scenario *one = scenarios; one; one = one->next) {
		if (strcmp(one->name, argv[2]))
			continue;
		current = one;
		one->run(one);
		return 0;
	}
	return fprintf(stderr, "no scenario %s\n", argv[2]), 2;
}
