/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* First use: from dlopen to an event channel that is ready. `first none` does neither, for comparison. */
#include "bench.h"

#include <dlfcn.h>
#include <fcntl.h>

int main(int argc, char **argv)
{
	void *(*create)(void);
	void *library, *channel = NULL;
	double begin = seconds(CLOCK_MONOTONIC), used = processor();

	if (argc > 1 && !strcmp(argv[1], "none"))
		return 0;
	COUNT("first", {
		library = dlopen("librdmacm.so.1", RTLD_NOW);
		create = library ? (void *(*)(void))dlsym(library, "rdma_create_event_channel") : NULL;
		channel = create ? create() : NULL;
	});
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	MUST(channel);
	if (!RUNNING_ON_VALGRIND)
		printf("wall %.1f\nprocessor %.1f\n", 1e6 * (seconds(CLOCK_MONOTONIC) - begin),
		       1e6 * (processor() - used));
	return 0;
}
