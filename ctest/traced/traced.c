// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What the traces of the tests are of (ctest/lib/traces.py): `traced MODE [COUNT]`.
 *
 *   pair       an id that connects to another, and both end
 *   refused    an id that connects where nobody listens
 *   rsockets   COUNT connections of rsockets, one after the other, each with a message there and back
 *   many       COUNT ids, made and destroyed in each of THREADS threads; prints how many
 *   fork       the same once, and in a child
 *   closed     once, then the descriptors name a file of the program's, then once more
 *   kill       as rsockets, and killed with the last connection open
 *   full       the file may not grow; then it may
 *   once       an id
 */
#include "trace.h"

#include <rdma/rsocket.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { THREADS = 4, PORT = 7801, LENGTH = 1000 };

static int count;

static void make_one(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		_exit(3);
	rdma_destroy_id(id);
}

static void *make_many(void *ch)
{
	for (int i = 0; i < count; i++)
		make_one(ch);
	return NULL;
}

static void make_in_threads(struct rdma_event_channel *ch)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, make_many, ch);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", THREADS * count);
}

static struct sockaddr_in own_address(void)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	inet_pton(AF_INET, "10.77.0.1", &own.sin_addr);
	return own;
}

static void *serve(void *listener)
{
	char data[LENGTH];

	for (int i = 0; i < count; i++) {
		int fd = raccept(*(int *)listener, NULL, NULL);

		if (rrecv(fd, data, LENGTH, MSG_WAITALL) != LENGTH || rsend(fd, data, LENGTH, 0) != LENGTH)
			_exit(4);
		while (rrecv(fd, data, LENGTH, 0) > 0)
			;
		rclose(fd);
	}
	return NULL;
}

static void rsockets(int is_killed)
{
	struct sockaddr_in own = own_address();
	int listener = rsocket(AF_INET, SOCK_STREAM, 0), on = 1;
	char data[LENGTH] = "what a peer sends";
	pthread_t thread;

	rsetsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (rbind(listener, (void *)&own, sizeof(own)) || rlisten(listener, 16))
		_exit(5);
	pthread_create(&thread, NULL, serve, &listener);
	for (int i = 0; i < count; i++) {
		int fd = rsocket(AF_INET, SOCK_STREAM, 0);

		if (rconnect(fd, (void *)&own, sizeof(own)) || rsend(fd, data, LENGTH, 0) != LENGTH ||
		    rrecv(fd, data, LENGTH, MSG_WAITALL) != LENGTH)
			_exit(6);
		if (is_killed && i == count - 1) {
			/* What the thread has had time to write is there. */
			usleep(300000);
			kill(getpid(), SIGKILL);
		}
		rclose(fd);
	}
	pthread_join(thread, NULL);
	rclose(listener);
}

static void pair(void)
{
	struct pair p;

	pair_connect(&p);
	MUST(rdma_disconnect(p.client));
	expect_and_ack(p.passive, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_disconnect(p.child));
	expect_and_ack(p.active, RDMA_CM_EVENT_DISCONNECTED);
	pair_destroy(&p);
}

static void refused(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7999");

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	MUST(rdma_connect(id, param()));
	expect_and_ack(ch, RDMA_CM_EVENT_REJECTED);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static void set_limit(rlim_t limit)
{
	struct rlimit size = { limit, RLIM_INFINITY };

	setrlimit(RLIMIT_FSIZE, &size);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "once";
	struct rdma_event_channel *ch = rdma_create_event_channel();
	int status;

	count = argc > 2 ? atoi(argv[2]) : 1;
	if (!ch)
		return 2;
	if (!strcmp(mode, "pair")) {
		pair();
	} else if (!strcmp(mode, "refused")) {
		refused();
	} else if (!strcmp(mode, "rsockets") || !strcmp(mode, "kill")) {
		rsockets(mode[0] == 'k');
	} else if (!strcmp(mode, "many")) {
		make_in_threads(ch);
	} else if (!strcmp(mode, "fork")) {
		make_in_threads(ch);
		fflush(stdout);
		if (fork() == 0) {
			ch = rdma_create_event_channel();
			make_in_threads(ch);
			exit(0);
		}
		wait(&status);
		make_one(ch);
	} else if (!strcmp(mode, "closed")) {
		int data;

		make_one(ch);
		usleep(200000);
		data = open(getenv("DATA"), O_RDWR | O_CREAT, 0600);
		for (int fd = 100; fd < 1024; fd++)
			if (fd != data && fcntl(fd, F_GETFD) >= 0)
				dup2(data, fd);
		make_one(ch);
	} else if (!strcmp(mode, "full")) {
		set_limit(4096);
		make_in_threads(ch);
		usleep(300000);
		set_limit(RLIM_INFINITY);
		usleep(600000);
		make_one(ch);
	} else {
		make_one(ch);
	}
	return 0;
}
