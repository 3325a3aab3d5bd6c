/*
 * Freeing no list is nothing.
 */
#include "trace.h"

int main(void)
{
	VOID(rdma_free_devices(NULL));
	return done();
}
