// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Freeing no list is nothing.
 */
#include "trace.h"

int main(void)
{
	VOID(rdma_free_devices(NULL));
	return done();
}
