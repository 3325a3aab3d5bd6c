// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A channel is destroyed while threads wait for its events: they are woken after a moment and get EBADF, again
 * where they ask again. A program that ends meanwhile ends as on the C library, whose threads sleep for ever.
 * differs: C-40
 * theirs: hangs */
#include "trace.h"

enum { THREADS = 3 };

static struct rdma_event_channel *waited;
static _Atomic int waiting, woken;
static int failed[THREADS][2];

static void *wait_twice(void *arg)
{
	int *errors = arg;
	struct rdma_cm_event *event = NULL;

	waiting++;
	for (int i = 0; i < 2; i++) {
		errno = UNTOUCHED;
		errors[i] = rdma_get_cm_event(waited, &event) == -1 ? errno : 0;
		if (!i)
			woken++;
	}
	return NULL;
}

/* As rping: the thread makes a failure of the program. */
static void *wait_or_exit(void *arg)
{
	struct rdma_cm_event *event;

	waiting++;
	if (rdma_get_cm_event(arg, &event))
		_exit(1);
	return NULL;
}

static void ends_as_before(void *arg)
{
	waiting = 0;
	waited = channel();
	background(wait_or_exit, waited);
	while (!waiting)
		;
	usleep(100000);
	rdma_destroy_event_channel(waited);
}

int main(void)
{
	pthread_t threads[THREADS];
	int number;

	in_child("a program that ends", ends_as_before, NULL);

	waiting = 0;
	waited = channel();
	name(waited, "channel");
	number = waited->fd;
	for (int i = 0; i < THREADS; i++)
		threads[i] = background(wait_twice, failed[i]);
	while (waiting < THREADS)
		;
	usleep(200000);
	printf("%d woken before\n", woken);
	VOID(rdma_destroy_event_channel(waited));
	printf("the number is free: %s\n", fcntl(number, F_GETFD) == -1 ? "yes" : "no");
	for (int i = 0; i < THREADS; i++) {
		finish(threads[i]);
		printf("thread: %s, then %s\n", error_text(failed[i][0]), error_text(failed[i][1]));
	}
	/* What was made to wake them goes. */
	usleep(200000);
	return done();
}
