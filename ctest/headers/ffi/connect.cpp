/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
// A connection from C++ by exported symbols only: compiled with RDMACM_EXPORTED_HELPERS. As connect.py, but with
// event channels.
//
//   connect ADDRESS PORT
#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <system_error>
#include <thread>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

namespace {

constexpr char text[] = "memory that a C++ program reads from another one";
constexpr int timeout_ms = 2000;

struct Offer {
	std::uint64_t address;
	std::uint32_t key, size;
};

void check(int result, const char *what, int wanted = 0)
{
	if (result != wanted)
		throw std::system_error(errno, std::generic_category(), what);
}

void *context(std::uintptr_t number)
{
	return reinterpret_cast<void *>(number);
}

class Channel {
public:
	Channel() : channel(rdma_create_event_channel())
	{
		if (!channel)
			check(-1, "rdma_create_event_channel");
	}
	~Channel() { rdma_destroy_event_channel(channel); }
	Channel(const Channel &) = delete;

	rdma_cm_id *make()
	{
		rdma_cm_id *id = nullptr;
		check(rdma_create_id(channel, &id, this, RDMA_PS_TCP), "rdma_create_id");
		return id;
	}

	// The id of the next event, which must be the expected one.
	rdma_cm_id *expect(rdma_cm_event_type type)
	{
		rdma_cm_event *event = nullptr;
		check(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
		rdma_cm_id *id = event->id;
		std::string found = rdma_event_str(event->event);
		bool good = event->event == type && event->status == 0;
		check(rdma_ack_cm_event(event), "rdma_ack_cm_event");
		if (!good)
			throw std::runtime_error("unexpected " + found);
		return id;
	}

private:
	rdma_event_channel *channel;
};

void make_queue_pair(rdma_cm_id *id)
{
	ibv_qp_init_attr attributes{};
	attributes.cap = {4, 4, 2, 2, 0};
	attributes.qp_type = IBV_QPT_RC;
	check(rdma_create_qp(id, nullptr, &attributes), "rdma_create_qp");
}

void complete(int (*get)(rdma_cm_id *, ibv_wc *), rdma_cm_id *id, std::uintptr_t wr_id)
{
	ibv_wc completion{};
	check(get(id, &completion), "completion", 1);
	if (completion.status != IBV_WC_SUCCESS || completion.wr_id != wr_id)
		throw std::runtime_error(ibv_wc_status_str(completion.status));
}

// A buffer as two pieces.
std::array<ibv_sge, 2> halves(void *start, std::uint32_t size, const ibv_mr *region)
{
	auto at = reinterpret_cast<std::uintptr_t>(start);
	return {{{at, size / 2, region->lkey}, {at + size / 2, size - size / 2, region->lkey}}};
}

ibv_mr *registered(ibv_mr *region)
{
	if (!region)
		check(-1, "registration");
	return region;
}

void end(rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	check(rdma_destroy_id(id), "rdma_destroy_id");
}

void listen(sockaddr_in address, std::promise<void> &listening)
{
	Channel channel;
	rdma_cm_id *listener = channel.make();
	check(rdma_bind_addr(listener, reinterpret_cast<sockaddr *>(&address)), "rdma_bind_addr");
	check(rdma_listen(listener, 1), "rdma_listen");
	listening.set_value();

	rdma_cm_id *id = channel.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	make_queue_pair(id);
	static char offered[sizeof(text)], answer[16];
	static Offer offer;
	std::memcpy(offered, text, sizeof(text));
	ibv_mr *offered_region = registered(rdma_reg_read(id, offered, sizeof(offered)));
	ibv_mr *answer_region = registered(rdma_reg_msgs(id, answer, sizeof(answer)));
	ibv_mr *offer_region = registered(rdma_reg_msgs(id, &offer, sizeof(offer)));
	check(rdma_post_recv(id, context(1), answer, sizeof(answer), answer_region), "rdma_post_recv");
	check(rdma_accept(id, nullptr), "rdma_accept");
	channel.expect(RDMA_CM_EVENT_ESTABLISHED);

	offer = {reinterpret_cast<std::uintptr_t>(offered), offered_region->rkey, sizeof(offered)};
	auto pieces = halves(&offer, sizeof(offer), offer_region);
	check(rdma_post_sendv(id, context(2), pieces.data(), 2, IBV_SEND_SIGNALED), "rdma_post_sendv");
	complete(rdma_get_send_comp, id, 2);
	complete(rdma_get_recv_comp, id, 1);
	if (std::strcmp(answer, "thanks") != 0)
		throw std::runtime_error("no thanks");
	channel.expect(RDMA_CM_EVENT_DISCONNECTED);
	check(rdma_disconnect(id), "rdma_disconnect");
	for (ibv_mr *region : {offered_region, answer_region, offer_region})
		check(rdma_dereg_mr(region), "rdma_dereg_mr");
	end(id);
	check(rdma_destroy_id(listener), "rdma_destroy_id");
}

void connect(sockaddr_in address)
{
	Channel channel;
	rdma_cm_id *id = channel.make();
	check(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr *>(&address), timeout_ms),
	      "rdma_resolve_addr");
	channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	make_queue_pair(id);
	check(rdma_resolve_route(id, timeout_ms), "rdma_resolve_route");
	channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);

	static Offer offer;
	static char read[128];
	ibv_mr *offer_region = registered(rdma_reg_msgs(id, &offer, sizeof(offer)));
	ibv_mr *read_region = registered(rdma_reg_msgs(id, read, sizeof(read)));
	auto pieces = halves(&offer, sizeof(offer), offer_region);
	check(rdma_post_recvv(id, context(3), pieces.data(), 2), "rdma_post_recvv");
	rdma_conn_param parameters{};
	parameters.responder_resources = parameters.initiator_depth = 1;
	parameters.retry_count = parameters.rnr_retry_count = 7;
	check(rdma_connect(id, &parameters), "rdma_connect");
	channel.expect(RDMA_CM_EVENT_ESTABLISHED);
	if (rdma_get_peer_addr(id)->sa_family != AF_INET || rdma_get_dst_port(id) != address.sin_port)
		throw std::runtime_error("wrong address");

	complete(rdma_get_recv_comp, id, 3);
	pieces = halves(read, offer.size, read_region);
	check(rdma_post_readv(id, context(4), pieces.data(), 2, IBV_SEND_SIGNALED, offer.address, offer.key),
	      "rdma_post_readv");
	complete(rdma_get_send_comp, id, 4);
	if (std::strcmp(read, text) != 0)
		throw std::runtime_error("other memory");
	std::strcpy(read, "thanks");
	check(rdma_post_send(id, context(5), read, 16, read_region, IBV_SEND_SIGNALED), "rdma_post_send");
	complete(rdma_get_send_comp, id, 5);
	check(rdma_disconnect(id), "rdma_disconnect");
	channel.expect(RDMA_CM_EVENT_DISCONNECTED);
	for (ibv_mr *region : {offer_region, read_region})
		check(rdma_dereg_mr(region), "rdma_dereg_mr");
	end(id);
}

// The other side would wait for ever.
template <typename Work> void side(const char *name, Work work)
{
	try {
		work();
	} catch (const std::exception &error) {
		std::fprintf(stderr, "%s: %s\n", name, error.what());
		std::_Exit(1);
	}
}

} // namespace

int main(int argc, char **argv)
{
	sockaddr_in address{};
	if (argc != 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		std::fprintf(stderr, "usage: connect ADDRESS PORT\n");
		return 2;
	}
	address.sin_family = AF_INET;
	address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[2])));
	std::promise<void> listening;
	std::thread listener([&] { side("listen", [&] { listen(address, listening); }); });
	side("connect", [&] {
		listening.get_future().wait();
		connect(address);
	});
	listener.join();
	std::puts("c++: connected, sent, read, disconnected");
}
