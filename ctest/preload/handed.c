// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections that other processes get: as messages (SCM_RIGHTS), as standard input, as a number that is known, from
 * one to the next. The receiver finds a TCP socket: its family, its addresses, its options, its bytes.
 * rdma: 32
 * limit: 60
 */
#include "others.h"

/* What the receiver finds. The peer's port and its own are known to it. */
static void look(int fd, int family, int own_port, int peer_port)
{
	struct sockaddr_storage name;
	int value = -1, on = 1;
	socklen_t length = sizeof name;
	struct stat found;

	memset(&name, 0, sizeof name);
	SAY(getsockname(fd, (struct sockaddr *)&name, &length));
	say("family %d, length %d, port %d", name.ss_family == family, length, port_of(fd) == own_port);
	memset(&name, 0, sizeof name);
	length = sizeof name;
	SAY(getpeername(fd, (struct sockaddr *)&name, &length));
	say("family %d, length %d, port %d", name.ss_family == family, length,
	    ntohs(((struct sockaddr_in *)&name)->sin_port) == peer_port);
	if (family == AF_INET)
		say("%s", inet_ntoa(((struct sockaddr_in *)&name)->sin_addr));
	else
		say("mapped %d", IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)&name)->sin6_addr));
	for (socklen_t room = 0; room < 12; room += 4) {
		memset(&name, 'x', sizeof name);
		length = room;
		SAY(getpeername(fd, (struct sockaddr *)&name, &length));
		say("room %d: length %d, nothing behind %d", room, length, ((char *)&name)[room] == 'x');
	}
	SAY(getpeername(fd, NULL, &length));
	SAY(getpeername(fd, (struct sockaddr *)&name, NULL));
	for (int i = 0; i < 4; i++) {
		static const int names[] = { SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN };

		length = sizeof value;
		SAY(getsockopt(fd, SOL_SOCKET, names[i], &value, &length));
		say("%d, length %d", value, length);
	}
	length = 2;
	SAY(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &length));
	say("length %d", length);
	say("error %d", error_of(fd));
	SAY(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
	SAY(setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &on, sizeof on));
	SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
	if (family == AF_INET)
		SAY(setsockopt(fd, IPPROTO_IP, IP_TOS, &on, sizeof on));
	length = sizeof value;
	SAY(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &length));
	say("length %d", length);
	SAY(fstat(fd, &found));
	say("socket %d", S_ISSOCK(found.st_mode));
}

static void serve(int fd, int family, int own_port, int peer_port)
{
	look(fd, family, own_port, peer_port);
	say("%ld bytes", echo(fd));
}

static int take_fd(int from)
{
	char room[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &(char){ 0 }, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
	int fd;

	MUST(recvmsg(from, &message, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return fd;
}

static void give_fd(int to, int fd)
{
	char room[CMSG_SPACE(sizeof fd)] = "";
	struct iovec part = { "f", 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	MUST(sendmsg(to, &message, 0));
}

static int way[2], second[2];

static void execute(int fd, int family, int own_port, int peer_port)
{
	char words[4][12];
	int numbers[] = { fd, family, own_port, peer_port };

	for (int i = 0; i < 4; i++)
		snprintf(words[i], sizeof words[i], "%d", numbers[i]);
	fcntl(fd, F_SETFD, 0);
	execl(self, self, "look", words[0], words[1], words[2], words[3], NULL);
	_exit(9);
}

/* Each way to a receiver; the receiver ends with its process. */
static void receive(char how, int fd, int family, int own_port, int peer_port)
{
	pid_t pid;

	alarm(20);
	if (how == 'm' || how == 'x' || how == 'n') {
		close(fd);
		fd = take_fd(way[1]);
	}
	switch (how) {
	case 'x': /* a message, then another program */
		execute(fd, family, own_port, peer_port);
		break;
	case 'n': /* a message to the next one */
		fflush(stdout);
		pid = MUST(fork());
		if (pid == 0) {
			close(fd);
			serve(take_fd(second[1]), family, own_port, peer_port);
			_exit(0);
		}
		give_fd(second[0], fd);
		close(fd);
		_exit(exit_of(pid));
	case 'i': /* standard input */
		dup2(fd, 0);
		close(fd);
		execute(0, family, own_port, peer_port);
		break;
	case 's': /* the first number behind standard error, as of systemd */
		dup2(fd, 50);
		dup2(50, 3);
		close(50);
		if (fd != 3)
			close(fd);
		execute(3, family, own_port, peer_port);
		break;
	}
	serve(fd, family, own_port, peer_port);
	_exit(0);
}

static void hand(const char *title, char how, int family, int accepted)
{
	struct sockaddr_in6 sin = ipv6(HERE6, 0);
	int server, fds[2], given, kept, ports[2];
	pid_t pid;

	say("-- %s, IPv%c, the %s end", title, family == AF_INET ? '4' : '6', accepted ? "accepted" : "connected");
	if (family == AF_INET6) {
		struct dialer dialer = { .host = HERE };

		sin.sin6_addr = in6addr_any;
		server = MUST(socket(AF_INET6, SOCK_STREAM, 0));
		MUST(bind(server, (struct sockaddr *)&sin, sizeof sin));
		MUST(listen(server, 4));
		readable(server, 0);
		dial(&dialer, port_of(server));
		fds[0] = MUST(accept(server, NULL, NULL));
		fds[1] = dialed(&dialer);
	} else {
		server = listener(4);
		pair_of(server, fds);
	}
	close(server);
	given = fds[!accepted], kept = fds[accepted];
	ports[0] = port_of(given), ports[1] = port_of(kept);
	MUST(send(kept, "early ", 6, 0));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, way));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, second));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		close(kept);
		receive(how, given, accepted ? family : AF_INET, ports[0], ports[1]);
	}
	if (how == 'm' || how == 'x' || how == 'n')
		give_fd(way[0], given);
	close(given);
	MUST(send(kept, "late", 4, 0));
	MUST(shutdown(kept, SHUT_WR));
	until_end(kept);
	close(kept), close(way[0]), close(way[1]), close(second[0]), close(second[1]);
	say("exit %d", exit_of(pid));
}

/* A Unix socket is one, whatever its peer is called. */
static void ordinary(void)
{
	struct sockaddr_un {
		sa_family_t family;
		char path[108];
	} name = { AF_UNIX, "\0rspreload/1 and more" }, got;
	int server = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), client = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), accepted, value;
	socklen_t length;

	TITLE("Unix sockets");
	name.path[20] = (char)getpid();
	MUST(bind(server, (struct sockaddr *)&name, 30));
	MUST(listen(server, 2));
	MUST(connect(client, (struct sockaddr *)&name, 30));
	accepted = MUST(accept(server, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? server : i == 1 ? client : accepted;

		length = sizeof got;
		SAY(getsockname(fd, (struct sockaddr *)&got, &length));
		say("%d, length %d", got.family, length);
		length = sizeof got;
		SAY(getpeername(fd, (struct sockaddr *)&got, &length));
		length = 4;
		SAY(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &length));
		say("%d, length %d", value, length);
		SAY(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &length));
		say("%d, length %d", value, length);
		SAY(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &length));
		SAY(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value));
	}
	close(server), close(client), close(accepted);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *title;
		char how;
	} ways[] = {
		{ "inherited", 'f' }, { "by a message", 'm' }, { "by a message, to another program", 'x' },
		{ "by two messages", 'n' }, { "as standard input", 'i' }, { "as the first number", 's' },
	};

	self = argv[0];
	if (argc > 5) {
		serve(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
		return 0;
	}
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		for (int kind = 0; kind < 4; kind++)
			hand(ways[i].title, ways[i].how, kind & 1 ? AF_INET6 : AF_INET, kind < 2);
	ordinary();
	return 0;
}
