// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device type=ib gid=fe80::7 lid=5
 * A connection by the native addresses of InfiniBand: listener on any GID, every event and field, ports,
 * data that nothing is put before, and the same from a bound source.
 */
#include "trace.h"

static const struct sockaddr *native(const char *gid, int port)
{
	static struct sockaddr_ib to[4];
	static int turn;
	struct sockaddr_ib *a = &to[turn++ % 4];

	memset(a, 0, sizeof(*a));
	a->sib_family = AF_IB;
	inet_pton(AF_INET6, gid, &a->sib_addr);
	a->sib_sid = htobe64(((uint64_t)RDMA_PS_TCP << 16) + port);
	a->sib_sid_mask = htobe64(port ? ~0ULL : ~0xffffULL);
	a->sib_pkey = htons(0xffff);
	return (const struct sockaddr *)a;
}

static void connection(struct rdma_cm_id *listener, const struct sockaddr *from)
{
	struct rdma_event_channel *active = channel();
	struct rdma_cm_id *client = new_id(active, RDMA_PS_TCP), *child;
	struct rdma_conn_param *with = param();
	struct rdma_cm_event *request;

	name(client, "client");
	CALL(rdma_resolve_addr(client, (struct sockaddr *)from, (struct sockaddr *)native("fe80::7", 5000), 1000));
	take(active);
	show_id(client);
	CALL(rdma_resolve_route(client, 1000));
	take(active);
	show_id(client);
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	with->private_data = "without a header";
	with->private_data_len = 17;
	CALL(rdma_connect(client, with));
	request = next(listener->channel);
	child = request->id;
	name(child, "child");
	show_id(child);
	say("ports equal %d %d", rdma_get_dst_port(client) == rdma_get_src_port(child),
		rdma_get_src_port(client) == rdma_get_dst_port(child));
	say("destination port %u", ntohs(rdma_get_dst_port(client)));
	MUST(rdma_create_qp(child, NULL, qp_attr()));
	with->private_data = "answer";
	with->private_data_len = 7;
	CALL(rdma_accept(child, with));
	take(active);
	MUST(rdma_ack_cm_event(request));
	take(listener->channel);
	CALL(rdma_disconnect(client));
	take(listener->channel);
	CALL(rdma_disconnect(child));
	take(active);
	rdma_destroy_qp(child);
	CALL(rdma_destroy_id(child));
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	rdma_destroy_event_channel(active);
}

int main(void)
{
	struct rdma_event_channel *passive = channel();
	struct rdma_cm_id *listener = new_id(passive, RDMA_PS_TCP), *other = new_id(passive, RDMA_PS_TCP);

	name(listener, "listener");
	CALL(rdma_bind_addr(listener, (struct sockaddr *)native("::", 5000)));
	show_id(listener);
	CALL(rdma_listen(listener, 4));
	say("source port %u", ntohs(rdma_get_src_port(listener)));
	CALL(rdma_bind_addr(other, (struct sockaddr *)native("::", 5000)));
	CALL(rdma_bind_addr(other, (struct sockaddr *)native("fe80::99", 0)));
	CALL(rdma_bind_addr(other, (struct sockaddr *)native("fe80::7", 0)));
	show_id(other);
	connection(listener, NULL);
	connection(listener, native("fe80::7", 0));
	CALL(rdma_destroy_id(other));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(passive);
	return done();
}
