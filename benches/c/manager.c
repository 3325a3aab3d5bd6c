/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The connection manager: connect, accept, disconnect, destroy, call by call.
 *
 *	manager calls ALIVE          counts each call, with so many other ids alive (under callgrind)
 *	manager cycles ALIVE ROUNDS  time of whole cycles
 *	manager threads T ROUNDS     cycles in T threads, each with channels and ids of its own
 *	manager crowds T N           N connections in each of T threads, alive at the same time
 *	manager memory N             heap bytes of an idle id and of an event (with libheap.so preloaded)
 */
#include "bench.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

/*
 * Callgrind numbers the calls between two functions also while it does not collect, until a dump in which
 * they cost something. So a first round is dumped without a name, for nobody.
 */
static enum { UNCOUNTED, WARMING, COUNTED } counted;

#define STEP(name, what)                                   \
	do {                                               \
		int fine_;                                 \
		if (counted)                               \
			COUNT(counted == COUNTED ? name : "", fine_ = !!(what)); \
		else                                       \
			fine_ = !!(what);                  \
		MUST(fine_);                               \
	} while (0)

static struct rdma_cm_event *next(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	STEP("rdma_get_cm_event", !rdma_get_cm_event(channel, &event));
	if (event->event != type) {
		fprintf(stderr, "%s (%d) instead of %s\n", rdma_event_str(event->event), event->status,
			rdma_event_str(type));
		exit(1);
	}
	return event;
}

static void take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next(channel, type);

	STEP("rdma_ack_cm_event", !rdma_ack_cm_event(event));
}

struct side {
	struct rdma_event_channel *passive, *active;
	struct rdma_cm_id *listener;
	int port;
};

static void open_side(struct side *side, int port)
{
	side->port = port;
	STEP("rdma_create_event_channel", (side->passive = rdma_create_event_channel()));
	MUST((side->active = rdma_create_event_channel()));
	MUST(!rdma_create_id(side->passive, &side->listener, NULL, RDMA_PS_TCP));
	STEP("rdma_bind_addr", !rdma_bind_addr(side->listener, device_address(port)));
	STEP("rdma_listen", !rdma_listen(side->listener, 64));
}

static void close_side(struct side *side)
{
	MUST(!rdma_destroy_id(side->listener));
	rdma_destroy_event_channel(side->active);
	STEP("rdma_destroy_event_channel", (rdma_destroy_event_channel(side->passive), 1));
}

static struct rdma_cm_id *routed(struct side *side)
{
	struct rdma_cm_id *id;

	STEP("rdma_create_id", !rdma_create_id(side->active, &id, NULL, RDMA_PS_TCP));
	STEP("rdma_resolve_addr", !rdma_resolve_addr(id, NULL, device_address(side->port), 2000));
	take(side->active, RDMA_CM_EVENT_ADDR_RESOLVED);
	STEP("rdma_resolve_route", !rdma_resolve_route(id, 2000));
	take(side->active, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	STEP("rdma_create_qp", !rdma_create_qp(id, NULL, &attr));
}

static void end(struct rdma_cm_id *id)
{
	STEP("rdma_destroy_qp", (rdma_destroy_qp(id), 1));
	STEP("rdma_destroy_id", !rdma_destroy_id(id));
}

static void cycle(struct side *side)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1, .retry_count = 7 };
	struct rdma_cm_id *client = routed(side), *server;
	struct rdma_cm_event *request;

	make_qp(client);
	STEP("rdma_connect", !rdma_connect(client, &param));
	request = next(side->passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = request->id;
	STEP("rdma_ack_cm_event", !rdma_ack_cm_event(request));
	make_qp(server);
	STEP("rdma_accept", !rdma_accept(server, &param));
	take(side->active, RDMA_CM_EVENT_ESTABLISHED);
	take(side->passive, RDMA_CM_EVENT_ESTABLISHED);
	STEP("rdma_disconnect", !rdma_disconnect(client));
	take(side->passive, RDMA_CM_EVENT_DISCONNECTED);
	STEP("rdma_disconnect", !rdma_disconnect(server));
	take(side->active, RDMA_CM_EVENT_DISCONNECTED);
	end(client);
	end(server);
}

/* So many are asked for at once: soft-RoCE loses messages of the connection manager beyond some. */
#define AT_ONCE 16

static void connect_some(struct side *side, long count)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1, .retry_count = 7 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *ids[AT_ONCE];
	long i;

	for (i = 0; i < count; i++) {
		ids[i] = routed(side);
		make_qp(ids[i]);
	}
	for (i = 0; i < count; i++)
		MUST(!rdma_connect(ids[i], &param));
	for (i = 0; i < count; i++) {
		event = next(side->passive, RDMA_CM_EVENT_CONNECT_REQUEST);
		ids[i] = event->id;
		MUST(!rdma_ack_cm_event(event));
	}
	for (i = 0; i < count; i++) {
		make_qp(ids[i]);
		MUST(!rdma_accept(ids[i], &param));
	}
}

/* Takes an event of each connection, and notes its id, on the sides that have room for it. */
static void take_both(struct side *side, long count, enum rdma_cm_event_type type, struct rdma_cm_id **passive,
		      struct rdma_cm_id **active)
{
	/* The passive side is told once the active one has taken its own. */
	struct rdma_event_channel *channels[] = { side->active, side->passive };
	struct rdma_cm_id **ids[] = { active, passive };

	for (int which = 0; which < 2; which++)
		for (long i = 0; i < count && ids[which]; i++) {
			struct rdma_cm_event *event = next(channels[which], type);

			ids[which][i] = event->id;
			MUST(!rdma_ack_cm_event(event));
		}
}

/* All connections are alive before the first ends. */
static void crowd(struct side *side, long count)
{
	struct rdma_cm_id **servers = calloc((size_t)count, sizeof(*servers)), *ended[AT_ONCE];
	struct rdma_cm_id **clients = calloc((size_t)count, sizeof(*clients));
	long done, some;

	for (done = 0; done < count; done += some) {
		some = count - done < AT_ONCE ? count - done : AT_ONCE;
		connect_some(side, some);
		take_both(side, some, RDMA_CM_EVENT_ESTABLISHED, servers + done, clients + done);
	}
	for (done = 0; done < count; done += some) {
		some = count - done < AT_ONCE ? count - done : AT_ONCE;
		for (long i = 0; i < some; i++)
			MUST(!rdma_disconnect(clients[done + i]));
		take_both(side, some, RDMA_CM_EVENT_DISCONNECTED, ended, NULL);
		for (long i = 0; i < some; i++)
			MUST(!rdma_disconnect(ended[i]));
		take_both(side, some, RDMA_CM_EVENT_DISCONNECTED, NULL, ended);
	}
	for (long i = 0; i < count; i++) {
		end(clients[i]);
		end(servers[i]);
	}
	free(servers);
	free(clients);
}

static struct rdma_cm_id **idle(struct side *side, long count)
{
	struct rdma_cm_id **ids = calloc((size_t)count + 1, sizeof(*ids));

	for (long i = 0; i < count; i++)
		MUST(!rdma_create_id(side->active, &ids[i], NULL, RDMA_PS_TCP));
	return ids;
}

static void calls(long alive)
{
	struct side side;
	struct rdma_cm_id **ids;

	open_side(&side, 7471);
	ids = idle(&side, alive - 1);
	for (int i = 0; i < 20; i++)
		cycle(&side);
	for (int i = 0; i < 6; i++) {
		struct side other;

		counted = i ? COUNTED : WARMING;
		cycle(&side);
		open_side(&other, 7500 + i);
		close_side(&other);
	}
	counted = UNCOUNTED;
	for (long i = 0; i < alive - 1; i++)
		MUST(!rdma_destroy_id(ids[i]));
	close_side(&side);
}

static void cycles(long alive, long rounds)
{
	struct side side;

	open_side(&side, 7471);
	idle(&side, alive - 1);
	cycle(&side);
	ROUNDS("cycle", rounds, cycle(&side));
}

static pthread_barrier_t barrier;
static long thread_rounds;
static int together;

static void *in_thread(void *port)
{
	struct side side;

	open_side(&side, 7471 + (int)(intptr_t)port);
	pthread_barrier_wait(&barrier);
	if (together)
		crowd(&side, thread_rounds);
	else
		for (long i = 0; i < thread_rounds; i++)
			cycle(&side);
	pthread_barrier_wait(&barrier);
	close_side(&side);
	return NULL;
}

static void threads(long count, long rounds)
{
	pthread_t all[64];
	double begin;

	thread_rounds = rounds;
	MUST(count <= 64);
	pthread_barrier_init(&barrier, NULL, (unsigned int)count + 1);
	for (long i = 0; i < count; i++)
		MUST(!pthread_create(&all[i], NULL, in_thread, (void *)(intptr_t)i));
	pthread_barrier_wait(&barrier);
	begin = seconds(CLOCK_MONOTONIC);
	pthread_barrier_wait(&barrier);
	printf("connections/s %.1f\n", (double)(count * rounds) / (seconds(CLOCK_MONOTONIC) - begin));
	for (long i = 0; i < count; i++)
		pthread_join(all[i], NULL);
}

static void memory(long count)
{
	long (*live)(void) = (long (*)(void))dlsym(RTLD_DEFAULT, "heap_live");
	struct rdma_cm_event *event;
	struct rdma_cm_id **ids;
	struct side side;
	long before;

	MUST(live);
	open_side(&side, 7471);
	free(idle(&side, 0));
	cycle(&side);
	before = live();
	ids = idle(&side, count);
	printf("id %.1f\n", (double)(live() - before) / (double)count);
	for (long i = 0; i < count; i++) {
		MUST(!rdma_resolve_addr(ids[i], NULL, device_address(7471), 2000));
		take(side.active, RDMA_CM_EVENT_ADDR_RESOLVED);
	}
	before = live();
	for (long i = 0; i < count; i++) {
		MUST(!rdma_resolve_route(ids[i], 2000));
		MUST(!rdma_get_cm_event(side.active, &event));
	}
	printf("event %.1f\n", (double)(live() - before) / (double)count);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "calls"))
		calls(argument(argc, argv, 2, 1));
	else if (!strcmp(mode, "cycles"))
		cycles(argument(argc, argv, 2, 1), argument(argc, argv, 3, 1000));
	else if (!strcmp(mode, "threads") || (together = !strcmp(mode, "crowds")))
		threads(argument(argc, argv, 2, 1), argument(argc, argv, 3, 100));
	else if (!strcmp(mode, "memory"))
		memory(argument(argc, argv, 2, 1000));
	else
		return 2;
	return 0;
}
