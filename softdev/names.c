/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of commands, events and error numbers. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {
	"CREATE_ID", "DESTROY_ID", "BIND_IP", "RESOLVE_IP", "RESOLVE_ROUTE", "QUERY_ROUTE",
	"CONNECT", "LISTEN", "ACCEPT", "REJECT", "DISCONNECT", "INIT_QP_ATTR", "GET_EVENT",
	"GET_OPTION", "SET_OPTION", "NOTIFY", "JOIN_IP_MCAST", "LEAVE_MCAST", "MIGRATE_ID",
	"QUERY", "BIND", "RESOLVE_ADDR", "JOIN_MCAST", "RESOLVE_IB_SERVICE", "WRITE_CM_EVENT",
};

static const char *const events[] = {
	"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
	"CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
	"DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",
	"TIMEWAIT_EXIT", "ADDRINFO_RESOLVED", "ADDRINFO_ERROR", "USER", "INTERNAL",
};

static int find(const char *name, const char *const *list, size_t n)
{
	char *end;
	long v = strtol(name, &end, 0);

	if (*name && !*end)
		return (int)v;
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(name, list[i]))
			return (int)i;
	return -EINVAL;
}

int fk_cmd_by_name(const char *name)
{
	if (!strcmp(name, "any"))
		return -1;
	return find(name, commands, sizeof(commands) / sizeof(commands[0]));
}

const char *fk_cmd_name(uint32_t cmd)
{
	return cmd < sizeof(commands) / sizeof(commands[0]) ? commands[cmd] : "?";
}

int fk_event_by_name(const char *name)
{
	if (!strcmp(name, "any"))
		return -1;
	return find(name, events, sizeof(events) / sizeof(events[0]));
}

const char *fk_event_name(uint32_t event)
{
	return event < sizeof(events) / sizeof(events[0]) ? events[event] : "?";
}

/* "ENOMEM", "-ENOMEM", "12", "-12" */
int fk_errno_by_name(const char *name)
{
	int sign = *name == '-' ? -1 : 1;
	char *end;
	long v = strtol(name, &end, 0);

	if (*name && !*end)
		return (int)v;
	if (*name == '-')
		name++;
	for (int e = 1; e < 134; e++) {
		const char *have = strerrorname_np(e);

		if (have && !strcmp(have, name))
			return sign * e;
	}
	return 0;
}
