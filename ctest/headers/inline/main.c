/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls every helper of rdma_verbs.h in this file, by name and through a pointer, and in the other one, and
 * wants the same work requests and results. Where one file asks for the exported functions, this compares
 * them with the inline code; where neither does, the program needs no symbol of ours and runs on the C
 * library as well.
 *
 *   main            the comparison
 *   main outside    posts a receive that is outside its memory region
 */
#include "stub.h"

struct stub stub;

static int note_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	CHECK(qp == &stub.qp && wr->next == NULL);
	stub.note.wr_id = wr->wr_id;
	stub.note.opcode = (uint32_t)wr->opcode;
	stub.note.flags = wr->send_flags;
	stub.note.count = (uint32_t)wr->num_sge;
	memcpy(stub.note.list, wr->sg_list, sizeof(*wr->sg_list) * (size_t)wr->num_sge);
	if (qp->qp_type == IBV_QPT_UD) {
		stub.note.ah = wr->wr.ud.ah;
		stub.note.remote_qpn = wr->wr.ud.remote_qpn;
		stub.note.qkey = wr->wr.ud.remote_qkey;
	} else if (wr->opcode != IBV_WR_SEND) {
		stub.note.remote_addr = wr->wr.rdma.remote_addr;
		stub.note.rkey = wr->wr.rdma.rkey;
	}
	*bad = wr;
	return stub.posted;
}

static void note_receive(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	CHECK(wr->next == NULL);
	stub.note.is_receive = 1;
	stub.note.wr_id = wr->wr_id;
	stub.note.count = (uint32_t)wr->num_sge;
	memcpy(stub.note.list, wr->sg_list, sizeof(*wr->sg_list) * (size_t)wr->num_sge);
	*bad = wr;
}

static int note_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	CHECK(qp == &stub.qp);
	note_receive(wr, bad);
	return stub.posted;
}

static int note_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	CHECK(srq == &stub.srq);
	stub.note.is_shared = 1;
	note_receive(wr, bad);
	return stub.posted;
}

static int poll_queue(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	CHECK(cq == &stub.cq && count == 1);
	wc->wr_id = 0x4242;
	return stub.polled;
}

static int arm_queue(struct ibv_cq *cq, int solicited)
{
	CHECK(cq == &stub.cq && !solicited);
	return ENXIO;
}

void stub_reset(void)
{
	memset(&stub, 0, sizeof(stub));
	stub.context.ops.post_send = note_send;
	stub.context.ops.post_recv = note_recv;
	stub.context.ops.post_srq_recv = note_srq_recv;
	stub.context.ops.poll_cq = poll_queue;
	stub.context.ops.req_notify_cq = arm_queue;
	stub.qp.context = stub.cq.context = stub.srq.context = &stub.context;
	stub.id.qp = &stub.qp;
	stub.id.send_cq = stub.id.recv_cq = &stub.cq;
	/* Never slept on here: arming fails. */
	stub.id.send_cq_channel = stub.id.recv_cq_channel = (struct ibv_comp_channel *)&stub;
}

static int post_here(int which, struct ibv_sge *list, struct ibv_mr *mr)
{
	struct rdma_cm_id *id = &stub.id;
	void *context = (void *)0x77;

	switch (which) {
	case 0: return rdma_post_recvv(id, context, list, 2);
	case 1: return rdma_post_sendv(id, context, list, 2, IBV_SEND_SIGNALED);
	case 2: return rdma_post_readv(id, context, list, 2, IBV_SEND_FENCE, 0x1234567890ULL, 0x55);
	case 3: return rdma_post_writev(id, context, list, 2, IBV_SEND_SOLICITED, 0x1234567890ULL, 0x55);
	case 4: return rdma_post_recv(id, context, mr->addr, 16, mr);
	case 5: return rdma_post_send(id, context, mr->addr, 16, NULL, IBV_SEND_INLINE);
	case 6: return rdma_post_read(id, context, mr->addr, 16, mr, 0, 0x1234567890ULL, 0x55);
	case 7: return rdma_post_write(id, context, mr->addr, 16, mr, 0, 0x1234567890ULL, 0x55);
	default: return rdma_post_ud_send(id, context, mr->addr, 16, mr, 0, (struct ibv_ah *)0x99, 0x66);
	}
}

#ifdef RDMACM_EXPORTED_HELPERS
static const int is_exported = 1;
#else
static const int is_exported = 0;
#endif
static const struct table table = TABLE;

static int post_by_pointer(int which, struct ibv_sge *list, struct ibv_mr *mr)
{
	/* The compiler must not see through it. */
	const struct table *volatile hidden = &table;
	struct rdma_cm_id *id = &stub.id;
	void *context = (void *)0x77;

	switch (which) {
	case 0: return hidden->recvv(id, context, list, 2);
	case 1: return hidden->sendv(id, context, list, 2, IBV_SEND_SIGNALED);
	case 2: return hidden->readv(id, context, list, 2, IBV_SEND_FENCE, 0x1234567890ULL, 0x55);
	case 3: return hidden->writev(id, context, list, 2, IBV_SEND_SOLICITED, 0x1234567890ULL, 0x55);
	case 4: return hidden->recv(id, context, mr->addr, 16, mr);
	case 5: return hidden->send(id, context, mr->addr, 16, NULL, IBV_SEND_INLINE);
	case 6: return hidden->read(id, context, mr->addr, 16, mr, 0, 0x1234567890ULL, 0x55);
	case 7: return hidden->write(id, context, mr->addr, 16, mr, 0, 0x1234567890ULL, 0x55);
	default: return hidden->ud_send(id, context, mr->addr, 16, mr, 0, (struct ibv_ah *)0x99, 0x66);
	}
}

static int completion(int which, struct ibv_wc *wc)
{
	const struct table *volatile hidden = which & 2 ? &table : &other_table;

	switch (which) {
	case 0: return rdma_get_send_comp(&stub.id, wc);
	case 1: return rdma_get_recv_comp(&stub.id, wc);
	case 2: case 4: return hidden->send_comp(&stub.id, wc);
	default: return hidden->recv_comp(&stub.id, wc);
	}
}
enum { COMPLETIONS = 6 };

/* The work request and outcome of one way to post. */
static struct note outcome_of(int (*post)(int, struct ibv_sge *, struct ibv_mr *), int which, int posted,
			      int shared, struct ibv_sge *list, struct ibv_mr *mr)
{
	int result;

	stub_reset();
	stub.posted = posted;
	if (shared)
		stub.id.srq = &stub.srq;
	stub.qp.qp_type = which == 8 ? IBV_QPT_UD : IBV_QPT_RC;
	errno = 0;
	result = post(which, list, mr);
	CHECK(result == (posted ? -1 : 0));
	CHECK(errno == posted);
	return stub.note;
}

static void compare_posts(struct ibv_mr *mr)
{
	struct ibv_sge list[2] = { { (uintptr_t)mr->addr, 8, 1 }, { (uintptr_t)mr->addr + 8, 8, 2 } };
	struct note here, other, pointer;
	int which, round;

	for (which = 0; which < POSTS; which++) {
		for (round = 0; round < 4; round++) {
			int posted = round & 1 ? ENOMEM : 0, shared = round & 2;

			here = outcome_of(post_here, which, posted, shared, list, mr);
			other = outcome_of(post_from_other_file, which, posted, shared, list, mr);
			pointer = outcome_of(post_by_pointer, which, posted, shared, list, mr);
			CHECK(!memcmp(&here, &other, sizeof(here)));
			CHECK(!memcmp(&here, &pointer, sizeof(here)));
			CHECK(here.wr_id == 0x77);
			CHECK(here.is_receive == (which == 0 || which == 4));
			CHECK(!here.is_shared == !(here.is_receive && shared));
		}
	}
	/* Fields that only some have. */
	here = outcome_of(post_here, 2, 0, 0, list, mr);
	CHECK(here.opcode == IBV_WR_RDMA_READ && here.remote_addr == 0x1234567890ULL && here.rkey == 0x55);
	CHECK(here.flags == IBV_SEND_FENCE && here.count == 2 && here.list[1].lkey == 2);
	here = outcome_of(post_here, 5, 0, 0, list, mr);
	CHECK(here.opcode == IBV_WR_SEND && here.count == 1 && here.list[0].lkey == 0);
	here = outcome_of(post_here, 7, 0, 0, list, mr);
	CHECK(here.opcode == IBV_WR_RDMA_WRITE && here.list[0].lkey == mr->lkey);
	here = outcome_of(post_here, 8, 0, 0, list, mr);
	CHECK(here.ah == (struct ibv_ah *)0x99 && here.remote_qpn == 0x66 && here.qkey == RDMA_UDP_QKEY);
}

static void compare_completions(void)
{
	static const struct {
		int polled, result, error;
	} cases[] = {
		{ 1, 1, 0 },
		/* Arming says ENXIO. */
		{ 0, -1, ENXIO },
		/* A device without a reason, and one with a negative error number. */
		{ -1, -1, EIO },
		{ -ENOMEM, -1, ENOMEM },
	};
	struct ibv_wc wc;
	size_t place;
	int which;

	for (which = 0; which < COMPLETIONS; which++) {
		for (place = 0; place < sizeof(cases) / sizeof(cases[0]); place++) {
			stub_reset();
			stub.polled = cases[place].polled;
			errno = 0;
			memset(&wc, 0, sizeof(wc));
			CHECK(completion(which, &wc) == cases[place].result);
			CHECK(errno == cases[place].error);
			CHECK(wc.wr_id == 0x4242);
		}
	}
}

int main(int argc, char **argv)
{
	static char memory[64];
	struct ibv_mr mr;
	/* As above. */
	const struct table *volatile here = &table, *volatile there = &other_table;

	memset(&mr, 0, sizeof(mr));
	mr.addr = memory;
	mr.length = 16;
	mr.lkey = 0x11;
	if (argc > 1 && !strcmp(argv[1], "outside")) {
		stub_reset();
		errno = 0;
		printf("%d", rdma_post_recv(&stub.id, NULL, memory + 1, 16, &mr));
		printf(" %s\n", errno == EINVAL ? "EINVAL" : errno ? "?" : "-");
		return 0;
	}
	compare_posts(&mr);
	compare_completions();
	stub_reset();
	CHECK(rdma_get_local_addr(&stub.id) == &stub.id.route.addr.src_addr);
	CHECK(rdma_get_peer_addr(&stub.id) == &stub.id.route.addr.dst_addr);
	CHECK(here->local(&stub.id) == &stub.id.route.addr.src_addr);
	CHECK(there->peer(&stub.id) == &stub.id.route.addr.dst_addr);
	/* One exported function, or a copy of each file. */
	CHECK((here->send == there->send) == (is_exported && other_is_exported));
	if (other_is_exported) {
		/* The exported functions check what the inline ones trust. */
		errno = 0;
		CHECK(there->sendv(NULL, NULL, NULL, 0, 0) == -1 && errno == EINVAL);
		errno = 0;
		CHECK(there->recv(&stub.id, NULL, memory + 1, 16, &mr) == -1 && errno == EINVAL);
		errno = 0;
		CHECK(there->local(NULL) == NULL && errno == EINVAL);
	}
	/* rdma_seterrno is part of the interface. */
	errno = 0;
	CHECK(rdma_seterrno(0) == 0 && errno == 0);
	CHECK(rdma_seterrno(EBUSY) == -1 && errno == EBUSY);
	CHECK(rdma_seterrno(-ENOSPC) == -1 && errno == ENOSPC);
	return 0;
}
