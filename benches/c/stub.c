/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "stub.h"

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return 0;
}

/* There is always one completion. */
static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return 1;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	return 0;
}

void stub_make(struct stub *stub)
{
	static char memory[4096];

	stub->context.ops.post_send = post_send;
	stub->context.ops.post_recv = post_recv;
	stub->context.ops.poll_cq = poll_cq;
	stub->context.ops.req_notify_cq = req_notify_cq;
	stub->qp.context = stub->cq.context = stub->channel.context = &stub->context;
	stub->mr.addr = memory;
	stub->mr.length = sizeof(memory);
	stub->mr.lkey = 7;
	stub->id.qp = &stub->qp;
	stub->id.send_cq = stub->id.recv_cq = &stub->cq;
	stub->id.send_cq_channel = stub->id.recv_cq_channel = &stub->channel;
}
