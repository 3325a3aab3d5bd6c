/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clients by the hundred that are killed at any moment while others take their places: at the end
 * nothing of them is left.
 */
#include "survivor.h"

enum { CLIENTS = 400, AT_ONCE = 8 };

struct one { pid_t pid; long end; bool killed; };

static struct one clients[AT_ONCE];
static int started, ended, killed, failed;

static void step(struct one *c)
{
	int status;

	if (!c->pid && started < CLIENTS) {
		started++;
		/* Every fourth lives to its end. */
		*c = (struct one) { .pid = start("client", NULL, 0, NULL), .end = now_ms() + (rand() % 4 ? rand() % 10 : LIMIT_MS) };
	}
	if (!c->pid)
		return;
	if (now_ms() >= c->end && !c->killed) {
		kill(c->pid, SIGKILL);
		c->killed = true;
	}
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	ended++;
	killed += WIFSIGNALED(status);
	/* One that lived must have come to its end by itself. */
	if (WIFSIGNALED(status) ? now_ms() > c->end + LIMIT_MS || c->end > now_ms() : status)
		failed++;
	c->pid = 0;
}

int main(int argc, char **argv)
{
	long end;

	if (argc == 3 && !strcmp(argv[1], "victim"))
		return victim(argv[2]);
	survivor_begin();
	srand(1);
	end = now_ms() + 10 * LIMIT_MS;
	while (ended < CLIENTS && now_ms() < end) {
		for (int i = 0; i < AT_ONCE; i++)
			step(&clients[i]);
		look();
	}
	end = now_ms() + LIMIT_MS;
	while (busy() && now_ms() < end)
		look();
	printf("# %d clients, %d killed\n", ended, killed);
	printf("%s every client ended as it should\n", ended == CLIENTS && !failed ? "ok" : "not-ok");
	printf("%s the connections of all have ended\n", busy() ? "not-ok" : "ok");
	printf("%s nothing is left\n", same() ? "ok" : "not-ok");
	printf("%s the lists agree\n", RDMAFAKE(rdmafake_check)() ? "not-ok" : "ok");
	return 0;
}
