// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * differs: C-7 and its kind, what an allocation that fails leaves behind
 * theirs: hangs
 * Every allocation of the library fails once, each in a process of its own: calls fail with ENOMEM, the
 * program goes on, and nothing is left when it has tidied up.
 */
#include "trace.h"
#define WRONG say
#include "short_memory.h"

/* Whether a call went through; nothing but ENOMEM may stop it. */
static bool ok(const char *what, int result)
{
	if (result && errno != ENOMEM)
		say("%s: %s", what, error_text(errno));
	return !result;
}

/*
 * The event, asked for again where there was no memory for it. A request that could not be taken is
 * rejected, and the channel empty.
 */
static bool taken(struct rdma_event_channel *ch, enum rdma_cm_event_type wanted, struct rdma_cm_event **event)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	while (poll(&p, 1, 200) == 1) {
		int result = rdma_get_cm_event(ch, event);

		if (result && errno == EAGAIN)
			return false;
		if (!ok("get_cm_event", result))
			continue;
		if ((*event)->event == wanted)
			return true;
		if ((*event)->status != -ENOMEM && (*event)->event != RDMA_CM_EVENT_REJECTED)
			say("%s, status %d", rdma_event_str((*event)->event), (*event)->status);
		rdma_ack_cm_event(*event);
		return false;
	}
	return false;
}

static bool passed(struct rdma_event_channel *ch, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	return taken(ch, wanted, &event) && !rdma_ack_cm_event(event);
}

static bool client(struct rdma_event_channel *ch, struct rdma_cm_id *id)
{
	return ok("resolve_addr", rdma_resolve_addr(id, NULL, addr("10.77.0.1:7471"), 1000)) &&
	       passed(ch, RDMA_CM_EVENT_ADDR_RESOLVED) && ok("resolve_route", rdma_resolve_route(id, 1000)) &&
	       passed(ch, RDMA_CM_EVENT_ROUTE_RESOLVED) && ok("create_qp", rdma_create_qp(id, NULL, qp_attr())) &&
	       ok("connect", rdma_connect(id, param()));
}

static void connection(void)
{
	struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
	struct rdma_cm_id *listener = NULL, *id = NULL;
	struct rdma_cm_event *request;

	if (passive && active && !fcntl(passive->fd, F_SETFL, O_NONBLOCK) && ok("create_id", rdma_create_id(passive, &listener, NULL, RDMA_PS_TCP)) &&
	    ok("bind_addr", rdma_bind_addr(listener, addr("10.77.0.1:7471"))) && ok("listen", rdma_listen(listener, 1)) &&
	    ok("create_id", rdma_create_id(active, &id, NULL, RDMA_PS_TCP)) && client(active, id)) {
		if (taken(passive, RDMA_CM_EVENT_CONNECT_REQUEST, &request)) {
			struct rdma_cm_id *child = request->id;

			rdma_ack_cm_event(request);
			if (ok("create_qp", rdma_create_qp(child, NULL, qp_attr())) && ok("accept", rdma_accept(child, param())))
				passed(active, RDMA_CM_EVENT_ESTABLISHED);
			rdma_destroy_qp(child);
			rdma_destroy_id(child);
		} else if (passed(active, RDMA_CM_EVENT_ESTABLISHED)) {
			say("connected to nobody");
		}
	}
	if (id) {
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
	}
	if (listener)
		rdma_destroy_id(listener);
	if (passive)
		rdma_destroy_event_channel(passive);
	if (active)
		rdma_destroy_event_channel(active);
}

static void multicast(void)
{
	struct rdma_cm_id *id = NULL;

	if (!ok("create_id", rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP)))
		return;
	if (ok("bind_addr", rdma_bind_addr(id, addr("10.77.0.1:0"))) &&
	    ok("join_multicast", rdma_join_multicast(id, addr("239.1.1.1:0"), NULL)))
		ok("leave_multicast", rdma_leave_multicast(id, addr("239.1.1.1:0")));
	rdma_destroy_id(id);
}

static void names(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found = NULL;
	struct rdma_cm_id *id = NULL;
	int result = rdma_getaddrinfo("10.77.0.1", "7471", &hints, &found);

	/* The resolver has numbers of its own. */
	if (result > 0 || !ok("getaddrinfo", result))
		return;
	if (ok("create_ep", rdma_create_ep(&id, found, NULL, qp_attr())))
		rdma_destroy_ep(id);
	rdma_freeaddrinfo(found);
}

static void each(const char *what, void (*run)(void))
{
	long count = every(run);

	say("%s: %s", what, count > 5 && count < MOST_ALLOCATIONS ? "every allocation has failed" : "too few or too many");
}

int main(void)
{
	need_soft_device();
	each("connection", connection);
	each("multicast", multicast);
	each("names", names);
	return done();
}
