/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What kill.c kills: whole lives of a client, of a server, and of a process of its own. */
#ifndef SOFTDEV_VICTIM_H
#define SOFTDEV_VICTIM_H

#include "rdmafake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SURVIVOR_PORT = 7000, VICTIM_PORT = 7001 };

#define MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond, errno); \
			exit(1); \
		} \
	} while (0)

static inline struct sockaddr *address(int port)
{
	static struct sockaddr_in a = { .sin_family = AF_INET };

	inet_pton(AF_INET, "10.77.0.1", &a.sin_addr);
	a.sin_port = htons((in_port_t)port);
	return (struct sockaddr *)&a;
}

static inline int make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr a = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2,
			 .max_inline_data = 16 },
		.qp_type = id->ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	return rdma_create_qp(id, NULL, &a);
}

/* The event must come; gives its id. */
static inline struct rdma_cm_id *take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	MUST(!rdma_get_cm_event(channel, &ev));
	if (ev->event != type)
		fprintf(stderr, "%s with %d instead of %s\n", rdma_event_str(ev->event), ev->status, rdma_event_str(type));
	MUST(ev->event == type);
	id = ev->id;
	rdma_ack_cm_event(ev);
	return id;
}

static inline void resolve(struct rdma_cm_id *id, int port)
{
	MUST(!rdma_resolve_addr(id, NULL, address(port), 1000));
	take(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(id, 1000));
	take(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static inline void finish(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	rdma_destroy_qp(id);
	MUST(!ibv_dereg_mr(mr));
	MUST(!rdma_destroy_id(id));
}

static inline void client(void)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7, .private_data = "who", .private_data_len = 4 };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	char text[64] = "a message", answer[64] = "";
	struct ibv_mr *mr[2];
	struct ibv_wc wc;
	uint8_t tos = 4;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	resolve(id, SURVIVOR_PORT);
	MUST(!make_qp(id));
	MUST((mr[0] = rdma_reg_msgs(id, text, sizeof(text))) && (mr[1] = rdma_reg_msgs(id, answer, sizeof(answer))));
	MUST(!rdma_post_recv(id, NULL, answer, sizeof(answer), mr[1]));
	MUST(!rdma_connect(id, &param));
	take(channel, RDMA_CM_EVENT_ESTABLISHED);
	MUST(!rdma_post_send(id, NULL, text, sizeof(text), mr[0], 0));
	MUST(rdma_get_send_comp(id, &wc) == 1 && !wc.status);
	MUST(rdma_get_recv_comp(id, &wc) == 1 && !wc.status && !strcmp(answer, text));
	MUST(!rdma_disconnect(id));
	take(channel, RDMA_CM_EVENT_DISCONNECTED);
	MUST(!ibv_dereg_mr(mr[1]));
	finish(id, mr[0]);
	rdma_destroy_event_channel(channel);
}

static inline void server(void)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7, .private_data = "me", .private_data_len = 3 };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *id;
	char text[64] = "";
	struct ibv_mr *mr;
	struct ibv_wc wc;

	MUST(channel && !rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener, address(VICTIM_PORT)));
	MUST(!rdma_listen(listener, 2));
	id = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	MUST(!make_qp(id));
	MUST((mr = rdma_reg_msgs(id, text, sizeof(text))) && !rdma_post_recv(id, NULL, text, sizeof(text), mr));
	MUST(!rdma_accept(id, &param));
	take(channel, RDMA_CM_EVENT_ESTABLISHED);
	MUST(rdma_get_recv_comp(id, &wc) == 1 && !wc.status);
	MUST(!rdma_post_send(id, NULL, text, sizeof(text), mr, 0));
	MUST(rdma_get_send_comp(id, &wc) == 1 && !wc.status);
	take(channel, RDMA_CM_EVENT_DISCONNECTED);
	MUST(!rdma_disconnect(id));
	finish(id, mr);
	MUST(!rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

/* A request that is turned down. */
static inline void refuses(struct rdma_event_channel *channel)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *listener, *id, *request;

	MUST(other && !rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener, address(0)) && !rdma_listen(listener, 1));
	MUST(!rdma_create_id(other, &id, NULL, RDMA_PS_TCP));
	resolve(id, ntohs(rdma_get_src_port(listener)));
	MUST(!make_qp(id));
	MUST(!rdma_connect(id, &param));
	request = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	MUST(!rdma_reject(request, "no", 3));
	take(other, RDMA_CM_EVENT_REJECTED);
	MUST(!rdma_destroy_id(request));
	/* And one that is still in the queue when its listener ends. */
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id) && !rdma_create_id(other, &id, NULL, RDMA_PS_TCP));
	resolve(id, ntohs(rdma_get_src_port(listener)));
	MUST(!make_qp(id));
	MUST(!rdma_connect(id, &param));
	MUST(!rdma_migrate_id(listener, other));
	MUST(!rdma_destroy_id(listener));
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(other);
}

/* A group, and queues that the id shares. */
static inline void joins(struct rdma_event_channel *channel)
{
	struct sockaddr_in group = { .sin_family = AF_INET };
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct rdma_cm_id *id;

	inet_pton(AF_INET, "239.1.2.3", &group.sin_addr);
	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) && !rdma_bind_addr(id, address(0)));
	MUST(!make_qp(id));
	MUST(!rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
	take(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	MUST(!rdma_leave_multicast(id, (struct sockaddr *)&group));
	MUST(!rdma_create_srq(id, NULL, &shared));
	MUST(!ibv_post_srq_recv(id->srq, &wr, &bad));
	rdma_destroy_srq(id);
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

/* A child that has the parent's file, and one that is killed before it says so. */
static inline void forks(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	MUST(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		kill(getpid(), SIGKILL);
}

static inline void alone(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	MUST(channel);
	refuses(channel);
	joins(channel);
	forks();
	rdma_destroy_event_channel(channel);
}

/* Ends with everything open. */
static inline void leaver(void)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id, *listener;

	MUST(channel && !rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener, address(VICTIM_PORT)) && !rdma_listen(listener, 2));
	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	resolve(id, SURVIVOR_PORT);
	MUST(!make_qp(id));
	MUST(!rdma_connect(id, &param));
	take(channel, RDMA_CM_EVENT_ESTABLISHED);
}

static inline int victim(const char *role)
{
	static const struct { const char *name; void (*run)(void); } roles[] = {
		{ "client", client }, { "server", server }, { "alone", alone }, { "leaver", leaver },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(role, roles[i].name)) {
			roles[i].run();
			return 0;
		}
	return 2;
}

#endif
