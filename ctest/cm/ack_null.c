// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Acknowledging nothing is EINVAL.
 */
#include "trace.h"

int main(void)
{
	CALL(rdma_ack_cm_event(NULL));
	return done();
}
