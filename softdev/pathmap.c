/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * RDMAFAKE_MAP=/etc/rdma/rsocket=dir,/run=dir2 sends the program to other
 * files, so that a test can have its own configuration and its own ibacm.
 */
#include "real.h"
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { MAX_MAPS = 8 };

static struct { const char *from, *to; size_t len; } maps[MAX_MAPS];
static int nmaps;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void parse(void)
{
	const char *env = getenv("RDMAFAKE_MAP");
	char *copy = env ? strdup(env) : NULL, *save, *word;

	/* The copy stays: the table points into it. */
	for (word = copy ? strtok_r(copy, ",", &save) : NULL; word && nmaps < MAX_MAPS;
	     word = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(word, '=');

		if (!eq)
			continue;
		*eq = 0;
		maps[nmaps].from = word;
		maps[nmaps].to = eq + 1;
		maps[nmaps++].len = strlen(word);
	}
}

const char *fk_map_path(const char *path, char *room, size_t size)
{
	pthread_once(&once, parse);
	for (int i = 0; path && i < nmaps; i++)
		if (!strncmp(path, maps[i].from, maps[i].len) &&
		    (!path[maps[i].len] || path[maps[i].len] == '/')) {
			snprintf(room, size, "%s%s", maps[i].to, path + maps[i].len);
			return room;
		}
	return path;
}

FK_EXPORT int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char room[512];
	const char *path;

	if (!to || size <= offsetof(struct sockaddr_un, sun_path) || size > sizeof(un) || to->sa_family != AF_UNIX)
		return REAL(connect)(fd, to, size);
	memcpy(&un, to, size);
	if (!un.sun_path[0])
		return REAL(connect)(fd, to, size);
	path = fk_map_path(un.sun_path, room, sizeof(room));
	if (path == un.sun_path || strlen(path) >= sizeof(un.sun_path))
		return REAL(connect)(fd, to, size);
	memset(un.sun_path, 0, sizeof(un.sun_path));
	memcpy(un.sun_path, path, strlen(path));
	return REAL(connect)(fd, (struct sockaddr *)&un, sizeof(un));
}
