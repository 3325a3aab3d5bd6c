// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device type=ib ip=10.77.0.1/24 lid=5
 * A path that the application sets is a resolved route: its event, its fields in the id, and a connection
 * over it, whose queue pair has its service level and MTU; wrong flags, lengths and states are refused.
 */
#include "trace.h"

#include <infiniband/sa.h>

static struct ibv_path_data path_from(struct rdma_cm_id *id)
{
	struct ibv_path_data data = { .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL };

	data.path.dgid = id->route.addr.addr.ibaddr.dgid;
	data.path.sgid = id->route.addr.addr.ibaddr.sgid;
	data.path.dlid = htons(5);
	data.path.slid = htons(5);
	data.path.flowlabel_hoplimit = htonl(7);
	data.path.tclass = 12;
	data.path.reversible_numpath = 0x81;
	data.path.pkey = htons(0xffff);
	data.path.qosclass_sl = htons(3);
	data.path.mtu = 0x84;
	data.path.rate = 0x83;
	data.path.packetlifetime = 0x90;
	return data;
}

static int set(struct rdma_cm_id *id, const void *value, size_t length)
{
	return rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, (void *)value, length);
}

static void show_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(ibv_query_qp(id->qp, &attr, IBV_QP_AV | IBV_QP_PATH_MTU, &init));
	say("queue pair: mtu %d, lid %d, level %d, rate %d", attr.path_mtu, attr.ah_attr.dlid, attr.ah_attr.sl, attr.ah_attr.static_rate);
}

int main(void)
{
	struct rdma_event_channel *passive = channel(), *active = channel();
	struct rdma_cm_id *listener = bound(passive, RDMA_PS_TCP, "10.77.0.1:7000");
	struct rdma_cm_id *early = new_id(active, RDMA_PS_TCP);
	struct rdma_cm_id *id = addressed(active, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_path_data data = path_from(id), two[2];
	struct rdma_cm_event *request;
	struct rdma_cm_id *child;

	name(id, "id");
	CALL(set(early, &data, sizeof(data)));
	CALL(rdma_set_option(id, RDMA_OPTION_IB, 99, &data, sizeof(data)));
	CALL(set(id, &data, 0));
	CALL(set(id, &data, sizeof(data) - 1));
	CALL(set(id, &data, sizeof(data) + 1));
	two[0] = two[1] = data;
	two[0].flags = two[1].flags = IBV_PATH_FLAG_ALTERNATE;
	CALL(set(id, two, sizeof(two)));
	none(active);
	two[1] = data;
	CALL(set(id, two, sizeof(two)));
	take(active);
	show_id(id);
	CALL(set(id, &data, sizeof(data)));
	MUST(rdma_listen(listener, 1));
	MUST(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_connect(id, param()));
	request = next(passive);
	child = request->id;
	MUST(rdma_create_qp(child, NULL, qp_attr()));
	CALL(rdma_accept(child, param()));
	MUST(rdma_ack_cm_event(request));
	take(active);
	take(passive);
	show_queue_pair(id);
	rdma_destroy_qp(child);
	CALL(rdma_destroy_id(child));
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	CALL(rdma_destroy_id(early));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(passive);
	rdma_destroy_event_channel(active);
	return done();
}
