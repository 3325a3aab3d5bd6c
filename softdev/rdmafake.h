/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * C API of the soft device. The functions exist only when librdmafake.so
 * is preloaded; reach them with RDMAFAKE(name), which is NULL otherwise:
 *
 *	int (*script)(const char *) = RDMAFAKE(rdmafake_script);
 *	if (script)
 *		script("fail CONNECT errno=ENOMEM");
 *
 * Functions that return int give 0 (or a count) or a negative errno.
 */
#ifndef RDMAFAKE_H
#define RDMAFAKE_H

#include <dlfcn.h>
#include <stdint.h>

#define RDMAFAKE(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

#ifdef __cplusplus
extern "C" {
#endif

/* An event to put in front of the program. */
struct rdmafake_event {
	uint32_t handle;	/* kernel handle of the id it is for */
	int32_t fd;		/* channel to use when the handle is unknown, or -1 */
	uint32_t event;		/* RDMA_CM_EVENT_* number, also unknown ones */
	int32_t status;
	int32_t uid_set;	/* 0: the id's own uid; 1: take uid from here */
	uint64_t uid;
	int32_t handle_set;	/* 1: report report_handle instead of handle */
	uint32_t report_handle;
	uint32_t pdata_len;	/* value of private_data_len, up to 255 */
	const void *pdata;	/* or NULL: zero bytes */
	uint32_t qp_num;
	uint32_t qkey;
	uint8_t responder, initiator, retry, rnr, flow, srq;
	int32_t ud;		/* 1: fill the datagram form of the parameters */
	int32_t arg_set;	/* 1: put arg into the first 8 bytes of them */
	uint64_t arg;
};

/* What is alive in the soft device now; all zero when a program was tidy. */
struct rdmafake_live {
	uint32_t channels, ids, events, multicasts;
	uint32_t contexts, pds, mrs, cqs, channels_cq, qps, srqs, ahs, xrcds;
};

/* One command in the binary log; request and answer bytes follow it. */
enum { RDMAFAKE_RECORD = 0x52465231 };
struct rdmafake_record {
	uint32_t magic;
	uint32_t pid, tid, opener;
	int32_t fd;
	uint32_t cmd, in, out;
	int32_t ret, err;
	uint32_t in_bytes, out_bytes;
};

/* Runs lines of the script language. */
int rdmafake_script(const char *text);
/* Forgets all rules (fail, answer, hold, patch, inject, verbs) and lets held calls go. */
void rdmafake_reset(void);
/* Queues an event at once. */
int rdmafake_inject(const struct rdmafake_event *event);
/* Lets commands held under the label go on (NULL: all); gives their number. */
int rdmafake_release(const char *label);
/* Waits until a command is held under the label (NULL: any). */
int rdmafake_wait_held(const char *label, int timeout_ms);
/* How often a command was seen since the start; -1 is any command. */
uint64_t rdmafake_commands(int cmd);
/* Commands given by a process other than the one that opened the channel. */
uint64_t rdmafake_foreign(void);
/* How often a verbs call was seen, by name without the ibv_ prefix. */
uint64_t rdmafake_verbs(const char *name);
/* Removes a device with its events, or brings a removed one back as a new instance. */
int rdmafake_device_remove(const char *name);
int rdmafake_device_return(const char *name);
/* Raises an asynchronous verbs event (IBV_EVENT_*) on every context of the device. */
int rdmafake_async(const char *name, int event, int port);
void rdmafake_live(struct rdmafake_live *live);
/* Kernel handles alive on a channel fd (or -1: all), at most n; gives their number. */
int rdmafake_handles(int fd, uint32_t *handles, int n);
/* The uid that the kernel holds for a handle. */
int rdmafake_uid(uint32_t handle, uint64_t *uid);
/* Whether the kernel's lists and counts agree: the number of faults, the first of them on standard error. */
int rdmafake_check(void);
/* Events queued on a channel fd and not fetched yet. */
int rdmafake_queued(int fd);

#ifdef __cplusplus
}
#endif

#endif
