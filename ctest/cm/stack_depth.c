// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Every call works in a thread with a stack of 16 KiB: none reaches deeper than what such a thread has left, with
 * the part of libibverbs and of the soft device. The stack below a call is painted before it and looked at after.
 * env: RDMACM_POOL_SIZE=0
 * sanitizer: no */
#include "trace.h"
#include <arpa/inet.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>
#include <sys/uio.h>

/* 16 KiB less what libc keeps of a thread on its stack, and less a caller's frames. */
enum { ROOM = 65536, LIMIT = 10240, PAINT = 0xa5 };

static int calls;
static size_t deepest;
static const char *deepest_call;

/* The stack of the thread that makes the calls. */
static unsigned char stack[1 << 18] __attribute__((aligned(4096)));
static volatile unsigned char *top;

static __attribute__((noinline)) void paint(void)
{
	/* Below what this function itself has. */
	top = (unsigned char *)__builtin_frame_address(0) - 128;
	for (volatile unsigned char *at = top - ROOM; at < top; at++)
		*at = PAINT;
}

static __attribute__((noinline)) void look(const char *call)
{
	volatile unsigned char *at = top - ROOM;
	size_t depth;

	while (at < top && *at == PAINT)
		at++;
	depth = top - at;
	calls++;
	if (depth > deepest) {
		deepest = depth;
		deepest_call = call;
	}
	if (depth > LIMIT)
		printf("%s: %zu bytes\n", call, depth);
}

#define DEEP(call) do { paint(); (void)(call); look(#call); } while (0)

static struct rdma_cm_event *event;

static void take_at(struct rdma_event_channel *from, int line)
{
	struct pollfd ready = { from->fd, POLLIN, 0 };

	event = NULL;
	if (poll(&ready, 1, 5000) != 1) {
		printf("line %d: no event\n", line);
		exit(3);
	}
	DEEP(rdma_get_cm_event(from, &event));
}

static void skip_at(struct rdma_event_channel *from, int line)
{
	take_at(from, line);
	DEEP(rdma_ack_cm_event(event));
}

#define take_event(from) take_at(from, __LINE__)
#define skip_event(from) skip_at(from, __LINE__)

static void connections(void)
{
	struct rdma_event_channel *passive = NULL, *active = NULL, *third = channel();
	struct rdma_cm_id *listener, *client, *child, *refused;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_conn_param params = *param();
	struct ibv_ece ece = { 0 };
	int mask = 0, on = 1;

	DEEP(passive = rdma_create_event_channel());
	active = channel();
	DEEP(rdma_create_id(passive, &listener, NULL, RDMA_PS_TCP));
	DEEP(rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	DEEP(rdma_bind_addr(listener, addr("10.77.0.1:7260")));
	DEEP(rdma_listen(listener, 4));
	for (int round = 0; round < 2; round++) {
		MUST(rdma_create_id(active, &client, NULL, RDMA_PS_TCP));
		DEEP(rdma_resolve_addr(client, NULL, addr("10.77.0.1:7260"), 2000));
		skip_event(active);
		DEEP(rdma_resolve_route(client, 2000));
		skip_event(active);
		DEEP(rdma_create_qp(client, NULL, qp_attr()));
		DEEP(rdma_init_qp_attr(client, &attr, &mask));
		DEEP(rdma_set_local_ece(client, &ece));
		DEEP(rdma_connect(client, &params));
		take_event(passive);
		child = event->id;
		if (round) {
			refused = child;
			DEEP(rdma_reject(refused, "no", 2));
			DEEP(rdma_ack_cm_event(event));
			skip_event(active);
			DEEP(rdma_destroy_id(refused));
			rdma_destroy_qp(client);
			DEEP(rdma_destroy_id(client));
			continue;
		}
		DEEP(rdma_get_remote_ece(child, &ece));
		DEEP(rdma_create_qp(child, NULL, qp_attr()));
		DEEP(rdma_accept(child, &params));
		DEEP(rdma_ack_cm_event(event));
		skip_event(active);
		skip_event(passive);
		DEEP(rdma_migrate_id(child, third));
		DEEP(rdma_notify(child, IBV_EVENT_COMM_EST));
		DEEP(rdma_get_src_port(client));
		DEEP(rdma_get_dst_port(client));
		DEEP(rdma_disconnect(client));
		skip_event(third);
		rdma_disconnect(child);
		skip_event(active);
		DEEP(rdma_destroy_qp(client));
		rdma_destroy_qp(child);
		MUST(rdma_destroy_id(client));
		MUST(rdma_destroy_id(child));
	}
	MUST(rdma_destroy_id(listener));
	DEEP(rdma_destroy_event_channel(passive));
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(third);
}

static void groups_and_queues(void)
{
	struct rdma_event_channel *events = channel();
	struct rdma_cm_id *id = bound(events, RDMA_PS_UDP, "10.77.0.1:7261"), *shared;
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = addr("239.1.1.1"),
	};
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr *qp = qp_attr();

	qp->qp_type = IBV_QPT_UD;
	DEEP(rdma_create_qp(id, NULL, qp));
	DEEP(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	skip_event(events);
	DEEP(rdma_leave_multicast(id, addr("239.1.1.1")));
	DEEP(rdma_join_multicast_ex(id, &attr, NULL));
	skip_event(events);
	DEEP(rdma_leave_multicast(id, addr("239.1.1.1")));
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	shared = bound(events, RDMA_PS_TCP, "10.77.0.1:7262");
	DEEP(rdma_create_srq(shared, NULL, &srq));
	DEEP(rdma_destroy_srq(shared));
	MUST(rdma_destroy_id(shared));
	rdma_destroy_event_channel(events);
}

static struct rdma_cm_id *endpoint, *served;

static void *serve(void *listener)
{
	MUST(rdma_get_request(listener, &served));
	MUST(rdma_accept(served, NULL));
	return NULL;
}

static void *end(void *id)
{
	rdma_disconnect(id);
	return NULL;
}

static void endpoints(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }, *found;
	struct rdma_cm_id *listener;
	struct ibv_context **devices;
	static char buffer[64];
	struct ibv_mr *region;
	struct ibv_wc done_with;
	pthread_t thread;
	int count;

	DEEP(devices = rdma_get_devices(&count));
	DEEP(rdma_free_devices(devices));
	DEEP(rdma_getaddrinfo("10.77.0.1", "7263", &hints, &found));
	DEEP(rdma_create_ep(&listener, found, NULL, qp_attr()));
	DEEP(rdma_freeaddrinfo(found));
	MUST(rdma_listen(listener, 4));
	thread = background(serve, listener);
	hints.ai_flags = 0;
	MUST(rdma_getaddrinfo("10.77.0.1", "7263", &hints, &found));
	DEEP(rdma_create_ep(&endpoint, found, NULL, qp_attr()));
	rdma_freeaddrinfo(found);
	DEEP(rdma_connect(endpoint, NULL));
	finish(thread);
	DEEP(region = rdma_reg_msgs(endpoint, buffer, sizeof(buffer)));
	DEEP(rdma_post_recv(endpoint, NULL, buffer, sizeof(buffer), region));
	DEEP(rdma_post_send(served, NULL, buffer, 8, NULL, IBV_SEND_INLINE));
	DEEP(HELPER(rdma_get_recv_comp)(endpoint, &done_with));
	DEEP(HELPER(rdma_get_send_comp)(served, &done_with));
	DEEP(rdma_dereg_mr(region));
	thread = background(end, served);
	DEEP(rdma_disconnect(endpoint));
	finish(thread);
	DEEP(rdma_destroy_ep(endpoint));
	rdma_destroy_ep(served);
	rdma_destroy_ep(listener);
}

static void *connect_later(void *arg)
{
	int fd = *(int *)arg;

	MUST(rconnect(fd, addr("10.77.0.1:7264"), sizeof(struct sockaddr_in)));
	return NULL;
}

static void sockets(void)
{
	char buffer[256] = "x";
	struct iovec piece = { buffer, 64 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	struct sockaddr_storage name;
	socklen_t length = sizeof(name);
	struct timeval soon = { 0, 1000 };
	struct pollfd ready;
	int listener, client, server, value = 1;
	pthread_t thread;
	fd_set set;

	DEEP(listener = rsocket(AF_INET, SOCK_STREAM, 0));
	DEEP(rsetsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &value, sizeof(value)));
	DEEP(rbind(listener, addr("10.77.0.1:7264"), sizeof(struct sockaddr_in)));
	DEEP(rlisten(listener, 4));
	client = rsocket(AF_INET, SOCK_STREAM, 0);
	thread = background(connect_later, &client);
	DEEP(server = raccept(listener, (struct sockaddr *)&name, &length));
	finish(thread);
	DEEP(rsend(client, buffer, 64, 0));
	DEEP(rrecv(server, buffer, 64, 0));
	DEEP(rwrite(client, buffer, 64));
	DEEP(rread(server, buffer, 64));
	DEEP(rwritev(client, &piece, 1));
	DEEP(rreadv(server, &piece, 1));
	DEEP(rsendmsg(client, &message, 0));
	DEEP(rrecvmsg(server, &message, 0));
	DEEP(rsendto(client, buffer, 64, 0, NULL, 0));
	DEEP(rrecvfrom(server, buffer, 64, 0, NULL, NULL));
	length = sizeof(name);
	DEEP(rgetpeername(client, (struct sockaddr *)&name, &length));
	length = sizeof(name);
	DEEP(rgetsockname(client, (struct sockaddr *)&name, &length));
	length = sizeof(value);
	DEEP(rgetsockopt(client, SOL_SOCKET, SO_ERROR, &value, &length));
	DEEP(rfcntl(client, F_SETFL, O_NONBLOCK));
	ready = (struct pollfd){ client, POLLOUT, 0 };
	DEEP(rpoll(&ready, 1, 10));
	FD_ZERO(&set);
	FD_SET(server, &set);
	DEEP(rselect(server + 1, &set, NULL, NULL, &soon));
	DEEP(rshutdown(client, SHUT_WR));
	DEEP(rclose(client));
	DEEP(rclose(server));
	rclose(listener);
}

static void *all(void *unused)
{
	connections();
	groups_and_queues();
	endpoints();
	sockets();
	return unused;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	MUST(pthread_attr_setstack(&attr, stack, sizeof(stack)));
	MUST(pthread_create(&thread, &attr, all, NULL));
	pthread_join(thread, NULL);
	printf("%d calls\n", calls);
	if (getenv("DEPTHS"))
		printf("deepest: %s, %zu bytes\n", deepest_call, deepest);
	return done();
}
