// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-1, C-2
 * Address and connect data lengths of the caller's list that cannot be: EINVAL, never a crash.
 */
#include "trace.h"

static char big[5000];

int main(void)
{
	struct sockaddr_in *sin = (void *)big;
	struct rdma_addrinfo entry = { .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP };
	struct rdma_cm_id *id;
	static const unsigned lengths[] = { 0, 1, 2, 15, 17, 129, 4000 };

	*sin = *(struct sockaddr_in *)addr("10.77.0.1:7471");
	for (int i = 0; i < 7; i++) {
		say("length %u", lengths[i]);
		entry.ai_flags = RAI_PASSIVE;
		entry.ai_src_addr = (void *)big;
		entry.ai_src_len = lengths[i];
		id = NULL;
		if (CALL(rdma_create_ep(&id, &entry, NULL, NULL)) == 0)
			rdma_destroy_ep(id);
		entry.ai_flags = 0;
		entry.ai_src_addr = NULL;
		entry.ai_src_len = 0;
		entry.ai_dst_addr = (void *)big;
		entry.ai_dst_len = lengths[i];
		id = NULL;
		if (CALL(rdma_create_ep(&id, &entry, NULL, NULL)) == 0)
			rdma_destroy_ep(id);
		entry.ai_dst_addr = NULL;
		entry.ai_dst_len = 0;
	}
	entry.ai_dst_addr = (void *)big;
	entry.ai_dst_len = sizeof(*sin);
	entry.ai_connect = big;
	for (int i = 0; i < 3; i++) {
		static const unsigned connect[] = { 36, 255, 4000 };
		struct rdma_conn_param *p = param();

		entry.ai_connect_len = connect[i];
		p->private_data = big;
		p->private_data_len = 255;
		say("connect length %u", connect[i]);
		id = NULL;
		if (CALL(rdma_create_ep(&id, &entry, NULL, qp_attr())) == 0) {
			CALL(rdma_connect(id, p));
			rdma_destroy_ep(id);
		}
	}
	return done();
}
