// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sockets in the states that scenarios begin with. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "check.h"

struct sockaddr_in address(const char *text, int port);
struct sockaddr_in6 address6(const char *text, int port);
int port_of(int fd);
int bind_to(int fd, const char *text, int port);
int connect_to(int fd, const char *text, int port);
void set_blocking(int fd, int on);
int set_int(int fd, int level, int option, int value);
void set_linger(int fd, int on, int seconds);
/* SO_RCVTIMEO, SO_SNDTIMEO. */
void set_timeout(int fd, int option, int milliseconds);

int stream(void);
int datagram(void);
/* A datagram socket that is bound to HERE. */
int bound_datagram(void);
/* Two that are connected to each other. */
void datagram_pair(int fds[2]);
/* A listener on a port of its own that somebody has asked for clients: so the preload library makes its other side. */
int listener(int backlog);
/* A thread accepts; the one that it accepted. Under the preload library nothing becomes RDMA before somebody accepts. */
pthread_t begin_accept(int server);
int end_accept(pthread_t thread);
/* Two ends of one connection: fds[0] has connected, fds[1] was accepted. */
void pair_of(int server, int fds[2]);
void pair(int fds[2]);

/* As many bytes as asked for, or fewer at the end. */
long receive_all(int fd, void *to, long size);
long send_all(int fd, const void *from, long size);
/* What is said of the next bytes: "5 hello". */
void check_receive(const char *name, int fd, long size, int flags);
/* Sends, and waits until the peer can read it. */
void deliver(int from, int to, const char *text);
/* Sends until there is no more room; the bytes. */
long fill(int fd);
/* Reads what there is. */
long drain(int fd);
/* "inet here listener": family, address, port as one of those known. */
const char *name_text(const void *address, socklen_t length);
void know_port(int port, const char *whose);
void check_names(const char *name, int fd);

/* An action on a socket after a while, in a thread of its own. */
struct later {
	pthread_t thread;
	int milliseconds, fd, arg;
	void (*action)(int fd, int arg);
};
void do_later(struct later *later, void (*action)(int, int), int fd, int arg);
void was_done(struct later *later);
/* Actions. */
void later_send(int fd, int bytes);
void later_close(int fd, int unused);
void later_shutdown(int fd, int how);
void later_reset(int fd, int unused);
void later_drain(int fd, int bytes);

/* A call in a thread, which may block: what it says comes with its end. */
struct blocked {
	pthread_t thread;
	long (*run)(int fd);
	int fd, error, ended;
	pid_t task;
	long result;
};
/* Until a thread, which has stored its number there, has slept for a while. */
void until_asleep(const pid_t *task);
void block(struct blocked *blocked, long (*run)(int), int fd);
/* Waits for its end: the result, or `asleep`. */
void check_blocked(const char *name, struct blocked *blocked);
/* The same under signals: more than one, because the first may come before it is asleep. */
void check_interrupted(const char *name, struct blocked *blocked, int number);

#endif
