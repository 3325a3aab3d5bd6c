// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One life, of whose steps one fails; then the same life, in which all must succeed. Says what was wrong, and what is left.
 *
 * usage: life NAME                        says how often each call was made
 *        life NAME libc CALL N ERRNO      the N-th call of libc fails
 *        life NAME script STATEMENT      a rule of the soft device is in force
 * Ends by SIGALRM where a call hangs.
 */
#include "life.h"
#include "rdmafake.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By their numbers. */
static const char *const commands[] = {
	"CREATE_ID", "DESTROY_ID", "BIND_IP", "RESOLVE_IP", "RESOLVE_ROUTE", "QUERY_ROUTE", "CONNECT", "LISTEN",
	"ACCEPT", "REJECT", "DISCONNECT", "INIT_QP_ATTR", "GET_EVENT", "GET_OPTION", "SET_OPTION", "NOTIFY",
	"JOIN_IP_MCAST", "LEAVE_MCAST", "MIGRATE_ID", "QUERY", "BIND", "RESOLVE_ADDR", "JOIN_MCAST",
};
static const char *const verbs[] = {
	"get_device_list", "open_device", "query_device", "query_port", "query_gid", "alloc_pd", "reg_mr", "dereg_mr",
	"create_comp_channel", "destroy_comp_channel", "create_cq", "destroy_cq", "create_qp", "modify_qp", "destroy_qp",
	"post_send", "post_recv", "poll_cq", "req_notify_cq", "get_cq_event", "create_ah", "destroy_ah", "dealloc_pd",
};

static _Atomic int complaints;

void wrong(const char *format, ...)
{
	va_list list;

	complaints++;
	printf("wrong ");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
}

static int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static void print_left(void)
{
	void (*alive)(struct rdmafake_live *) = RDMAFAKE(rdmafake_live);
	struct rdmafake_live live = { 0 };
	int before = 0, count;

	/* What goes on in the background; a search for a peer waits five seconds for an answer that never comes. */
	for (int i = 0; i < 140; i++, before = count) {
		alive(&live);
		count = (int)(live.ids + live.qps + live.cqs + live.mrs + live.channels) * 1000 + descriptors();
		if (i > 1 && count == before && !live.ids)
			break;
		usleep(50000);
	}
	printf("left descriptors=%d ids=%u qps=%u cqs=%u mrs=%u channels=%u cq_channels=%u ahs=%u pds=%u\n", descriptors(),
	       live.ids, live.qps, live.cqs, live.mrs, live.channels, live.channels_cq, live.ahs, live.pds);
}

static void print_counts(void)
{
	uint64_t (*verb)(const char *) = RDMAFAKE(rdmafake_verbs);
	uint64_t (*command)(int) = RDMAFAKE(rdmafake_commands);

	print_libc_counts();
	for (unsigned i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		printf("count verb:%s %ld\n", verbs[i], (long)verb(verbs[i]));
	for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++)
		printf("count cmd:%s %ld\n", commands[i], (long)command((int)i));
}

int main(int argc, char **argv)
{
	int (*script)(const char *) = RDMAFAKE(rdmafake_script);
	void (*forget)(void) = RDMAFAKE(rdmafake_reset);
	const struct life *life = lives;

	while (life->name && (argc < 2 || strcmp(life->name, argv[1])))
		life++;
	if (!life->name || !script)
		return fprintf(stderr, "usage: life NAME [libc CALL N ERRNO | script STATEMENT], on the soft device\n"), 2;
	start_hooks();
	alarm(30);
	if (argc == 6 && !strcmp(argv[2], "libc"))
		arm_libc(argv[3], atol(argv[4]), atoi(argv[5]));
	else if (argc == 4 && !strcmp(argv[2], "script") && script(argv[3]))
		return fprintf(stderr, "bad statement: %s\n", argv[3]), 2;
	life->run(argc == 2);
	stop_counting();
	if (argc == 2)
		print_counts();
	else
		printf("hit %d\n", libc_hit());
	fflush(stdout);
	forget();
	alarm(30);
	life->run(1);
	print_left();
	fflush(stdout);
	return complaints > 0;
}
