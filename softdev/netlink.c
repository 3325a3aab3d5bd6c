/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The RDMA netlink family: enough of it to ask for the character device.
 * The program's socket is a real netlink socket of another family, and the
 * answer comes from a second socket, so that polling and peeking just work.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

struct reply {
	char buf[1024];
	size_t len;
};

static struct nlmsghdr *add_msg(struct reply *r, const struct nlmsghdr *to, uint16_t type,
				const void *body, size_t len)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(void *)(r->buf + r->len);

	memset(h, 0, sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_seq = to->nlmsg_seq;
	h->nlmsg_pid = to->nlmsg_pid;
	h->nlmsg_len = (uint32_t)NLMSG_LENGTH(len);
	if (len)
		memcpy(NLMSG_DATA(h), body, len);
	r->len += NLMSG_ALIGN(h->nlmsg_len);
	return h;
}

static void add_attr(struct reply *r, struct nlmsghdr *h, uint16_t type, const void *val, size_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type };

	memcpy(r->buf + r->len, &a, sizeof(a));
	memcpy(r->buf + r->len + NLA_HDRLEN, val, len);
	memset(r->buf + r->len + NLA_HDRLEN + len, 0, NLA_ALIGN(len) - len);
	r->len += NLA_HDRLEN + NLA_ALIGN(len);
	h->nlmsg_len = (uint32_t)((char *)r->buf + r->len - (char *)h);
}

static void add_status(struct reply *r, const struct nlmsghdr *req, int err)
{
	struct nlmsgerr e = { .error = -err, .msg = *req };

	add_msg(r, req, NLMSG_ERROR, &e, sizeof(e));
}

static bool asks_for_cm(const struct nlmsghdr *req)
{
	const char *p = (const char *)NLMSG_DATA(req);
	const char *end = (const char *)req + req->nlmsg_len;

	while (p + NLA_HDRLEN <= end) {
		struct nlattr a;

		memcpy(&a, p, sizeof(a));
		if (a.nla_len < NLA_HDRLEN || p + a.nla_len > end)
			break;
		if (a.nla_type == RDMA_NLDEV_ATTR_CHARDEV_TYPE && a.nla_len >= NLA_HDRLEN + 7)
			return !strncmp(p + NLA_HDRLEN, "rdma_cm", 7);
		p += NLA_ALIGN(a.nla_len);
	}
	return false;
}

static void answer(struct reply *r, const struct nlmsghdr *req)
{
	const uint16_t ask = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV);
	uint64_t abi = RDMA_USER_CM_ABI_VERSION, dev = makedev(10, 58);
	struct nlmsghdr *h;
	int err = fk_plan_path("chardev");

	if (req->nlmsg_type != ask)
		err = EOPNOTSUPP;
	else if (!err && !asks_for_cm(req))
		err = EINVAL;
	if (err) {
		add_status(r, req, err);
		return;
	}
	h = add_msg(r, req, ask, NULL, 0);
	add_attr(r, h, RDMA_NLDEV_ATTR_CHARDEV, &dev, sizeof(dev));
	add_attr(r, h, RDMA_NLDEV_ATTR_CHARDEV_ABI, &abi, sizeof(abi));
	add_attr(r, h, RDMA_NLDEV_ATTR_CHARDEV_NAME, "rdma_cm", 8);
	if (req->nlmsg_flags & NLM_F_ACK)
		add_status(r, req, 0);
}

static ssize_t request(int fd, const char *buf, size_t len)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK }, any = { .nl_family = AF_NETLINK };
	socklen_t size = sizeof(to);
	struct reply r = { .len = 0 };
	const struct nlmsghdr *req = (const struct nlmsghdr *)(const void *)buf;
	int from;
	ssize_t sent;

	if (len < sizeof(*req) || req->nlmsg_len > len || req->nlmsg_len < sizeof(*req)) {
		errno = EINVAL;
		return -1;
	}
	if (getsockname(fd, (struct sockaddr *)&to, &size))
		return -1;
	if (!to.nl_pid) {
		bind(fd, (struct sockaddr *)&any, sizeof(any));
		size = sizeof(to);
		getsockname(fd, (struct sockaddr *)&to, &size);
	}
	answer(&r, req);
	from = REAL(socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	if (from < 0)
		return -1;
	sent = REAL(sendto)(from, r.buf, r.len, 0, (struct sockaddr *)&to, sizeof(to));
	REAL(close)(from);
	return sent < 0 ? -1 : (ssize_t)len;
}

FK_EXPORT int socket(int domain, int type, int protocol)
{
	int fd, err;

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return REAL(socket)(domain, type, protocol);
	err = fk_start();
	if (!err)
		err = fk_plan_path("netlink");
	if (err) {
		errno = err;
		return -1;
	}
	fd = REAL(socket)(AF_NETLINK, type, NETLINK_USERSOCK);
	fk_fd_set(fd, FK_FD_NETLINK, 0);
	return fd;
}

FK_EXPORT ssize_t sendto(int fd, const void *buf, size_t len, int flags,
			 const struct sockaddr *to, socklen_t size)
{
	if (fk_fd_kind(fd, NULL) == FK_FD_NETLINK)
		return request(fd, buf, len);
	return REAL(sendto)(fd, buf, len, flags, to, size);
}

FK_EXPORT ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	if (fk_fd_kind(fd, NULL) == FK_FD_NETLINK)
		return request(fd, buf, len);
	return REAL(send)(fd, buf, len, flags);
}

FK_EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	char flat[2048];
	size_t len = 0;

	if (fk_fd_kind(fd, NULL) != FK_FD_NETLINK)
		return REAL(sendmsg)(fd, m, flags);
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		if (len + m->msg_iov[i].iov_len > sizeof(flat)) {
			errno = EMSGSIZE;
			return -1;
		}
		memcpy(flat + len, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		len += m->msg_iov[i].iov_len;
	}
	return request(fd, flat, len);
}

/* Answers must look as if they came from the kernel, whose port is 0. */
FK_EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t n = REAL(recvmsg)(fd, m, flags);

	if (n >= 0 && fk_fd_kind(fd, NULL) == FK_FD_NETLINK && m->msg_name &&
	    m->msg_namelen >= sizeof(struct sockaddr_nl))
		((struct sockaddr_nl *)m->msg_name)->nl_pid = 0;
	return n;
}

FK_EXPORT ssize_t recvfrom(int fd, void *buf, size_t len, int flags,
			   struct sockaddr *from, socklen_t *size)
{
	ssize_t n = REAL(recvfrom)(fd, buf, len, flags, from, size);

	if (n >= 0 && fk_fd_kind(fd, NULL) == FK_FD_NETLINK && from && size &&
	    *size >= sizeof(struct sockaddr_nl))
		((struct sockaddr_nl *)(void *)from)->nl_pid = 0;
	return n;
}
