// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Ancillary data of datagrams, as recvmsg and recvmmsg store it: where a datagram was sent to, its hop limit and traffic
 * class, when it came. The first datagrams go by UDP, later ones over the device.
 */
#include "common.h"

#include <arpa/inet.h>

enum { ROUNDS = 4 };

static void say_message(struct msghdr *message)
{
	struct timespec now, *when;
	struct in6_pktinfo *info6;
	struct in_pktinfo *info;
	char text[64];

	clock_gettime(CLOCK_REALTIME, &now);
	for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
		void *data = CMSG_DATA(one);

		if (one->cmsg_level == SOL_SOCKET) {
			when = data;
			say("  time %d of %ld bytes: %s", one->cmsg_type, (long)(one->cmsg_len - CMSG_LEN(0)),
			    now.tv_sec - when->tv_sec >= 0 && now.tv_sec - when->tv_sec < 20 ? "lately" : "wrong");
		} else if (one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_PKTINFO) {
			info = data;
			say("  to %s, an interface %d", inet_ntoa(info->ipi_addr), info->ipi_ifindex > 0);
		} else if (one->cmsg_level == IPPROTO_IPV6 && one->cmsg_type == IPV6_PKTINFO) {
			info6 = data;
			say("  to %s, an interface %d", inet_ntop(AF_INET6, &info6->ipi6_addr, text, sizeof text),
			    info6->ipi6_ifindex > 0);
		} else {
			say("  level %d type %d of %ld bytes: %d", one->cmsg_level, one->cmsg_type,
			    (long)(one->cmsg_len - CMSG_LEN(0)),
			    one->cmsg_len == CMSG_LEN(1) ? *(unsigned char *)data : *(int *)data);
		}
	}
	say("  flags %s%s", message->msg_flags & MSG_CTRUNC ? "CTRUNC " : "", message->msg_flags & MSG_TRUNC ? "TRUNC" : "");
}

/* With room for so much control data. */
static void receive(int fd, size_t room)
{
	union {
		char bytes[400];
		struct cmsghdr align;
	} control;
	char data[20];
	struct iovec piece = { data, sizeof data };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room ? control.bytes : NULL,
				  .msg_controllen = room };

	say("%ld bytes", (long)MUST(recvmsg(fd, &message, 0)));
	say_message(&message);
	say("  control %s", message.msg_controllen ? "yes" : "no");
}

static void receive_two(int fd)
{
	static char control[2][200] __attribute__((aligned(8))), data[2][20];
	struct mmsghdr messages[2];
	struct iovec pieces[2];

	for (int i = 0; i < 2; i++) {
		pieces[i] = (struct iovec){ data[i], sizeof data[i] };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &pieces[i], .msg_iovlen = 1, .msg_control = control[i],
						       .msg_controllen = sizeof control[i] };
	}
	say("%ld messages", (long)MUST(recvmmsg(fd, messages, 2, MSG_WAITFORONE, NULL)));
	say_message(&messages[0].msg_hdr);
}

struct option {
	int level, name;
};

static void with(const char *title, int family, const struct option *options, int count)
{
	int fd = MUST(socket(family, SOCK_DGRAM, 0)), client = MUST(socket(family, SOCK_DGRAM, 0));
	struct sockaddr_storage name = { .ss_family = family };
	socklen_t length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	struct sockaddr *address = (struct sockaddr *)&name;

	TITLE(title);
	if (family == AF_INET)
		((struct sockaddr_in *)address)->sin_addr.s_addr = inet_addr(HERE);
	else
		inet_pton(AF_INET6, HERE6, &((struct sockaddr_in6 *)address)->sin6_addr);
	MUST(bind(client, address, length));
	MUST(bind(fd, address, length));
	for (int i = 0; i < count; i++)
		SAY(setsockopt(fd, options[i].level, options[i].name, &(int){ 1 }, sizeof(int)));
	MUST(getsockname(fd, address, &length));
	for (int i = 0; i < ROUNDS; i++) {
		MUST(sendto(client, "hello", 5, 0, address, length));
		receive(fd, 300);
		nap(30);
	}
	MUST(sendto(client, "hello", 5, 0, address, length));
	receive_two(fd);
	MUST(sendto(client, "hello", 5, 0, address, length));
	receive(fd, 0);
	for (int i = 0; i < count; i++)
		MUST(setsockopt(fd, options[i].level, options[i].name, &(int){ 0 }, sizeof(int)));
	MUST(sendto(client, "hello", 5, 0, address, length));
	receive(fd, 300);
	close(fd), close(client);
}

int main(void)
{
	static const struct option info[] = { { IPPROTO_IP, IP_PKTINFO } }, hops[] = { { IPPROTO_IP, IP_RECVTTL } },
				   class[] = { { IPPROTO_IP, IP_RECVTOS } }, time[] = { { SOL_SOCKET, SO_TIMESTAMP } },
				   fine[] = { { SOL_SOCKET, SO_TIMESTAMPNS } },
				   all[] = { { SOL_SOCKET, SO_TIMESTAMP }, { IPPROTO_IP, IP_PKTINFO },
					     { IPPROTO_IP, IP_RECVTTL }, { IPPROTO_IP, IP_RECVTOS } },
				   six[] = { { IPPROTO_IPV6, IPV6_RECVPKTINFO }, { IPPROTO_IPV6, IPV6_RECVHOPLIMIT },
					     { IPPROTO_IPV6, IPV6_RECVTCLASS } };

	with("where to", AF_INET, info, 1);
	with("hop limit", AF_INET, hops, 1);
	with("class", AF_INET, class, 1);
	with("time", AF_INET, time, 1);
	with("nanoseconds", AF_INET, fine, 1);
	with("all", AF_INET, all, 4);
	with("IPv6", AF_INET6, six, 3);
	return 0;
}
