// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What trace.h promises. */
#include "trace.h"

#include <stddef.h>

/* Set for the library that must not touch errno when it succeeds. */
static bool strict;
static int faults;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	const void *pointer;
	char name[24];
} names[256];
static int nnames, nchildren;

__attribute__((constructor)) static void start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	strict = getenv("CTEST_STRICT") != NULL;
}

static void fault(const char *text, const char *what)
{
	faults++;
	fprintf(stderr, "%s: %s\n", text, what);
}

const char *error_text(int error)
{
	return error == UNTOUCHED ? "(errno unset)" : error ? errno_name(error) : "errno 0";
}

static void check_success(const char *text, int error)
{
	if (strict && error != UNTOUCHED)
		fault(text, "succeeded but changed errno");
}

long trace_int(const char *text, long value)
{
	int error = errno;

	if (value == -1)
		printf("%s: -1 %s\n", text, error_text(error));
	else
		printf("%s: %ld\n", text, value);
	if (value >= 0)
		check_success(text, error);
	return value;
}

const void *trace_pointer(const char *text, const void *value)
{
	int error = errno;

	if (value)
		printf("%s: ok\n", text);
	else
		printf("%s: NULL %s\n", text, error_text(error));
	if (value)
		check_success(text, error);
	return value;
}

void trace_void(const char *text)
{
	printf("%s\n", text);
}

long trace_must(const char *text, int line, long value)
{
	if (value == -1 || value == 0) {
		/* Pointers are tested for NULL, calls for -1. */
		if (value == -1) {
			printf("line %d: %s failed: %s\n", line, text, error_text(errno));
			exit(3);
		}
	}
	return value;
}

void name(const void *pointer, const char *text)
{
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nnames && names[i].pointer != pointer; i++)
		;
	if (i == nnames && nnames < 255)
		nnames++;
	names[i].pointer = pointer;
	snprintf(names[i].name, sizeof(names[i].name), "%s", text);
	pthread_mutex_unlock(&lock);
}

const char *name_of(const void *pointer)
{
	const char *found = "unknown";

	if (!pointer)
		return "none";
	pthread_mutex_lock(&lock);
	for (int i = 0; i < nnames; i++)
		if (names[i].pointer == pointer)
			found = names[i].name;
	pthread_mutex_unlock(&lock);
	return found;
}

struct sockaddr *addr(const char *text)
{
	static __thread struct sockaddr_storage ring[16];
	static __thread unsigned at;
	struct sockaddr_storage *to = &ring[at++ % 16];
	struct sockaddr_in *v4 = (void *)to;
	struct sockaddr_in6 *v6 = (void *)to;
	char host[64] = "";
	unsigned port = 0;

	memset(to, 0, sizeof(*to));
	if (text[0] == '[') {
		sscanf(text, "[%63[^]]]:%u", host, &port);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
			abort();
	} else {
		sscanf(text, "%63[^:]:%u", host, &port);
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
			abort();
	}
	return (struct sockaddr *)to;
}

/* Ports that the kernel chose depend on what was bound before. */
static const char *port_text(uint16_t port)
{
	static __thread char text[8];

	if (ntohs(port) >= 32768)
		return "chosen";
	snprintf(text, sizeof(text), "%u", ntohs(port));
	return text;
}

void show_addr(const char *label, const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	char host[64] = "";

	if (!address) {
		printf("%s none\n", label);
	} else if (address->sa_family == AF_INET) {
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
		printf("%s %s:%s\n", label, host, port_text(v4->sin_port));
	} else if (address->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
		printf("%s [%s]:%s scope %u\n", label, host, port_text(v6->sin6_port), v6->sin6_scope_id);
	} else if (address->sa_family == AF_IB) {
		const struct sockaddr_ib *ib = (const void *)address;

		uint64_t sid = be64toh(ib->sib_sid);

		inet_ntop(AF_INET6, &ib->sib_addr, host, sizeof(host));
		printf("%s ib %s pkey %x sid %llx:%s\n", label, host, ntohs(ib->sib_pkey),
		       (unsigned long long)sid >> 16, port_text(htons((uint16_t)sid)));
	} else {
		printf("%s family %d\n", label, address->sa_family);
	}
}

static void show_gid(const char *label, const union ibv_gid *gid)
{
	char text[64] = "";

	inet_ntop(AF_INET6, gid->raw, text, sizeof(text));
	printf("  %s %s\n", label, text);
}

/* Elsewhere there are no partition keys: Linux 6.1 gives 0 there. */
static bool on_infiniband(struct rdma_cm_id *id)
{
	struct ibv_port_attr port = { 0 };

	return id->verbs && !ibv_query_port(id->verbs, id->port_num, &port) &&
	       port.link_layer == IBV_LINK_LAYER_INFINIBAND &&
	       id->verbs->device->transport_type == IBV_TRANSPORT_IB;
}

void show_id(struct rdma_cm_id *id)
{
	struct rdma_addr *a = &id->route.addr;

	printf("id %s: ps %x qp_type %d port %d verbs %s pd %s qp %s srq %s event %s context %s\n",
	       name_of(id), id->ps, id->qp_type, id->port_num, id->verbs ? "yes" : "no",
	       id->pd ? "yes" : "no", id->qp ? "yes" : "no", id->srq ? "yes" : "no",
	       id->event ? "yes" : "no", name_of(id->context));
	show_addr("  src", &a->src_addr);
	show_addr("  dst", &a->dst_addr);
	show_gid("sgid", &a->addr.ibaddr.sgid);
	show_gid("dgid", &a->addr.ibaddr.dgid);
	if (on_infiniband(id))
		printf("  pkey %x", ntohs(a->addr.ibaddr.pkey));
	printf("  paths %d\n", id->route.num_paths);
	for (int i = 0; i < id->route.num_paths; i++) {
		struct ibv_sa_path_rec *p = &id->route.path_rec[i];

		show_gid("path sgid", &p->sgid);
		show_gid("path dgid", &p->dgid);
		printf("  slid %x dlid %x raw %d flow %x hop %d tclass %d rev %d numb %d pkey %x sl %d\n",
		       ntohs(p->slid), ntohs(p->dlid), p->raw_traffic, ntohl(p->flow_label), p->hop_limit,
		       p->traffic_class, p->reversible, p->numb_path, ntohs(p->pkey), p->sl);
		printf("  mtu %d/%d rate %d/%d life %d/%d preference %d\n", p->mtu_selector, p->mtu,
		       p->rate_selector, p->rate, p->packet_life_time_selector, p->packet_life_time,
		       p->preference);
	}
}

static void show_bytes(const void *data, unsigned length)
{
	const unsigned char *bytes = data;
	unsigned sum = 0, i;

	for (i = 0; data && i < length; i++)
		sum = sum * 31 + bytes[i];
	printf(" data %s/%u", data ? "at" : "none", length);
	if (data)
		printf("=%02x..#%08x", length ? bytes[0] : 0, sum);
}

static void show_ah(const struct ibv_ah_attr *ah)
{
	char gid[64] = "";

	inet_ntop(AF_INET6, ah->grh.dgid.raw, gid, sizeof(gid));
	printf(" ah{%s flow %x index %d hop %d tclass %d dlid %x sl %d bits %d rate %d global %d port %d}",
	       gid, ah->grh.flow_label, ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class,
	       ah->dlid, ah->sl, ah->src_path_bits, ah->static_rate, ah->is_global, ah->port_num);
}

void show_event(const struct rdma_cm_event *e)
{
	const char *type = rdma_event_str(e->event);
	bool multicast = e->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
			 e->event == RDMA_CM_EVENT_MULTICAST_ERROR;

	if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		char text[24];

		snprintf(text, sizeof(text), "child%d", ++nchildren);
		name(e->id, text);
	}
	if (!strncmp(type, "RDMA_CM_EVENT_", 14))
		type += 14;
	printf("event %s(%d) status %d id %s listener %s", type, e->event, e->status, name_of(e->id),
	       name_of(e->listen_id));
	if (e->event == 18 || e->event == 19) {
		uint64_t arg;

		memcpy(&arg, &e->param, sizeof(arg));
		printf(" arg %llx", (unsigned long long)arg);
	} else if (multicast) {
		const struct rdma_ud_param *ud = &e->param.ud;

		printf(" context %s/%d qp %x qkey %x", name_of(ud->private_data), ud->private_data_len,
		       ud->qp_num, ud->qkey);
		show_ah(&ud->ah_attr);
	} else if (e->id && e->id->qp_type == IBV_QPT_UD) {
		const struct rdma_ud_param *ud = &e->param.ud;

		show_bytes(ud->private_data, ud->private_data_len);
		printf(" qp %x qkey %x", ud->qp_num, ud->qkey);
		show_ah(&ud->ah_attr);
	} else {
		const struct rdma_conn_param *c = &e->param.conn;

		show_bytes(c->private_data, c->private_data_len);
		printf(" resp %d init %d flow %d retry %d rnr %d srq %d qp %x", c->responder_resources,
		       c->initiator_depth, c->flow_control, c->retry_count, c->rnr_retry_count, c->srq,
		       c->qp_num);
	}
	printf("\n");
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, ms);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

struct rdma_cm_event *next(struct rdma_event_channel *from)
{
	struct rdma_cm_event *event = NULL;

	if (!readable(from->fd, 5000)) {
		printf("no event within 5 s\n");
		return NULL;
	}
	errno = UNTOUCHED;
	if (rdma_get_cm_event(from, &event)) {
		printf("rdma_get_cm_event: -1 %s\n", error_text(errno));
		return NULL;
	}
	check_success("rdma_get_cm_event", errno);
	show_event(event);
	return event;
}

void take(struct rdma_event_channel *from)
{
	struct rdma_cm_event *event = next(from);

	if (event && rdma_ack_cm_event(event))
		printf("rdma_ack_cm_event: -1 %s\n", error_text(errno));
}

struct rdma_cm_event *expect(struct rdma_event_channel *from, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = NULL;

	if (!readable(from->fd, 5000) || rdma_get_cm_event(from, &event)) {
		printf("no event where %s was expected\n", rdma_event_str(type));
		exit(3);
	}
	if (event->event != type) {
		printf("%s status %d where %s was expected\n", rdma_event_str(event->event),
		       event->status, rdma_event_str(type));
		exit(3);
	}
	return event;
}

void expect_and_ack(struct rdma_event_channel *from, enum rdma_cm_event_type type)
{
	MUST(rdma_ack_cm_event(expect(from, type)));
}

void none(struct rdma_event_channel *from)
{
	printf("%s\n", readable(from->fd, 100) ? "an event is there" : "no event is there");
}

void need_soft_device(void)
{
	if (RDMAFAKE(rdmafake_script))
		return;
	fprintf(stderr, "needs the soft device\n");
	exit(77);
}

void fake(const char *script)
{
	int r;

	need_soft_device();
	r = RDMAFAKE(rdmafake_script)(script);

	if (r) {
		printf("script '%s': %s\n", script, error_text(-r));
		exit(3);
	}
}

uint32_t handle_of(struct rdma_event_channel *of, int position)
{
	uint32_t handles[64];
	int n;

	need_soft_device();
	n = RDMAFAKE(rdmafake_handles)(of->fd, handles, 64);

	if (n <= position) {
		printf("there is no id %d on the channel\n", position);
		exit(3);
	}
	return handles[position];
}

void inject(struct rdma_event_channel *into, int event, int status)
{
	uint32_t handles[64];
	int n = (need_soft_device(), RDMAFAKE(rdmafake_handles)(into->fd, handles, 64));
	struct rdmafake_event e = { .handle = n > 0 ? handles[n - 1] : 0, .fd = into->fd,
				    .event = (uint32_t)event, .status = status };

	if (RDMAFAKE(rdmafake_inject)(&e)) {
		printf("cannot inject event %d\n", event);
		exit(3);
	}
}

void show_queued(struct rdma_event_channel *of)
{
	need_soft_device();
	printf("%d queued on %s\n", RDMAFAKE(rdmafake_queued)(of->fd), name_of(of));
}

pthread_t background(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		exit(3);
	return thread;
}

void *finish(pthread_t thread)
{
	struct timespec until;
	void *result = NULL;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	if (pthread_timedjoin_np(thread, &result, &until)) {
		printf("the thread did not end within 10 s\n");
		exit(3);
	}
	return result;
}

void *ack_later(void *event)
{
	usleep(200000);
	say("giving back");
	rdma_ack_cm_event(event);
	return NULL;
}

void in_child(const char *label, void (*run)(void *), void *arg)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(15);
		run(arg);
		fflush(stdout);
		_exit(faults ? 99 : 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		printf("%s: ended\n", label);
	else if (WIFEXITED(status))
		printf("%s: exit %d\n", label, WEXITSTATUS(status));
	else
		printf("%s: signal %d\n", label, WTERMSIG(status));
}

int done(void)
{
	void (*live_counts)(struct rdmafake_live *) = (void *)RDMAFAKE(rdmafake_live);
	struct rdmafake_live live = { 0 };
	const struct {
		const char *name;
		uint32_t count;
	} *it, all[] = {
		{ "channels", (live_counts ? live_counts(&live) : (void)0, live.channels) },
		{ "ids", live.ids }, { "events", live.events }, { "multicasts", live.multicasts },
		{ "pds", live.pds }, { "mrs", live.mrs }, { "cqs", live.cqs },
		{ "cq channels", live.channels_cq }, { "qps", live.qps }, { "srqs", live.srqs },
		{ "ahs", live.ahs }, { "xrcds", live.xrcds },
	};
	bool any = false;

	if (!live_counts) {
		printf("left: only the soft device can tell\n");
		return faults ? 99 : 0;
	}
	printf("left:");
	for (it = all; it < all + sizeof(all) / sizeof(all[0]); it++)
		if (it->count) {
			printf(" %u %s", it->count, it->name);
			any = true;
		}
	printf("%s\n", any ? "" : " nothing");
	return faults ? 99 : 0;
}
