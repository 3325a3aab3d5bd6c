/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The node itself, without any library: also what the library does not know yet. */
#include "rdmafake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#define FK_ST_RAW
#include "st.h"

static const char node[] = "/dev/infiniband/rdma_cm";

static ssize_t command(int fd, uint32_t cmd, const void *req, size_t len, size_t out)
{
	char buf[1024];
	struct rdma_ucm_cmd_hdr h = { cmd, (uint16_t)len, (uint16_t)out };

	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), req, len);
	return write(fd, buf, sizeof(h) + len);
}

static uint32_t create(int fd, uint64_t uid)
{
	struct rdma_ucm_create_id_resp resp = { UINT32_MAX };
	struct rdma_ucm_create_id c = { .uid = uid, .response = (uintptr_t)&resp, .ps = RDMA_PS_TCP };

	EQ(command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), sizeof(resp)), 8 + sizeof(c));
	return resp.id;
}

static struct rdma_ucm_event_resp next(int fd)
{
	struct rdma_ucm_event_resp ev;
	struct rdma_ucm_get_event get = { (uintptr_t)&ev };

	memset(&ev, 0, sizeof(ev));
	EQ(command(fd, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), sizeof(ev)), 8 + sizeof(get));
	return ev;
}

static void bind_v4(int fd, uint32_t id)
{
	struct rdma_ucm_bind b = { .id = id, .addr_size = sizeof(struct sockaddr_in) };
	struct sockaddr_in *in = (struct sockaddr_in *)&b.addr;

	in->sin_family = AF_INET;
	inet_pton(AF_INET, "10.77.0.1", &in->sin_addr);
	EQ(command(fd, RDMA_USER_CM_CMD_BIND, &b, sizeof(b), 0), 8 + sizeof(b));
}

static void new_commands(void)
{
	struct { uint32_t id, res, event, status; uint64_t arg; char room[320]; }
		put = { 0, 0, 18, 5, 0x1122334455667788, "" };
	struct { uint32_t id, res; uint64_t sid; char name[64]; uint32_t flags, r2; }
		ask = { 0, 0, 0, "printer", 2, 0 };
	struct { uint32_t num, res; uint8_t rec[176]; } got;
	struct rdma_ucm_query query = { (uintptr_t)&got, 0, 3 };
	int fd = open(node, O_RDWR | O_CLOEXEC);
	struct rdma_ucm_event_resp ev;
	uint64_t arg;

	create(fd, 1);
	bind_v4(fd, 0);
	EQ(command(fd, 24, &put, sizeof(put), 0), 8 + sizeof(put));
	ev = next(fd);
	EQ(ev.event, 18);
	EQ(ev.status, 5);
	memcpy(&arg, &ev.param, 8);
	CHECK(arg == put.arg);
	put.event = 9;
	FAILS(command(fd, 24, &put, sizeof(put), 0), EINVAL);
	EQ(command(fd, 23, &ask, sizeof(ask), 0), 8 + sizeof(ask));
	EQ(next(fd).event, 16);
	EQ(command(fd, RDMA_USER_CM_CMD_QUERY, &query, sizeof(query), sizeof(got)), 8 + sizeof(query));
	EQ(got.num, 1);
	CHECK(!strcmp((char *)got.rec + 48, "printer"));
	EQ(got.rec[7], 0x42);
	strcpy(ask.name, "scanner");
	EQ(command(fd, 23, &ask, sizeof(ask), 0), -1);
	script("kernel max_cmd=22");
	FAILS(command(fd, 23, &ask, sizeof(ask), 0), EINVAL);
	close(fd);
}

static void refusals(void)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id d = { .response = (uintptr_t)&resp, .id = 5 };
	struct rdma_ucm_get_event get = { 0 };
	struct rdma_ucm_create_id c = { .ps = 0x99 };
	int fd = open(node, O_RDWR), other = open(node, O_RDWR | O_NONBLOCK);
	struct rdma_ucm_connect con = { .id = 0 };
	struct stat st;
	char b[8];

	EQ(fstat(fd, &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	EQ(major(st.st_rdev), 10);
	EQ(stat(node, &st), 0);
	EQ(access(node, R_OK | W_OK), 0);
	FAILS(read(fd, b, sizeof(b)), EINVAL);
	FAILS(write(fd, b, 4), EINVAL);
	FAILS(command(fd, 99, b, 8, 0), EINVAL);
	FAILS(command(fd, RDMA_USER_CM_CMD_GET_OPTION, b, 8, 0), ENOSYS);
	FAILS(command(fd, RDMA_USER_CM_CMD_DESTROY_ID, &d, sizeof(d), sizeof(resp)), ENOENT);
	FAILS(command(fd, RDMA_USER_CM_CMD_DESTROY_ID, &d, sizeof(d), 0), ENOSPC);
	FAILS(command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), 4), EINVAL);
	c.ps = RDMA_PS_TCP;
	FAILS(command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), 4), EFAULT);
	FAILS(command(other, RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), 512), EAGAIN);
	d.id = create(fd, 1);
	EQ(d.id, 0);
	FAILS(command(other, RDMA_USER_CM_CMD_DESTROY_ID, &d, sizeof(d), sizeof(resp)), EINVAL);
	/* No device yet. */
	con.conn_param.valid = 1;
	FAILS(command(fd, RDMA_USER_CM_CMD_CONNECT, &con, sizeof(con), 0), EINVAL);
	bind_v4(fd, 0);
	FAILS(command(fd, RDMA_USER_CM_CMD_CONNECT, &con, sizeof(con), 0), EINVAL);
	EQ(command(fd, RDMA_USER_CM_CMD_DESTROY_ID, &d, sizeof(d), sizeof(resp)), 8 + sizeof(d));
	EQ(resp.events_reported, 0);
	close(fd);
	close(other);
	EQ(live_now().channels, 0);
	/* An id whose owner gave no uid hears nothing. */
	fd = open(node, O_RDWR);
	create(fd, 0);
	bind_v4(fd, 0);
	struct rdma_ucm_resolve_addr r = { .dst_size = sizeof(struct sockaddr_in) };
	struct sockaddr_in *in = (struct sockaddr_in *)&r.dst_addr;

	in->sin_family = AF_INET;
	inet_pton(AF_INET, "10.77.0.1", &in->sin_addr);
	EQ(command(fd, RDMA_USER_CM_CMD_RESOLVE_ADDR, &r, sizeof(r), 0), 8 + sizeof(r));
	EQ(RDMAFAKE(rdmafake_queued)(fd), 0);
	close(fd);
}

/* The raw question that a library without libnl asks. */
static void raw_netlink(void)
{
	struct { struct nlmsghdr h; struct nlattr a; char type[8]; } ask = {
		.h = { .nlmsg_len = sizeof(ask), .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 77,
		       .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV) },
		.a = { 4 + 8, RDMA_NLDEV_ATTR_CHARDEV_TYPE }, .type = "rdma_cm",
	};
	struct sockaddr_nl to = { .nl_family = AF_NETLINK }, from;
	socklen_t size = sizeof(from);
	char buf[512] __attribute__((aligned(8)));
	const struct nlmsghdr *h = (const struct nlmsghdr *)buf;
	ssize_t n;
	int s;

	errno = 0;
	s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	CHECK(s >= 0);
	/* Nothing that worked may touch errno. */
	EQ(errno, 0);
	EQ(sendto(s, &ask, sizeof(ask), 0, (struct sockaddr *)&to, sizeof(to)), sizeof(ask));
	n = recvfrom(s, buf, sizeof(buf), 0, (struct sockaddr *)&from, &size);
	CHECK(n > (ssize_t)sizeof(*h));
	EQ(from.nl_pid, 0);
	EQ(h->nlmsg_seq, 77);
	EQ(h->nlmsg_type, ask.h.nlmsg_type);
	strcpy(ask.type, "tea_cup");
	EQ(send(s, &ask, sizeof(ask), 0), sizeof(ask));
	n = recv(s, buf, sizeof(buf), 0);
	CHECK(n > (ssize_t)sizeof(*h));
	EQ(h->nlmsg_type, NLMSG_ERROR);
	close(s);
}

/* Other files and another ibacm than the machine's. */
static void mapped_paths(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), fd;
	struct stat st;
	FILE *f;

	CHECK((fd = open("/nowhere/else/selftest", O_RDONLY)) >= 0);
	close(fd);
	EQ(stat("/nowhere/else/selftest", &st), 0);
	EQ(access("/nowhere/else/selftest", X_OK), 0);
	FAILS(open("/nowhere/elsewhere/selftest", O_RDONLY), ENOENT);
	CHECK((f = fopen("/nowhere/else/selftest", "r")) != NULL);
	fclose(f);
	snprintf(un.sun_path, sizeof(un.sun_path), "selftest-%d.sock", (int)getpid());
	EQ(bind(l, (struct sockaddr *)&un, sizeof(un)), 0);
	EQ(listen(l, 1), 0);
	EQ(connect(c, (struct sockaddr *)&un, sizeof(un)), 0);
	unlink(un.sun_path);
	close(c);
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(un.sun_path, sizeof(un.sun_path), "/nowhere/else/none.sock");
	FAILS(connect(c, (struct sockaddr *)&un, sizeof(un)), ENOENT);
	close(c);
	close(l);
}

const struct test raw_tests[] = {
	{ "mapped-paths", "", mapped_paths },
	{ "refusals", "", refusals },
	{ "raw-netlink", "peer 10.77.0.9", raw_netlink },
	{ "new-commands", "device type=ib ip=10.77.0.1; service name=printer id=0x42", new_commands },
	{ NULL, NULL, NULL },
};
