// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Each command fails once with its own errno, which the call tells; the next try works.
 */
#include "trace.h"

static const char *const errors[] = { "EPERM", "EINTR", "EIO", "EACCES", "EMFILE", "ENOSPC", "EAGAIN" };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int i = 0; i < 7; i++) {
		struct rdma_cm_id *id = NULL;
		char script[160];

		snprintf(script, sizeof(script), "fail CREATE_ID errno=%s; fail BIND errno=%s; fail LISTEN errno=%s",
			 errors[i], errors[i], errors[i]);
		fake(script);
		say("%s", errors[i]);
		CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
		CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
		CALL(rdma_listen(id, 1));
		CALL(rdma_listen(id, 1));
		CALL(rdma_destroy_id(id));
		RDMAFAKE(rdmafake_reset)();
	}
	rdma_destroy_event_channel(ch);
	return done();
}
