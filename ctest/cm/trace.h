// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What every conformance program uses: calls that print themselves with their
 * result and errno, events that print every field, and a last line that tells
 * what was left alive in the soft device.
 *
 * The output depends on what the library does and on nothing else: no pointer,
 * no time, no descriptor number is printed.
 */
#ifndef CTEST_TRACE_H
#define CTEST_TRACE_H

#include "helpers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>

#include "rdmafake.h"

/* No call that succeeds may change this. */
enum { UNTOUCHED = 4242 };

/* Prints "call: value" and the errno of a failure; gives the value back. */
#define CALL(call) trace_int(#call, (errno = UNTOUCHED, (long)(call)))
/* The same for calls that return a pointer: "ok" or "NULL ERRNO". */
#define POINTER(call) trace_pointer(#call, (errno = UNTOUCHED, (const void *)(call)))
/* For calls that return nothing. */
#define VOID(call) do { errno = UNTOUCHED; call; trace_void(#call); } while (0)
/* Set-up: silent, ends the program when it fails. */
#define MUST(call) trace_must(#call, __LINE__, (long)(call))

long trace_int(const char *text, long value);
const void *trace_pointer(const char *text, const void *value);
void trace_void(const char *text);
long trace_must(const char *text, int line, long value);
/* What errno holds after one of these. */
const char *error_text(int error);

/* Names an id (or any pointer) for the output. */
void name(const void *pointer, const char *name);
const char *name_of(const void *pointer);

/* "10.77.0.1:7000", "[fd00:77::1]:7000", "10.77.0.9" */
struct sockaddr *addr(const char *text);
void show_addr(const char *label, const struct sockaddr *address);
void show_id(struct rdma_cm_id *id);

/* The next event of a channel (5 s at most), printed in full. */
struct rdma_cm_event *next(struct rdma_event_channel *channel);
/* The same, and given back. */
void take(struct rdma_event_channel *channel);
/* Takes without a word; ends the program when it is another event. */
struct rdma_cm_event *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type event);
void expect_and_ack(struct rdma_event_channel *channel, enum rdma_cm_event_type event);
void none(struct rdma_event_channel *channel);
void show_event(const struct rdma_cm_event *event);

/* The soft device. On a real kernel there is nobody to script: the program is then skipped. */
void need_soft_device(void);
void fake(const char *script);
uint32_t handle_of(struct rdma_event_channel *channel, int position);
/* Puts an event in front of the newest id of a channel. */
void inject(struct rdma_event_channel *channel, int event, int status);
void show_queued(struct rdma_event_channel *channel);

/* Ready-made ids; they end the program when they fail. */
struct rdma_event_channel *channel(void);
struct rdma_cm_id *new_id(struct rdma_event_channel *channel, enum rdma_port_space ps);
struct rdma_cm_id *bound(struct rdma_event_channel *channel, enum rdma_port_space ps, const char *to);
struct rdma_cm_id *addressed(struct rdma_event_channel *channel, enum rdma_port_space ps, const char *to);
struct rdma_cm_id *routed(struct rdma_event_channel *channel, enum rdma_port_space ps, const char *to);
struct ibv_qp_init_attr *qp_attr(void);
struct rdma_conn_param *param(void);

/* A listener, its child and the client, each on a channel of its own but for the child. */
struct pair {
	struct rdma_event_channel *passive, *active;
	struct rdma_cm_id *listener, *child, *client;
	struct rdma_cm_event *request;
};

/* Up to a request at the listener. */
void pair_request(struct pair *p, enum rdma_port_space ps);
/* Up to ESTABLISHED on both sides. */
void pair_connect(struct pair *p);
void pair_destroy(struct pair *p);
/* Gives a request back and ends its id. */
void destroy_child(struct rdma_cm_event *request);

/* Runs in a thread; its result is waited for at most 10 s. */
pthread_t background(void *(*run)(void *), void *arg);
void *finish(pthread_t thread);
/* For such a thread: gives an event back after a while. */
void *ack_later(void *event);
/* Runs in a child process; prints how it ended. */
void in_child(const char *label, void (*run)(void *), void *arg);

/* Prints what is left and gives the exit code for main. */
int done(void);

/*
 * The helpers of rdma_verbs.h: those that the library under test exports, else
 * what the header has inline.
 */
#define HELPER(name) ({ __typeof__(&name) f_ = (__typeof__(&name))dlsym(RTLD_DEFAULT, #name); f_ ? f_ : name; })

#endif
