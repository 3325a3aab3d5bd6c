// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct calls call;

static void *find(void *library, const char *prefix, const char *name)
{
	char text[64];
	void *found;

	/* A set has names of its own there. */
	if (*prefix && !strcmp(name, "epoll_create1"))
		name = "epoll_create";
	snprintf(text, sizeof text, "%s%s", prefix, name);
	found = dlsym(library, text);
	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return found;
}

void load_calls(int rsockets)
{
	void *library = rsockets ? dlopen("librdmacm.so.1", RTLD_NOW) : RTLD_DEFAULT;
	const char *prefix = rsockets ? "r" : "";

	if (rsockets && !library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
#define LOAD(type, name, arguments) call.name = (type(*) arguments)find(library, prefix, #name);
	CALLS(LOAD)
#undef LOAD
}
