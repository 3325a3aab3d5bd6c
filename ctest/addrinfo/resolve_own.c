// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_resolve_addrinfo where ours differs from the C library on purpose:
 *  - names are resolved while the caller goes on, so a name that does not exist is an event;
 *  - errno is a positive number, the status of an event a negative one;
 *  - an INTERNAL event that nobody waits for is given back, and destroying the id does not hang (C-13);
 *  - a service keeps the hinted type of queue pair; a name that does not fit is refused, not cut.
 *
 * The program has a resolver of its own, which waits for a permission.
 *
 * differs: C-13, names are resolved before the call returns, and errno is negative
 * theirs: absent
 * fake: device name=ib0 type=ib ip=10.77.0.1/24
 * fake: device name=roce0 ip=10.78.0.1/24
 * fake: service id=0x1234 name=svc gid=fe80::7 pkey=0x8001
 * fake: service id=0x1234 name=svc2 gid=fe80::8 pkey=0xffff
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include "rdmafake.h"
#include "resolve.h"

static struct rdma_event_channel *channel;
static int slow;
static sem_t asked, allowed;
static volatile sig_atomic_t handled_in_wrong_thread;
static pthread_t main_thread;

/* The library calls this one instead of libc's. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **res)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
		dlsym(RTLD_NEXT, "getaddrinfo");

	if (slow) {
		sem_post(&asked);
		sem_wait(&allowed);
	}
	return real(node, service, hints, res);
}

static void note_thread(int number)
{
	(void)number;
	if (!pthread_equal(pthread_self(), main_thread))
		handled_in_wrong_thread = 1;
}

static struct rdma_cm_id *new_id(struct rdma_event_channel *on)
{
	struct rdma_cm_id *id = NULL;

	trace_result("rdma_create_id", rdma_create_id(on, &id, NULL, RDMA_PS_TCP));
	return id;
}

static void ask_slowly(struct rdma_cm_id *id)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST };
	double begin = now();

	slow = 1;
	trace_result("rdma_resolve_addrinfo", rdma_resolve_addrinfo(id, "127.0.0.1", "1", &hints));
	printf("  %s\n", now() - begin < 0.5 ? "at once" : "LATE");
	sem_wait(&asked);
}

static void unknown_names(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST };
	struct rdma_cm_id *id = new_id(channel), *sync = new_id(NULL);

	trace_result("no such name", rdma_resolve_addrinfo(id, "no-such-name", "1", &hints));
	trace_event(channel, 3000);
	trace_query(id);
	trace_result("again", rdma_resolve_addrinfo(id, "127.0.0.1", "1", &hints));
	trace_event(channel, 3000);
	trace_query(id);
	trace_result("synchronous", rdma_resolve_addrinfo(sync, "no-such-name", "1", &hints));
	trace_result("no such service", rdma_resolve_addrinfo(sync, "127.0.0.1", "none", &hints));
	hints.ai_family = 99;
	trace_result("no such family", rdma_resolve_addrinfo(sync, "127.0.0.1", "1", &hints));
	trace_result("rdma_destroy_id", rdma_destroy_id(sync));
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
}

static void wrong_calls(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA, .ai_qp_type = IBV_QPT_RC };
	struct rdma_cm_id *id = new_id(channel);
	char name[65];

	memset(name, 'a', sizeof(name));
	name[64] = 0;
	trace_result("nothing", rdma_resolve_addrinfo(id, NULL, NULL, NULL));
	trace_result("no id", rdma_resolve_addrinfo(NULL, "127.0.0.1", NULL, NULL));
	trace_result("not bound", rdma_resolve_addrinfo(id, NULL, "svc", &hints));
	trace_result("no service", rdma_resolve_addrinfo(id, NULL, NULL, &hints));
	bind_to(id, "10.77.0.1");
	trace_result("long name", rdma_resolve_addrinfo(id, NULL, name, &hints));
	trace_result("service", rdma_resolve_addrinfo(id, NULL, "svc", &hints));
	trace_event(channel, 3000);
	trace_query(id);
	trace_result("no such service", rdma_resolve_addrinfo(id, NULL, "svc", &hints));
	trace_result("no place", rdma_query_addrinfo(id, NULL));
	trace_result("no id", rdma_write_cm_event(NULL, RDMA_CM_EVENT_USER, 0, 0));
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	id = new_id(channel);
	bind_to(id, "10.78.0.1");
	trace_result("no InfiniBand", rdma_resolve_addrinfo(id, NULL, "svc", &hints));
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
}

static void slow_names(void)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_cm_id *id;
	double begin;

	printf("waits for its answer\n");
	id = new_id(channel);
	ask_slowly(id);
	trace_event(channel, 50);
	kill(getpid(), SIGUSR1);
	sem_post(&allowed);
	trace_event(channel, 3000);
	trace_query(id);
	trace_result("rdma_destroy_id", rdma_destroy_id(id));

	printf("moves meanwhile\n");
	id = new_id(channel);
	ask_slowly(id);
	trace_result("rdma_migrate_id", rdma_migrate_id(id, other));
	sem_post(&allowed);
	trace_event(other, 3000);
	trace_query(id);
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	rdma_destroy_event_channel(other);

	printf("is destroyed meanwhile\n");
	id = new_id(channel);
	ask_slowly(id);
	begin = now();
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	printf("  %s\n", now() - begin < 0.5 ? "at once" : "LATE");
	/* Takes the slot of the first one, whose late answer is not for it. */
	id = new_id(channel);
	slow = 0;
	sem_post(&allowed);
	trace_event(channel, 100);
	trace_query(id);
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	printf("signals: %s\n", handled_in_wrong_thread ? "IN A THREAD OF THE LIBRARY" : "ours");
}

static void foreign_internal_events(void)
{
	int (*script)(const char *) = RDMAFAKE(rdmafake_script);
	struct rdma_cm_id *id = new_id(channel);

	printf("events that nobody waits for\n");
	if (script) {
		/* Both come behind the first event that is written below. */
		trace_result("inject", script("inject WRITE_CM_EVENT event=19 to=self arg=16"));
		trace_result("inject", script("inject WRITE_CM_EVENT event=19 to=self arg=0"));
	}
	trace_result("rdma_write_cm_event", rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 5));
	trace_event(channel, 1000);
	trace_result("rdma_write_cm_event", rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 6));
	trace_event(channel, 1000);
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
}

int main(void)
{
	struct sigaction action = { .sa_handler = note_thread };

	setvbuf(stdout, NULL, _IOLBF, 0);
	need_resolve();
	main_thread = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	sem_init(&asked, 0, 0);
	sem_init(&allowed, 0, 0);
	channel = rdma_create_event_channel();
	unknown_names();
	wrong_calls();
	slow_names();
	foreign_internal_events();
	rdma_destroy_event_channel(channel);
	return 0;
}
