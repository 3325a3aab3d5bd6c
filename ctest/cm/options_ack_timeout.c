/*
 * The ack timeout reaches the queue pair of the active side.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *id = addressed(cc, RDMA_PS_TCP, "10.77.0.1:7000");
	unsigned char timeout = 9;

	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
