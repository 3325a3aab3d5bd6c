// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * Every call of rdma_cma.h with NULL for the id: EINVAL.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = NULL;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_qp_init_attr_ex ex = { 0 };
	struct ibv_srq_init_attr srq = { 0 };
	struct ibv_srq_init_attr_ex srqx = { 0 };
	struct rdma_cm_join_mc_attr_ex join = { 0 };
	struct ibv_ece ece = { .vendor_id = 1 };
	int mask = 0, value = 0;

	CALL(rdma_create_id(NULL, NULL, NULL, RDMA_PS_TCP));
	CALL(rdma_destroy_id(NULL));
	CALL(rdma_migrate_id(NULL, NULL));
	CALL(rdma_bind_addr(NULL, addr("10.77.0.1:7000")));
	CALL(rdma_resolve_addr(NULL, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_resolve_route(NULL, 1000));
	CALL(rdma_create_qp(NULL, NULL, qp_attr()));
	CALL(rdma_create_qp_ex(NULL, &ex));
	VOID(rdma_destroy_qp(NULL));
	CALL(rdma_create_srq(NULL, NULL, &srq));
	CALL(rdma_create_srq_ex(NULL, &srqx));
	VOID(rdma_destroy_srq(NULL));
	CALL(rdma_connect(NULL, param()));
	CALL(rdma_listen(NULL, 1));
	CALL(rdma_accept(NULL, param()));
	CALL(rdma_establish(NULL));
	CALL(rdma_reject(NULL, NULL, 0));
	CALL(rdma_reject_ece(NULL, NULL, 0));
	CALL(rdma_notify(NULL, IBV_EVENT_COMM_EST));
	CALL(rdma_disconnect(NULL));
	CALL(rdma_join_multicast(NULL, addr("239.1.1.1"), NULL));
	CALL(rdma_join_multicast_ex(NULL, &join, NULL));
	CALL(rdma_leave_multicast(NULL, addr("239.1.1.1")));
	CALL(rdma_init_qp_attr(NULL, &attr, &mask));
	CALL(rdma_set_option(NULL, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &value, 1));
	CALL(rdma_set_local_ece(NULL, &ece));
	CALL(rdma_get_remote_ece(NULL, &ece));
	CALL(rdma_get_src_port(NULL));
	CALL(rdma_get_dst_port(NULL));
	CALL(rdma_get_request(NULL, &id));
	CALL(rdma_create_ep(NULL, NULL, NULL, NULL));
	CALL(rdma_create_ep(&id, NULL, NULL, NULL));
	VOID(rdma_destroy_ep(NULL));
	VOID(rdma_free_devices(NULL));
	VOID(rdma_freeaddrinfo(NULL));
	return done();
}
