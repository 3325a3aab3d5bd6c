/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A provider without a device: its functions return at once. */
#ifndef STUB_H
#define STUB_H

#include <rdma/rdma_verbs.h>

struct stub {
	struct ibv_context context;
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct ibv_comp_channel channel;
	struct ibv_mr mr;
	struct rdma_cm_id id;
};

void stub_make(struct stub *stub);

#endif
