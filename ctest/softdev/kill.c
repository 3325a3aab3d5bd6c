/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kill table: a process is killed before the N-th change that a call makes to the shared kernel, for
 * every call and N. Then the survivor's side of each connection has ended, nothing of the dead is left,
 * the kernel's lists agree, and a new process does the whole thing on the same port.
 *
 *   kill [POINTS]             how many N of each call, 4 without it; 0 for all
 *   kill victim ROLE          what is killed (RDMAFAKE_KILL)
 */
#include "survivor.h"

static int rows, failed, killed, spared;

/* One row: false when something is wrong, which is said. */
static bool row(const char *role, const char *call, long n)
{
	int status = play(role, start(role, call, n, NULL));
	const char *what = NULL;

	rows++;
	if (status == -1)
		what = "its end was not noticed";
	else if (WIFSIGNALED(status) ? WTERMSIG(status) != SIGKILL : WEXITSTATUS(status) != 0)
		what = "it ended otherwise";
	else if (!same())
		what = "something is left";
	else if (RDMAFAKE(rdmafake_check)())
		what = "the lists do not agree";
	if (!what && WIFSIGNALED(status))
		killed++;
	else if (!what)
		spared++;
	if (!what && (status = play(role, start(role, NULL, 0, NULL))))
		what = "a new process fails";
	if (!what && !same())
		what = "a new process leaves something";
	if (!what)
		return true;
	failed++;
	printf("not-ok %s, %s: killed before store %ld: %s\n", role, call, n, what);
	baseline_again();
	return false;
}

/* How many stores a call makes in a role; 0 when it makes none, or is not there. */
static long stores(const char *role, const char *call)
{
	char text[4096] = "", *found;
	int tells;
	pid_t pid = start(role, call, 0, &tells);
	ssize_t n;

	if (play(role, pid))
		printf("not-ok %s, %s: fails without being killed\n", role, call), failed++;
	n = read(tells, text, sizeof(text) - 1);
	close(tells);
	text[n > 0 ? n : 0] = 0;
	found = strstr(text, "stores of ");
	return found ? atol(strchr(found, ':') + 1) : 0;
}

static const struct { const char *role, *calls; } table[] = {
	{ "client", "enter open CREATE_ID SET_OPTION RESOLVE_ADDR RESOLVE_ROUTE alloc_pd create_comp_channel "
		    "create_cq create_qp modify_qp reg_mr post_recv CONNECT GET_EVENT ACCEPT post_send "
		    "req_notify_cq get_cq_event poll_cq DISCONNECT destroy_qp destroy_cq destroy_comp_channel dereg_mr "
		    "DESTROY_ID dealloc_pd close" },
	{ "server", "open CREATE_ID BIND LISTEN GET_EVENT create_cq create_qp modify_qp reg_mr post_recv ACCEPT "
		    "post_send poll_cq DISCONNECT destroy_qp DESTROY_ID close" },
	{ "alone", "REJECT MIGRATE_ID DESTROY_ID JOIN_MCAST LEAVE_MCAST attach_mcast detach_mcast "
		   "create_srq post_srq_recv destroy_srq fork child" },
	{ "leaver", "exit" },
};

/* Whoever ends what a dead one has left dies at that. The helper of this process may be quicker. */
static void reaper(long points)
{
	long step = points ? 150 / points : 1, first = killed, was;

	for (long n = 1; n <= 300; n += step) {
		pid_t dead = start("leaver", "exit", 1, NULL);

		while (!waitpid(dead, NULL, WNOHANG))
			look();
		was = killed;
		if (!row("client", "reap", n) || (killed == was && n > 100))
			break;
	}
	printf("ok client, reap: killed at %ld of its stores\n", killed - first);
}

static void row_of_table(const char *role, const char *call, long points)
{
	long all = stores(role, call), tried = 0, bad = failed;

	for (long i = 1; i <= (points && points < all ? points : all); i++, tried++)
		row(role, call, points && points < all ? 1 + (i - 1) * (all - 1) / (points > 1 ? points - 1 : 1) : i);
	printf("%s %s, %s: %ld stores, killed at %ld of them\n", failed == bad ? "ok" : "#", role, call, all, tried);
}

int main(int argc, char **argv)
{
	long points = argc > 1 ? atol(argv[1]) : 4;

	if (argc == 3 && !strcmp(argv[1], "victim"))
		return victim(argv[2]);
	survivor_begin();
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char calls[1024], *call, *save;

		snprintf(calls, sizeof(calls), "%s", table[i].calls);
		for (call = strtok_r(calls, " ", &save); call; call = strtok_r(NULL, " ", &save))
			row_of_table(table[i].role, call, points);
	}
	reaper(points);
	printf("# %d rows: %d killed, %d ended before that, %d failed\n", rows, killed, spared, failed);
	return failed != 0;
}
