// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A call with output parameters that refuses its arguments has done nothing: what it would have taken, made or
 * consumed is still there for the next call, and nothing is left behind.
 * device: soft
 */
#include "check.h"
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

static int listening, client, server = -1, refused = -1, set;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id, *passive;
static char bytes[512];
static struct sockaddr_storage place;
static struct rdma_addrinfo entry;
static struct sockaddr_in sin;

static struct rdmafake_live live(void)
{
	struct rdmafake_live live;

	RDMAFAKE(rdmafake_live)(&live);
	return live;
}

static int with_length(int (*call)(int, struct sockaddr *, socklen_t *), int fd, int length)
{
	socklen_t size = length;

	return call(fd, (struct sockaddr *)&place, length == -2 ? NULL : &size);
}

static int accept_no_length(void) { return with_length(raccept, listening, -2); }
static int accept_negative(void) { return with_length(raccept, listening, -1); }
static int sockname_no_length(void) { return with_length(rgetsockname, client, -2); }
static int sockname_negative(void) { return with_length(rgetsockname, client, -1); }
static int peername_no_length(void) { return with_length(rgetpeername, client, -2); }
static int peername_negative(void) { return with_length(rgetpeername, client, -1); }

static int receive_from(int length)
{
	socklen_t size = length;

	return rrecvfrom(server, bytes, sizeof bytes, 0, (struct sockaddr *)&place, length == -2 ? NULL : &size);
}

static int from_no_length(void) { return receive_from(-2); }
static int from_negative(void) { return receive_from(-1); }
static int from_no_buffer(void) { return rrecvfrom(server, NULL, 5, 0, NULL, NULL); }

static int receive_message(void *name, int name_length, struct iovec *list, size_t count)
{
	struct msghdr header = { .msg_name = name, .msg_namelen = name_length, .msg_iov = list, .msg_iovlen = count };

	return rrecvmsg(server, &header, 0);
}

static struct iovec one = { bytes, sizeof bytes }, none = { NULL, 5 };

static int message_none(void) { return rrecvmsg(server, NULL, 0); }
static int message_name(void) { return receive_message(&place, -1, &one, 1); }
static int message_no_list(void) { return receive_message(NULL, 0, NULL, 1); }
static int message_no_buffer(void) { return receive_message(NULL, 0, &none, 1); }
static int message_too_many(void) { return receive_message(NULL, 0, &one, 1025); }

static int error_option(void *value, int length)
{
	socklen_t size = length;

	return rgetsockopt(refused, SOL_SOCKET, SO_ERROR, value, length == -2 ? NULL : &size);
}

static int option_no_length(void) { return error_option(bytes, -2); }
static int option_negative(void) { return error_option(bytes, -1); }
static int option_no_value(void) { return error_option(NULL, 4); }

static int set_no_events(void) { return repoll_wait(set, NULL, 4, 0); }
static int set_negative(void) { return repoll_wait(set, (struct epoll_event *)bytes, -1, 0); }
static int set_nothing(void) { return repoll_wait(set, (struct epoll_event *)bytes, 0, 0); }

static int event_nowhere(void) { return rdma_get_cm_event(channel, NULL); }
static int event_no_channel(void) { return rdma_get_cm_event(NULL, (struct rdma_cm_event **)bytes); }
static int request_nowhere(void) { return rdma_get_request(passive, NULL); }
static int request_asynchronous(void) { return rdma_get_request(id, (struct rdma_cm_id **)bytes); }
static int id_nowhere(void) { return rdma_create_id(channel, NULL, NULL, RDMA_PS_TCP); }
static int endpoint_nowhere(void) { return rdma_create_ep(NULL, &entry, NULL, NULL); }

static int endpoint(struct rdma_addrinfo from)
{
	struct rdma_cm_id *made = NULL;

	return rdma_create_ep(&made, &from, NULL, NULL);
}

static int endpoint_header(void)
{
	struct rdma_addrinfo from = entry;

	from.ai_connect = bytes;
	from.ai_connect_len = sizeof bytes;
	return endpoint(from);
}

static int endpoint_short(void)
{
	struct rdma_addrinfo from = entry;

	from.ai_dst_len = 4;
	return endpoint(from);
}

static int endpoint_passive(void)
{
	struct rdma_addrinfo from = entry;

	from.ai_flags = RAI_PASSIVE;
	from.ai_src_addr = NULL;
	return endpoint(from);
}

static int names_nowhere(void) { return rdma_getaddrinfo("10.77.0.1", "7471", NULL, NULL); }
static int attributes_nowhere(void) { return rdma_init_qp_attr(id, NULL, (int *)bytes); }

static int attributes_no_mask(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	return rdma_init_qp_attr(id, &attr, NULL);
}

static int group_nowhere(void) { return rdma_join_multicast(id, NULL, NULL); }

static int group_mask(unsigned mask)
{
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = mask, .addr = (struct sockaddr *)&sin };

	return rdma_join_multicast_ex(id, &attr, NULL);
}

static int group_no_flags(void) { return group_mask(RDMA_CM_JOIN_MC_ATTR_ADDRESS); }
static int group_unknown(void) { return group_mask(7); }

static int group_flags(void)
{
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = 3, .join_flags = 9, .addr = (struct sockaddr *)&sin };

	return rdma_join_multicast_ex(id, &attr, NULL);
}

static int extensions_nowhere(void) { return rdma_get_remote_ece(id, NULL); }

static int pair_nowhere(void) { return rdma_create_qp(id, NULL, NULL); }
static int extended_pair_nowhere(void) { return rdma_create_qp_ex(id, NULL); }

/* What the refused calls of a group were after is still there. */
static void accept_next(void)
{
	CHECK("refused first: raccept", (server = raccept(listening, NULL, NULL)) >= 0, 1, 0);
	CHECK("refused first: the accepted one", rsend(client, "hello", 5, 0), 5, 0);
}

static void receive_next(void)
{
	CHECK("refused first: rrecv", rrecv(server, bytes, sizeof bytes, 0), 5, 0);
}

static void error_next(void)
{
	int error = 0;
	socklen_t size = sizeof error;

	CHECK("refused first: SO_ERROR", rgetsockopt(refused, SOL_SOCKET, SO_ERROR, &error, &size), 0, 0);
	CHECK("refused first: its value", error, ECONNREFUSED, 0);
}

static void set_next(void)
{
	struct epoll_event event;

	CHECK("refused first: repoll_wait", repoll_wait(set, &event, 1, 0), 1, 0);
	CHECK("refused first: once", repoll_wait(set, &event, 1, 0), 0, 0);
}

static void event_next(void)
{
	struct rdma_cm_event *event = NULL;

	CHECK("refused first: rdma_get_cm_event", rdma_get_cm_event(channel, &event), 0, 0);
	CHECK("refused first: the event", event ? (int)event->event : -1, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	rdma_ack_cm_event(event);
}

static const struct refusal {
	const char *name;
	int (*call)(void);
	int error;
	void (*next)(void);
} refusals[] = {
	{ "raccept without a length", accept_no_length, EFAULT, NULL },
	{ "raccept with a negative length", accept_negative, EINVAL, accept_next },
	{ "rgetsockname without a length", sockname_no_length, EFAULT, NULL },
	{ "rgetsockname with a negative length", sockname_negative, EINVAL, NULL },
	{ "rgetpeername without a length", peername_no_length, EFAULT, NULL },
	{ "rgetpeername with a negative length", peername_negative, EINVAL, NULL },
	{ "rrecvfrom without a length", from_no_length, EFAULT, NULL },
	{ "rrecvfrom with a negative length", from_negative, EINVAL, NULL },
	{ "rrecvfrom without a buffer", from_no_buffer, EFAULT, NULL },
	{ "rrecvmsg without a message", message_none, EFAULT, NULL },
	{ "rrecvmsg with a negative length", message_name, EINVAL, NULL },
	{ "rrecvmsg without a list", message_no_list, EFAULT, NULL },
	{ "rrecvmsg without a buffer", message_no_buffer, EFAULT, NULL },
	{ "rrecvmsg with too many buffers", message_too_many, EMSGSIZE, receive_next },
	{ "rgetsockopt without a length", option_no_length, EFAULT, NULL },
	{ "rgetsockopt with a negative length", option_negative, EINVAL, NULL },
	{ "rgetsockopt without a value", option_no_value, EFAULT, error_next },
	{ "repoll_wait without events", set_no_events, EFAULT, NULL },
	{ "repoll_wait for fewer than none", set_negative, EINVAL, NULL },
	{ "repoll_wait for none", set_nothing, EINVAL, set_next },
	{ "rdma_get_cm_event without a channel", event_no_channel, EINVAL, NULL },
	{ "rdma_get_cm_event without a place", event_nowhere, EINVAL, event_next },
	{ "rdma_get_request without a place", request_nowhere, EINVAL, NULL },
	{ "rdma_get_request of an asynchronous id", request_asynchronous, EINVAL, NULL },
	{ "rdma_create_id without a place", id_nowhere, EINVAL, NULL },
	{ "rdma_create_ep without a place", endpoint_nowhere, EINVAL, NULL },
	{ "rdma_create_ep with too much data", endpoint_header, EINVAL, NULL },
	{ "rdma_create_ep with a short address", endpoint_short, EINVAL, NULL },
	{ "rdma_create_ep without a source", endpoint_passive, EINVAL, NULL },
	{ "rdma_getaddrinfo without a place", names_nowhere, EINVAL, NULL },
	{ "rdma_init_qp_attr without attributes", attributes_nowhere, EINVAL, NULL },
	{ "rdma_init_qp_attr without a mask", attributes_no_mask, EINVAL, NULL },
	{ "rdma_join_multicast without an address", group_nowhere, EINVAL, NULL },
	{ "rdma_join_multicast_ex without flags", group_no_flags, EINVAL, NULL },
	{ "rdma_join_multicast_ex of another kind", group_unknown, EOPNOTSUPP, NULL },
	{ "rdma_join_multicast_ex with other flags", group_flags, EINVAL, NULL },
	{ "rdma_get_remote_ece without a place", extensions_nowhere, EINVAL, NULL },

	{ "rdma_create_qp without attributes", pair_nowhere, EINVAL, NULL },
	{ "rdma_create_qp_ex without attributes", extended_pair_nowhere, EINVAL, NULL },
};

static void prepare(void)
{
	struct epoll_event event = { EPOLLOUT | EPOLLONESHOT, { 0 } };
	struct sockaddr_in nobody = address(7699);

	sin = address(7600);
	listening = listener(7600, 8);
	client = dial(7600);
	refused = rsocket(AF_INET, SOCK_STREAM, 0);
	rfcntl(refused, F_SETFL, O_NONBLOCK);
	rconnect(refused, (struct sockaddr *)&nobody, sizeof nobody);
	struct pollfd poll = { refused, POLLOUT, 0 };
	rpoll(&poll, 1, 5000);
	set = repoll_create(0);
	repoll_ctl(set, EPOLL_CTL_ADD, client, &event);
	channel = rdma_create_event_channel();
	rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, 2000);
	rdma_create_id(NULL, &passive, NULL, RDMA_PS_TCP);
	entry = (struct rdma_addrinfo){ .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
					.ai_dst_addr = (struct sockaddr *)&sin, .ai_dst_len = sizeof sin };
}

int main(void)
{
	char name[120];

	prepare();
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		const struct refusal *refusal = &refusals[i];
		struct rdmafake_live before = live(), after;
		int files = open_files();

		CHECK(refusal->name, refusal->call(), -1, refusal->error);
		after = live();
		snprintf(name, sizeof name, "%s: nothing is left", refusal->name);
		CHECK_TRUE(name, !memcmp(&before, &after, sizeof before) && files == open_files());
		if (refusal->next)
			refusal->next();
	}
	return finish();
}
