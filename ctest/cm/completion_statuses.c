// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The statuses of completions as rdma_status(7) describes them: what causes each, what the peer gets, and who sets how
 * often a send is retried.
 */
#include "trace.h"

static char out[256], in[256];

/* Connects, with the number of retries that each side allows the other one. */
static void connect_with(struct pair *p, int client_allows, int child_allows)
{
	struct rdma_conn_param param = { .retry_count = 7, .responder_resources = 1, .initiator_depth = 1 };

	memset(p, 0, sizeof(*p));
	p->passive = channel();
	p->active = channel();
	p->listener = bound(p->passive, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_listen(p->listener, 8));
	p->client = routed(p->active, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_create_qp(p->client, NULL, qp_attr()));
	param.rnr_retry_count = (uint8_t)client_allows;
	MUST(rdma_connect(p->client, &param));
	p->request = expect(p->passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	p->child = p->request->id;
	MUST(rdma_ack_cm_event(p->request));
	p->request = NULL;
	MUST(rdma_create_qp(p->child, NULL, qp_attr()));
	param.rnr_retry_count = (uint8_t)child_allows;
	MUST(rdma_accept(p->child, &param));
	expect_and_ack(p->active, RDMA_CM_EVENT_ESTABLISHED);
	expect_and_ack(p->passive, RDMA_CM_EVENT_ESTABLISHED);
	name(p->client, "client");
	name(p->child, "child");
}

static void show(const char *who, struct ibv_cq *cq)
{
	struct ibv_wc wc = { 0 };
	int n = 0;

	for (int tries = 0; tries < 500 && !(n = ibv_poll_cq(cq, 1, &wc)); tries++)
		usleep(10000);
	if (n == 1)
		say("%s: %s, id %d", who, ibv_wc_status_str(wc.status), (int)wc.wr_id);
	else
		say("%s: nothing", who);
}

static struct ibv_mr *memory(struct rdma_cm_id *id, char *start)
{
	struct ibv_mr *mr = HELPER(rdma_reg_write)(id, start, 128);

	MUST(!mr);
	return mr;
}

static void *const one = (void *)1, *const two = (void *)2;

static void not_ready(void)
{
	struct ibv_mr *mo, *mi;
	struct pair p;

	say("the peer allows no retry, and has no receive");
	connect_with(&p, 7, 0);
	mo = memory(p.client, out);
	MUST(HELPER(rdma_post_send)(p.client, one, out, 8, mo, 0));
	show("send", p.client->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	pair_destroy(&p);

	say("the peer allows any number, and posts one later; its own sends must not be retried");
	connect_with(&p, 0, 7);
	mo = memory(p.client, out);
	mi = memory(p.child, in);
	MUST(HELPER(rdma_post_send)(p.client, one, out, 8, mo, IBV_SEND_SIGNALED));
	MUST(HELPER(rdma_post_recv)(p.child, two, in, 64, mi));
	show("send", p.client->send_cq);
	show("receive", p.child->recv_cq);
	MUST(HELPER(rdma_post_send)(p.child, two, in, 8, mi, 0));
	show("its send", p.child->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	MUST(HELPER(rdma_dereg_mr)(mi));
	pair_destroy(&p);
}

static void too_long(void)
{
	struct ibv_mr *mo, *mi;
	struct pair p;

	say("a message longer than the receive");
	connect_with(&p, 7, 7);
	mo = memory(p.client, out);
	mi = memory(p.child, in);
	MUST(HELPER(rdma_post_recv)(p.child, one, in, 4, mi));
	MUST(HELPER(rdma_post_recv)(p.child, two, in, 64, mi));
	MUST(HELPER(rdma_post_send)(p.client, one, out, 8, mo, 0));
	show("send", p.client->send_cq);
	show("receive", p.child->recv_cq);
	show("the next receive", p.child->recv_cq);
	say("what is posted afterwards");
	MUST(HELPER(rdma_post_send)(p.client, two, out, 8, mo, 0));
	show("send", p.client->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	MUST(HELPER(rdma_dereg_mr)(mi));
	pair_destroy(&p);
}

static void protection(void)
{
	struct ibv_mr *mo, *mi;
	struct ibv_sge list;
	struct pair p;

	say("a buffer that is not in the region of its key");
	connect_with(&p, 7, 7);
	mo = memory(p.client, out);
	list = (struct ibv_sge) { (uintptr_t)out + 120, 16, mo->lkey };
	MUST(HELPER(rdma_post_sendv)(p.client, one, &list, 1, 0));
	show("send", p.client->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	pair_destroy(&p);

	say("a receive that is not in the region of its key");
	connect_with(&p, 7, 7);
	mo = memory(p.client, out);
	mi = memory(p.child, in);
	list = (struct ibv_sge) { (uintptr_t)in + 120, 16, mi->lkey };
	MUST(HELPER(rdma_post_recvv)(p.child, two, &list, 1));
	MUST(HELPER(rdma_post_send)(p.client, one, out, 16, mo, 0));
	show("send", p.client->send_cq);
	show("receive", p.child->recv_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	MUST(HELPER(rdma_dereg_mr)(mi));
	pair_destroy(&p);

	say("memory of the peer outside its region");
	connect_with(&p, 7, 7);
	mo = memory(p.client, out);
	mi = memory(p.child, in);
	MUST(HELPER(rdma_post_write)(p.client, one, out, 16, mo, 0, (uintptr_t)in + 120, mi->rkey));
	show("write", p.client->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	MUST(HELPER(rdma_dereg_mr)(mi));
	pair_destroy(&p);

	say("memory that the peer registered for messages alone");
	connect_with(&p, 7, 7);
	mo = memory(p.client, out);
	MUST(!(mi = HELPER(rdma_reg_msgs)(p.child, in, 128)));
	MUST(HELPER(rdma_post_write)(p.client, one, out, 16, mo, 0, (uintptr_t)in, mi->rkey));
	show("write", p.client->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	MUST(HELPER(rdma_dereg_mr)(mi));
	pair_destroy(&p);
}

static void the_end(void)
{
	struct ibv_mr *mo, *mi;
	struct ibv_wc wc;
	struct pair p;

	say("the peer has no queue pair any more");
	connect_with(&p, 7, 7);
	mo = memory(p.client, out);
	rdma_destroy_qp(p.child);
	MUST(HELPER(rdma_post_send)(p.client, one, out, 8, mo, 0));
	show("send", p.client->send_cq);
	MUST(HELPER(rdma_dereg_mr)(mo));
	pair_destroy(&p);

	say("the peer has disconnected: a receive stays posted until this side does, too");
	connect_with(&p, 7, 7);
	mi = memory(p.child, in);
	MUST(HELPER(rdma_post_recv)(p.child, one, in, 64, mi));
	CALL(rdma_disconnect(p.client));
	take(p.passive);
	say("completions: %d", ibv_poll_cq(p.child->recv_cq, 1, &wc));
	CALL(rdma_disconnect(p.child));
	show("receive", p.child->recv_cq);
	take(p.active);
	MUST(HELPER(rdma_dereg_mr)(mi));
	pair_destroy(&p);
}

int main(void)
{
	fake("kernel rnr_ms=20");
	not_ready();
	too_long();
	protection();
	the_end();
	return done();
}
