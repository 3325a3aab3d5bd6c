/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections over RDMA: event channels, identifiers, addresses, queue pairs, multicast.
 *
 * The types are written by hand. `make headers` generates the prototypes between "made from" marks from
 * the Rust functions; change their comments there.
 */
#ifndef RDMA_CMA_H
#define RDMA_CMA_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <infiniband/verbs.h>
#include <infiniband/sa.h>

/*
 * RDMACM_HELPER stands before the functions that the C library has as inline code only. Here they are static
 * inline functions too, at any optimisation: a program needs no symbol for them, and runs on either library.
 * With RDMACM_EXPORTED_HELPERS defined they are the functions that this library exports as RDMACM_RS_1.0.
 */
#ifdef RDMACM_EXPORTED_HELPERS
#define RDMACM_HELPER extern
#else
#define RDMACM_INLINE_HELPERS
#define RDMACM_HELPER static __inline__
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What happened, in rdma_cm_event.event. After DEVICE_REMOVAL the id must be destroyed. */
enum rdma_cm_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED = 0,
	RDMA_CM_EVENT_ADDR_ERROR = 1,
	RDMA_CM_EVENT_ROUTE_RESOLVED = 2,
	RDMA_CM_EVENT_ROUTE_ERROR = 3,
	RDMA_CM_EVENT_CONNECT_REQUEST = 4,
	RDMA_CM_EVENT_CONNECT_RESPONSE = 5,
	RDMA_CM_EVENT_CONNECT_ERROR = 6,
	RDMA_CM_EVENT_UNREACHABLE = 7,
	RDMA_CM_EVENT_REJECTED = 8,
	RDMA_CM_EVENT_ESTABLISHED = 9,
	RDMA_CM_EVENT_DISCONNECTED = 10,
	RDMA_CM_EVENT_DEVICE_REMOVAL = 11,
	RDMA_CM_EVENT_MULTICAST_JOIN = 12,
	RDMA_CM_EVENT_MULTICAST_ERROR = 13,
	RDMA_CM_EVENT_ADDR_CHANGE = 14,
	RDMA_CM_EVENT_TIMEWAIT_EXIT = 15,
	/* Result of rdma_resolve_addrinfo. */
	RDMA_CM_EVENT_ADDRINFO_RESOLVED = 16,
	RDMA_CM_EVENT_ADDRINFO_ERROR = 17,
	/* Queued by rdma_write_cm_event, with its argument in param.arg. */
	RDMA_CM_EVENT_USER = 18,
	/* Used inside the library only. */
	RDMA_CM_EVENT_INTERNAL = 19
};

/* Service of an id: TCP means reliable connections, UDP datagrams. */
enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002,
	RDMA_PS_TCP = 0x0106,
	RDMA_PS_UDP = 0x0111,
	RDMA_PS_IB = 0x013F
};

/* Parts of the service ID in a struct sockaddr_ib, in host byte order. */
#define RDMA_IB_IP_PS_MASK 0xFFFFFFFFFFFF0000ULL
#define RDMA_IB_IP_PORT_MASK 0x000000000000FFFFULL
#define RDMA_IB_IP_PS_TCP 0x0000000001060000ULL
#define RDMA_IB_IP_PS_UDP 0x0000000001110000ULL
#define RDMA_IB_PS_IB 0x00000000013F0000ULL

/* Q_Key of datagram queue pairs in port space UDP, including multicast. */
#define RDMA_UDP_QKEY 0x01234567

/* The addresses of an id as InfiniBand (or RoCE) GIDs. */
struct rdma_ib_addr {
	union ibv_gid sgid;
	union ibv_gid dgid;
	__be16 pkey;
};

/* Local and remote address of an id; ss_family of the storage selects the member. */
struct rdma_addr {
	__extension__ union {
		struct sockaddr src_addr;
		struct sockaddr_in src_sin;
		struct sockaddr_in6 src_sin6;
		struct sockaddr_storage src_storage;
	};
	__extension__ union {
		struct sockaddr dst_addr;
		struct sockaddr_in dst_sin;
		struct sockaddr_in6 dst_sin6;
		struct sockaddr_storage dst_storage;
	};
	union {
		struct rdma_ib_addr ibaddr;
	} addr;
};

struct rdma_route {
	struct rdma_addr addr;
	/* num_paths records, owned by the library; NULL until the route is resolved, and on iWARP. */
	struct ibv_sa_path_rec *path_rec;
	int num_paths;
};

struct rdma_event_channel {
	/* Readable while an event is pending, for poll, select and epoll. Must not be closed. */
	int fd;
};

/*
 * A connection, a listener or a datagram service. Applications may read all fields and set context. They
 * may set pd, completion queues and channels before rdma_create_qp, which then uses them.
 */
struct rdma_cm_id {
	/* The device, NULL until the id is bound to one. */
	struct ibv_context *verbs;
	struct rdma_event_channel *channel;
	void *context;
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	/* Starts at 1; 0 while there is no device. */
	uint8_t port_num;
	/* The event of the last synchronous call, acknowledged by the next one. */
	struct rdma_cm_event *event;
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

/* The limit of the device, for the depths in rdma_conn_param. */
enum {
	RDMA_MAX_RESP_RES = 0xFF,
	RDMA_MAX_INIT_DEPTH = 0xFF
};

/* Parameters of a connection, sent to the peer. */
struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	/* Number of outstanding RDMA reads and atomics accepted from the peer. */
	uint8_t responder_resources;
	/* Number of outstanding RDMA reads and atomics issued by this side. */
	uint8_t initiator_depth;
	uint8_t flow_control;
	/* Of the connecting side; 0 to 7. */
	uint8_t retry_count;
	/* 0 to 7; 7 means no limit. */
	uint8_t rnr_retry_count;
	/* For queue pairs of the application; ignored if the id has a queue pair. */
	uint8_t srq;
	uint32_t qp_num;
};

/* What is needed to send to a datagram service or a multicast group. */
struct rdma_ud_param {
	const void *private_data;
	uint8_t private_data_len;
	struct ibv_ah_attr ah_attr;
	uint32_t qp_num;
	uint32_t qkey;
};

struct rdma_cm_event {
	struct rdma_cm_id *id;
	/* For CONNECT_REQUEST, the listener; id is then the new connection. */
	struct rdma_cm_id *listen_id;
	enum rdma_cm_event_type event;
	/* 0, a negative error number, or for REJECTED the reason code of the transport. */
	int status;
	union {
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
		uint64_t arg;
	} param;
};

/* Flags of rdma_addrinfo.ai_flags. RAI_SA and RAI_DNS are mutually exclusive. */
#define RAI_PASSIVE 0x00000001
#define RAI_NUMERICHOST 0x00000002
#define RAI_NOROUTE 0x00000004
#define RAI_FAMILY 0x00000008
#define RAI_SA 0x00000010
#define RAI_DNS 0x00000020

/* Addresses of a name, from rdma_getaddrinfo for rdma_create_ep. */
struct rdma_addrinfo {
	int ai_flags;
	int ai_family;
	int ai_qp_type;
	int ai_port_space;
	socklen_t ai_src_len;
	socklen_t ai_dst_len;
	struct sockaddr *ai_src_addr;
	struct sockaddr *ai_dst_addr;
	char *ai_src_canonname;
	char *ai_dst_canonname;
	/* Size in bytes of ai_route (struct ibv_path_data), if the route is known. */
	size_t ai_route_len;
	void *ai_route;
	/* Size in bytes of ai_connect, sent ahead of the private data of a connection request. */
	size_t ai_connect_len;
	void *ai_connect;
	struct rdma_addrinfo *ai_next;
};

/* Fields of rdma_cm_join_mc_attr_ex that are valid. */
enum rdma_cm_join_mc_attr_mask {
	RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1 << 0,
	RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 1 << 1,
	RDMA_CM_JOIN_MC_ATTR_RESERVED = 1 << 2
};

/* Type of membership in a group. */
enum rdma_cm_mc_join_flags {
	RDMA_MC_JOIN_FLAG_FULLMEMBER = 0,
	RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1,
	RDMA_MC_JOIN_FLAG_RESERVED = 2
};

struct rdma_cm_join_mc_attr_ex {
	/* Bits of rdma_cm_join_mc_attr_mask. */
	uint32_t comp_mask;
	/* One of rdma_cm_mc_join_flags. */
	uint32_t join_flags;
	struct sockaddr *addr;
};

/* Levels of rdma_set_option. */
enum {
	RDMA_OPTION_ID = 0,
	RDMA_OPTION_IB = 1
};

/* Options of level RDMA_OPTION_ID. */
enum {
	/* uint8_t, type of service of the packets. */
	RDMA_OPTION_ID_TOS = 0,
	/* int, as SO_REUSEADDR. */
	RDMA_OPTION_ID_REUSEADDR = 1,
	/* int, as IPV6_V6ONLY. */
	RDMA_OPTION_ID_AFONLY = 2,
	/* uint8_t, acknowledge timeout of the queue pair: 4.096 us times 2 to the power of the value. */
	RDMA_OPTION_ID_ACK_TIMEOUT = 3
};

/* Options of level RDMA_OPTION_IB. */
enum {
	/* struct ibv_path_data[], replaces rdma_resolve_route. */
	RDMA_OPTION_IB_PATH = 1
};

/* made from src/export/event.rs */

/**
 * Opens an event channel.
 *
 * Description:
 *   An event channel is an open file of the kernel's rdma_cm device. It reports the events of every
 *   id that is created on it or moved to it by rdma_migrate_id. fd of the channel is readable while
 *   an event is pending, so that it can be used with poll, select and epoll.
 *
 * Return value:
 *   The channel, to be closed by rdma_destroy_event_channel; NULL with errno set on failure.
 *
 * Errors:
 *   EACCES, EMFILE, ENFILE, ENODEV, ENOENT, ENOMEM, ENOSYS, ENXIO; see rdma_create_event_channel(3).
 *
 * Notes:
 *   The file is closed on exec. A call that failed may be repeated, for instance after a module was
 *   loaded.
 *
 *   To make rdma_get_cm_event nonblocking, set O_NONBLOCK on fd with fcntl. Do not read, write or
 *   close fd.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_destroy_event_channel(3), rdma_get_cm_event(3), rdma_create_id(3), rdma_migrate_id(3),
 *   rdma_cm(7)
 */
struct rdma_event_channel *rdma_create_event_channel(void);

/**
 * Closes an event channel.
 *
 * Arguments:
 *   channel: the channel, which becomes invalid; NULL has no effect.
 *
 * Description:
 *   Closes the file and frees the channel. Events that were not fetched are lost. A thread that
 *   waits in rdma_get_cm_event is woken after a moment (a fifth of a second); its call fails with
 *   EBADF.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Destroy the ids of the channel, and acknowledge its events, before this call. The kernel drops
 *   its state of an id that is left: calls with the id fail with EBADF, and rdma_destroy_id only
 *   frees its memory.
 *
 * Thread safety:
 *   No other thread may begin a call with the channel.
 *
 * See also:
 *   rdma_create_event_channel(3), rdma_destroy_id(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/**
 * Returns the next event of a channel.
 *
 * Arguments:
 *   channel: the channel.
 *   event: where the event is returned, which the caller owns until rdma_ack_cm_event. Unchanged
 *       on failure.
 *
 * Description:
 *   Waits for an event, unless fd of the channel has O_NONBLOCK set. Before it returns an event, the
 *   library does its own part: it stores the id's addresses, device and route, changes the state of
 *   the id's queue pair, attaches the queue pair to a multicast group, or creates the id of a
 *   connection request.
 *
 *   id of the event is the id that the event concerns. For RDMA_CM_EVENT_CONNECT_REQUEST it is the
 *   id of the new connection, and listen_id is the listener. status is 0 or the reason of a failure,
 *   see rdma_status(7). param.ud is set for ids of datagram services, param.arg for
 *   RDMA_CM_EVENT_USER, and param.conn for all others. Private data is part of the event. rdma_cm(7)
 *   lists the events.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EAGAIN, EBADF, EINTR, EINVAL, ENODATA, ENOMEM; see rdma_get_cm_event(3).
 *
 * Notes:
 *   An event of an id that is being destroyed is discarded. A connection request for which no id can
 *   be created is rejected and discarded.
 *
 * Thread safety:
 *   Any number of threads may wait on one channel; each event is returned to one of them. The order
 *   in which two threads handle two events of one id is unspecified.
 *
 * See also:
 *   rdma_ack_cm_event(3), rdma_event_str(3), rdma_create_event_channel(3), rdma_cm(7),
 *   rdma_status(7)
 */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);

/**
 * Acknowledges and frees an event.
 *
 * Arguments:
 *   event: the event, which becomes invalid together with its private data.
 *
 * Description:
 *   Every event that rdma_get_cm_event returned must be acknowledged once. rdma_destroy_id,
 *   rdma_leave_multicast and rdma_migrate_id wait until the events of their id or group are
 *   acknowledged.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL; see rdma_ack_cm_event(3).
 *
 * Notes:
 *   The library acknowledges the event in id->event of a synchronous id itself.
 *
 * Thread safety:
 *   Any thread may call this function at any time, also while another thread waits in
 *   rdma_destroy_id.
 *
 * See also:
 *   rdma_get_cm_event(3), rdma_destroy_id(3), rdma_cm(7)
 */
int rdma_ack_cm_event(struct rdma_cm_event *event);

/**
 * Returns the name of an event type.
 *
 * Arguments:
 *   event: an event type; unknown values are allowed.
 *
 * Description:
 *   The name is that of the constant in the header, for instance "RDMA_CM_EVENT_ESTABLISHED", or
 *   "UNKNOWN EVENT".
 *
 * Return value:
 *   A static string, never NULL, which must not be changed or freed.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_get_cm_event(3), rdma_cm(7)
 */
const char *rdma_event_str(enum rdma_cm_event_type event);

/**
 * Queues an application-defined event on the channel of an id.
 *
 * Arguments:
 *   id: the id that the event concerns.
 *   event: RDMA_CM_EVENT_USER.
 *   status: any value, returned as status of the event.
 *   arg: any value, returned as param.arg of the event.
 *
 * Description:
 *   rdma_get_cm_event returns the event in order with all others. A thread can use it to notify the
 *   thread that handles events.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOMEM, ENOSYS, ENXIO; see rdma_write_cm_event(3).
 *
 * Notes:
 *   Requires a kernel that accepts events from applications (6.18 or later).
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the id.
 *
 * See also:
 *   rdma_get_cm_event(3), rdma_create_event_channel(3), rdma_cm(7)
 */
int rdma_write_cm_event(struct rdma_cm_id *id,
                        enum rdma_cm_event_type event,
                        int status,
                        uint64_t arg);

/* end of src/export/event.rs */

/* made from src/export/id.rs */

/**
 * Creates an identifier.
 *
 * Arguments:
 *   channel: the channel that reports the id's events; NULL creates a synchronous id.
 *   id: where the id is returned, which the caller owns until rdma_destroy_id. Unchanged on
 *       failure.
 *   context: application context, stored in id->context.
 *   ps: RDMA_PS_TCP for reliable connections, RDMA_PS_UDP or RDMA_PS_IPOIB for datagrams,
 *       RDMA_PS_IB for any type of queue pair.
 *
 * Description:
 *   An id is the RDMA equivalent of a socket: it is bound to an address, connects or listens, and
 *   has a queue pair. It is bound to a device when it is bound to an address of the device, or when
 *   its destination is resolved.
 *
 *   Calls that start an operation return immediately, and an event reports the result. With a
 *   synchronous id they wait for the event, which id->event holds until the next such call.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOMEM; see rdma_create_id(3).
 *
 * Notes:
 *   id->qp_type is IBV_QPT_UD for RDMA_PS_UDP and RDMA_PS_IPOIB, otherwise IBV_QPT_RC.
 *   rdma_create_ep creates ids with other types.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_destroy_id(3), rdma_create_ep(3), rdma_bind_addr(3), rdma_resolve_addr(3),
 *   rdma_migrate_id(3), rdma_cm(7)
 */
int rdma_create_id(struct rdma_event_channel *channel,
                   struct rdma_cm_id **id,
                   void *context,
                   enum rdma_port_space ps);

/**
 * Destroys an identifier.
 *
 * Arguments:
 *   id: the id, which becomes invalid.
 *
 * Description:
 *   Cancels outstanding operations of the id, leaves its multicast groups and frees it. Waits until
 *   every event of the id that rdma_get_cm_event returned is acknowledged. Events that were not
 *   fetched are discarded.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. The id is destroyed in either case.
 *
 * Errors:
 *   EINVAL, ENOENT, ETIMEDOUT; see rdma_destroy_id(3).
 *
 * Notes:
 *   Before this call, destroy the queue pair and the shared receive queue of the id with
 *   rdma_destroy_qp and rdma_destroy_srq, and acknowledge its events. The thread that handles events
 *   must not call rdma_destroy_id before rdma_ack_cm_event: the call would wait forever.
 *
 *   In a child of fork the call frees the child's copy; the connection stays with the parent.
 *
 * Thread safety:
 *   No other thread may be in a call with the id, except for rdma_get_cm_event and
 *   rdma_ack_cm_event.
 *
 * See also:
 *   rdma_create_id(3), rdma_destroy_ep(3), rdma_destroy_qp(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
int rdma_destroy_id(struct rdma_cm_id *id);

/**
 * Moves an identifier to another event channel.
 *
 * Arguments:
 *   id: the id.
 *   channel: the new channel; NULL makes the id synchronous.
 *
 * Description:
 *   Pending events of the id move to the new channel. Waits until every event of the id that was
 *   fetched from the old channel is acknowledged. A synchronous id that is moved to a channel
 *   becomes asynchronous, and the event in id->event is acknowledged. A child of fork may move an
 *   inherited id to a channel of its own while its parent lives; the id is the child's from then on.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. On failure the id stays on its channel, except for
 *   ETIMEDOUT.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOENT, ENXIO, ETIMEDOUT; see rdma_migrate_id(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. Other
 *   threads may be in rdma_get_cm_event and rdma_ack_cm_event with both channels.
 *
 * See also:
 *   rdma_create_event_channel(3), rdma_create_id(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);

/**
 * Sets an option of an identifier.
 *
 * Arguments:
 *   id: the id.
 *   level: RDMA_OPTION_ID or RDMA_OPTION_IB.
 *   optname: the option, see below.
 *   optval: the value. Only read during the call.
 *   optlen: size of the value in bytes.
 *
 * Description:
 *   Level RDMA_OPTION_ID:
 *   RDMA_OPTION_ID_TOS: uint8_t, type of service of the connection's packets.
 *   RDMA_OPTION_ID_REUSEADDR: int, nonzero allows several ids to bind to one address, as
 *       SO_REUSEADDR does.
 *   RDMA_OPTION_ID_AFONLY: int, nonzero restricts an IPv6 wildcard address to IPv6, as
 *       IPV6_V6ONLY does.
 *   RDMA_OPTION_ID_ACK_TIMEOUT: uint8_t from 0 to 31, the acknowledge timeout of the queue pair:
 *       4.096 us times 2 to the power of the value.
 *
 *   Level RDMA_OPTION_IB:
 *   RDMA_OPTION_IB_PATH: array of struct ibv_path_data, replaces rdma_resolve_route.
 *       RDMA_CM_EVENT_ROUTE_RESOLVED is reported.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EFAULT, EINVAL, ENODATA, ENOENT, ENOMEM, ENOSYS, ENXIO; see rdma_set_option(3).
 *
 * Notes:
 *   The kernel checks level, option and value, so that options of newer kernels work too. The call
 *   never waits for an event, not even with a synchronous id.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_id(3), rdma_bind_addr(3), rdma_resolve_route(3), rdma_cm(7)
 */
int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/* end of src/export/id.rs */

/* made from src/export/address.rs */

/**
 * Binds an identifier to a local address.
 *
 * Arguments:
 *   id: the id.
 *   addr: a struct sockaddr_in, sockaddr_in6 or sockaddr_ib; a wildcard address and port 0 are
 *       allowed. Only read during the call.
 *
 * Description:
 *   An address of an RDMA device binds the id to the device: id->verbs, id->pd and id->port_num are
 *   set. A wildcard address binds the id to the port only. Port 0 selects a free port, which
 *   rdma_get_src_port returns.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EADDRINUSE, EADDRNOTAVAIL, EBADF, EINVAL, ENODATA, ENODEV, ENOMEM, ENXIO; see
 *   rdma_bind_addr(3).
 *
 * Notes:
 *   Required before rdma_listen on a given address or port. An id that connects needs it only to
 *   choose the device or the source address.
 *
 *   The IPv4 wildcard address is for IPv4 alone, that of IPv6 for both families, unless
 *   RDMA_OPTION_ID_AFONLY or the system says otherwise. Where the process has bound the IPv4 one to
 *   the port, that of IPv6 is for IPv6 alone, so that a server can listen on each address of
 *   rdma_getaddrinfo(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_id(3), rdma_listen(3), rdma_resolve_addr(3), rdma_get_src_port(3),
 *   rdma_set_option(3), rdma_cm(7)
 */
int rdma_bind_addr(struct rdma_cm_id *id,
                   struct sockaddr *addr);

/**
 * Resolves a destination address to a device.
 *
 * Arguments:
 *   id: the id.
 *   src_addr: the source address, or NULL to let routing choose it. Only read during the call.
 *   dst_addr: address of the peer or of a multicast group. Only read during the call.
 *   timeout_ms: limit of the resolution in milliseconds.
 *
 * Description:
 *   Finds the device that reaches the destination and the hardware address of the peer, and binds
 *   the id to the device. RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR reports the
 *   result. After the former, id->verbs, id->pd and id->port_num are set, and the id is ready for
 *   rdma_create_qp and rdma_resolve_route.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. For an asynchronous id, 0 means that the resolution
 *   has started.
 *
 * Errors:
 *   EACCES, EADDRINUSE, EADDRNOTAVAIL, EBADF, EHOSTUNREACH, EINTR, EINVAL, ENETUNREACH, ENODATA,
 *   ENODEV, ENOMEM, ENXIO, ETIMEDOUT; see rdma_resolve_addr(3).
 *
 * Notes:
 *   The kernel reports some failures immediately and others in the event. Programs must handle both.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_resolve_route(3), rdma_bind_addr(3), rdma_create_qp(3), rdma_getaddrinfo(3),
 *   rdma_get_cm_event(3), rdma_cm(7)
 */
int rdma_resolve_addr(struct rdma_cm_id *id,
                      struct sockaddr *src_addr,
                      struct sockaddr *dst_addr,
                      int timeout_ms);

/**
 * Resolves the route to the destination.
 *
 * Arguments:
 *   id: an id after RDMA_CM_EVENT_ADDR_RESOLVED.
 *   timeout_ms: limit of the resolution in milliseconds.
 *
 * Description:
 *   Finds the path through the fabric. RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR
 *   reports the result. After the former, id->route holds the path records (none on iWARP), and the
 *   id is ready for rdma_connect.
 *
 *   On InfiniBand the library first queries the daemon ibacm, if it runs, as rdma_getaddrinfo does.
 *   The call waits for its answer, for at most timeout_ms or two seconds.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. For an asynchronous id, 0 means that the resolution
 *   has started.
 *
 * Errors:
 *   EACCES, EBADF, EINTR, EINVAL, EIO, ENODATA, ENODEV, ENOMEM, ENXIO, ETIMEDOUT; see
 *   rdma_resolve_route(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_resolve_addr(3), rdma_connect(3), rdma_set_option(3), rdma_get_cm_event(3), rdma_cm(7)
 */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/**
 * Returns the local port of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Returns the port of the id's local address. For native InfiniBand addresses (AF_IB) this is the
 *   low 16 bits of the service ID, as far as the service-ID mask covers them.
 *
 * Return value:
 *   The port in network byte order; 0 if id is NULL or not bound.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_get_dst_port(3), rdma_get_local_addr(3), rdma_bind_addr(3), rdma_resolve_addr(3),
 *   rdma_cm(7)
 */
__be16 rdma_get_src_port(struct rdma_cm_id *id);

/**
 * Returns the peer's port of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Returns the port of the id's remote address. For native InfiniBand addresses (AF_IB) this is the
 *   low 16 bits of the service ID, as far as the service-ID mask covers them.
 *
 * Return value:
 *   The port in network byte order; 0 if id is NULL or has no destination.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_get_src_port(3), rdma_get_peer_addr(3), rdma_bind_addr(3), rdma_resolve_addr(3), rdma_cm(7)
 */
__be16 rdma_get_dst_port(struct rdma_cm_id *id);

/**
 * Returns the local address of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Returns a pointer into the id. sa_family is the type of the address, or 0 if there is none yet.
 *
 * Return value:
 *   The address, valid as long as the id; NULL with errno set on failure.
 *
 * Errors:
 *   EINVAL; see rdma_get_local_addr(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. Events
 *   change the address: rdma_get_cm_event counts as use of the id.
 *
 * See also:
 *   rdma_get_peer_addr(3), rdma_get_src_port(3), rdma_bind_addr(3), rdma_resolve_addr(3), rdma_cm(7)
 */
RDMACM_HELPER
struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id);

/**
 * Returns the peer's address of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Returns a pointer into the id. sa_family is the type of the address, or 0 if there is none yet.
 *
 * Return value:
 *   The address, valid as long as the id; NULL with errno set on failure.
 *
 * Errors:
 *   EINVAL; see rdma_get_peer_addr(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. Events
 *   change the address: rdma_get_cm_event counts as use of the id.
 *
 * See also:
 *   rdma_get_local_addr(3), rdma_get_dst_port(3), rdma_bind_addr(3), rdma_resolve_addr(3),
 *   rdma_cm(7)
 */
RDMACM_HELPER
struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id);

/* end of src/export/address.rs */

/* made from src/export/endpoint.rs */

/**
 * Creates an identifier that is ready to connect or to listen.
 *
 * Arguments:
 *   id: where the id is returned, which the caller owns until rdma_destroy_ep. Unchanged on
 *       failure.
 *   res: a list returned by rdma_getaddrinfo, or built by the caller. Only read during the call.
 *   pd: protection domain for the queue pair, or NULL for the default one of the device.
 *   qp_init_attr: attributes of a queue pair, or NULL to create none. Updated with the actual
 *       sizes.
 *
 * Description:
 *   Creates a synchronous id. For an active entry of the list the call resolves address and route,
 *   each within two seconds, and creates the queue pair; the id is ready for rdma_connect. For a
 *   passive entry (RAI_PASSIVE) it binds the address; the id is ready for rdma_listen, and
 *   rdma_get_request creates a queue pair with the same attributes for each connection.
 *
 *   The entries are tried in order until one succeeds. ai_port_space and ai_qp_type select the types
 *   of the id and the queue pair, ai_route replaces the resolution of the route, and ai_connect is
 *   sent ahead of the private data of rdma_connect.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. The error is that of the last entry.
 *
 * Errors:
 *   EACCES, EADDRINUSE, EADDRNOTAVAIL, EHOSTUNREACH, EINTR, EINVAL, EMFILE, ENETUNREACH, ENODEV,
 *   ENOENT, ENOMEM, ETIMEDOUT; see rdma_create_ep(3).
 *
 * Notes:
 *   The errors of rdma_create_event_channel, rdma_create_id, rdma_bind_addr, rdma_resolve_addr,
 *   rdma_resolve_route and rdma_create_qp apply too. rdma_migrate_id makes the id asynchronous.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_destroy_ep(3), rdma_getaddrinfo(3), rdma_connect(3), rdma_listen(3), rdma_get_request(3),
 *   rdma_migrate_id(3), rdma_cm(7)
 */
int rdma_create_ep(struct rdma_cm_id **id,
                   struct rdma_addrinfo *res,
                   struct ibv_pd *pd,
                   struct ibv_qp_init_attr *qp_init_attr);

/**
 * Destroys an identifier, its queue pair and its shared receive queue.
 *
 * Arguments:
 *   id: an id of rdma_create_ep or rdma_get_request, which becomes invalid; NULL has no effect.
 *
 * Description:
 *   Destroys the queue pair, the completion queues that the library created with it, the shared
 *   receive queue, and the id.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Deregister memory only after the connection has ended. Errors of the device and the kernel are
 *   not reported; the id is destroyed in any case.
 *
 * Thread safety:
 *   No other thread may be in a call with the id.
 *
 * See also:
 *   rdma_create_ep(3), rdma_destroy_id(3), rdma_destroy_qp(3), rdma_cm(7)
 */
void rdma_destroy_ep(struct rdma_cm_id *id);

/**
 * Returns the next connection request of a synchronous listener.
 *
 * Arguments:
 *   listen: a synchronous id after rdma_listen.
 *   id: where the id of the connection is returned, which the caller owns until rdma_destroy_ep.
 *       Unchanged on failure.
 *
 * Description:
 *   Waits for a connection request. The new id is synchronous; its event is the request, with the
 *   parameters and the private data of the peer. If the listener was created by rdma_create_ep with
 *   attributes for a queue pair, a queue pair is created. Answer the request with rdma_accept or
 *   rdma_reject.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINTR, EINVAL, ENODATA, ENODEV, ENOMEM, ETIMEDOUT; see rdma_get_request(3).
 *
 * Notes:
 *   A request whose queue pair cannot be created is rejected, and the error returned; the listener
 *   remains usable.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_ep(3), rdma_listen(3), rdma_accept(3), rdma_reject(3), rdma_destroy_ep(3),
 *   rdma_cm(7)
 */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);

/* end of src/export/endpoint.rs */

/* made from src/export/conn.rs */

/**
 * Requests a connection to the peer.
 *
 * Arguments:
 *   id: an id with a resolved route.
 *   conn_param: parameters of the connection, or NULL. Only read during the call.
 *
 * Description:
 *   For a connected service, sends a connection request. RDMA_CM_EVENT_ESTABLISHED reports success,
 *   or, for an id without a queue pair of rdma_create_qp, RDMA_CM_EVENT_CONNECT_RESPONSE, after
 *   which the application changes the state of its own queue pair and calls rdma_establish.
 *
 *   For a datagram service, queries the queue pair that serves the peer's port.
 *   RDMA_CM_EVENT_ESTABLISHED reports it in param.ud, with what is needed to send to it.
 *
 *   RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE and RDMA_CM_EVENT_CONNECT_ERROR report
 *   failures.
 *
 *   Fields of conn_param:
 *   private_data: data for the peer's event, private_data_len bytes.
 *   responder_resources: number of outstanding RDMA reads and atomics that the local side
 *       accepts from the peer; RDMA_MAX_RESP_RES for the limit of the device.
 *   initiator_depth: number of outstanding RDMA reads and atomics that the local side issues;
 *       RDMA_MAX_INIT_DEPTH for the limit of the device.
 *   flow_control: nonzero if the hardware supports flow control.
 *   retry_count: 0 to 7, number of retransmissions of a packet that is not acknowledged.
 *   rnr_retry_count: 0 to 7, number of times that the peer retries a send for which this side
 *       has posted no receive; 7 means no limit. The other direction is the peer's choice. Ignored
 *       on iWARP.
 *   srq: nonzero if the queue pair has a shared receive queue; ignored if the id has a queue
 *       pair.
 *   qp_num: number of the queue pair; ignored if the id has a queue pair.
 *
 *   Without conn_param the depths are the limits of the device, and both retry counts are 7.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. For an asynchronous id, 0 means that the request was
 *   sent.
 *
 * Errors:
 *   EACCES, EBADF, ECONNREFUSED, ECONNRESET, EHOSTUNREACH, EINTR, EINVAL, EIO, ENODATA, ENODEV,
 *   ENOMEM, ENXIO, ETIMEDOUT; see rdma_connect(3).
 *
 * Notes:
 *   The limit of the private data depends on transport and service: 56 bytes with IP addresses on
 *   InfiniBand and RoCE, 180 for datagram services, up to 255 on iWARP. It includes ai_connect of an
 *   id of rdma_create_ep.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_resolve_route(3), rdma_create_qp(3), rdma_establish(3), rdma_disconnect(3), rdma_accept(3),
 *   rdma_cm(7)
 */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/**
 * Completes a connection whose queue pair the application manages.
 *
 * Arguments:
 *   id: an id without a queue pair of rdma_create_qp, after RDMA_CM_EVENT_CONNECT_RESPONSE.
 *
 * Description:
 *   Completes the establishment of a connection whose queue pair the application created itself, and
 *   whose state it changes with the attributes of rdma_init_qp_attr. The peer gets
 *   RDMA_CM_EVENT_ESTABLISHED. For queue pairs of rdma_create_qp the library does all this.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOENT, ENXIO; see rdma_establish(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_connect(3), rdma_init_qp_attr(3), rdma_disconnect(3), rdma_cm(7)
 */
int rdma_establish(struct rdma_cm_id *id);

/**
 * Listens for connection requests.
 *
 * Arguments:
 *   id: an id, which may be unbound.
 *   backlog: maximum number of pending requests; 0 or less selects the limit of the system.
 *
 * Description:
 *   RDMA_CM_EVENT_CONNECT_REQUEST reports each request for the address of the id, for datagram
 *   services too. An id that is bound to an address of a device listens on this device. An id with a
 *   wildcard address listens on all devices, including those that are added later. An unbound id is
 *   bound to a free port.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EADDRINUSE, EADDRNOTAVAIL, EBADF, EINVAL, ENODATA, ENODEV, ENOMEM, ENXIO; see
 *   rdma_listen(3).
 *
 * Notes:
 *   The limit of the system is the sysctl net.rdma_ucm.max_backlog.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_bind_addr(3), rdma_get_request(3), rdma_accept(3), rdma_reject(3), rdma_cm(7)
 */
int rdma_listen(struct rdma_cm_id *id, int backlog);

/**
 * Accepts a connection request.
 *
 * Arguments:
 *   id: the id of the connection request, not the listener.
 *   conn_param: parameters of the connection, or NULL. Only read during the call.
 *
 * Description:
 *   Moves the id's queue pair to a state in which it can send and receive, and sends the response.
 *   RDMA_CM_EVENT_ESTABLISHED follows when the peer is ready. For datagram services no event
 *   follows.
 *
 *   The fields of conn_param are described in rdma_connect(3); retry_count is ignored. Without
 *   conn_param, rnr_retry_count is 7. Without it, and for depths of RDMA_MAX_RESP_RES and
 *   RDMA_MAX_INIT_DEPTH, the depths are those of the request, up to the limits of the device.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A call that is refused for its arguments changes
 *   nothing and can be repeated. After any other failure the queue pair is in the error state, and
 *   the id must be destroyed.
 *
 * Errors:
 *   EACCES, EBADF, ECONNREFUSED, ECONNRESET, EINTR, EINVAL, EIO, ENODATA, ENODEV, ENOMEM, ENXIO,
 *   ETIMEDOUT; see rdma_accept(3).
 *
 * Notes:
 *   Post receives before this call, so that the first send of the peer finds one. The private data
 *   of a response is limited to 196 bytes on InfiniBand and RoCE, to 136 for datagram services.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_listen(3), rdma_get_request(3), rdma_reject(3), rdma_create_qp(3), rdma_connect(3),
 *   rdma_cm(7)
 */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/**
 * Rejects a connection request.
 *
 * Arguments:
 *   id: the id of the connection request, not the listener.
 *   private_data: data for the peer's event, or NULL. Only read during the call.
 *   private_data_len: number of bytes in private_data.
 *
 * Description:
 *   The peer gets RDMA_CM_EVENT_REJECTED; its status is the reason "consumer" (28 on InfiniBand and
 *   RoCE), see rdma_status(7). The id cannot be used afterwards and must be destroyed by the caller.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOENT, ENXIO; see rdma_reject(3).
 *
 * Notes:
 *   A reject carries at most 148 bytes of private data on InfiniBand and RoCE, 136 for datagram
 *   services.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_accept(3), rdma_listen(3), rdma_get_request(3), rdma_reject_ece(3), rdma_cm(7)
 */
int rdma_reject(struct rdma_cm_id *id,
                const void *private_data,
                uint8_t private_data_len);

/**
 * Notifies the connection manager of an event of the queue pair.
 *
 * Arguments:
 *   id: the id of the queue pair.
 *   event: IBV_EVENT_COMM_EST.
 *
 * Description:
 *   A queue pair can receive data before the last message of the connection establishment arrives;
 *   the device then reports IBV_EVENT_COMM_EST, see ibv_get_async_event(3). With this call the
 *   connection is established even if that message never arrives.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, EISCONN, ENODATA, ENOENT, ENXIO; see rdma_notify(3).
 *
 * Notes:
 *   Few programs need this function: the peer retransmits the message if it is lost.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_accept(3), rdma_connect(3), ibv_get_async_event(3), rdma_cm(7)
 */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);

/**
 * Disconnects an identifier.
 *
 * Arguments:
 *   id: a connected id.
 *
 * Description:
 *   Moves the queue pair to the error state, so that outstanding work requests complete with
 *   IBV_WC_WR_FLUSH_ERR, and sends a disconnect request. Both sides get RDMA_CM_EVENT_DISCONNECTED.
 *   On iWARP, posted work requests complete first.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINTR, EINVAL, ENODATA, ENODEV, ENXIO, ETIMEDOUT; see rdma_disconnect(3).
 *
 * Notes:
 *   The side that gets RDMA_CM_EVENT_DISCONNECTED first calls this function too, to flush its own
 *   queue pair.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_connect(3), rdma_accept(3), rdma_destroy_qp(3), rdma_cm(7)
 */
int rdma_disconnect(struct rdma_cm_id *id);

/* end of src/export/conn.rs */

/* made from src/export/ece.rs */

/**
 * Sets the ECE options to offer to the peer.
 *
 * Arguments:
 *   id: an id without a queue pair of rdma_create_qp.
 *   ece: options of the application's own queue pair, as returned by ibv_query_ece. Only read
 *       during the call.
 *
 * Description:
 *   With enhanced connection establishment (ECE) the two devices negotiate vendor-specific options.
 *   For queue pairs of rdma_create_qp the library does this; an application that creates its own
 *   queue pair calls this function before rdma_connect or rdma_accept.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL; see rdma_set_local_ece(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_get_remote_ece(3), rdma_reject_ece(3), ibv_query_ece(3), rdma_cm(7)
 */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/**
 * Returns the ECE options of the peer.
 *
 * Arguments:
 *   id: an id without a queue pair of rdma_create_qp, after RDMA_CM_EVENT_CONNECT_REQUEST or
 *       RDMA_CM_EVENT_CONNECT_RESPONSE.
 *   ece: where the options are returned.
 *
 * Description:
 *   Returns the options that the peer offered in its request or selected in its response; all zero
 *   if it sent none. They are meant for ibv_set_ece.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL; see rdma_get_remote_ece(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_set_local_ece(3), rdma_reject_ece(3), ibv_set_ece(3), rdma_cm(7)
 */
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/**
 * Rejects a connection request because of its ECE options.
 *
 * Arguments:
 *   id: the id of the connection request, not the listener.
 *   private_data: data for the peer's event, or NULL. Only read during the call.
 *   private_data_len: number of bytes in private_data.
 *
 * Description:
 *   The peer gets RDMA_CM_EVENT_REJECTED; its status is the reason "vendor option not supported"
 *   (35), because the options that it offered with rdma_set_local_ece are not acceptable. The id
 *   cannot be used afterwards and must be destroyed by the caller.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOENT, ENXIO; see rdma_reject_ece(3).
 *
 * Notes:
 *   A reject carries at most 148 bytes of private data on InfiniBand and RoCE, 136 for datagram
 *   services. The kernel must support reject reasons (5.8 or later); older ones send the default
 *   reason.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_reject(3), rdma_get_remote_ece(3), rdma_set_local_ece(3), rdma_accept(3), rdma_cm(7)
 */
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);

/* end of src/export/ece.rs */

/* made from src/export/qp.rs */

/**
 * Creates the queue pair of an identifier.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   pd: a protection domain of this device, or NULL for id->pd.
 *   qp_init_attr: attributes of the queue pair. Updated with the actual sizes and the queues in
 *       use.
 *
 * Description:
 *   The queue pair is id->qp. The library changes its state as the connection is established and
 *   closed. Receives can be posted immediately; a datagram queue pair can send immediately, too.
 *
 *   Completion queues that the attributes name are used. Those that are NULL are taken from the id.
 *   If the id has none, and cap requests work requests in that direction, the library creates a
 *   completion queue with a channel: id->send_cq, id->send_cq_channel, id->recv_cq and
 *   id->recv_cq_channel. The shared receive queue is that of the attributes or id->srq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. On failure the call destroys what it created, and
 *   the id is unchanged.
 *
 * Errors:
 *   EACCES, EBADF, ECONNREFUSED, EINVAL, ENODATA, ENOMEM, ENXIO; see rdma_create_qp(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_qp_ex(3), rdma_destroy_qp(3), rdma_create_srq(3), rdma_post_recv(3),
 *   rdma_get_recv_comp(3), ibv_create_qp(3), rdma_cm(7)
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);

/**
 * Creates the queue pair of an identifier, with extended attributes.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   qp_init_attr: attributes of the queue pair. Updated with the actual sizes, the queues and
 *       the protection domain in use.
 *
 * Description:
 *   Like rdma_create_qp, with the attributes of ibv_create_qp_ex. The protection domain is that of
 *   the attributes, or id->pd if IBV_QP_INIT_ATTR_PD is not set in comp_mask or pd is NULL.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. On failure the call destroys what it created, and
 *   the id is unchanged.
 *
 * Errors:
 *   EACCES, EBADF, ECONNREFUSED, EINVAL, ENODATA, ENOMEM, ENXIO; see rdma_create_qp_ex(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_qp(3), rdma_destroy_qp(3), ibv_create_qp_ex(3), rdma_cm(7)
 */
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);

/**
 * Destroys the queue pair of an identifier.
 *
 * Arguments:
 *   id: the id; NULL, or an id without a queue pair, has no effect.
 *
 * Description:
 *   Destroys id->qp and the completion queues that the library created for it. Completion queues of
 *   the application remain.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Call this function before rdma_destroy_id. Outstanding work requests never complete: to get
 *   their completions, call rdma_disconnect and poll the completion queues first.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. Waits for a
 *   thread that changes the state of the queue pair in rdma_get_cm_event.
 *
 * See also:
 *   rdma_create_qp(3), rdma_disconnect(3), rdma_destroy_id(3), ibv_destroy_qp(3), rdma_cm(7)
 */
void rdma_destroy_qp(struct rdma_cm_id *id);

/**
 * Returns the attributes for a state change of the application's queue pair.
 *
 * Arguments:
 *   id: the id of the connection.
 *   qp_attr: qp_state is the new state. Filled with the attributes that ibv_modify_qp needs for
 *       it.
 *   qp_attr_mask: where the mask for ibv_modify_qp is returned.
 *
 * Description:
 *   For applications that do not use rdma_create_qp: they request the attributes of IBV_QPS_INIT,
 *   IBV_QPS_RTR and IBV_QPS_RTS in turn, and call ibv_modify_qp with each.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EACCES, EBADF, EINVAL, ENODATA, ENOENT, ENXIO; see rdma_init_qp_attr(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_establish(3), rdma_accept(3), rdma_connect(3), ibv_modify_qp(3), rdma_cm(7)
 */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask);

/* end of src/export/qp.rs */

/* made from src/export/multicast.rs */

/**
 * Joins a multicast group as a full member.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   addr: address of the group. Only read during the call.
 *   context: application context, returned as param.ud.private_data of the group's events.
 *
 * Description:
 *   RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR reports the result. With the
 *   former the id's queue pair, if there is one, is attached to the group and receives its messages;
 *   param.ud holds what is needed to send: the attributes of an address handle, the queue pair
 *   number (0xFFFFFF) and the Q_Key.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. For an asynchronous id, 0 means that the join has
 *   started.
 *
 * Errors:
 *   EACCES, EBADF, EINTR, EINVAL, EIO, ENODATA, ENODEV, ENOMEM, ENOSYS, ENXIO, ETIMEDOUT; see
 *   rdma_join_multicast(3).
 *
 * Notes:
 *   rdma_bind_addr or rdma_resolve_addr selects the device. A later RDMA_CM_EVENT_MULTICAST_ERROR
 *   means that the membership was lost; the group must still be left. A synchronous id whose join
 *   fails is not a member.
 *
 *   On RoCE v2 the kernel rejects IPv6 groups with error 524, which has no name in errno.h.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_join_multicast_ex(3), rdma_leave_multicast(3), rdma_resolve_addr(3), rdma_post_ud_send(3),
 *   ibv_create_ah(3), rdma_cm(7)
 */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context);

/**
 * Joins a multicast group with flags.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   mc_join_attr: group and flags. Only read during the call.
 *   context: application context, returned as param.ud.private_data of the group's events.
 *
 * Description:
 *   Like rdma_join_multicast. comp_mask of the attributes must be RDMA_CM_JOIN_MC_ATTR_ADDRESS and
 *   RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS; addr is the address of the group, and join_flags is one of:
 *   RDMA_MC_JOIN_FLAG_FULLMEMBER: send and receive.
 *   RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER: only send; the queue pair is not attached.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. For an asynchronous id, 0 means that the join has
 *   started.
 *
 * Errors:
 *   EACCES, EBADF, EINTR, EINVAL, EIO, ENODATA, ENODEV, ENOMEM, ENOSYS, ENXIO, EOPNOTSUPP,
 *   ETIMEDOUT; see rdma_join_multicast_ex(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_join_multicast(3), rdma_leave_multicast(3), rdma_cm(7)
 */
int rdma_join_multicast_ex(struct rdma_cm_id *id,
                           struct rdma_cm_join_mc_attr_ex *mc_join_attr,
                           void *context);

/**
 * Leaves a multicast group.
 *
 * Arguments:
 *   id: an id that joined the group.
 *   addr: address of the group. Only read during the call.
 *
 * Description:
 *   Detaches the queue pair, leaves the group, and waits until every event of the group that was
 *   fetched is acknowledged. A join in progress is cancelled. If a group was joined several times,
 *   the last join is undone.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. If the kernel refuses, the id remains a member.
 *
 * Errors:
 *   EACCES, EADDRNOTAVAIL, EBADF, EINVAL, ENODATA, ENOENT, ENXIO, ETIMEDOUT; see
 *   rdma_leave_multicast(3).
 *
 * Notes:
 *   Messages that were received before can still complete afterwards. rdma_destroy_id leaves all
 *   groups.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. A thread
 *   that still has to acknowledge an event of the group must not call this function.
 *
 * See also:
 *   rdma_join_multicast(3), rdma_join_multicast_ex(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

/* end of src/export/multicast.rs */

/* made from src/export/addrinfo.rs */

/**
 * Translates names to addresses for rdma_create_ep and rdma_resolve_addr.
 *
 * Arguments:
 *   node: a host name, a numeric address, or NULL.
 *   service: a service name, a port number in text form, or NULL.
 *   hints: restrictions on the result, or NULL. Only read during the call.
 *   res: where the list is returned, which the caller owns until rdma_freeaddrinfo. Unchanged on
 *       failure.
 *
 * Description:
 *   Names are resolved as by getaddrinfo. Each address is an entry of the list, in order of
 *   preference. With RAI_PASSIVE in ai_flags of the hints the name is the local address
 *   (ai_src_addr), otherwise it is the peer's (ai_dst_addr). ai_port_space and ai_qp_type of an
 *   entry are the types of the id and the queue pair to use with it.
 *
 *   The fields of hints below are used; all others must be zero:
 *   ai_flags: RAI_PASSIVE, RAI_NUMERICHOST (node is a numeric address), RAI_FAMILY (ai_family is
 *       the format of node), RAI_NOROUTE (do not resolve a route).
 *   ai_family: AF_INET, AF_INET6, AF_IB, or 0 for any.
 *   ai_qp_type: IBV_QPT_RC, IBV_QPT_UD and so on, or 0 for the default of the port space.
 *   ai_port_space: RDMA_PS_TCP and so on, or 0 for the default of the service or the queue pair
 *       type.
 *   ai_src_addr: without RAI_PASSIVE, the local address to use, ai_src_len bytes.
 *   ai_dst_addr: address of the peer, ai_dst_len bytes, if neither node nor service is given.
 *   ai_route: the path to use, a struct ibv_path_record or a struct ibv_path_data.
 *
 *   With AF_IB, RAI_FAMILY and RAI_NUMERICHOST, node is a GID in text form.
 *
 *   If the daemon ibacm runs, it is queried for the route to the first address (ai_route). With
 *   AF_IB, an entry with the native addresses of this route precedes the others; its ai_connect must
 *   be sent ahead of the private data of rdma_connect, as rdma_create_ep does.
 *
 *   With RAI_SA in ai_flags, service is the number or the name of a service that is registered with
 *   the subnet administrator of an InfiniBand fabric, and the entries are the ports that offer it.
 *   The fabric of the local address in the hints is queried, or the fabric of each port in turn
 *   until one knows the service.
 *
 * Return value:
 *   0 on success, an EAI_ code of getaddrinfo for gai_strerror, or -1 with errno set. EAI_BADFLAGS
 *   equals -1 too, and does not set errno: to distinguish the two, set errno to 0 before the call.
 *   EAI_SYSTEM sets errno.
 *
 * Errors:
 *   EINVAL, ENODEV, ENOENT, ENOMEM, ENOSYS, EOPNOTSUPP; see rdma_getaddrinfo(3).
 *
 * Notes:
 *   The C library returns only the first entry. rdma_create_ep tries one after the other.
 *
 *   The query to ibacm takes at most two seconds, or the number of milliseconds in the environment
 *   variable RDMACM_IBACM_TIMEOUT_MS; 0 disables it. With RAI_NUMERICHOST or RAI_NOROUTE ibacm only
 *   answers from its cache. If the daemon is absent or does not answer, it is not queried again for
 *   five seconds.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_freeaddrinfo(3), rdma_create_ep(3), rdma_resolve_addrinfo(3), getaddrinfo(3),
 *   gai_strerror(3), rdma_cm(7)
 */
int rdma_getaddrinfo(const char *node,
                     const char *service,
                     const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **res);

/**
 * Frees a list of addresses.
 *
 * Arguments:
 *   res: the first entry of a list returned by rdma_getaddrinfo or rdma_query_addrinfo, which
 *       becomes invalid; NULL has no effect.
 *
 * Description:
 *   Frees all entries with their addresses, names and routes.
 *
 * Return value:
 *   None.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_getaddrinfo(3), rdma_query_addrinfo(3), rdma_cm(7)
 */
void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/**
 * Starts to translate names to addresses; an event reports the result.
 *
 * Arguments:
 *   id: any id; with RAI_SA an id that is bound to an InfiniBand port.
 *   node: see rdma_getaddrinfo(3).
 *   service: see rdma_getaddrinfo(3); with RAI_SA the number or the name, of at most 63 bytes,
 *       of a service that is registered with the subnet administrator.
 *   hints: restrictions on the result, or NULL. Only read during the call.
 *
 * Description:
 *   Like rdma_getaddrinfo, without waiting. RDMA_CM_EVENT_ADDRINFO_RESOLVED reports success, after
 *   which rdma_query_addrinfo returns the list; RDMA_CM_EVENT_ADDRINFO_ERROR reports failure. Two
 *   more flags select the service to query:
 *   RAI_DNS: the resolver of the system. The default.
 *   RAI_SA: the InfiniBand subnet administrator, once per id.
 *
 *   The status of the error event is a negative error number; -ENOENT means that the name does not
 *   exist. During the look-up the id can be destroyed or moved to another channel; neither waits for
 *   a name server.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. For an asynchronous id, 0 means that the look-up has
 *   started.
 *
 * Errors:
 *   EACCES, EAGAIN, EBADF, EBUSY, EINTR, EINVAL, ENODATA, ENOENT, ENOMEM, ENOSYS, ENXIO, EOPNOTSUPP;
 *   see rdma_resolve_addrinfo(3).
 *
 * Notes:
 *   Requires a kernel that resolves InfiniBand services and accepts events from applications (6.18
 *   or later).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_query_addrinfo(3), rdma_getaddrinfo(3), rdma_get_cm_event(3), rdma_cm(7)
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id,
                          const char *node,
                          const char *service,
                          const struct rdma_addrinfo *hints);

/**
 * Returns the result of rdma_resolve_addrinfo.
 *
 * Arguments:
 *   id: the id, after RDMA_CM_EVENT_ADDRINFO_RESOLVED.
 *   info: where the list is returned, which the caller owns until rdma_freeaddrinfo. Unchanged
 *       on failure.
 *
 * Description:
 *   Returns a list like that of rdma_getaddrinfo. The result can be fetched once; then the next
 *   look-up can start.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL, ENOENT, ENOMEM; see rdma_query_addrinfo(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_resolve_addrinfo(3), rdma_freeaddrinfo(3), rdma_cm(7)
 */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

/* end of src/export/addrinfo.rs */

/* made from src/export/device.rs */

/**
 * Opens all RDMA devices.
 *
 * Arguments:
 *   num_devices: where the number of devices is returned, or NULL. 0 on failure.
 *
 * Description:
 *   Returns the open devices of the process, on which to create objects that several ids use.
 *   Devices that cannot be opened are left out.
 *
 * Return value:
 *   A NULL-terminated array of contexts, to be freed by rdma_free_devices; NULL with errno set on
 *   failure.
 *
 * Errors:
 *   ENODEV, ENOMEM; see rdma_get_devices(3).
 *
 * Notes:
 *   id->verbs refers to the same contexts: do not close them. A context stays open as long as a list
 *   or an id refers to it, and a device stays known until it is removed.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_free_devices(3), rdma_bind_addr(3), ibv_get_device_list(3), rdma_cm(7)
 */
struct ibv_context **rdma_get_devices(int *num_devices);

/**
 * Frees an array of devices.
 *
 * Arguments:
 *   list: an array returned by rdma_get_devices, which becomes invalid; NULL has no effect.
 *
 * Description:
 *   Frees the array. A device that was removed is closed when nothing refers to it any more.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Before this call, destroy the objects that were created on the contexts, unless ids on the same
 *   devices keep the contexts open.
 *
 * Thread safety:
 *   Any thread may call this function at any time.
 *
 * See also:
 *   rdma_get_devices(3), rdma_cm(7)
 */
void rdma_free_devices(struct ibv_context **list);

/* end of src/export/device.rs */

#ifdef RDMACM_INLINE_HELPERS
RDMACM_HELPER struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

RDMACM_HELPER struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
