/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The soft device's "kernel": everything that a real kernel would keep between system calls lives in
 * one shared mapping, so that a forked child (and, with RDMAFAKE_SHARED, an unrelated process) sees
 * the same kernel. Objects refer to each other by index; index 0 means "none".
 */
#ifndef FK_KERNEL_H
#define FK_KERNEL_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum {
	FK_MAX_CHAN = 16384,
	FK_MAX_ID = 32768,
	FK_MAX_EVENT = 65536,
	FK_MAX_MC = 4096,
	FK_MAX_DEV = 64,
	FK_MAX_PORTS = 4,
	FK_MAX_GIDS = 16,
	FK_MAX_PKEYS = 8,
	FK_MAX_IPS = 8,
	FK_MAX_PEERS = 64,
	FK_MAX_PROC = 1024,
	FK_MAX_HOLDERS = 64,
	FK_MAX_SERVICES = 16,
	FK_PDATA = 256,
	FK_RESP_MAX = 512,
};

/* First member of every pooled object. */
struct fk_node {
	uint32_t next;
	uint32_t live;
	uint32_t gen;
};

struct fk_pool {
	uint32_t high;
	uint32_t free;
	uint32_t live;
};

/* A user of an open rdma_cm file: forked processes share the file. */
struct fk_holder {
	pid_t pid;
	uint32_t fds;
};

/* One open of the rdma_cm node. */
struct fk_chan {
	struct fk_node node;
	struct fk_holder holder[FK_MAX_HOLDERS];
	uint32_t head, tail, queued;
	uint32_t wake_owed;
	uint32_t loans;
	uint64_t loans_end;
	pid_t opener;
	/* How often the opener had changed its credentials. */
	uint32_t credentials;
	uint32_t first_id;
	uint64_t serial;
};

struct fk_ip {
	struct sockaddr_storage addr;
	uint32_t prefix;
};

struct fk_port_cfg {
	uint8_t gid[FK_MAX_GIDS][16];
	uint8_t gid_type[FK_MAX_GIDS];
	uint32_t ngids;
	uint16_t pkey[FK_MAX_PKEYS];
	uint32_t npkeys;
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t state;
	uint8_t link_layer;
	uint8_t mtu;
};

/* One instance of a device; a device that comes back is a new instance. */
struct fk_dev {
	struct fk_node node;
	char name[64];
	uint64_t guid;
	uint64_t query_guid;
	uint32_t index;
	uint32_t query_index;
	uint8_t transport;
	uint8_t present;
	uint8_t listed_index_known;
	uint8_t ece;
	uint32_t nports;
	struct fk_port_cfg port[FK_MAX_PORTS];
	struct fk_ip ip[FK_MAX_IPS];
	uint32_t nips;
	uint32_t max_inline;
	uint32_t max_qp, max_qp_wr, max_sge, max_cq, max_cqe, max_srq, max_mr, max_pd;
	uint32_t max_rd_atom;
	uint32_t qps, cqs, srqs, mrs, pds, contexts;
};

enum fk_state {
	FK_IDLE, FK_ADDR_BOUND, FK_ADDRINFO_RESOLVED, FK_ADDR_QUERY,
	FK_ADDR_RESOLVED, FK_ROUTE_RESOLVED, FK_CONNECT, FK_DISCONNECT, FK_LISTEN,
};

/* State of the connection protocol below the id. */
enum fk_cm {
	FK_CM_NONE, FK_CM_IDLE, FK_CM_LISTEN, FK_CM_REQ_SENT, FK_CM_REQ_RCVD,
	FK_CM_REP_SENT, FK_CM_REP_RCVD, FK_CM_ESTABLISHED, FK_CM_DREQ_SENT,
	FK_CM_DREQ_RCVD, FK_CM_TIMEWAIT, FK_CM_SIDR_SENT, FK_CM_SIDR_RCVD,
	FK_CM_SIDR_DONE,
};

struct fk_path {
	uint8_t sgid[16], dgid[16];
	uint16_t slid, dlid;
	uint16_t pkey;
	uint8_t mtu, rate, sl, tclass, hop, life;
	uint32_t flow;
	uint64_t service_id;
};

struct fk_conn {
	uint32_t qp_num, qkey, psn;
	uint8_t srq, responder, initiator, flow, retry, rnr;
	uint32_t ece_vendor, ece_mod;
};

struct fk_id {
	struct fk_node node;
	uint32_t handle;
	uint32_t chan;
	uint32_t chan_next, chan_prev;
	uint64_t uid;
	uint32_t reported;
	uint32_t backlog;
	uint16_t ps;
	uint8_t qp_type;
	uint8_t state;
	uint8_t cm;
	uint8_t closing;
	uint8_t child_pending;
	/* Of the check alone. */
	uint8_t checked;
	uint8_t reuse, afonly, afonly_set, tos, ack_timeout, ack_timeout_set;
	struct sockaddr_storage src, dst;
	uint32_t dev, port;
	uint16_t pkey;
	uint8_t sgid[16], dgid[16];
	uint32_t npaths;
	struct fk_path path;
	uint32_t bound_port, port_next;
	uint32_t listener, listener_gen;
	uint32_t peer, peer_gen;
	struct fk_conn local, remote;
	/* RDMA reads that this side answers and asks at once, as agreed on so far. */
	uint8_t responder, initiator;
	uint32_t qkey;
	uint32_t mc_first;
	uint32_t nservices;
	uint32_t waits_for, waits_gen, waiting;
	uint32_t req_len;
	uint8_t req[FK_PDATA];
	pid_t pid;
};

struct fk_mc {
	struct fk_node node;
	uint32_t handle;
	uint32_t id;
	uint32_t next_in_id;
	uint64_t uid;
	uint32_t reported;
	struct sockaddr_storage addr;
	uint8_t mgid[16];
	uint16_t mlid;
	uint8_t flags;
};

struct fk_event {
	struct fk_node node;
	uint32_t next;
	uint32_t id, mc;
	uint32_t id_gen, mc_gen;
	uint32_t child;
	/* The process whose helper delivers it later. */
	pid_t late;
	uint8_t resp[FK_RESP_MAX];
	uint32_t resp_len;
};

/* Lowest free handle first, as the real kernel's allocator does. */
enum { FK_HANDLES = 1 << 19, FK_HASH = 1 << 16 };
enum fk_handle_mode { FK_REUSE_LOWEST, FK_REUSE_NEVER, FK_REUSE_LIFO };

struct fk_handles {
	uint32_t base;
	uint32_t hint;
	uint32_t last_freed;
	uint8_t mode;
	uint32_t slot[FK_HANDLES];
};

/*
 * A process that uses this kernel. Its number is given out again, which the start time tells, and lives
 * on in another program after exec: then the mark is not at its place in the process's memory any more.
 */
struct fk_proc {
	_Atomic pid_t pid;
	uint32_t seq;
	uint64_t start;
	uint64_t mark, mark_at;
};

/* For whom a file was made: anybody else's is replaced. */
struct fk_maker {
	char magic[8];
	uint64_t layout;
	uint64_t pid_space;
	char boot[40];
};

/* Kernel-wide settings that a script can change. */
struct fk_tune {
	uint32_t max_cmd;
	uint32_t af_ib;
	uint32_t exact_pdata;
	uint32_t timewait_ms;
	uint32_t dreq_ms;
	uint32_t index_known;
	uint32_t ece;
	int32_t addr_error;
	int32_t unreachable_status;
	uint32_t rnr_ms;
	uint32_t mcast_error;
	uint32_t rtr_mask_extra;
	uint32_t hold_limit_ms;
	uint32_t max_backlog;
	uint32_t port_low, port_high;
};

struct fk_service {
	uint64_t id;
	char name[64];
	uint8_t gid[16];
	uint16_t pkey;
};

/* A lock, with the old values of what its holder has changed (undo.c). */
enum { FK_UNDO_ROOM = 8 << 20 };
struct fk_guard {
	pthread_mutex_t mutex;
	_Atomic uint64_t used;
	_Alignas(8) uint8_t log[FK_UNDO_ROOM];
};

#define FK_POOL_OF(type, max) struct { struct fk_pool pool; type at[(max) + 1]; }

struct fk_head {
	struct fk_maker maker;
	/* Filled in, with its devices. */
	_Atomic uint32_t ready;
	uint32_t shared;
	uint64_t size;
};

struct fk_kernel {
	struct fk_head head;
	struct fk_guard lock;
	/* A thread whose process is to stop when it has released its locks. */
	_Atomic pid_t stop_later;
	/* Places in use so far, from the first. */
	_Atomic uint32_t nprocs;
	struct fk_proc proc[FK_MAX_PROC];
	uint64_t serial, marks;
	uint64_t foreign;
	uint32_t nlate;
	struct fk_tune tune;
	struct sockaddr_storage peer[FK_MAX_PEERS];
	uint32_t npeers;
	struct fk_service service[FK_MAX_SERVICES];
	uint32_t nservices;
	uint32_t next_port;
	uint32_t next_psn;
	uint32_t port_head[65536];
	struct fk_handles id_handle;
	struct fk_handles mc_handle;
	FK_POOL_OF(struct fk_dev, FK_MAX_DEV) dev;
	FK_POOL_OF(struct fk_chan, FK_MAX_CHAN) chan;
	FK_POOL_OF(struct fk_id, FK_MAX_ID) id;
	FK_POOL_OF(struct fk_mc, FK_MAX_MC) mc;
	FK_POOL_OF(struct fk_event, FK_MAX_EVENT) event;
};

/* Where the verbs half begins in the mapping. */
#define FK_VERBS_OFF ((sizeof(struct fk_kernel) + 4095) & ~(size_t)4095)

extern struct fk_kernel *fk_k;

/* shared.c: the mapping. 1: it is new, and the caller says fk_kernel_ready(); 0: it was there. */
int fk_kernel_open(void);
void fk_kernel_ready(void);
/* Ends what fk_kernel_open() began; other processes wait for it. */
void fk_kernel_close(void);
/* Keeps signals and cancellation away from this thread, and errno as it is; nests. */
void fk_shield(void);
void fk_unshield(void);
/* From now on the program has handlers of signals. */
void fk_signals_handled(void);
/* Locks of this process alone. */
void fk_hold(pthread_mutex_t *own);
bool fk_hold_within(pthread_mutex_t *own, int ms);
void fk_let_go(pthread_mutex_t *own);
void fk_lock_take(struct fk_guard *guard);
void fk_lock_give(struct fk_guard *guard);
void fk_undo_begin(struct fk_guard *guard);
void fk_undo_end(struct fk_guard *guard);
/* Takes back what a dead holder had begun. */
void fk_undo_run(struct fk_guard *guard);
/* For the test that kills a process in the middle of a call. */
void fk_kill_start(void);
void fk_kill_point(const char *call);
void fk_lock(void);
bool fk_lock_within(int ms);
void fk_unlock(void);
uint32_t fk_take(struct fk_pool *pool, void *at, size_t size, uint32_t max);
void fk_give(struct fk_pool *pool, void *at, size_t size, uint32_t idx);
#define FK_TAKE(p) fk_take(&(p).pool, (p).at, sizeof((p).at[0]), sizeof((p).at) / sizeof((p).at[0]) - 1)
#define FK_GIVE(p, i) fk_give(&(p).pool, (p).at, sizeof((p).at[0]), (i))

uint32_t fk_handle_new(struct fk_handles *h, uint32_t slot);
uint32_t fk_handle_find(const struct fk_handles *h, uint32_t handle);
void fk_handle_free(struct fk_handles *h, uint32_t handle);

#endif
