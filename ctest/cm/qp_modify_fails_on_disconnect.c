// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Disconnecting fails because the queue pair cannot be moved: the errno survives.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_connect(&p);
	fake("verbs modify_qp errno=ENOBUFS");
	CALL(rdma_disconnect(p.client));
	CALL(rdma_disconnect(p.client));
	take(p.active);
	pair_destroy(&p);
	return done();
}
