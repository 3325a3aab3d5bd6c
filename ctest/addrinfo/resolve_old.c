// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A kernel that has no commands beyond JOIN_MCAST: everything new fails with ENOSYS, and nothing else
 * is disturbed. The C library passes the kernel's EINVAL on, or -1 as errno.
 *
 * differs: errno is -1, or the kernel's EINVAL
 * theirs: absent
 * fake: device name=ib0 type=ib ip=10.77.0.1/24
 * fake: kernel max_cmd=22
 */
#include "resolve.h"

int main(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST }, *res = NULL;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id, *sync;

	setvbuf(stdout, NULL, _IOLBF, 0);
	need_resolve();
	trace_result("rdma_create_id", rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	trace_result("rdma_create_id", rdma_create_id(NULL, &sync, NULL, RDMA_PS_TCP));
	trace_result("name", rdma_resolve_addrinfo(id, "127.0.0.1", "1", &hints));
	trace_result("name", rdma_resolve_addrinfo(sync, "127.0.0.1", "1", &hints));
	trace_result("event", rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0));
	trace_result("other event", rdma_write_cm_event(id, RDMA_CM_EVENT_INTERNAL, 0, 0));
	trace_event(channel, 50);
	bind_to(id, "10.77.0.1");
	bind_to(sync, "10.77.0.1");
	hints.ai_flags = RAI_SA;
	trace_result("service", rdma_resolve_addrinfo(id, NULL, "svc", &hints));
	trace_result("service", rdma_resolve_addrinfo(sync, NULL, "svc", &hints));
	trace_query(id);
	trace_result("rdma_getaddrinfo", rdma_getaddrinfo(NULL, "svc", &hints, &res));
	hints.ai_flags = RAI_NUMERICHOST;
	trace_result("rdma_getaddrinfo", rdma_getaddrinfo("127.0.0.1", "1", &hints, &res));
	rdma_freeaddrinfo(res);
	trace_result("rdma_destroy_id", rdma_destroy_id(sync));
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return 0;
}
