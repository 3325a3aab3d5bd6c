// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * fake: device type=ib ip=10.77.0.1/24 lid=5
 * Every command on the way to a connection and out of a group whose write takes nothing, too little or too
 * much is an error, never a success; afterwards everything can be given back.
 */
#include "trace.h"

static const char *const sizes[] = { "0", "-1", "+1", "8" };

static void script(const char *command, const char *size, int nth)
{
	char text[64];

	snprintf(text, sizeof(text), "answer %s size=%s skip nth=%d", command, size, nth);
	say("%s", text);
	fake(text);
}

static void give_back(struct pair *p)
{
	RDMAFAKE(rdmafake_reset)();
	pair_destroy(p);
}

/* The queue pair is made here, so that its first attributes are asked for under the script. */
static void queue_pair(const char *size)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7000");

	script("INIT_QP_ATTR", size, 1);
	CALL(rdma_create_qp(id, NULL, qp_attr()));
	say("queue pair %s", id->qp ? "yes" : "no");
	RDMAFAKE(rdmafake_reset)();
	if (id->qp)
		rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void connect_(const char *size)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7000");

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	script("CONNECT", size, 1);
	CALL(rdma_connect(id, param()));
	RDMAFAKE(rdmafake_reset)();
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void passive(const char *command, const char *size, int nth)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	script(command, size, nth);
	if (!strcmp(command, "REJECT"))
		CALL(rdma_reject(p.child, NULL, 0));
	else
		CALL(rdma_accept(p.child, param()));
	give_back(&p);
}

static void disconnect(const char *size)
{
	struct pair p;

	pair_connect(&p);
	script("DISCONNECT", size, 1);
	CALL(rdma_disconnect(p.client));
	give_back(&p);
}

static void leave(const char *size)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(id, NULL, attr));
	MUST(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	expect_and_ack(ch, RDMA_CM_EVENT_MULTICAST_JOIN);
	script("LEAVE_MCAST", size, 1);
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	RDMAFAKE(rdmafake_reset)();
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

int main(void)
{
	for (int s = 0; s < 4; s++) {
		queue_pair(sizes[s]);
		connect_(sizes[s]);
		passive("INIT_QP_ATTR", sizes[s], 1);
		passive("INIT_QP_ATTR", sizes[s], 2);
		passive("ACCEPT", sizes[s], 1);
		passive("REJECT", sizes[s], 1);
		disconnect(sizes[s]);
		leave(sizes[s]);
	}
	return done();
}
