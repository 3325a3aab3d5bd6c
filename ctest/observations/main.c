// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a kernel and its device do, one line an observation. It runs on the soft device and on soft-RoCE of two kernels,
 * and the lines are compared: the soft device is to do what a kernel does.
 */
#include "observations.h"

void observe(const char *what, const char *format, ...)
{
	va_list list;

	printf("%s: ", what);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

void observe_call(const char *what, int result)
{
	observe(what, "%s", result < 0 ? errno_name(errno) : "0");
}

void observe_code(const char *what, int code)
{
	observe(what, "%s", code ? errno_name(code < 0 ? errno : code) : "0");
}

void observe_made(const char *what, const void *object)
{
	observe(what, "%s", object ? "made" : errno_name(errno));
}

struct rdma_cm_event *any_event(struct rdma_event_channel *from)
{
	struct pollfd place = { .fd = from->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&place, 1, 5000) == 1 && !rdma_get_cm_event(from, &event))
		return event;
	printf("no event\n");
	exit(3);
}

void observe_events(const char *what, struct rdma_event_channel *from)
{
	struct pollfd place = { .fd = from->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	char text[400] = "";
	size_t length = 0;

	while (poll(&place, 1, 1000) == 1 && !rdma_get_cm_event(from, &event)) {
		/* It comes after a time that the kernel sets from that of a packet. */
		if (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
			rdma_ack_cm_event(event);
			continue;
		}
		length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %d", length ? ", " : "",
					   rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"), event->status);
		rdma_ack_cm_event(event);
		if (length >= sizeof text)
			break;
	}
	observe(what, "%s", length ? text : "none");
}

void connect_ends(struct connected *c)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	memset(c, 0, sizeof *c);
	pair_connect(&c->pair);
	c->client.id = c->pair.client;
	c->server.id = c->pair.child;
	c->client.mr = ibv_reg_mr(c->client.id->pd, c->client.bytes, sizeof c->client.bytes, access);
	c->server.mr = ibv_reg_mr(c->server.id->pd, c->server.bytes, sizeof c->server.bytes, access);
	MUST(c->client.mr && c->server.mr ? 0 : -1);
}

void close_ends(struct connected *c)
{
	rdma_destroy_qp(c->client.id);
	rdma_destroy_qp(c->server.id);
	ibv_dereg_mr(c->client.mr);
	ibv_dereg_mr(c->server.mr);
	pair_destroy(&c->pair);
}

struct ibv_wc completion(struct ibv_cq *cq)
{
	double start = now();
	struct ibv_wc wc;

	while (now() - start < 5) {
		memset(&wc, 0, sizeof wc);
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			return wc;
		usleep(200);
	}
	return (struct ibv_wc){ .status = 99 };
}

void observe_completion(const char *what, struct ibv_cq *cq)
{
	struct ibv_wc wc = completion(cq);

	if (wc.status)
		observe(what, "%s, work %d", wc.status == 99 ? "no completion" : ibv_wc_status_str(wc.status), (int)wc.wr_id);
	else
		observe(what, "opcode %d, work %d, flags %x%s", wc.opcode, (int)wc.wr_id, wc.wc_flags & ~IBV_WC_GRH,
			wc.wc_flags & IBV_WC_WITH_IMM ? wc.imm_data == htonl(7) ? ", immediate 7" : ", another immediate" : "");
}

int receive_at(struct end *end, unsigned offset, unsigned length, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)end->bytes + offset, length, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = length ? 1 : 0 }, *bad;

	return ibv_post_recv(end->id->qp, &wr, &bad);
}

int send_from(struct end *end, enum ibv_wr_opcode opcode, unsigned flags, unsigned length, const struct end *to, unsigned rkey)
{
	struct ibv_sge sge = { (uintptr_t)end->bytes, length, end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = length ? 1 : 0, .opcode = opcode,
				  .send_flags = flags | IBV_SEND_SIGNALED, .imm_data = htonl(7) }, *bad;

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)to->bytes;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 3;
		wr.wr.atomic.swap = 9;
	} else if (to) {
		wr.wr.rdma.remote_addr = (uintptr_t)to->bytes;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(end->id->qp, &wr, &bad);
}

int main(void)
{
	observe_device();
	observe_resources();
	observe_ids();
	observe_connections();
	observe_depths();
	observe_datagrams();
	observe_multicast();
	observe_states();
	observe_completions();
	observe_errors();
	observe_shared_queues();
	observe_processes();
	return 0;
}
