// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: the C library keeps a pointer to what it has destroyed, where both directions share it
 * A program that puts completion queues and channels of its own into the public fields of an id gives them to
 * it: rdma_destroy_qp and rdma_destroy_ep destroy them. One queue for both directions, and one channel, too.
 */
#include "trace.h"

static void attach(struct rdma_cm_id *id, int shared)
{
	struct ibv_qp_init_attr *attr = qp_attr();

	id->recv_cq_channel = ibv_create_comp_channel(id->verbs);
	id->send_cq_channel = shared ? id->recv_cq_channel : ibv_create_comp_channel(id->verbs);
	id->recv_cq = ibv_create_cq(id->verbs, 10, id, id->recv_cq_channel, 0);
	id->send_cq = shared == 2 ? id->recv_cq : ibv_create_cq(id->verbs, 10, id, id->send_cq_channel, 0);
	attr->send_cq = id->send_cq;
	attr->recv_cq = id->recv_cq;
	CALL(rdma_create_qp(id, NULL, attr));
}

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int shared = 0; shared < 3; shared++)
		for (int with_ep = 0; with_ep < 2; with_ep++) {
			struct rdma_cm_id *id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471");

			say("shared %d, with rdma_destroy_ep %d", shared, with_ep);
			attach(id, shared);
			if (with_ep) {
				rdma_destroy_ep(id);
			} else {
				rdma_destroy_qp(id);
				say("queues %d %d, channels %d %d", !!id->send_cq, !!id->recv_cq, !!id->send_cq_channel,
				    !!id->recv_cq_channel);
				CALL(rdma_destroy_id(id));
			}
		}
	rdma_destroy_event_channel(ch);
	return done();
}
