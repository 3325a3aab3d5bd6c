// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Each verb that rdma_create_qp uses fails once: its errno survives and nothing leaks.
 */
#include "trace.h"

static const char *const verbs[] = { "create_comp_channel", "create_cq", "create_qp", "modify_qp" };
static const char *const errors[] = { "ENOMEM", "EINVAL", "ENOSPC", "EMFILE" };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int v = 0; v < 4; v++)
		for (int nth = 1; nth <= 2; nth++) {
			struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
			char script[80];

			RDMAFAKE(rdmafake_reset)();
			snprintf(script, sizeof(script), "verbs %s nth=%d errno=%s", verbs[v], nth, errors[v]);
			fake(script);
			say("%s", script);
			if (CALL(rdma_create_qp(id, NULL, qp_attr())) == 0)
				rdma_destroy_qp(id);
			say("id: %d %d %d", !!id->qp, !!id->send_cq, !!id->recv_cq);
			CALL(rdma_destroy_id(id));
		}
	rdma_destroy_event_channel(ch);
	return done();
}
