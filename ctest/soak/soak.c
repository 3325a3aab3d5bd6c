// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Endurance of rsockets; tests/soak drives it.
 *
 *   soak names                    the fields of the page, in order
 *   soak main PAGE SEED           the server that is looked at: it serves, and connects to others
 *   soak victim PAGE SEED         a server that will be killed and stopped
 *   soak client PAGE SEED THREADS ROUNDS TEMPER
 *                                 connects; TEMPER: calm, kill, stop, faults, leave
 *   soak remove | return          the soft device goes, comes back
 *   soak live                     what is left in the soft device
 */
#include "client.h"
#include "server.h"

static int names(void)
{
#define NAME(name) printf("%s ", #name);
	FIELDS(NAME)
	printf("\n%d\n", ERRORS);
	return 0;
}

/* The driver waits for it. */
static figure rounds_running;

static void *active(void *arg)
{
	chance = mix((uintptr_t)arg);
	buffers();
	while (!stopping()) {
		if (page->pause) {
			usleep(50000);
			continue;
		}
		rounds_running++;
		round_of(1);
		rounds_running--;
		usleep(below(30000));
	}
	drop_buffers();
	leave_slot();
	return NULL;
}

static void figures(void)
{
	struct rdmafake_live live = { 0 };

	page->ready = doors[0].fd >= 0 && doors[1].fd >= 0 && doors[2].fd >= 0 && doors[3].fd >= 0;
	page->busy = serving + rounds_running;
	page->heap = mallinfo2().uordblks;
	if (!on_soft_device())
		return;
	RDMAFAKE(rdmafake_live)(&live);
	page->ids = live.ids;
	page->qps = live.qps;
	page->cqs = live.cqs;
	page->mrs = live.mrs;
	page->pds = live.pds;
	page->contexts = live.contexts;
	page->channels = live.channels;
}

static int server(int port, uint64_t seed, int actives)
{
	pthread_t threads[4];

	chance = seed;
	start_server(port);
	usleep(300000);
	for (int i = 0; i < actives; i++)
		threads[i] = start(active, any());
	while (!stopping()) {
		if (actives)
			figures();
		usleep(200000);
	}
	for (int i = 0; i < actives; i++)
		pthread_join(threads[i], NULL);
	end_server();
	/* What was kept for connections to come is given back after a second. */
	usleep(2500000);
	if (actives)
		figures();
	return 0;
}

static void on_alarm(int number)
{
	(void)number;
	kill(getpid(), SIGKILL);
}

/* Killed at some moment soon. */
static void will_be_killed(void)
{
	uint64_t after = 1000 + any_size(8000000);
	struct itimerval timer = { .it_value = { (time_t)(after / 1000000), (suseconds_t)(after % 1000000) } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Stopped and continued again and again. */
static void will_be_stopped(void)
{
	pid_t parent = getpid();

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		usleep(any_size(2000000));
		kill(parent, SIGSTOP);
		usleep(any_size(percent(10) ? 12000000 : 1000000));
		kill(parent, SIGCONT);
	}
	_exit(0);
}

static void faults(void)
{
	static const char *const all[] = {
		"verbs create_qp errno=ENOMEM", "verbs reg_mr errno=ENOMEM nth=2", "verbs create_cq errno=ENOMEM",
		"verbs post_send errno=EIO nth=9", "fail CONNECT errno=ENOMEM", "fail CREATE_ID errno=ENOMEM nth=2",
		"drop ESTABLISHED", "drop ROUTE_RESOLVED", "drop DISCONNECTED", "delay ESTABLISHED ms=400",
		"delay DISCONNECTED ms=700", "delay CONNECT_RESPONSE ms=300", "fail DISCONNECT errno=EINVAL",
		"fail DESTROY_ID errno=EINVAL after", "fail INIT_QP_ATTR errno=EINVAL nth=2", "fail RESOLVE_ADDR errno=ENODEV",
	};
	char rule[100];

	if (!on_soft_device())
		return;
	for (int n = 1 + (int)below(3); n > 0; n--) {
		snprintf(rule, sizeof rule, "%s count=%d", all[below(sizeof all / sizeof all[0])], 1 + (int)below(3));
		if (RDMAFAKE(rdmafake_script)(rule))
			note("rule %s is refused", rule);
	}
}

static int rounds_of_each;

static void *client_thread(void *arg)
{
	chance = mix((uintptr_t)arg);
	buffers();
	for (int i = 0; i < rounds_of_each && !page->pause && !stopping(); i++)
		round_of(1);
	drop_buffers();
	leave_slot();
	return NULL;
}

static int client(uint64_t seed, int threads, int rounds, const char *temper)
{
	pthread_t all[8];

	chance = seed;
	rounds_of_each = rounds;
	is_rough = strcmp(temper, "calm") && strcmp(temper, "leave");
	if (!strcmp(temper, "kill"))
		will_be_killed();
	if (!strcmp(temper, "stop"))
		will_be_stopped();
	if (!strcmp(temper, "faults"))
		faults();
	for (int i = 0; i < threads && i < 8; i++)
		all[i] = start(client_thread, any());
	for (int i = 0; i < threads && i < 8; i++)
		pthread_join(all[i], NULL);
	if (!strcmp(temper, "leave")) {
		struct sockaddr_in to = address(MAIN_PORT + (int)below(DATAGRAMS));
		int fd = TIMED(rsocket(AF_INET, SOCK_STREAM, 0));

		/* It ends with a connection that is open. */
		if (fd >= 0)
			connects(fd, &to, 2);
		if (percent(50))
			_exit(0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "names"))
		return names();
	if (!strcmp(what, "remove"))
		return -RDMAFAKE(rdmafake_device_remove)("fake0");
	if (!strcmp(what, "return"))
		return -RDMAFAKE(rdmafake_device_return)("fake0");
	if (!strcmp(what, "live")) {
		struct rdmafake_live live;

		RDMAFAKE(rdmafake_live)(&live);
		printf("%u\n", live.channels + live.ids + live.qps + live.cqs + live.mrs + live.pds + live.contexts);
		return RDMAFAKE(rdmafake_check)() != 0;
	}
	if (argc < 4)
		return 2;
	role = what;
	signal(SIGPIPE, SIG_IGN);
	map_page(argv[2]);
	uint64_t seed = strtoull(argv[3], NULL, 0);
	start(watch, 0);
	if (!strcmp(what, "main"))
		return server(MAIN_PORT, seed, 2);
	if (!strcmp(what, "victim"))
		return server(VICTIM_PORT, seed, 0);
	if (!strcmp(what, "client") && argc > 6)
		return client(seed, atoi(argv[4]), atoi(argv[5]), argv[6]);
	return 2;
}
