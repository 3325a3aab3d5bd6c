/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The verbs half of the soft device's kernel, and the objects it hands to programs. */
#ifndef FK_VERBS_H
#define FK_VERBS_H

#include "real.h"
#include "rules.h"

#include <infiniband/verbs.h>

enum {
	FK_MAX_QP = 32768,
	FK_MAX_CQ = 32768,
	FK_MAX_CC = 32768,
	FK_MAX_SRQ = 4096,
	FK_MAX_MR = 65536,
	FK_MAX_ATTACH = 4096,
	FK_MAX_USE = 65536,
	FK_MAX_SGE = 32,
	FK_MAX_INLINE = 1024,
	FK_HEAP_CLASSES = 40,
	FK_GRH = 40,
};

struct fk_cqe {
	uint64_t wr_id;
	uint32_t status, opcode, byte_len, imm, qp_num, src_qp, flags;
	uint32_t inv_rkey;
	uint16_t slid;
	uint8_t sl, is_recv;
	uint32_t qp, qp_gen, slots;
};

/* A completion channel; head and tail chain the CQs that have events. */
struct fk_vcc {
	struct fk_node node;
	pid_t pid;
	int fd;
	uint32_t head, tail, owed;
};

struct fk_vcq {
	struct fk_node node;
	pid_t pid;
	uint64_t user;
	uint32_t dev, cc;
	uint32_t depth, head;
	_Atomic uint32_t count;
	uint64_t ring;
	uint8_t armed, in_cc, overrun;
	uint32_t cc_next, events, delivered;
};

struct fk_sge { uint64_t addr; uint32_t len, key; };

struct fk_wqe {
	uint64_t wr_id;
	pid_t pid;
	uint32_t nsge;
	uint32_t opcode, flags, imm;
	uint64_t remote, swap, compare;
	uint32_t rkey;
	uint32_t dest_qpn, dest_qkey, srqn;
	uint8_t dgid[16];
	uint16_t dlid;
	uint8_t global, group, tclass, hop;
	uint32_t inline_len;
	struct fk_sge sge[];
};

/* A ring of work requests; used counts the slots that are not free yet. */
struct fk_ring {
	uint64_t off;
	uint32_t slot, depth, head, count, used;
};

struct fk_vqp {
	struct fk_node node;
	uint32_t qpn;
	pid_t pid;
	uint64_t user;
	uint32_t dev, pd;
	uint8_t type, state, sig_all, port;
	uint32_t send_cq, recv_cq, srq, xrcd;
	struct fk_ring sq, rq;
	uint32_t max_send_sge, max_recv_sge, max_inline;
	uint32_t silent;
	uint32_t busy, rnr_timer, rnr_gen;
	uint32_t ece_vendor, ece_mod, ece_comp;
	struct ibv_qp_attr attr;
};

struct fk_vsrq {
	struct fk_node node;
	pid_t pid;
	uint64_t user;
	uint32_t dev, pd, cq, xrcd, type;
	struct fk_ring rq;
	uint32_t max_sge, limit, refs;
};

struct fk_vmr {
	struct fk_node node;
	uint32_t key, pd, access, dev;
	pid_t pid;
	uint64_t addr, iova, len;
};

struct fk_attach {
	struct fk_node node;
	uint32_t qp;
	uint8_t gid[16];
};

/* What is only counted: an open device, a protection domain. */
enum fk_use_of { FK_USE_CONTEXT, FK_USE_PD };
struct fk_use {
	struct fk_node node;
	pid_t pid;
	uint32_t dev, of;
};

struct fk_verbs {
	struct fk_guard lock;
	uint32_t next_pd;
	uint64_t heap_next, heap_end;
	uint64_t heap_free[FK_HEAP_CLASSES];
	FK_POOL_OF(struct fk_vcc, FK_MAX_CC) cc;
	FK_POOL_OF(struct fk_vcq, FK_MAX_CQ) cq;
	FK_POOL_OF(struct fk_vqp, FK_MAX_QP) qp;
	FK_POOL_OF(struct fk_vsrq, FK_MAX_SRQ) srq;
	FK_POOL_OF(struct fk_vmr, FK_MAX_MR) mr;
	FK_POOL_OF(struct fk_attach, FK_MAX_ATTACH) attach;
	FK_POOL_OF(struct fk_use, FK_MAX_USE) use;
};

#define fk_v ((struct fk_verbs *)(void *)((char *)fk_k + FK_VERBS_OFF))
#define fk_qpp(i) (&fk_v->qp.at[i])
#define fk_cqp(i) (&fk_v->cq.at[i])
#define fk_ccp(i) (&fk_v->cc.at[i])
#define fk_srqp(i) (&fk_v->srq.at[i])
#define fk_mrp(i) (&fk_v->mr.at[i])
#define fk_usep(i) (&fk_v->use.at[i])

/* A program's object may outlive the kernel's, which has gone when its process began to leave. */
#define FK_LIVE(obj, u) ((obj)->node.live && (obj)->node.gen == (u)->gen)

/* What programs hold; plain heap memory, so leak checkers see it. */
struct fk_udev { struct ibv_device ib; uint32_t dev; };
struct fk_uasync { struct fk_uasync *next; struct ibv_async_event ev; };
struct fk_uctx {
	struct verbs_context v;
	uint32_t dev, use, gen;
	pthread_mutex_t lock;
	struct fk_uasync *first, **last;
	struct fk_uctx *next;
};
struct fk_ucc { struct ibv_comp_channel ib; uint32_t idx, gen; };
struct fk_upd { struct ibv_pd ib; uint32_t id, use, gen; _Atomic int refs; };
struct fk_umr { struct ibv_mr ib; uint32_t idx, gen; };
struct fk_ucq { struct ibv_cq ib; uint32_t idx, gen; _Atomic int refs; };
struct fk_uqp { struct ibv_qp ib; uint32_t idx, gen; uint32_t xrcd; };
struct fk_usrq { struct ibv_srq ib; uint32_t idx, gen; struct ibv_cq *cq; struct ibv_xrcd *xrcd; };
struct fk_uah { struct ibv_ah ib; struct ibv_ah_attr attr; };
struct fk_uxrcd { struct ibv_xrcd ib; uint32_t id; _Atomic int refs; };

void fk_vlock(void);
void fk_vunlock(void);
uint64_t fk_heap_take(uint64_t size);
void fk_heap_give(uint64_t off, uint64_t size);
/* Bytes that a block of that size takes, those that are free, and all that were ever taken. */
uint64_t fk_heap_block(uint64_t size);
uint64_t fk_heap_free(void);
uint64_t fk_heap_taken(void);
#define fk_at(off) ((void *)((char *)fk_k + (off)))

static inline struct fk_uctx *fk_uctx(struct ibv_context *c)
{
	return (struct fk_uctx *)(void *)((char *)c - offsetof(struct verbs_context, context));
}

static inline const char *fk_ctx_name(const struct ibv_context *c)
{
	return c->device->name;
}

/* An error as verbs calls report it: errno set and returned, or NULL. */
static inline int fk_verr(int err)
{
	extern int *__errno_location(void);
	*__errno_location() = err;
	return err;
}
#define FK_NULL(err) (fk_verr(err), NULL)

int fk_ring_make(struct fk_ring *r, uint32_t depth, uint32_t sges, uint32_t extra);
void fk_ring_free(struct fk_ring *r);
uint64_t fk_ring_block(const struct fk_ring *r);
struct fk_wqe *fk_ring_push(struct fk_ring *r);
struct fk_wqe *fk_ring_first(struct fk_ring *r);
void fk_ring_drop(struct fk_ring *r);

int fk_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int fk_req_notify(struct ibv_cq *cq, int solicited);
void fk_cq_push(uint32_t cq, const struct fk_cqe *e, bool solicited);
void fk_cq_forget_qp(uint32_t cq, uint32_t qp);
void fk_async_raise(uint64_t user_ctx, const struct ibv_async_event *ev);
void fk_async_to_dev(uint32_t dev, const struct ibv_async_event *ev);
void fk_async_qp(uint32_t qp, enum ibv_event_type type);
void fk_async_srq(uint32_t srq, enum ibv_event_type type);
void fk_async_cq(uint32_t cq, enum ibv_event_type type);

struct ibv_qp *fk_make_qp(struct ibv_context *c, struct ibv_qp_init_attr_ex *a);
struct ibv_srq *fk_make_srq(struct ibv_context *c, struct ibv_srq_init_attr_ex *a);
int fk_srq_number(struct ibv_srq *srq, uint32_t *num);
int fk_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fk_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int fk_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct ibv_xrcd *fk_open_xrcd(struct ibv_context *c, struct ibv_xrcd_init_attr *a);
int fk_close_xrcd(struct ibv_xrcd *x);
int fk_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *a, size_t len);
int fk_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in,
		       struct ibv_device_attr_ex *a, size_t len);

/* Give the kernel's objects back, with the verbs half locked. */
void fk_qp_end(uint32_t qp);
void fk_cq_end(uint32_t cq);
void fk_srq_end(uint32_t srq);
void fk_mr_end(uint32_t mr);
uint32_t fk_use_new(enum fk_use_of of, uint32_t dev);
void fk_use_end(uint32_t use);
uint32_t fk_qp_by_num(uint32_t qpn);
void fk_qp_error(uint32_t qp);
void fk_qp_progress(uint32_t qp);
void fk_qp_kick_senders(uint32_t qp);
void fk_srq_kick(uint32_t srq);
uint32_t fk_mr_find(uint32_t key);

#endif
