/*
 * Acknowledging nothing is EINVAL.
 */
#include "trace.h"

int main(void)
{
	CALL(rdma_ack_cm_event(NULL));
	return done();
}
