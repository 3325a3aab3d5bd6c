/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every feature of the script language. */
#include "st.h"

#include <pthread.h>

/* The kernel's header does not go together with the library's. */
enum { CMD_CREATE_ID = 0, CMD_BIND = 20 };

static void fails(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *a, *b;

	EQ(rdma_create_id(ch, &a, NULL, RDMA_PS_TCP), 0);
	script("fail CREATE_ID nth=2 count=2 errno=EMFILE");
	EQ(rdma_create_id(ch, &b, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_destroy_id(b), 0);
	FAILS(rdma_create_id(ch, &b, NULL, RDMA_PS_TCP), EMFILE);
	FAILS(rdma_create_id(ch, &b, NULL, RDMA_PS_TCP), EMFILE);
	EQ(rdma_create_id(ch, &b, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_destroy_id(b), 0);
	script("fail any errno=EACCES always");
	FAILS(rdma_bind_addr(a, addr("10.77.0.1", 0)), EACCES);
	FAILS(rdma_listen(a, 0), EACCES);
	RDMAFAKE(rdmafake_reset)();
	/* Done, but reported as failed. */
	script("fail BIND errno=EIO after");
	FAILS(rdma_bind_addr(a, addr("10.77.0.1", 0)), EIO);
	FAILS(rdma_bind_addr(a, addr("10.77.0.1", 0)), EINVAL);
	EQ(RDMAFAKE(rdmafake_commands)(CMD_BIND), 3 + 1);
	EQ(rdma_destroy_id(a), 0);
	rdma_destroy_event_channel(ch);
}

static void answers(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;

	script("answer CREATE_ID size=0 skip; answer CREATE_ID nth=2 size=-1; answer CREATE_ID nth=3 size=+1");
	for (int i = 0; i < 3; i++)
		CHECK(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) == -1);
	EQ(live_now().ids, 2);
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
	EQ(live_now().ids, 0);
}

static void *destroyer(void *id)
{
	EQ(rdma_destroy_id(id), 0);
	return NULL;
}

static void holds(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	pthread_t t;

	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	script("hold DESTROY_ID label=before; hold DESTROY_ID after label=behind");
	EQ(RDMAFAKE(rdmafake_wait_held)(NULL, 10), -ETIMEDOUT);
	EQ(pthread_create(&t, NULL, destroyer, id), 0);
	EQ(RDMAFAKE(rdmafake_wait_held)("before", 5000), 0);
	EQ(live_now().ids, 1);
	script("release before");
	EQ(RDMAFAKE(rdmafake_wait_held)("behind", 5000), 0);
	EQ(live_now().ids, 0);
	EQ(RDMAFAKE(rdmafake_release)("other"), 0);
	EQ(RDMAFAKE(rdmafake_release)("behind"), 1);
	EQ(pthread_join(t, NULL), 0);
	rdma_destroy_event_channel(ch);
}

static void patches(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	struct rdma_cm_event *ev;

	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	/* Another port and another source port in the answer that follows. */
	script("patch QUERY off=8 hex=02 always; patch QUERY off=18 hex=1234");
	EQ(rdma_resolve_addr(id, NULL, addr("10.77.0.1", 1), 100), 0);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	EQ(id->port_num, 2);
	EQ(rdma_get_src_port(id), htobe16(0x1234));
	rdma_ack_cm_event(ev);
	script("patch GET_EVENT off=12 hex=0e000000fbffffff");
	EQ(rdma_resolve_route(id, 100), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_CHANGE, -5);
	EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(ch);
}

static void injects(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdmafake_event e = { .fd = -1, .event = RDMA_CM_EVENT_ADDR_CHANGE, .status = 7 };
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	uint32_t handle;
	uint64_t uid;

	script("inject CREATE_ID event=TIMEWAIT_EXIT status=-ETIMEDOUT pdata=10");
	EQ(rdma_create_id(ch, &id, &e, RDMA_PS_TCP), 0);
	EQ(RDMAFAKE(rdmafake_queued)(ch->fd), 1);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	EQ(ev->status, -ETIMEDOUT);
	CHECK(ev->id == id);
	EQ(ev->param.conn.private_data_len, 10);
	CHECK(((const char *)ev->param.conn.private_data)[9] == 'x');
	rdma_ack_cm_event(ev);
	EQ(RDMAFAKE(rdmafake_handles)(ch->fd, &handle, 1), 1);
	EQ(RDMAFAKE(rdmafake_uid)(handle, &uid), 0);
	CHECK(uid != 0);
	e.handle = handle;
	EQ(RDMAFAKE(rdmafake_inject)(&e), 0);
	CHECK(expect(ch, RDMA_CM_EVENT_ADDR_CHANGE, 7) == id);
	/* Old kernels report no uid here: the handle has to do. */
	e.event = RDMA_CM_EVENT_ESTABLISHED;
	e.status = 0;
	e.uid_set = 1;
	EQ(RDMAFAKE(rdmafake_inject)(&e), 0);
	CHECK(expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0) == id);
	e.handle = 77777;
	EQ(RDMAFAKE(rdmafake_inject)(&e), -ENOENT);
	EQ(rdma_destroy_id(id), 0);
	/* A request out of nowhere. */
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_listen(id, 1), 0);
	EQ(RDMAFAKE(rdmafake_handles)(ch->fd, &e.handle, 1), 1);
	e.event = RDMA_CM_EVENT_CONNECT_REQUEST;
	e.uid_set = 0;
	EQ(RDMAFAKE(rdmafake_inject)(&e), 0);
	EQ(rdma_destroy_id(expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 0)), 0);
	EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(ch);
}

static void lost_and_late(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	struct pair p;

	script("delay ADDR_RESOLVED ms=200 count=2; drop ROUTE_RESOLVED");
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_resolve_addr(id, NULL, addr("10.77.0.1", 1), 100), 0);
	EQ(RDMAFAKE(rdmafake_queued)(ch->fd), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	EQ(rdma_resolve_route(id, 100), 0);
	EQ(RDMAFAKE(rdmafake_queued)(ch->fd), 0);
	EQ(rdma_destroy_id(id), 0);
	/* Late, and by then the id is gone. */
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_resolve_addr(id, NULL, addr("10.77.0.1", 1), 100), 0);
	EQ(rdma_destroy_id(id), 0);
	usleep(400000);
	EQ(RDMAFAKE(rdmafake_queued)(ch->fd), 0);
	rdma_destroy_event_channel(ch);
	EQ(live_now().events, 0);
	script("kernel timewait=20");
	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_disconnect(p.cli), 0);
	expect(p.sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQ(rdma_disconnect(p.srv), 0);
	expect(p.cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect(p.cch, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	expect(p.sch, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	pair_close(&p);
	/* The other side says nothing at all. */
	script("kernel dreq_timeout=20");
	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_disconnect(p.cli), 0);
	expect(p.cch, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
	expect(p.sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	pair_close(&p);
}

static void handles(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id[3];
	uint32_t h[3];

	EQ(rdma_create_id(ch, &id[0], NULL, RDMA_PS_TCP), 0);
	EQ(RDMAFAKE(rdmafake_handles)(-1, h, 3), 1);
	EQ(h[0], 70000);
	EQ(rdma_destroy_id(id[0]), 0);
	EQ(rdma_create_id(ch, &id[0], NULL, RDMA_PS_TCP), 0);
	EQ(RDMAFAKE(rdmafake_handles)(-1, h, 3), 1);
	EQ(h[0], 70000);
	script("handles reuse=never");
	EQ(rdma_destroy_id(id[0]), 0);
	EQ(rdma_create_id(ch, &id[0], NULL, RDMA_PS_TCP), 0);
	EQ(RDMAFAKE(rdmafake_handles)(-1, h, 3), 1);
	EQ(h[0], 70001);
	EQ(rdma_destroy_id(id[0]), 0);
	rdma_destroy_event_channel(ch);
}

static void verbs(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	const struct ibv_qp_init_attr fresh = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 },
						.qp_type = IBV_QPT_RC };
	struct ibv_qp_init_attr a = fresh;
	struct ibv_context **list;
	struct rdma_cm_id *id;
	int n = 0;

	/* The first device cannot be opened, once. */
	list = rdma_get_devices(&n);
	CHECK(list != NULL);
	EQ(n, 1);
	rdma_free_devices(list);
	EQ(RDMAFAKE(rdmafake_verbs)("open_device") >= 2, 1);
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_resolve_addr(id, NULL, addr("10.78.0.1", 1), 100), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	script("verbs create_qp errno=ENOSPC; verbs create_cq nth=2 errno=EMFILE");
	FAILS(rdma_create_qp(id, NULL, &a), EMFILE);
	/* The library leaves pointers of destroyed objects in the attributes. */
	a = fresh;
	FAILS(rdma_create_qp(id, NULL, &a), ENOSPC);
	a = fresh;
	EQ(rdma_create_qp(id, NULL, &a), 0);
	rdma_destroy_ep(id);
	rdma_destroy_event_channel(ch);
}

static void node(void)
{
	CHECK(rdma_create_event_channel() == NULL);
	rdma_destroy_event_channel(rdma_create_event_channel());
}

/* Without netlink the library asks sysfs, without either there is no device. */
static void ways(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	CHECK(ch != NULL);
	rdma_destroy_event_channel(ch);
}

static void no_devices(void)
{
	CHECK(rdma_create_event_channel() == NULL);
	EQ(errno, ENODEV);
}

static void removal(void)
{
	struct pair p;

	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(RDMAFAKE(rdmafake_device_remove)("fake0"), 0);
	CHECK(expect(p.cch, RDMA_CM_EVENT_DEVICE_REMOVAL, 0) == p.cli);
	expect(p.sch, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	expect(p.sch, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	FAILS(rdma_reject(p.srv, NULL, 0), EIO);
	pair_close(&p);
	EQ(RDMAFAKE(rdmafake_device_remove)("fake0"), -ENODEV);
	script("return fake0");
}

static void log_file(void)
{
	struct rdma_event_channel *ch;
	struct rdmafake_record rec;
	struct rdma_cm_id *id;
	char text[4096] = "", path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "selftest-%d.log", (int)getpid());
	snprintf(line, sizeof(line), "log %s", path);
	script(line);
	ch = rdma_create_event_channel();
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	FAILS(rdma_reject(id, NULL, 0), EINVAL);
	EQ(rdma_destroy_id(id), 0);
	CHECK((f = fopen(path, "r")) != NULL);
	CHECK(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	CHECK(strstr(text, "CREATE_ID(0) in=24 out=4 = 32 req=") && strstr(text, "REJECT(9)") &&
	      strstr(text, "= -1 EINVAL"));
	snprintf(line, sizeof(line), "%s.bin", path);
	CHECK((f = fopen(line, "r")) != NULL);
	CHECK(fread(&rec, sizeof(rec), 1, f) == 1);
	fclose(f);
	EQ(rec.magic, RDMAFAKE_RECORD);
	EQ(rec.cmd, CMD_CREATE_ID);
	EQ(rec.in_bytes, 24);
	EQ(rec.out_bytes, 4);
	unlink(path);
	unlink(line);
	rdma_destroy_event_channel(ch);
}

const struct test script_tests[] = {
	{ "fails", "", fails },
	{ "answers", "", answers },
	{ "holds", "", holds },
	{ "patches", "device ports=2 ip=10.77.0.1", patches },
	{ "injects", "", injects },
	{ "lost-and-late", "", lost_and_late },
	{ "handles", "handles base=70000", handles },
	{ "verbs", "device ip=10.77.0.1/24; device ip=10.78.0.1/24; verbs open_device dev=fake0 errno=EACCES", verbs },
	{ "node", "fail node nth=2 errno=EMFILE", node },
	{ "no-netlink", "fail netlink errno=EPROTONOSUPPORT always", ways },
	{ "no-chardev", "fail chardev errno=EOPNOTSUPP always", ways },
	{ "no-netlink-no-sysfs", "fail netlink errno=EPROTONOSUPPORT always; fail sysfs errno=ENOENT always", ways },
	{ "no-devices", "nodevices", no_devices },
	{ "removal", "", removal },
	{ "log", "", log_file },
	{ NULL, NULL, NULL },
};
