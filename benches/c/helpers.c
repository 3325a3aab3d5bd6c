/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The helpers of <rdma/rdma_verbs.h> on the stub provider. Compiled three times: with the C library's
 * header, with ours, and with ours and -DRDMACM_EXPORTED_HELPERS, which calls the exported functions.
 */
#include "bench.h"
#include "stub.h"

static struct stub stub;
static struct ibv_sge list;
static struct ibv_wc completion;

/*
 * Each helper is called from a function with the same parameters, so that the compiler neither knows what
 * is passed nor has to prepare more for one library than for the other. `empty` is the same without a call.
 */
#define ID struct rdma_cm_id *id
#define LIST ID, void *context, struct ibv_sge *sgl, int nsge
#define BUFFER ID, void *context, void *addr, size_t length, struct ibv_mr *mr
#define REMOTE int flags, uint64_t remote_addr, uint32_t rkey
#define BENCHES(BENCH)                                                                                   \
	BENCH(post_sendv, (LIST, int flags), (id, context, sgl, nsge, flags), (I, M, &list, 1, 2))       \
	BENCH(post_recvv, (LIST), (id, context, sgl, nsge), (I, M, &list, 1))                            \
	BENCH(post_readv, (LIST, REMOTE), (id, context, sgl, nsge, flags, remote_addr, rkey),            \
	      (I, M, &list, 1, 2, 4096, 9))                                                              \
	BENCH(post_writev, (LIST, REMOTE), (id, context, sgl, nsge, flags, remote_addr, rkey),           \
	      (I, M, &list, 1, 2, 4096, 9))                                                              \
	BENCH(post_send, (BUFFER, int flags), (id, context, addr, length, mr, flags), (I, M, M, 64, R, 2)) \
	BENCH(post_recv, (BUFFER), (id, context, addr, length, mr), (I, M, M, 64, R))                    \
	BENCH(post_read, (BUFFER, REMOTE), (id, context, addr, length, mr, flags, remote_addr, rkey),    \
	      (I, M, M, 64, R, 2, 4096, 9))                                                              \
	BENCH(post_write, (BUFFER, REMOTE), (id, context, addr, length, mr, flags, remote_addr, rkey),   \
	      (I, M, M, 64, R, 2, 4096, 9))                                                              \
	BENCH(get_send_comp, (ID, struct ibv_wc *wc), (id, wc), (I, &completion))                        \
	BENCH(get_recv_comp, (ID, struct ibv_wc *wc), (id, wc), (I, &completion))

#define DEFINE(name, parameters, pass, values)                                                 \
	__attribute__((noipa)) static int one_##name parameters { return rdma_##name pass; }   \
	__attribute__((noipa)) static int empty_##name parameters { return 0; }
BENCHES(DEFINE)

#define I (&stub.id)
#define M (stub.mr.addr)
#define R (&stub.mr)
#define RUN(name, parameters, pass, values)                           \
	ROUNDS("empty/" #name, rounds, failed |= empty_##name values); \
	ROUNDS("rdma_" #name, rounds, failed |= one_##name values);

int main(int argc, char **argv)
{
	long rounds = argument(argc, argv, 1, 1000);
	int failed = 0;

	stub_make(&stub);
	BENCHES(RUN)
	/* 0 of a post, 1 of a completion. */
	MUST(failed == 1);
	return 0;
}
