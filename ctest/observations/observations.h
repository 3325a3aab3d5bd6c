/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of the program share. */
#ifndef CTEST_OBSERVATIONS_H
#define CTEST_OBSERVATIONS_H

#include "../cm/trace.h"

/* One line: the name of the observation, a colon, and what was seen. */
__attribute__((format(printf, 2, 3))) void observe(const char *name, const char *format, ...);
/* The same for a call that gives 0, or -1 and errno. */
void observe_call(const char *name, int result);
/* And for a verb that gives an errno. */
void observe_code(const char *name, int code);
/* And for one that makes something: "made", or the errno. */
void observe_made(const char *name, const void *object);
/* The next event, whatever it is; ends the program if none comes. To be given back. */
struct rdma_cm_event *any_event(struct rdma_event_channel *channel);
/* The events of a channel until none has come for a while, each given back. */
void observe_events(const char *name, struct rdma_event_channel *channel);

#define CALLED(name, call) observe_call(name, (errno = 0, (int)(call)))
#define CODED(name, call) observe_code(name, (errno = 0, (int)(call)))
#define MADE(name, call) ({ __typeof__(call) made_ = (errno = 0, (call)); observe_made(name, made_); made_; })

void observe_device(void);
void observe_resources(void);
void observe_ids(void);
void observe_connections(void);
void observe_depths(void);
void observe_datagrams(void);
void observe_multicast(void);
void observe_states(void);
void observe_completions(void);
void observe_errors(void);
void observe_shared_queues(void);
void observe_processes(void);

/* Connected, with memory registered at both ends. */
struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char bytes[256];
};
struct connected {
	struct pair pair;
	struct end client, server;
};
void connect_ends(struct connected *c);
void close_ends(struct connected *c);
/* The next completion of a queue, 5 s at most; its status is 99 if none comes. */
struct ibv_wc completion(struct ibv_cq *cq);
void observe_completion(const char *name, struct ibv_cq *cq);
/* Posts `length` bytes at `offset`. */
int receive_at(struct end *end, unsigned offset, unsigned length, uint64_t wr_id);
int send_from(struct end *end, enum ibv_wr_opcode opcode, unsigned flags, unsigned length, const struct end *to, unsigned rkey);

#endif
