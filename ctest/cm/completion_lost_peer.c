// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A synchronous id waits for a completion while its peer goes: what is posted completes as flushed, a wait with
 * nothing posted fails, and the verb that comes next gets the event. A verb of another thread that waits for the
 * same event gets it, too. Messages before the end are not lost.
 * differs: C-42
 * theirs: hangs */
#include "trace.h"

static char buffer[2][64];

struct side {
	struct rdma_cm_id *id;
	struct ibv_mr *region;
};

static struct rdma_cm_id *listener;
static struct side served;

static void receive(struct side *side, int number)
{
	MUST(rdma_post_recv(side->id, (void *)(long)number, buffer[0], 64, side->region));
}

static void prepare(struct side *side)
{
	side->region = rdma_reg_msgs(side->id, buffer, sizeof(buffer));
}

static void *serve(void *unused)
{
	struct rdma_conn_param params = *param();

	MUST(rdma_get_request(listener, &served.id));
	prepare(&served);
	receive(&served, 1);
	MUST(rdma_accept(served.id, &params));
	return unused;
}

static struct side connected(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct rdma_conn_param params = *param();
	pthread_t thread = background(serve, NULL);
	struct side client;

	MUST(rdma_getaddrinfo("10.77.0.1", "7280", &hints, &found));
	MUST(rdma_create_ep(&client.id, found, NULL, qp_attr()));
	rdma_freeaddrinfo(found);
	prepare(&client);
	receive(&client, 2);
	MUST(rdma_connect(client.id, &params));
	finish(thread);
	return client;
}

static void end(struct side *side)
{
	rdma_dereg_mr(side->region);
	rdma_destroy_ep(side->id);
}

static void wait_for_one(struct side *side)
{
	struct ibv_wc done_with = { 0 };
	int got = CALL(HELPER(rdma_get_recv_comp)(side->id, &done_with));

	if (got > 0)
		printf("  request %d: %s\n", (int)done_with.wr_id, ibv_wc_status_str(done_with.status));
}

static void *disconnect(void *id)
{
	usleep(200000);
	/* The other side need not answer. */
	return (void *)(long)rdma_disconnect(id);
}

static void *answer(void *side)
{
	wait_for_one(side);
	return NULL;
}

int main(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }, *found;
	struct side client;
	pthread_t thread;

	MUST(rdma_getaddrinfo("10.77.0.1", "7280", &hints, &found));
	MUST(rdma_create_ep(&listener, found, NULL, qp_attr()));
	rdma_freeaddrinfo(found);
	MUST(rdma_listen(listener, 4));

	printf("the peer disconnects\n");
	client = connected();
	thread = background(disconnect, served.id);
	wait_for_one(&client);
	wait_for_one(&client);
	CALL(rdma_disconnect(client.id));
	printf("the peer's: %ld\n", (long)finish(thread));
	end(&client);
	end(&served);

	printf("after a message\n");
	client = connected();
	MUST(rdma_post_send(served.id, NULL, buffer[1], 64, served.region, 0));
	thread = background(disconnect, served.id);
	usleep(400000);
	wait_for_one(&client);
	wait_for_one(&client);
	CALL(rdma_disconnect(client.id));
	finish(thread);
	end(&client);
	end(&served);

	printf("a verb of another thread waits for the event\n");
	client = connected();
	thread = background(answer, &client);
	usleep(100000);
	{
		pthread_t other = background(disconnect, served.id);

		CALL(rdma_disconnect(client.id));
		finish(other);
	}
	finish(thread);
	end(&client);
	end(&served);

	printf("the event is left to the end of the id\n");
	client = connected();
	thread = background(disconnect, served.id);
	wait_for_one(&client);
	rdma_dereg_mr(client.region);
	rdma_destroy_qp(client.id);
	MUST(rdma_destroy_id(client.id));
	finish(thread);
	end(&served);
	rdma_destroy_ep(listener);
	return done();
}
