// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_getaddrinfo with every kind of question that needs no name server and no ibacm.
 *
 * Only the first entry is printed: the C library never gives more (fault A-7, which ours repairs; see
 * list.c). Needs a device, because both libraries refuse to work without one.
 */
#include "trace.h"

static void ask(const char *label, const char *node, const char *service,
		const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *res = NULL;
	int ret;

	errno = 0;
	ret = rdma_getaddrinfo(node, service, hints, &res);
	trace_result(label, ret);
	if (!ret) {
		trace_entry(res);
		rdma_freeaddrinfo(res);
	}
}

static struct rdma_addrinfo hints_of(int flags, int family, int qp_type, int port_space)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_family = family,
				       .ai_qp_type = qp_type, .ai_port_space = port_space };
	return hints;
}

static void ask_with(const char *node, const char *service, int flags, int family, int qp_type,
		     int port_space)
{
	struct rdma_addrinfo hints = hints_of(flags, family, qp_type, port_space);
	char label[200];

	snprintf(label, sizeof(label), "node %s service %s flags %x family %d qp_type %d space %x",
		 node ? node : "NULL", service ? service : "NULL", flags, family, qp_type,
		 port_space);
	ask(label, node, service, &hints);
}

static void plain(void)
{
	static const char *const nodes[] = { NULL, "127.0.0.1", "10.9.0.1", "::1", "localhost",
					     "fe80::1", "", "no.such.host.invalid", "1.2.3.4.5" };
	static const char *const services[] = { NULL, "7471", "0", "65535", "65536", "-1", "",
						"no-such-service" };

	for (size_t n = 0; n < sizeof(nodes) / sizeof(*nodes); n++)
		for (size_t s = 0; s < sizeof(services) / sizeof(*services); s++) {
			char label[100];

			/* Names that only a name server knows take its time; once is enough. */
			if (n == 7 && s > 1)
				continue;
			snprintf(label, sizeof(label), "node %s service %s no hints",
				 nodes[n] ? nodes[n] : "NULL", services[s] ? services[s] : "NULL");
			ask(label, nodes[n], services[s], NULL);
		}
}

static void kinds(void)
{
	static const int qp_types[] = { 0, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET,
					IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, 99 };
	static const int port_spaces[] = { 0, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB,
					   77 };

	for (size_t q = 0; q < sizeof(qp_types) / sizeof(*qp_types); q++)
		for (size_t p = 0; p < sizeof(port_spaces) / sizeof(*port_spaces); p++) {
			ask_with("127.0.0.1", "7471", 0, 0, qp_types[q], port_spaces[p]);
			ask_with(NULL, "7471", RAI_PASSIVE, 0, qp_types[q], port_spaces[p]);
		}
}

static void flags_and_families(void)
{
	static const int flags[] = { 0, RAI_PASSIVE, RAI_NUMERICHOST, RAI_NOROUTE,
				     RAI_PASSIVE | RAI_NUMERICHOST, RAI_FAMILY, 0x1000 };
	static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6, AF_UNIX, 99, -1 };
	static const char *const nodes[] = { NULL, "127.0.0.1", "::1", "localhost" };

	for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++)
		for (size_t a = 0; a < sizeof(families) / sizeof(*families); a++)
			for (size_t n = 0; n < sizeof(nodes) / sizeof(*nodes); n++) {
				ask_with(nodes[n], "7471", flags[f], families[a], IBV_QPT_RC,
					 RDMA_PS_TCP);
				if (nodes[n])
					ask_with(nodes[n], NULL, flags[f], families[a], 0, 0);
			}
}

/* Native addresses; the C library takes an IPv4 text for a GID (fault A-6), so none is asked for. */
static void native(void)
{
	const int numeric = RAI_NUMERICHOST | RAI_FAMILY;

	ask_with("fe80::2:c903:0:1", "7471", numeric, AF_IB, IBV_QPT_RC, RDMA_PS_TCP);
	ask_with("fe80::2:c903:0:1", "7471", numeric, AF_IB, IBV_QPT_RC, RDMA_PS_IB);
	ask_with("fe80::2:c903:0:1", "7471", numeric, AF_IB, IBV_QPT_UD, RDMA_PS_UDP);
	ask_with("fe80::2:c903:0:1", NULL, numeric, AF_IB, IBV_QPT_RC, RDMA_PS_IB);
	ask_with("fe80::2:c903:0:1", "0", numeric, AF_IB, 0, RDMA_PS_IPOIB);
	ask_with("fe80::2:c903:0:1%lo", "7471", numeric, AF_IB, 0, 0);
	ask_with("::", "65535", numeric | RAI_PASSIVE, AF_IB, IBV_QPT_RC, RDMA_PS_IB);
	ask_with("fe80::1", "7471", numeric | RAI_PASSIVE, AF_IB, IBV_QPT_RC, RDMA_PS_TCP);
	ask_with("not-a-gid", "7471", numeric, AF_IB, IBV_QPT_RC, RDMA_PS_TCP);
	ask_with("127.0.0.1", "7471", RAI_FAMILY, AF_IB, IBV_QPT_RC, RDMA_PS_TCP);
	ask_with("127.0.0.1", "7471", RAI_NUMERICHOST, AF_IB, IBV_QPT_RC, RDMA_PS_TCP);
	ask_with("localhost", "7471", 0, AF_IB, IBV_QPT_RC, RDMA_PS_IB);
}

static void addresses_in_hints(void)
{
	struct sockaddr_in source = { .sin_family = AF_INET, .sin_port = htons(5) };
	struct sockaddr_in6 source6 = { .sin6_family = AF_INET6, .sin6_scope_id = 3 };
	struct sockaddr_in destination = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_pkey = htons(0xffff) };
	struct rdma_addrinfo hints = hints_of(0, 0, IBV_QPT_RC, RDMA_PS_TCP);

	inet_pton(AF_INET, "10.9.0.1", &source.sin_addr);
	inet_pton(AF_INET, "10.9.0.2", &destination.sin_addr);
	ask("hints without anything", NULL, NULL, &hints);
	hints.ai_src_addr = (void *)&source;
	hints.ai_src_len = sizeof(source);
	ask("source", NULL, NULL, &hints);
	ask("source and node", "127.0.0.1", "7471", &hints);
	ask("source and node of another family", "::1", "7471", &hints);
	hints.ai_flags = RAI_PASSIVE;
	ask("passive source", NULL, NULL, &hints);
	ask("passive source and node", "127.0.0.1", "7471", &hints);
	ask("passive source and service", NULL, "7471", &hints);
	hints.ai_flags = RAI_NUMERICHOST | RAI_NOROUTE;
	hints.ai_family = AF_INET;
	hints.ai_dst_addr = (void *)&destination;
	hints.ai_dst_len = sizeof(destination);
	ask("source and destination", NULL, NULL, &hints);
	ask("source, destination and node", "127.0.0.1", "7471", &hints);
	hints.ai_src_addr = (void *)&source6;
	hints.ai_src_len = sizeof(source6);
	ask("mixed families", NULL, NULL, &hints);
	hints.ai_dst_addr = (void *)&ib;
	hints.ai_dst_len = sizeof(ib);
	hints.ai_src_len = 0;
	ask("native destination", NULL, NULL, &hints);
	hints.ai_dst_len = 0;
	ask("lengths of zero", NULL, NULL, &hints);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	ask("nothing", NULL, NULL, NULL);
	plain();
	kinds();
	flags_and_families();
	native();
	addresses_in_hints();
	rdma_freeaddrinfo(NULL);
	printf("freed NULL\n");
	return 0;
}
