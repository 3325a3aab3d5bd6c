// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Processes that leave by _exit while a thread of theirs makes queue pairs, posts and polls. What the thread still does is
 * no harm to those who stay: their queues have their own completions and no others, and the memory of the device is whole.
 */
#include "helpers.h"

#include <infiniband/verbs.h>
#include <pthread.h>

enum { LEAVERS = 300, RECEIVES = 16 };

static struct ibv_context *context;
static struct ibv_pd *pd;

struct queues {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static int make(struct queues *q, uint64_t wr_id)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD, .cap = { RECEIVES, RECEIVES, 1, 1, 0 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id };

	q->channel = ibv_create_comp_channel(context);
	q->cq = q->channel ? ibv_create_cq(context, 2 * RECEIVES, NULL, q->channel, 0) : NULL;
	init.send_cq = init.recv_cq = q->cq;
	q->qp = q->cq ? ibv_create_qp(pd, &init) : NULL;
	if (!q->qp)
		return 0;
	ibv_req_notify_cq(q->cq, 0);
	ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	for (int i = 0; i < RECEIVES; i++)
		if (ibv_post_recv(q->qp, &wr, &bad))
			return 0;
	return 1;
}

/* The completions of flushed receives: all of them its own. */
static int flush(struct queues *q, uint64_t wr_id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc[RECEIVES];
	struct ibv_cq *cq;
	void *of;
	int found = 0, good;

	ibv_modify_qp(q->qp, &attr, IBV_QP_STATE);
	good = !ibv_get_cq_event(q->channel, &cq, &of) && cq == q->cq;
	if (good)
		ibv_ack_cq_events(cq, 1);
	for (int n = 1; n > 0;) {
		n = ibv_poll_cq(q->cq, RECEIVES, wc);
		for (int i = 0; i < n; i++)
			good &= wc[i].wr_id == wr_id && wc[i].qp_num == q->qp->qp_num;
		found += n;
	}
	return good && found == RECEIVES;
}

static void end(struct queues *q)
{
	if (q->qp)
		ibv_destroy_qp(q->qp);
	if (q->cq)
		ibv_destroy_cq(q->cq);
	if (q->channel)
		ibv_destroy_comp_channel(q->channel);
}

static int round_of(uint64_t wr_id)
{
	struct queues q = { 0 };
	int good = make(&q, wr_id) && flush(&q, wr_id);

	end(&q);
	return good;
}

static void *work(void *unused)
{
	for (uint64_t i = 0;; i++)
		round_of(0xdead000000000000 | i << 8);
	return NULL;
}

static int opens(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	return pd != NULL;
}

static void leave(int number)
{
	pthread_t thread;

	alarm(20);
	if (!opens() || pthread_create(&thread, NULL, work, NULL))
		_exit(1);
	usleep(8000 + number * 131 % 8000);
	_exit(7);
}

int main(void)
{
	int left = 0, rounds = 0, good = 0;

	if (!opens())
		return 2;
	for (int i = 0; i < LEAVERS; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			leave(i);
		while (waitpid(pid, &status, WNOHANG) == 0) {
			rounds++;
			good += round_of(0x1111 + rounds);
		}
		left += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	printf("# %d rounds\n", rounds);
	printf("%s every process leaves as it says: %d of %d\n", left == LEAVERS ? "ok" : "not-ok", left, LEAVERS);
	printf("%s the others' completions are their own: %d wrong\n", good == rounds ? "ok" : "not-ok", rounds - good);
	return left != LEAVERS || good != rounds;
}
