// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A stand-in for the daemon ibacm: listens on /run/ibacm.sock in a /run that only this program and its
 * children see, prints each question, and answers by the last byte of the destination.
 * Needs the right to make a mount namespace.
 */
#ifndef ADDRINFO_IBACM_H
#define ADDRINFO_IBACM_H

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace.h"

struct acm_header {
	uint8_t version, opcode, status, data[3];
	uint16_t length;
	uint64_t tid;
};

struct acm_record {
	uint32_t flags;
	uint16_t type, reserved;
	uint8_t info[64];
};

struct acm_message {
	struct acm_header header;
	struct acm_record record[8];
};

enum { ACM_ADDRESS_IP = 2, ACM_ADDRESS_IP6 = 3, ACM_PATH = 0x10, ACM_PATH_FLAGS = 0x2b };

/* What the last byte of a destination asks the daemon to do. */
enum {
	ACM_ONE_PATH = 1,
	ACM_TWO_PATHS,
	ACM_PATH_AND_SOURCE,
	ACM_REFUSE,
	ACM_NO_RECORD,
	/* Beyond here the C library reads what is not there, or waits for ever. */
	ACM_WRONG_VERSION,
	ACM_WRONG_OPCODE,
	ACM_WRONG_TID,
	ACM_SHORT,
	ACM_LONG,
	ACM_HANG_UP,
	ACM_SOURCE_BETWEEN,
	ACM_SILENT,
	ACM_GARBAGE,
};

static inline void acm_add_path(struct acm_message *message, uint8_t last)
{
	struct acm_record *record = &message->record[(message->header.length - 16) / 72];
	struct ibv_path_record *path = (void *)record->info;

	record->flags = ACM_PATH_FLAGS;
	record->type = ACM_PATH;
	inet_pton(AF_INET6, "fe80::200:fffe:0:1", &path->sgid);
	inet_pton(AF_INET6, "fe80::200:fffe:0:2", &path->dgid);
	path->dgid.raw[15] = last;
	path->dlid = htons(7);
	path->slid = htons(5);
	path->flowlabel_hoplimit = htonl(0x12345 << 8 | 64);
	path->reversible_numpath = 0x81;
	path->pkey = htons(0x8001);
	path->mtu = 0x84;
	path->rate = 0x83;
	path->packetlifetime = 0x92;
	message->header.length += sizeof(*record);
}

static inline void acm_add_source(struct acm_message *message, const char *source)
{
	struct acm_record *record = &message->record[(message->header.length - 16) / 72];

	record->flags = 1;
	record->type = ACM_ADDRESS_IP;
	inet_pton(AF_INET, source, record->info);
	message->header.length += sizeof(*record);
}

static inline void acm_print(const struct acm_message *question, ssize_t received)
{
	const struct acm_header *header = &question->header;

	printf("  daemon asked: %zd bytes, version %u opcode %x status %u length %u\n", received,
	       header->version, header->opcode, header->status, header->length);
	for (int i = 0; i < (header->length - 16) / 72; i++) {
		const struct acm_record *record = &question->record[i];

		printf("   record flags %x type %x\n", record->flags, record->type);
		trace_bytes(" info", record->info, record->type == ACM_PATH ? 64 : 16);
	}
}

/* The last byte of the destination: of the address after the source's, or of a path's GID. */
static inline int acm_wish(const struct acm_message *question)
{
	for (int i = 0; i < (question->header.length - 16) / 72; i++) {
		const struct acm_record *record = &question->record[i];

		if (record->type == ACM_PATH)
			return record->info[23];
		if (record->flags & 2)
			return record->info[record->type == ACM_ADDRESS_IP ? 3 : 15];
	}
	return ACM_NO_RECORD;
}

/* 0 to hang up. */
static inline int acm_answer(int fd, const struct acm_message *question)
{
	struct acm_message reply = { .header = question->header };
	size_t length;
	int wish = acm_wish(question);

	reply.header.opcode |= 0x80;
	reply.header.length = sizeof(reply.header);
	switch (wish) {
	case ACM_REFUSE:
		reply.header.status = 7;
		break;
	case ACM_NO_RECORD:
		break;
	case ACM_SOURCE_BETWEEN:
		acm_add_path(&reply, 2);
		acm_add_source(&reply, "10.77.0.1");
		acm_add_path(&reply, 3);
		break;
	case ACM_TWO_PATHS:
		acm_add_path(&reply, 2);
		acm_add_path(&reply, 3);
		break;
	default:
		acm_add_path(&reply, 2);
		if (wish == ACM_PATH_AND_SOURCE)
			acm_add_source(&reply, "10.77.0.1");
	}
	length = reply.header.length;
	switch (wish) {
	case ACM_WRONG_VERSION:
		reply.header.version = 2;
		break;
	case ACM_WRONG_OPCODE:
		reply.header.opcode = 0x82;
		break;
	case ACM_WRONG_TID:
		reply.header.tid++;
		break;
	case ACM_SHORT:
		reply.header.length += 72;
		break;
	case ACM_LONG:
		reply.header.length = 65535;
		break;
	case ACM_HANG_UP:
		return 0;
	case ACM_SILENT:
		return 1;
	case ACM_GARBAGE:
		memset(&reply, 0x5a, sizeof(reply));
		length = sizeof(reply);
		break;
	}
	if (send(fd, &reply, length, MSG_NOSIGNAL) < 0)
		return 0;
	/* Nothing more will come of a message that was announced longer. */
	return wish != ACM_SHORT && wish != ACM_LONG;
}

/* Serves one client after another, as the tests need it. */
static inline void acm_serve(int listener)
{
	struct acm_message question;
	ssize_t received;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		while ((received = recv(fd, &question, sizeof(question), 0)) >= 16) {
			acm_print(&question, received);
			if (!acm_answer(fd, &question))
				break;
		}
		close(fd);
	}
}

static inline pid_t acm_daemon_on(int listener, const void *address, socklen_t length)
{
	pid_t pid;

	if (bind(listener, address, length) || listen(listener, 16)) {
		perror("cannot listen");
		exit(77);
	}
	pid = fork();
	if (!pid) {
		acm_serve(listener);
		_exit(0);
	}
	return pid;
}

static inline pid_t acm_daemon(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/ibacm.sock" };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid = acm_daemon_on(listener, &address, sizeof(address));

	close(listener);
	return pid;
}

/* On a TCP port of this machine, whose number stands in a file. */
static inline pid_t acm_tcp_daemon(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(address);
	pid_t pid = acm_daemon_on(listener, &address, length);
	FILE *file = fopen("/run/ibacm.port", "w");

	if (!file || getsockname(listener, (void *)&address, &length))
		exit(77);
	fprintf(file, "%u\n", ntohs(address.sin_port));
	fclose(file);
	close(listener);
	return pid;
}

/* Before the first call of the library, so that no descriptor of it is shared. */
static inline void acm_private_run(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/run", "tmpfs", 0, NULL)) {
		perror("skipped: no mount namespace");
		exit(77);
	}
}

static inline void acm_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink("/run/ibacm.sock");
}

#endif
