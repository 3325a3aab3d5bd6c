// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device ip=10.77.0.1/24 ece=1
 * Extensions between queue pairs that the library made.
 */
#include "trace.h"

int main(void)
{
	struct pair p;
	struct ibv_ece ece = { .vendor_id = 1 };

	pair_connect(&p);
	CALL(rdma_set_local_ece(p.client, &ece));
	CALL(rdma_get_remote_ece(p.client, &ece));
	pair_destroy(&p);
	return done();
}
