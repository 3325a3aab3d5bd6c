// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The usual failures, one per run: failures NAME. What counts is what the library writes to the log; the
 * page docs/troubleshooting.md shows it. Runs on the soft device, and on a kernel's device with its address.
 */
#include "trace.h"

#include <linux/capability.h>
#include <rdma/rsocket.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { LIMIT = 64 << 10, PAGE = 4096 };

static char buffer[2 * LIMIT] __attribute__((aligned(PAGE)));

static bool on_soft_device(void)
{
	return RDMAFAKE(rdmafake_script) != NULL;
}

static void connect_to(const char *address)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, address);

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_connect(id, param()));
	take(ch);
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void no_device(void)
{
	POINTER(rdma_create_event_channel());
}

static void no_listener(void)
{
	connect_to("10.77.0.1:7999");
}

static void wrong_port(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *listener = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471");

	MUST(rdma_listen(listener, 8));
	connect_to("10.77.0.1:7472");
	MUST(rdma_destroy_id(listener));
	rdma_destroy_event_channel(ch);
}

static void rejected(void)
{
	static const char why[] = "no licence";
	struct pair p = { 0 };

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_reject(p.child, why, sizeof(why)));
	take(p.active);
}

/* A kernel asks for more than a minute. */
static void silent_host(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.9:7471");
	struct pollfd event = { .fd = ch->fd, .events = POLLIN };

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_connect(id, param()));
	MUST(poll(&event, 1, 150000) != 1);
	take(ch);
}

/* The device's own port is down, so that nothing goes out. */
static void port_down(void)
{
	need_soft_device();
	silent_host();
}

static void no_route(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	if (!CALL(rdma_resolve_addr(id, NULL, addr("192.0.2.1:7471"), 2000)))
		take(ch);
}

/* rconnect asks for the address seven times. */
static void neighbour(void)
{
	int fd = MUST(rsocket(AF_INET, SOCK_STREAM, 0));

	fake("drop ADDR_RESOLVED; inject RESOLVE_ADDR event=ADDR_ERROR status=-110");
	CALL(rconnect(fd, addr("10.77.0.8:7471"), sizeof(struct sockaddr_in)));
}

static void queue_pair(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->cap.max_send_sge = 1000;
	CALL(rdma_create_qp(id, NULL, attr));
}

/* As a user without the right to lock more than the limit. */
static void memory(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	struct __user_cap_header_struct version = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct rights[2];
	struct rlimit limit = { LIMIT, LIMIT };

	MUST(syscall(SYS_capget, &version, rights));
	rights[0].effective &= ~(1U << CAP_IPC_LOCK);
	MUST(syscall(SYS_capset, &version, rights));
	MUST(setrlimit(RLIMIT_MEMLOCK, &limit));
	if (on_soft_device())
		fake("verbs reg_mr errno=ENOMEM");
	POINTER(HELPER(rdma_reg_msgs)(id, buffer, sizeof(buffer)));
}

/* Sends without a receive, or from memory that is not registered. */
static void fails_later(const char *call, int lkey_of_nothing)
{
	struct rdma_conn_param allows_none = { .retry_count = 7 };
	struct ibv_wc wc = { 0 };
	struct ibv_mr *region;
	struct ibv_sge entry;
	struct pair p = { 0 };

	if (on_soft_device())
		fake("kernel rnr_ms=20");
	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	MUST(rdma_accept(p.child, &allows_none));
	expect_and_ack(p.active, RDMA_CM_EVENT_ESTABLISHED);
	expect_and_ack(p.passive, RDMA_CM_EVENT_ESTABLISHED);
	MUST(!(region = HELPER(rdma_reg_msgs)(p.client, buffer, 64)));
	entry = (struct ibv_sge) { (uintptr_t)buffer + (lkey_of_nothing ? 60 : 0), 8, region->lkey };
	MUST(HELPER(rdma_post_sendv)(p.client, (void *)7, &entry, 1, 0));
	say("%s: %d", call, HELPER(rdma_get_send_comp)(p.client, &wc));
	say("%s", ibv_wc_status_str(wc.status));
	MUST(rdma_disconnect(p.client));
}

static void not_ready(void)
{
	fails_later("rdma_get_send_comp", 0);
}

static void protection(void)
{
	fails_later("rdma_get_send_comp", 1);
}

static void private_data(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	struct rdma_conn_param given = { .private_data = buffer, .private_data_len = 57 };

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_connect(id, &given));
}

static void address(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	CALL(rdma_bind_addr(id, addr("192.0.2.1:7471")));
}

static void too_early(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	CALL(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_resolve_route(id, 2000));
	CALL(rdma_connect(id, param()));
	CALL(rdma_disconnect(id));
}

static void unknown_name(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP }, *found;

	CALL(rdma_getaddrinfo("server.invalid", "7471", &hints, &found));
}

/* Under the preload library: sockets that it leaves to TCP. */
static void preload_tcp(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	const int on = 1;

	MUST(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	MUST(bind(listener, addr("127.0.0.1:7471"), sizeof(struct sockaddr_in)));
	MUST(listen(listener, 1));
	CALL(connect(client, addr("127.0.0.1:7471"), sizeof(struct sockaddr_in)));
}

static const struct {
	const char *name;
	void (*run)(void);
} failures[] = {
	{ "no-device", no_device }, { "no-listener", no_listener }, { "wrong-port", wrong_port },
	{ "rejected", rejected }, { "silent-host", silent_host }, { "no-route", no_route },
	{ "queue-pair", queue_pair }, { "memory", memory }, { "not-ready", not_ready },
	{ "protection", protection }, { "private-data", private_data }, { "address", address },
	{ "too-early", too_early }, { "preload-tcp", preload_tcp },
	{ "name", unknown_name }, { "neighbour", neighbour },
	{ "port-down", port_down },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(failures) / sizeof(*failures); i++) {
		if (strcmp(argv[1], failures[i].name) == 0) {
			failures[i].run();
			return 0;
		}
	}
	return 1;
}
