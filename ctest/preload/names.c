// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names and ports: before and after, port 0, wildcards, IPv6, two listeners, truncated rooms.
 * rdma: 8
 */
#include "common.h"

/* Ports differ from run to run: they are told by whose they are. */
static int known[4];

static void say_name(const char *what, const struct sockaddr_storage *name, socklen_t length, int result)
{
	char text[64] = "?";
	int port = 0, whose = -1;

	if (result < 0) {
		say("%s: %s", what, errno_name(errno));
		return;
	}
	if (name->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)name)->sin6_addr, text, sizeof text);
		port = ntohs(((struct sockaddr_in6 *)name)->sin6_port);
	} else if (name->ss_family == AF_INET) {
		inet_ntop(AF_INET, &((struct sockaddr_in *)name)->sin_addr, text, sizeof text);
		port = ntohs(((struct sockaddr_in *)name)->sin_port);
	}
	for (int i = 0; i < 4; i++)
		if (known[i] && known[i] == port)
			whose = i;
	say("%s: family %d, %s, port %s, length %u", what, name->ss_family, text,
	    port == 0 ? "0" : whose == 0 ? "of the listener" : whose == 1 ? "of the client" : "another", length);
}

static void say_names(const char *what, int fd)
{
	struct sockaddr_storage name = { 0 };
	socklen_t length = sizeof name;
	char text[80];
	int result = getsockname(fd, (struct sockaddr *)&name, &length);

	snprintf(text, sizeof text, "%s, own", what);
	say_name(text, &name, length, result);
	memset(&name, 0, sizeof name);
	length = sizeof name;
	result = getpeername(fd, (struct sockaddr *)&name, &length);
	snprintf(text, sizeof text, "%s, peer", what);
	say_name(text, &name, length, result);
}

/* A client in a thread; the names of all, at each stage. */
static struct {
	struct sockaddr_storage to;
	socklen_t length;
	int fd, error;
} plan;

static void *client_run(void *arg)
{
	plan.fd = MUST(socket(plan.to.ss_family, SOCK_STREAM, 0));
	say_names("client, fresh", plan.fd);
	plan.error = connect(plan.fd, (struct sockaddr *)&plan.to, plan.length) ? errno : 0;
	return NULL;
}

static void meet(int server, const void *to, socklen_t length)
{
	struct sockaddr_storage name = { 0 };
	socklen_t room = sizeof name;
	pthread_t thread;
	int peer;

	memcpy(&plan.to, to, length);
	plan.length = length;
	known[0] = port_of(server);
	known[1] = 0;
	say_names("listener", server);
	readable(server, 0);
	pthread_create(&thread, NULL, client_run, NULL);
	peer = MUST(accept(server, (struct sockaddr *)&name, &room));
	pthread_join(thread, NULL);
	say("connect: %s", errno_name(plan.error));
	if (plan.error)
		return;
	known[1] = port_of(plan.fd);
	say_name("accept", &name, room, 0);
	say_names("client", plan.fd);
	say_names("accepted", peer);
	ping(plan.fd, peer);
	/* A name is cut to the room, and its full length told. */
	room = 4;
	memset(&name, 0xff, sizeof name);
	SAY(getpeername(plan.fd, (struct sockaddr *)&name, &room));
	say("length %u, byte 4 untouched %d", room, ((unsigned char *)&name)[4] == 0xff);
	close(plan.fd);
	if (recv(peer, &(char){ 0 }, 1, 0) == 0)
		say_names("accepted, after the end", peer);
	close(peer);
}

static int listen_on(const void *address, socklen_t length, int only)
{
	int fd = MUST(socket(((const struct sockaddr *)address)->sa_family, SOCK_STREAM, 0));

	say_names("fresh", fd);
	if (((const struct sockaddr *)address)->sa_family == AF_INET6)
		SAY(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only));
	SAY(bind(fd, address, length));
	SAY(listen(fd, 5));
	return fd;
}

static void taken(void)
{
	int one = listener(2), two = MUST(socket(AF_INET, SOCK_STREAM, 0)), on = 1, port = port_of(one);

	TITLE("a port that is taken");
	SAY(bind_to(two, HERE, port));
	SAY(setsockopt(two, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	SAY(bind_to(two, HERE, port));
	close(one);
	SAY(bind_to(two, HERE, port));
	SAY(listen(two, 2));
	say("the same port: %d", port_of(two) == port);
	SAY(bind_to(two, HERE, 0));
	close(two);

	/* A server that starts again at once. */
	for (int i = 0; i < 3; i++) {
		int fds[2];

		one = MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
		SAY(bind_to(one, HERE, port));
		SAY(listen(one, 2));
		readable(one, 0);
		pair_of(one, fds);
		ping(fds[0], fds[1]);
		close(one), close(fds[0]), close(fds[1]);
	}

	TITLE("listen without bind");
	one = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SAY(accept(one, NULL, NULL));
	SAY(listen(one, 2));
	say("a port: %d", port_of(one) > 0);
	SAY(listen(one, 3));
	SAY(connect_to(one, HERE, port));
	close(one);
	SAY(listen(0, 1));
	SAY(accept(0, NULL, NULL));
	SAY(listen(-1, 1));
}

static void reuse_port(void)
{
	int one = MUST(socket(AF_INET, SOCK_STREAM, 0)), two = MUST(socket(AF_INET, SOCK_STREAM, 0)), on = 1, port;

	TITLE("SO_REUSEPORT");
	SAY(setsockopt(one, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on));
	SAY(setsockopt(two, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on));
	SAY(bind_to(one, HERE, 0));
	port = port_of(one);
	SAY(bind_to(two, HERE, port));
	SAY(listen(one, 2));
	SAY(listen(two, 2));
	close(one), close(two);
}

int main(void)
{
	struct sockaddr_in here = ipv4(HERE, 0), any = ipv4("0.0.0.0", 0), to = here;
	struct sockaddr_in6 here6 = ipv6(HERE6, 0), any6 = ipv6("::", 0), to6 = here6, mapped = ipv6("::ffff:" HERE, 0);
	int server;

	TITLE("IPv4");
	server = listen_on(&here, sizeof here, 0);
	to.sin_port = htons(port_of(server));
	meet(server, &to, sizeof to);
	meet(server, &to, sizeof to);
	close(server);
	TITLE("IPv4 wildcard");
	server = listen_on(&any, sizeof any, 0);
	to.sin_port = htons(port_of(server));
	meet(server, &to, sizeof to);
	close(server);
	TITLE("IPv6");
	server = listen_on(&here6, sizeof here6, 1);
	to6.sin6_port = htons(port_of(server));
	meet(server, &to6, sizeof to6);
	close(server);
	TITLE("IPv6 wildcard, both families");
	server = listen_on(&any6, sizeof any6, 0);
	to6.sin6_port = to.sin_port = mapped.sin6_port = htons(port_of(server));
	meet(server, &to6, sizeof to6);
	meet(server, &to, sizeof to);
	meet(server, &mapped, sizeof mapped);
	close(server);
	taken();
	reuse_port();
	return 0;
}
