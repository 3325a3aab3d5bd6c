// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Forks while threads create, fetch and destroy: no child hangs or disturbs its parent. */
#include "stress.h"

static atomic_bool stop;

static void *busy(void *arg)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	while (!stop) {
		struct rdma_cm_id *id = NULL;
		struct rdma_cm_event *event;

		CHECK(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		CHECK(!rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
		CHECK(!rdma_get_cm_event(ch, &event));
		CHECK(event->id == id);
		CHECK(!rdma_ack_cm_event(event));
		CHECK(!rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(ch);
	return NULL;
}

static int child(struct rdma_cm_id *inherited)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;

	alarm(10);
	if (!ch || rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		return 1;
	if (rdma_bind_addr(id, addr("10.77.0.1:0")))
		return 2;
	if (rdma_destroy_id(inherited) || rdma_destroy_id(id))
		return 3;
	rdma_destroy_event_channel(ch);
	return 0;
}

int main(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		threads[i] = background(busy, NULL);
	for (int i = 0, n = rounds(100); i < n; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			_exit(child(id));
		CHECK(waitpid(pid, &status, 0) == pid);
		if (status)
			fprintf(stderr, "child: status %x\n", status);
		CHECK(status == 0);
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK(!rdma_listen(id, 1));
	CHECK(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	CHECK(RDMAFAKE(rdmafake_foreign)() == 0);
	return end("forks");
}
