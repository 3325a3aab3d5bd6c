/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections over RDMA: event channels, identifiers, addresses, queue pairs, multicast.
 *
 * Types stand here as C needs them. The prototypes between "made from" marks are made from the Rust
 * functions by `cargo run -p headers`; change their comments there.
 */
#ifndef RDMA_CMA_H
#define RDMA_CMA_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <infiniband/verbs.h>
#include <infiniband/sa.h>

/*
 * Small functions are also given as inline code: optimised builds call nothing, all others, function
 * pointers and other languages use the exported symbol. RDMACM_NO_INLINE turns the inline code off.
 */
#if !defined(RDMACM_NO_INLINE) && defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__NO_INLINE__)
#define RDMACM_INLINE extern __inline__ __attribute__((__gnu_inline__, __always_inline__))
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
	/* rdma_resolve_addrinfo has an answer, or none. */
	RDMA_CM_EVENT_ADDRINFO_RESOLVED = 16,
	RDMA_CM_EVENT_ADDRINFO_ERROR = 17,
	/* From rdma_write_cm_event; param.arg is the writer's. */
	RDMA_CM_EVENT_USER = 18,
	/* The library's own; programs never see it. */
	RDMA_CM_EVENT_INTERNAL = 19
};

/* The service that an id speaks; TCP means reliable connections, UDP datagrams. */
enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002,
	RDMA_PS_TCP = 0x0106,
	RDMA_PS_UDP = 0x0111,
	RDMA_PS_IB = 0x013F
};

/* Parts of a service id in a struct sockaddr_ib, before conversion to big endian. */
#define RDMA_IB_IP_PS_MASK 0xFFFFFFFFFFFF0000ULL
#define RDMA_IB_IP_PORT_MASK 0x000000000000FFFFULL
#define RDMA_IB_IP_PS_TCP 0x0000000001060000ULL
#define RDMA_IB_IP_PS_UDP 0x0000000001110000ULL
#define RDMA_IB_PS_IB 0x00000000013F0000ULL

/* The Q_Key of datagram queue pairs in port space UDP, multicast included. */
#define RDMA_UDP_QKEY 0x01234567

/* The InfiniBand (or RoCE) view of an id's two addresses. */
struct rdma_ib_addr {
	union ibv_gid sgid;
	union ibv_gid dgid;
	__be16 pkey;
};

/* Local and remote address of an id; ss_family of the storage says which member counts. */
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
	/* num_paths records, the library's; NULL before the route is resolved and on iWARP. */
	struct ibv_sa_path_rec *path_rec;
	int num_paths;
};

struct rdma_event_channel {
	/* Readable when an event waits: for poll, select, epoll and O_NONBLOCK. Not to be closed. */
	int fd;
};

/*
 * A connection, a listener or a datagram service. Programs read all fields and may set context;
 * queues and pd may be set before rdma_create_qp to be used by it.
 */
struct rdma_cm_id {
	/* The device, NULL until an address has bound the id to one. */
	struct ibv_context *verbs;
	struct rdma_event_channel *channel;
	void *context;
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	/* From 1; 0 while there is no device. */
	uint8_t port_num;
	/* The event of the last synchronous call, given back by the next one. */
	struct rdma_cm_event *event;
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

/* "As much as the device can", for the two fields of rdma_conn_param. */
enum {
	RDMA_MAX_RESP_RES = 0xFF,
	RDMA_MAX_INIT_DEPTH = 0xFF
};

/* What the two sides of a connection tell each other. */
struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	/* RDMA reads and atomics that the peer may have outstanding here. */
	uint8_t responder_resources;
	/* RDMA reads and atomics that may be outstanding from here. */
	uint8_t initiator_depth;
	uint8_t flow_control;
	/* Of the asking side; 0 to 7. */
	uint8_t retry_count;
	/* 0 to 7, where 7 means without end. */
	uint8_t rnr_retry_count;
	/* For queue pairs that are not the id's: both are taken from the id's queue pair if it has one. */
	uint8_t srq;
	uint32_t qp_num;
};

/* How to reach a datagram service or a multicast group. */
struct rdma_ud_param {
	const void *private_data;
	uint8_t private_data_len;
	struct ibv_ah_attr ah_attr;
	uint32_t qp_num;
	uint32_t qkey;
};

struct rdma_cm_event {
	struct rdma_cm_id *id;
	/* The listener, for CONNECT_REQUEST, whose id is the new connection's. */
	struct rdma_cm_id *listen_id;
	enum rdma_cm_event_type event;
	/* 0, a negative errno, or for REJECTED the transport's reason. */
	int status;
	union {
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
		uint64_t arg;
	} param;
};

/* Flags of rdma_addrinfo.ai_flags. RAI_SA and RAI_DNS exclude each other. */
#define RAI_PASSIVE 0x00000001
#define RAI_NUMERICHOST 0x00000002
#define RAI_NOROUTE 0x00000004
#define RAI_FAMILY 0x00000008
#define RAI_SA 0x00000010
#define RAI_DNS 0x00000020

/* What a name means for RDMA; from rdma_getaddrinfo, to rdma_create_ep. */
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
	/* Bytes of path data (struct ibv_path_data), if the route is known. */
	size_t ai_route_len;
	void *ai_route;
	/* Bytes that go before the private data of a connection request. */
	size_t ai_connect_len;
	void *ai_connect;
	struct rdma_addrinfo *ai_next;
};

/* Which fields of rdma_cm_join_mc_attr_ex are set. */
enum rdma_cm_join_mc_attr_mask {
	RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1 << 0,
	RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 1 << 1,
	RDMA_CM_JOIN_MC_ATTR_RESERVED = 1 << 2
};

/* How to be a member of a group. */
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
	/* uint8_t, the type of service of the packets. */
	RDMA_OPTION_ID_TOS = 0,
	/* int, as SO_REUSEADDR. */
	RDMA_OPTION_ID_REUSEADDR = 1,
	/* int, as IPV6_V6ONLY. */
	RDMA_OPTION_ID_AFONLY = 2,
	/* uint8_t, a queue pair's acknowledge timeout: 4.096 us times 2 to the power of it. */
	RDMA_OPTION_ID_ACK_TIMEOUT = 3
};

/* Options of level RDMA_OPTION_IB. */
enum {
	/* struct ibv_path_data[], takes the place of rdma_resolve_route. */
	RDMA_OPTION_IB_PATH = 1
};

/* made from src/export/channel.rs */

/**
 * Opens a channel on which events are reported.
 *
 * Description:
 *   An event channel is an open file of the kernel's rdma_cm device. Every id that is made on it, or
 *   moved to it by rdma_migrate_id, reports there what happens to it. fd of the channel becomes
 *   readable when an event waits, so it can be used with poll, select and epoll.
 *
 * Return value:
 *   The channel, or NULL with errno. It is given back by rdma_destroy_event_channel.
 *
 * Errors:
 *   EACCES: the caller may not open the rdma_cm device.
 *   EMFILE: the process has too many open files.
 *   ENFILE: the system has too many open files.
 *   ENODEV: the machine has no RDMA device.
 *   ENOENT: the rdma_cm device is not there; the kernel module rdma_ucm may not be loaded.
 *   ENOMEM: out of memory.
 *   ENOSYS: the kernel speaks a version of the interface that the library does not know.
 *   ENXIO: the node in /dev/infiniband is another device.
 *
 * Notes:
 *   The file is closed on exec. A failed call may be repeated, for instance after a module was
 *   loaded.
 *   To make rdma_get_cm_event not wait, set O_NONBLOCK on fd with fcntl. Do not read, write or close
 *   fd.
 *
 * Thread safety:
 *   Any thread at any time.
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
 *   channel: the channel, not to be used afterwards; NULL does nothing.
 *
 * Description:
 *   Closes the file and frees the channel. Events that were not fetched are lost.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Destroy the ids of the channel, and acknowledge its events, before. For an id that is still
 *   there the kernel's side ends with the channel: its calls fail with EBADF from then on, and
 *   rdma_destroy_id only frees it.
 *
 * Thread safety:
 *   No other thread may be in a call with the channel.
 *
 * See also:
 *   rdma_create_event_channel(3), rdma_destroy_id(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/**
 * Fetches the next event of a channel.
 *
 * Arguments:
 *   channel: where to look.
 *   event: where the event is returned; it belongs to the caller until rdma_ack_cm_event. Not
 *       written on failure.
 *
 * Description:
 *   Waits for an event, unless the channel's fd has O_NONBLOCK. The library does its own part before
 *   it returns the event: it fills in the id's addresses, device and route, moves the id's queue
 *   pair through its states, attaches it to a multicast group, and makes the id of a connection
 *   request.
 *   id of the event is whose event it is, or for RDMA_CM_EVENT_CONNECT_REQUEST the id of the new
 *   connection, with listen_id for the listener. status is 0 or why it failed: a negative error
 *   number, or for RDMA_CM_EVENT_REJECTED the reason of the transport. param.ud is set for ids of
 *   datagram services, param.arg for RDMA_CM_EVENT_USER, param.conn otherwise. Private data is
 *   inside the event. rdma_cm(7) lists all events.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is no event, and fd has O_NONBLOCK.
 *   EBADF: the channel was closed.
 *   EINTR: a signal came.
 *   EINVAL: channel or event is NULL.
 *   ENODATA: the kernel gave no event.
 *   ENOMEM: out of memory; no event is lost.
 *   EPERM: the caller is a child of fork, and the process that made the channel still runs.
 *
 * Notes:
 *   An event of an id that is being destroyed is dropped here. So is a connection request for which
 *   no id can be made; the peer gets a reject.
 *
 * Thread safety:
 *   Any number of threads may wait on one channel; each event goes to one of them. Which of two
 *   events of one id is handled first is then up to the threads.
 *
 * See also:
 *   rdma_ack_cm_event(3), rdma_event_str(3), rdma_create_event_channel(3), rdma_cm(7)
 */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);

/**
 * Gives an event back.
 *
 * Arguments:
 *   event: the event, with its private data not to be used afterwards.
 *
 * Description:
 *   Every event that rdma_get_cm_event returns is given back once. rdma_destroy_id,
 *   rdma_leave_multicast and rdma_migrate_id wait for the events of their id or group.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EINVAL: event is NULL.
 *
 * Notes:
 *   An event in id->event of a synchronous id is the library's and is not given back by the program.
 *
 * Thread safety:
 *   Any thread at any time, also while another one waits in rdma_destroy_id.
 *
 * See also:
 *   rdma_get_cm_event(3), rdma_destroy_id(3), rdma_cm(7)
 */
int rdma_ack_cm_event(struct rdma_cm_event *event);

/**
 * Names an event type.
 *
 * Arguments:
 *   event: any number, of a known event or not.
 *
 * Description:
 *   The name is that of the constant in the header, "RDMA_CM_EVENT_ESTABLISHED" for instance, or
 *   "UNKNOWN EVENT".
 *
 * Return value:
 *   A text that is never NULL, not to be changed or freed.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rdma_get_cm_event(3), rdma_cm(7)
 */
const char *rdma_event_str(enum rdma_cm_event_type event);

/* end of src/export/channel.rs */

/* made from src/export/id.rs */

/**
 * Makes an identifier.
 *
 * Arguments:
 *   channel: where its events are reported; NULL makes the id synchronous.
 *   id: where the id is returned; it belongs to the caller until rdma_destroy_id. Not written on
 *       failure.
 *   context: any pointer, kept in id->context.
 *   ps: RDMA_PS_TCP for reliable connections, RDMA_PS_UDP or RDMA_PS_IPOIB for datagrams,
 *       RDMA_PS_IB for any kind of queue pair.
 *
 * Description:
 *   An id is to RDMA what a socket is to IP: it is bound to an address, connects or listens, and has
 *   a queue pair. It belongs to no device until an address has bound it to one.
 *   Calls that start something return at once and report the outcome as an event. Those of a
 *   synchronous id wait for it, and leave the event in id->event until the next such call.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the channel was closed.
 *   EINVAL: id is NULL, or ps is none of the four.
 *   ENODATA: the kernel did not take the command.
 *   ENOMEM: out of memory.
 *   EPERM: the caller is a child of fork, and the process that made the channel still runs.
 *   With channel NULL also the errors of rdma_create_event_channel.
 *
 * Notes:
 *   id->qp_type is IBV_QPT_UD for RDMA_PS_UDP and RDMA_PS_IPOIB, otherwise IBV_QPT_RC.
 *   rdma_create_ep makes ids of other types.
 *
 * Thread safety:
 *   Any thread at any time.
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
 * Ends an identifier.
 *
 * Arguments:
 *   id: the id, not to be used afterwards.
 *
 * Description:
 *   Cancels what the id has started, leaves its multicast groups and frees it. Waits until every
 *   event of the id that rdma_get_cm_event returned is acknowledged. Events that nobody fetched are
 *   dropped.
 *
 * Return value:
 *   0, or -1 with errno. The id is gone in either case.
 *
 * Errors:
 *   EINVAL: id is NULL.
 *   ENOENT: the kernel did not know the id.
 *   ETIMEDOUT: an event was not given back before the limit of RDMACM_SYNC_TIMEOUT_MS. It may be
 *       given back later.
 *
 * Notes:
 *   Destroy the queue pair and the shared receive queue of the id before, with rdma_destroy_qp and
 *   rdma_destroy_srq, and acknowledge its events: in the thread that handles events, rdma_destroy_id
 *   before rdma_ack_cm_event waits for ever.
 *   In a child of fork this frees the child's copy and leaves the connection to the parent.
 *
 * Thread safety:
 *   No other thread may be in a call with the id, but for rdma_get_cm_event and rdma_ack_cm_event.
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
 *   Events of the id that wait in the old channel move along. Waits until every event of the id that
 *   was fetched from the old channel is acknowledged. A synchronous id that gets a channel becomes
 *   asynchronous, and the event in id->event is given back.
 *
 * Return value:
 *   0, or -1 with errno. On failure the id stays where it is, except for ETIMEDOUT.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL, or channel is NULL and the id is synchronous already.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: the id has moved, but an event was not given back before the limit of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *   With channel NULL also the errors of rdma_create_event_channel.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. Other threads may be in
 *   rdma_get_cm_event and rdma_ack_cm_event with both channels.
 *
 * See also:
 *   rdma_create_event_channel(3), rdma_create_id(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);

/**
 * Binds an identifier to a local address.
 *
 * Arguments:
 *   id: the id.
 *   addr: a struct sockaddr_in, sockaddr_in6 or sockaddr_ib; a wildcard address and port 0 are
 *       allowed. Only read during the call.
 *
 * Description:
 *   An address of an RDMA device binds the id to this device: id->verbs, id->pd and id->port_num are
 *   set. A wildcard address binds to the port number alone. Port 0 takes a free port, which
 *   rdma_get_src_port tells.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EACCES: the port number is reserved for privileged processes.
 *   EADDRINUSE: the address is in use.
 *   EADDRNOTAVAIL: no network interface has the address, there is no free port, or the port is
 *       in use and one of the two addresses is a wildcard.
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id or addr is NULL, the family is unknown, or the id is bound already.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: the address belongs to no RDMA device.
 *   ENOMEM: out of memory.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Needed before rdma_listen on a given address or port. A connecting id needs it only to choose
 *   the device or the source address.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_id(3), rdma_listen(3), rdma_resolve_addr(3), rdma_get_src_port(3),
 *   rdma_set_option(3), rdma_cm(7)
 */
int rdma_bind_addr(struct rdma_cm_id *id,
                   struct sockaddr *addr);

/**
 * Resolves a destination to a device.
 *
 * Arguments:
 *   id: the id.
 *   src_addr: the local address to use, or NULL for the one that routing chooses. Only read
 *       during the call.
 *   dst_addr: the peer's address, or a multicast group. Only read during the call.
 *   timeout_ms: how long the resolution may take, in milliseconds.
 *
 * Description:
 *   Finds the device that reaches the destination and the peer's hardware address, and binds the id
 *   to the device. The outcome is RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR. After the
 *   former, id->verbs, id->pd and id->port_num are set, and rdma_create_qp and rdma_resolve_route
 *   may follow.
 *
 * Return value:
 *   0, or -1 with errno. For an asynchronous id 0 means that the resolution has begun.
 *
 * Errors:
 *   EACCES: the source port is reserved for privileged processes, or a rule forbids the route.
 *   EADDRINUSE: the source address is in use.
 *   EADDRNOTAVAIL: no network interface has the source address, or there is no free port.
 *   EBADF: the event channel of the id was destroyed.
 *   EHOSTUNREACH: the route to the destination leads nowhere.
 *   EINTR: synchronous id: a signal came. The operation goes on, its event is still to come.
 *   EINVAL: id or dst_addr is NULL, a family is unknown, the two addresses are of two families,
 *       or the id has a destination already.
 *   ENETUNREACH: there is no route to the destination.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: the source address belongs to no RDMA device; synchronous id: no RDMA device reaches
 *       the destination.
 *   ENOMEM: out of memory.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The kernel reports some of these at once and some in the event; programs look at both.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
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
 * Resolves the route to a resolved destination.
 *
 * Arguments:
 *   id: an id after RDMA_CM_EVENT_ADDR_RESOLVED.
 *   timeout_ms: how long the resolution may take, in milliseconds.
 *
 * Description:
 *   Finds the path through the fabric. The outcome is RDMA_CM_EVENT_ROUTE_RESOLVED or
 *   RDMA_CM_EVENT_ROUTE_ERROR. After the former, id->route has the path records (none on iWARP), and
 *   rdma_connect may follow.
 *   On InfiniBand the daemon ibacm, where it runs, is asked first, as in rdma_getaddrinfo: until it
 *   answers the call waits, timeout_ms or two seconds at most.
 *
 * Return value:
 *   0, or -1 with errno. For an asynchronous id 0 means that the resolution has begun.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINTR: synchronous id: a signal came. The operation goes on, its event is still to come.
 *   EINVAL: id is NULL, its address is not resolved, or timeout_ms is 0.
 *   EIO: synchronous id: no route was found.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: the device was removed.
 *   ENOMEM: out of memory.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_resolve_addr(3), rdma_connect(3), rdma_set_option(3), rdma_get_cm_event(3), rdma_cm(7)
 */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/**
 * Tells the local port of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Reads the port out of the id's local address. For native InfiniBand addresses these are the low
 *   16 bits of the service id, as far as its mask covers them.
 *
 * Return value:
 *   The port in network byte order; 0 if id is NULL or not bound.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_get_dst_port(3), rdma_get_local_addr(3), rdma_bind_addr(3), rdma_resolve_addr(3),
 *   rdma_cm(7)
 */
__be16 rdma_get_src_port(struct rdma_cm_id *id);

/**
 * Tells the peer's port of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Reads the port out of the id's remote address. For native InfiniBand addresses these are the low
 *   16 bits of the service id, as far as its mask covers them.
 *
 * Return value:
 *   The port in network byte order; 0 if id is NULL or has no destination.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_get_src_port(3), rdma_get_peer_addr(3), rdma_bind_addr(3), rdma_resolve_addr(3), rdma_cm(7)
 */
__be16 rdma_get_dst_port(struct rdma_cm_id *id);

/**
 * Tells the local address of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Points into the id, where sa_family says what kind of address it is; 0 means none yet.
 *
 * Return value:
 *   The address, valid as long as the id, or NULL with errno.
 *
 * Errors:
 *   EINVAL: id is NULL.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code that does not check for NULL.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. Events change the
 *   address: rdma_get_cm_event counts as a use of the id.
 *
 * See also:
 *   rdma_get_peer_addr(3), rdma_get_src_port(3), rdma_bind_addr(3), rdma_resolve_addr(3), rdma_cm(7)
 */
struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id);

/**
 * Tells the peer's address of an identifier.
 *
 * Arguments:
 *   id: the id.
 *
 * Description:
 *   Points into the id, where sa_family says what kind of address it is; 0 means none yet.
 *
 * Return value:
 *   The address, valid as long as the id, or NULL with errno.
 *
 * Errors:
 *   EINVAL: id is NULL.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code that does not check for NULL.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. Events change the
 *   address: rdma_get_cm_event counts as a use of the id.
 *
 * See also:
 *   rdma_get_local_addr(3), rdma_get_dst_port(3), rdma_bind_addr(3), rdma_resolve_addr(3),
 *   rdma_cm(7)
 */
struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id);

/**
 * Sets an option of an identifier.
 *
 * Arguments:
 *   id: the id.
 *   level: RDMA_OPTION_ID or RDMA_OPTION_IB.
 *   optname: the option, see below.
 *   optval: the value; only read during the call.
 *   optlen: size of the value in bytes.
 *
 * Description:
 *   Level RDMA_OPTION_ID:
 *   RDMA_OPTION_ID_TOS: uint8_t, the type of service of the connection's packets.
 *   RDMA_OPTION_ID_REUSEADDR: int, not 0 lets several ids bind to one address, as SO_REUSEADDR
 *       does.
 *   RDMA_OPTION_ID_AFONLY: int, not 0 keeps an IPv6 wildcard off IPv4, as IPV6_V6ONLY does.
 *   RDMA_OPTION_ID_ACK_TIMEOUT: uint8_t from 0 to 31, the queue pair's acknowledge timeout of
 *       4.096 us times 2 to the power of the value.
 *   Level RDMA_OPTION_IB:
 *   RDMA_OPTION_IB_PATH: an array of struct ibv_path_data, takes the place of
 *       rdma_resolve_route. RDMA_CM_EVENT_ROUTE_RESOLVED is reported.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EFAULT: optval does not point to optlen bytes.
 *   EINVAL: id is NULL, the length or the value does not fit, or the id is past the state in
 *       which the option can be set.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENOMEM: out of memory.
 *   ENOSYS: the kernel does not know the level or the option.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The kernel looks at the value, so that options of newer kernels work too. The call never waits
 *   for an event, not even for a synchronous id.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_id(3), rdma_bind_addr(3), rdma_resolve_route(3), rdma_cm(7)
 */
int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/**
 * Opens all RDMA devices.
 *
 * Arguments:
 *   num_devices: where the number of devices is returned, or NULL. 0 on failure.
 *
 * Description:
 *   Gives the open devices of this process, to make objects on that more than one id will use.
 *   Devices that cannot be opened are left out.
 *
 * Return value:
 *   An array of contexts with a NULL at its end, given back by rdma_free_devices; or NULL with
 *   errno.
 *
 * Errors:
 *   ENODEV: there is no RDMA device that can be opened.
 *   ENOMEM: out of memory.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   These are the contexts of id->verbs too: do not close them. One stays open as long as a list or
 *   an id refers to it, and a device stays known until it is removed.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rdma_free_devices(3), rdma_bind_addr(3), ibv_get_device_list(3), rdma_cm(7)
 */
struct ibv_context **rdma_get_devices(int *num_devices);

/**
 * Gives a list of devices back.
 *
 * Arguments:
 *   list: an array of rdma_get_devices; NULL does nothing.
 *
 * Description:
 *   Frees the array. A device that was removed meanwhile is closed when nothing refers to it any
 *   more.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Destroy what was made on the contexts before, unless ids on the same devices keep them open.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rdma_get_devices(3), rdma_cm(7)
 */
void rdma_free_devices(struct ibv_context **list);

/* end of src/export/id.rs */

/* made from src/export/conn.rs */

/**
 * Makes an identifier that is ready to connect or to listen.
 *
 * Arguments:
 *   id: where the id is returned; it belongs to the caller until rdma_destroy_ep. Not written on
 *       failure.
 *   res: a list of rdma_getaddrinfo, or of the caller's making. Only read during the call.
 *   pd: the protection domain of the queue pair, or NULL for the device's default one.
 *   qp_init_attr: the queue pair to make, or NULL for none. Comes back with the granted sizes.
 *
 * Description:
 *   The id is synchronous. For an active entry of the list the call resolves address and route, each
 *   within two seconds, and makes the queue pair: rdma_connect may follow. For a passive one
 *   (RAI_PASSIVE) it binds the address: rdma_listen may follow, and rdma_get_request makes a queue
 *   pair with the same attributes for each connection.
 *   The entries are tried in order until one works. ai_port_space and ai_qp_type decide what is
 *   made, ai_route takes the place of the route's resolution, ai_connect goes before the private
 *   data of rdma_connect.
 *
 * Return value:
 *   0, or -1 with errno. The error is that of the last entry.
 *
 * Errors:
 *   EACCES: the caller may not open the rdma_cm device, or not use the port.
 *   EADDRINUSE: the local address is in use.
 *   EADDRNOTAVAIL: no network interface has the local address, or the port is in use and one of
 *       the two addresses is a wildcard.
 *   EHOSTUNREACH: the route to the destination leads nowhere.
 *   EINTR: a signal came.
 *   EINVAL: id is NULL, res has no entry or a wrong one, or pd or qp_init_attr does not fit the
 *       device.
 *   EMFILE: the process has too many open files.
 *   ENETUNREACH: there is no route to the destination.
 *   ENODEV: the address belongs to no RDMA device, or none reaches the destination.
 *   ENOENT: the rdma_cm device is not there.
 *   ENOMEM: out of memory, or more than the device has.
 *   ETIMEDOUT: the peer did not answer in time.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   What rdma_create_event_channel, rdma_create_id, rdma_bind_addr, rdma_resolve_addr,
 *   rdma_resolve_route and rdma_create_qp say of their errors holds here too. rdma_migrate_id makes
 *   the id asynchronous.
 *
 * Thread safety:
 *   Any thread at any time.
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
 * Ends an identifier with its queue pair and shared receive queue.
 *
 * Arguments:
 *   id: an id of rdma_create_ep or rdma_get_request, not to be used afterwards; NULL does
 *       nothing.
 *
 * Description:
 *   The counterpart of rdma_create_ep: destroys the queue pair, the completion queues that the
 *   library made with it, the shared receive queue, and the id.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Deregister memory only after the connection has ended. What the device or the kernel refuses is
 *   not reported; the id is gone in any case.
 *
 * Thread safety:
 *   No other thread may be in a call with the id.
 *
 * See also:
 *   rdma_create_ep(3), rdma_destroy_id(3), rdma_destroy_qp(3), rdma_cm(7)
 */
void rdma_destroy_ep(struct rdma_cm_id *id);

/**
 * Asks a peer for a connection.
 *
 * Arguments:
 *   id: an id with a resolved route.
 *   conn_param: what to tell the peer, or NULL. Only read during the call.
 *
 * Description:
 *   Sends a connection request, or for a datagram id asks for the queue pair behind the peer's port.
 *   The outcome of the former is RDMA_CM_EVENT_ESTABLISHED, or RDMA_CM_EVENT_CONNECT_RESPONSE for an
 *   id without a queue pair of its own, after which the program moves its own queue pair and calls
 *   rdma_establish. A datagram id gets RDMA_CM_EVENT_ESTABLISHED with what it needs to send in
 *   param.ud. Failures are RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE and
 *   RDMA_CM_EVENT_CONNECT_ERROR.
 *   Fields of conn_param:
 *   private_data: bytes that the peer's event shows, private_data_len of them.
 *   responder_resources: RDMA reads and atomics of the peer that may be outstanding here;
 *       RDMA_MAX_RESP_RES for as many as the device can.
 *   initiator_depth: RDMA reads and atomics that may be outstanding from here;
 *       RDMA_MAX_INIT_DEPTH for as many as the device can.
 *   flow_control: not 0 if the hardware has flow control.
 *   retry_count: 0 to 7, how often an unacknowledged packet is sent again.
 *   rnr_retry_count: 0 to 7, how often a send is tried again that found no receive posted; 7 is
 *       for ever.
 *   srq: not 0 if the queue pair has a shared receive queue; taken from the id's queue pair if
 *       it has one.
 *   qp_num: the queue pair's number; taken from the id's queue pair if it has one.
 *   Without conn_param the depths are the device's limits and both retry counts 7.
 *
 * Return value:
 *   0, or -1 with errno. For an asynchronous id 0 means that the request is on its way.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   ECONNREFUSED: synchronous id: the peer rejected the request; id->event has its reason and
 *       private data.
 *   ECONNRESET: synchronous id: the connection ended at once.
 *   EHOSTUNREACH: synchronous id: the peer does not answer.
 *   EINTR: synchronous id: a signal came. The operation goes on, its event is still to come.
 *   EINVAL: id is NULL or has no route, a connected service has neither queue pair nor
 *       conn_param, a depth is more than the device can, or there is too much private data.
 *   EIO: synchronous id: the connection could not be set up.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: synchronous id: the device was removed.
 *   ENOMEM: out of memory.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   How much private data a request can have depends on transport and service: 56 bytes with IP
 *   addresses over InfiniBand and RoCE, 180 for datagrams, up to 255 for iWARP. What rdma_create_ep
 *   found in ai_connect goes before it.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_resolve_route(3), rdma_create_qp(3), rdma_establish(3), rdma_disconnect(3), rdma_accept(3),
 *   rdma_cm(7)
 */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/**
 * Tells the peer that the application's own queue pair is ready.
 *
 * Arguments:
 *   id: an id without a queue pair, after RDMA_CM_EVENT_CONNECT_RESPONSE.
 *
 * Description:
 *   Ends the set-up of a connection whose queue pair the program moves through its states itself,
 *   with rdma_init_qp_attr. The peer gets RDMA_CM_EVENT_ESTABLISHED. For queue pairs of
 *   rdma_create_qp the library does all this.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL, has a queue pair, or has no response to answer.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_connect(3), rdma_init_qp_attr(3), rdma_disconnect(3), rdma_cm(7)
 */
int rdma_establish(struct rdma_cm_id *id);

/**
 * Waits for connection requests.
 *
 * Arguments:
 *   id: an id, bound by rdma_bind_addr or not yet.
 *   backlog: how many requests may wait for their accept; 0 or less for the system's limit.
 *
 * Description:
 *   Requests that reach the id's address are reported as RDMA_CM_EVENT_CONNECT_REQUEST, for datagram
 *   services too. An id that is bound to an address of a device listens on this device; one with a
 *   wildcard address listens on all, also those that are added later. An unbound id is bound to a
 *   free port.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EADDRINUSE: another id listens on the address.
 *   EADDRNOTAVAIL: another id uses the port, and one of the two addresses is a wildcard.
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL or in a state in which it cannot listen.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: the device of the address is not there.
 *   ENOMEM: out of memory.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The system's limit is net.rdma_ucm.max_backlog.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_bind_addr(3), rdma_get_request(3), rdma_accept(3), rdma_reject(3), rdma_cm(7)
 */
int rdma_listen(struct rdma_cm_id *id, int backlog);

/**
 * Takes the next connection request of a synchronous listener.
 *
 * Arguments:
 *   listen: a synchronous id after rdma_listen.
 *   id: where the id of the connection is returned; it belongs to the caller until
 *       rdma_destroy_ep. Not written on failure.
 *
 * Description:
 *   Waits for a request. The new id is synchronous, its event has the request with the peer's
 *   parameters and private data. If the listener came from rdma_create_ep with attributes for a
 *   queue pair, one is made. rdma_accept or rdma_reject follow.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the listener's file was closed.
 *   EINTR: a signal came.
 *   EINVAL: listen or id is NULL, or the listener is not synchronous.
 *   ENODATA: the kernel gave no event.
 *   ENODEV: the listener's device was removed.
 *   ENOMEM: out of memory, or more than the device has.
 *   EPERM: the caller is a child of fork, and the process that made the listener still runs.
 *   ETIMEDOUT: the limit of RDMACM_SYNC_TIMEOUT_MS passed.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   A request whose queue pair cannot be made is rejected, and its error returned; the listener goes
 *   on.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_ep(3), rdma_listen(3), rdma_accept(3), rdma_reject(3), rdma_destroy_ep(3),
 *   rdma_cm(7)
 */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);

/**
 * Accepts a connection request.
 *
 * Arguments:
 *   id: the id of the request, not the listener.
 *   conn_param: what to tell the peer, or NULL. Only read during the call.
 *
 * Description:
 *   Moves the id's queue pair to where it can receive and send, and answers the peer.
 *   RDMA_CM_EVENT_ESTABLISHED follows when the peer is ready. For datagram ids the answer is all
 *   there is.
 *   The fields of conn_param are those of rdma_connect; retry_count is not used here. Without it,
 *   and for depths of RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH, the depths are what the peer asked
 *   for, as far as the device can.
 *
 * Return value:
 *   0, or -1 with errno. On failure the queue pair is in the error state, and the id must be
 *   destroyed.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   ECONNREFUSED: synchronous id: the peer gave up.
 *   ECONNRESET: synchronous id: the connection ended at once.
 *   EINTR: synchronous id: a signal came. The operation goes on, its event is still to come.
 *   EINVAL: id is NULL or no request, there is neither queue pair nor conn_param, a depth is
 *       more than the device can, or there is too much private data.
 *   EIO: synchronous id: the connection could not be set up.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: synchronous id: the device was removed.
 *   ENOMEM: out of memory.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Post receives before, so that the peer's first send finds one. An answer can have 196 bytes of
 *   private data over InfiniBand and RoCE, 136 for datagrams.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
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
 *   id: the id of the request, not the listener.
 *   private_data: bytes that the peer's event shows, or NULL. Only read during the call.
 *   private_data_len: how many.
 *
 * Description:
 *   The peer gets RDMA_CM_EVENT_REJECTED, with the reason consumer (28 on InfiniBand and RoCE) as
 *   its status. The id is of no use afterwards and is destroyed by the caller.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL or no request, or there is too much private data.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   A reject can have 148 bytes of private data over InfiniBand and RoCE, 136 for datagrams.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_accept(3), rdma_listen(3), rdma_get_request(3), rdma_reject_ece(3), rdma_cm(7)
 */
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);

/**
 * Rejects a connection request because of its extensions.
 *
 * Arguments:
 *   id: the id of the request, not the listener.
 *   private_data: bytes that the peer's event shows, or NULL. Only read during the call.
 *   private_data_len: how many.
 *
 * Description:
 *   The peer gets RDMA_CM_EVENT_REJECTED, with the reason "vendor option not supported" (35) as its
 *   status: what it offered by rdma_set_local_ece does not fit. The id is of no use afterwards and
 *   is destroyed by the caller.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL or no request, or there is too much private data.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   A reject can have 148 bytes of private data over InfiniBand and RoCE, 136 for datagrams. The
 *   kernel must know reasons (5.8 or later); an older one gives its usual reason.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_reject(3), rdma_get_remote_ece(3), rdma_set_local_ece(3), rdma_accept(3), rdma_cm(7)
 */
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);

/**
 * Tells the connection manager of an event of the queue pair.
 *
 * Arguments:
 *   id: the id of the queue pair.
 *   event: IBV_EVENT_COMM_EST.
 *
 * Description:
 *   A queue pair can receive before the last message of the connection's set-up has arrived; the
 *   device then reports IBV_EVENT_COMM_EST through ibv_get_async_event. With this call the
 *   connection counts as established, even if that message never comes.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL or has no connection, or the kernel does not care for the event.
 *   EISCONN: the connection is established already.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Few programs need this: the peer's message is repeated when it is lost.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_accept(3), rdma_connect(3), ibv_get_async_event(3), rdma_cm(7)
 */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);

/**
 * Ends a connection.
 *
 * Arguments:
 *   id: a connected id.
 *
 * Description:
 *   Moves the queue pair to the error state, so that its work requests complete with
 *   IBV_WC_WR_FLUSH_ERR, and tells the peer. Both sides get RDMA_CM_EVENT_DISCONNECTED. On iWARP
 *   posted work finishes first.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINTR: synchronous id: a signal came. The operation goes on, its event is still to come.
 *   EINVAL: id is NULL, has no device, or is not connected.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: synchronous id: the device was removed.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   The side that got RDMA_CM_EVENT_DISCONNECTED calls this too, to flush its own queue pair.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_connect(3), rdma_accept(3), rdma_destroy_qp(3), rdma_cm(7)
 */
int rdma_disconnect(struct rdma_cm_id *id);

/**
 * Sets the extensions to offer to the peer.
 *
 * Arguments:
 *   id: an id without a queue pair.
 *   ece: what the program's own queue pair can do, as ibv_query_ece gives it. Only read during
 *       the call.
 *
 * Description:
 *   Enhanced connection establishment (ECE) lets both devices agree on abilities beyond the
 *   standard. For queue pairs of rdma_create_qp the library does this; programs that make their own
 *   call this before rdma_connect or rdma_accept.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EINVAL: id or ece is NULL, the id has a queue pair, vendor_id is 0, or comp_mask is not.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_get_remote_ece(3), rdma_reject_ece(3), ibv_query_ece(3), rdma_cm(7)
 */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/**
 * Reads the extensions that the peer offered.
 *
 * Arguments:
 *   id: an id without a queue pair, after RDMA_CM_EVENT_CONNECT_REQUEST or
 *       RDMA_CM_EVENT_CONNECT_RESPONSE.
 *   ece: where they are returned.
 *
 * Description:
 *   What the peer said in its request, or chose in its answer; all zero if it said nothing. Goes to
 *   ibv_set_ece.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EINVAL: id or ece is NULL, or the id has a queue pair.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_set_local_ece(3), rdma_reject_ece(3), ibv_set_ece(3), rdma_cm(7)
 */
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/**
 * Queues an event of the application's own on the id's channel.
 *
 * Arguments:
 *   id: the id whose event it will be.
 *   event: RDMA_CM_EVENT_USER.
 *   status: any number, for the event's status.
 *   arg: any number, for the event's param.arg.
 *
 * Description:
 *   Whoever waits in rdma_get_cm_event gets the event as any other, in order. This is how one thread
 *   tells the one that handles events to do something.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id is NULL, or event is not RDMA_CM_EVENT_USER.
 *   ENODATA: the kernel did not take the command.
 *   ENOMEM: out of memory.
 *   ENOSYS: the kernel is too old.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Needs a kernel that lets programs write events (6.18 or later).
 *
 * Thread safety:
 *   Any thread, as long as none destroys the id.
 *
 * See also:
 *   rdma_get_cm_event(3), rdma_create_event_channel(3), rdma_cm(7)
 */
int rdma_write_cm_event(struct rdma_cm_id *id,
                        enum rdma_cm_event_type event,
                        int status,
                        uint64_t arg);

/* end of src/export/conn.rs */

/* made from src/export/qp.rs */

/**
 * Makes the queue pair of an identifier.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   pd: a protection domain on this device, or NULL for id->pd.
 *   qp_init_attr: what to make. Comes back with the granted sizes and the queues in use.
 *
 * Description:
 *   The queue pair is id->qp. The library moves it through its states as the connection goes.
 *   Receives can be posted at once; a datagram queue pair can send too.
 *   Completion queues that the attributes name are used. For those that are NULL the id's are, and
 *   if it has none and cap asks for work requests in that direction, the library makes a queue with
 *   a channel: id->send_cq, id->send_cq_channel, id->recv_cq and id->recv_cq_channel. A shared
 *   receive queue comes from the attributes or from id->srq.
 *
 * Return value:
 *   0, or -1 with errno. On failure what this call made is gone again, and the id is as before.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   ECONNREFUSED: the device insists on extensions that the peer does not have.
 *   EINVAL: id or qp_init_attr is NULL, the id has a queue pair or no device, the protection
 *       domain is of another device, the id has other completion queues, or the device refuses the
 *       attributes.
 *   ENODATA: the kernel did not take the command.
 *   ENOMEM: out of memory, or more than the device has.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_qp_ex(3), rdma_destroy_qp(3), rdma_create_srq(3), rdma_post_recv(3),
 *   rdma_get_recv_comp(3), ibv_create_qp(3), rdma_cm(7)
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);

/**
 * Makes the queue pair of an identifier with extended attributes.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   qp_init_attr: what to make. Comes back with the granted sizes, the queues and the protection
 *       domain in use.
 *
 * Description:
 *   As rdma_create_qp, with all that ibv_create_qp_ex can do. The protection domain is in the
 *   attributes; if IBV_QP_INIT_ATTR_PD is not in comp_mask, or pd is NULL, id->pd is used.
 *
 * Return value:
 *   0, or -1 with errno. On failure what this call made is gone again, and the id is as before.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   ECONNREFUSED: the device insists on extensions that the peer does not have.
 *   EINVAL: id or qp_init_attr is NULL, the id has a queue pair or no device, the protection
 *       domain is of another device, the id has other completion queues, or the device refuses the
 *       attributes.
 *   ENODATA: the kernel did not take the command.
 *   ENOMEM: out of memory, or more than the device has.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_qp(3), rdma_destroy_qp(3), ibv_create_qp_ex(3), rdma_cm(7)
 */
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);

/**
 * Destroys the queue pair of an identifier.
 *
 * Arguments:
 *   id: the id; NULL, or one without a queue pair, does nothing.
 *
 * Description:
 *   Destroys id->qp and the completion queues that the library made for it. Those of the program
 *   stay.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Before rdma_destroy_id. Work requests that have not completed never will: rdma_disconnect
 *   before, and fetch the completions, to see them flushed.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. Waits for another
 *   thread that is just moving the queue pair in rdma_get_cm_event.
 *
 * See also:
 *   rdma_create_qp(3), rdma_disconnect(3), rdma_destroy_id(3), ibv_destroy_qp(3), rdma_cm(7)
 */
void rdma_destroy_qp(struct rdma_cm_id *id);

/**
 * Tells the attributes that move the application's own queue pair.
 *
 * Arguments:
 *   id: the id of the connection.
 *   qp_attr: qp_state says which state; comes back with what ibv_modify_qp needs for it.
 *   qp_attr_mask: where the mask for ibv_modify_qp is returned.
 *
 * Description:
 *   For programs that do not use rdma_create_qp: they ask for IBV_QPS_INIT, IBV_QPS_RTR and
 *   IBV_QPS_RTS in turn and call ibv_modify_qp each time.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: an argument is NULL, or the connection is not so far.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
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
 *   addr: the group. Only read during the call.
 *   context: any pointer, given back in param.ud.private_data of the group's events.
 *
 * Description:
 *   The outcome is RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR. With the former
 *   the id's queue pair, if it has one, is attached to the group and receives; param.ud has what is
 *   needed to send: an address handle's attributes, the queue pair number (0xFFFFFF) and the Q_Key.
 *
 * Return value:
 *   0, or -1 with errno. For an asynchronous id 0 means that the join has begun.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINTR: synchronous id: a signal came. The join is given up.
 *   EINVAL: id or addr is NULL, the family is unknown or the address all zeros, or the id has no
 *       device, is connected, or not of a datagram service.
 *   EIO: synchronous id: the group was not joined.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: synchronous id: the device was removed.
 *   ENOMEM: out of memory.
 *   ENOSYS: the device has no multicast, as with iWARP.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   rdma_bind_addr or rdma_resolve_addr chooses the device. A later RDMA_CM_EVENT_MULTICAST_ERROR
 *   means that the group was lost; it is still to be left. A synchronous id whose join fails is no
 *   member.
 *   Where the device is RoCE v2, the kernel refuses IPv6 groups with its own number 524, for which C
 *   has no name.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_join_multicast_ex(3), rdma_leave_multicast(3), rdma_resolve_addr(3), rdma_post_ud_send(3),
 *   ibv_create_ah(3), rdma_cm(7)
 */
int rdma_join_multicast(struct rdma_cm_id *id,
                        struct sockaddr *addr,
                        void *context);

/**
 * Joins a multicast group with flags.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   mc_join_attr: group and flags. Only read during the call.
 *   context: any pointer, given back in param.ud.private_data of the group's events.
 *
 * Description:
 *   As rdma_join_multicast. comp_mask of the attributes must be RDMA_CM_JOIN_MC_ATTR_ADDRESS and
 *   RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, with the group in addr, and in join_flags:
 *   RDMA_MC_JOIN_FLAG_FULLMEMBER: send and receive.
 *   RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER: only send; the queue pair is not attached.
 *
 * Return value:
 *   0, or -1 with errno. For an asynchronous id 0 means that the join has begun.
 *
 * Errors:
 *   EBADF: the event channel of the id was destroyed.
 *   EINTR: synchronous id: a signal came. The join is given up.
 *   EINVAL: id, mc_join_attr or the address is NULL, comp_mask lacks one of the two, the family
 *       is unknown, the flag is unknown, or the id has no device, is connected, or not of a datagram
 *       service.
 *   EIO: synchronous id: the group was not joined.
 *   ENODATA: the kernel did not take the command.
 *   ENODEV: synchronous id: the device was removed.
 *   ENOMEM: out of memory.
 *   ENOSYS: the device has no multicast, as with iWARP.
 *   ENXIO: the device was removed.
 *   EOPNOTSUPP: comp_mask has bits that are not known.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: synchronous id: the time limit passed, the peer's or that of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
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
 *   addr: the group. Only read during the call.
 *
 * Description:
 *   Detaches the queue pair, leaves, and waits until every event of the group that was fetched is
 *   acknowledged. A join that is still going on is cancelled. Of several joins of one group the last
 *   is undone.
 *
 * Return value:
 *   0, or -1 with errno. Where the kernel refuses, the membership stays.
 *
 * Errors:
 *   EADDRNOTAVAIL: the id is not a member of the group.
 *   EBADF: the event channel of the id was destroyed.
 *   EINVAL: id or addr is NULL, or the family is unknown.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the kernel does not know the id.
 *   ENXIO: the device was removed.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   ETIMEDOUT: the group is left, but an event was not given back before the limit of
 *       RDMACM_SYNC_TIMEOUT_MS.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Messages that were received before can still complete afterwards. rdma_destroy_id leaves all
 *   groups.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. Not in the thread that
 *   still has to acknowledge an event of the group.
 *
 * See also:
 *   rdma_join_multicast(3), rdma_join_multicast_ex(3), rdma_ack_cm_event(3), rdma_cm(7)
 */
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

/* end of src/export/multicast.rs */

/* made from src/export/addrinfo.rs */

/**
 * Translates names into what rdma_create_ep and rdma_resolve_addr take.
 *
 * Arguments:
 *   node: a host name, the text of an address, or NULL.
 *   service: a service name, a port number as text, or NULL.
 *   hints: wishes, or NULL. Only read during the call.
 *   res: where the list is returned; it belongs to the caller until rdma_freeaddrinfo. Not
 *       written on failure.
 *
 * Description:
 *   Names are resolved as getaddrinfo does. Each address becomes an entry of the list, the best
 *   first. With RAI_PASSIVE in ai_flags of the hints the name stands for the local address
 *   (ai_src_addr), otherwise for the peer's (ai_dst_addr). ai_port_space and ai_qp_type of an entry
 *   say how it is used.
 *   Fields of hints that are looked at; all others must be zero:
 *   ai_flags: RAI_PASSIVE, RAI_NUMERICHOST (no look-up by name), RAI_FAMILY (ai_family says how
 *       to read node), RAI_NOROUTE (do not look for a route).
 *   ai_family: AF_INET, AF_INET6, AF_IB or 0 for any.
 *   ai_qp_type: IBV_QPT_RC, IBV_QPT_UD and so on, or 0 for what the port space means.
 *   ai_port_space: RDMA_PS_TCP and so on, or 0 for what the service or the type means.
 *   ai_src_addr: the local address to use, without RAI_PASSIVE, of ai_src_len bytes.
 *   ai_dst_addr: the peer's address, of ai_dst_len bytes, where neither node nor service is
 *       given.
 *   ai_route: the wished path, a struct ibv_path_record or a struct ibv_path_data.
 *   With AF_IB, RAI_FAMILY and RAI_NUMERICHOST, node is the text of a GID.
 *   Where the daemon ibacm runs, it is asked for the route to the first address (ai_route). With
 *   AF_IB an entry with the native addresses of this route goes before the others; ai_connect then
 *   holds what has to go before the private data of rdma_connect, as rdma_create_ep does it.
 *   With RAI_SA in ai_flags, service is the number or the name of a service that the subnet
 *   administrator of an InfiniBand fabric knows, and the entries are the places where it is offered.
 *   The fabric of the hinted local address is asked, or that of each port until one knows the
 *   service.
 *
 * Return value:
 *   0, an EAI_ number of getaddrinfo for gai_strerror, or -1 with errno. EAI_BADFLAGS is -1 too and
 *   leaves errno alone: set errno to 0 before to tell them apart. EAI_SYSTEM sets errno.
 *
 * Errors:
 *   EINVAL: res is NULL, or all of node, service and hints are, or an address in the hints is
 *       shorter than its family, or RAI_SA comes without a service.
 *   ENODEV: the machine has no RDMA device, or with RAI_SA no connected InfiniBand port.
 *   ENOENT: no fabric knows the service.
 *   ENOMEM: out of memory.
 *   ENOSYS: the kernel is too old for RAI_SA.
 *   EOPNOTSUPP: RAI_SA comes with a node or with RAI_DNS.
 *
 * Notes:
 *   The C library returns the first entry only. rdma_create_ep tries one after the other.
 *   ibacm is asked for two seconds at most, or as many milliseconds as RDMACM_IBACM_TIMEOUT_MS in
 *   the environment says, 0 for never. RAI_NUMERICHOST and RAI_NOROUTE ask it only for what it knows
 *   already. A daemon that is not there, or did not answer, is left alone for five seconds.
 *
 * Thread safety:
 *   Any thread at any time.
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
 * Gives a list of rdma_getaddrinfo back.
 *
 * Arguments:
 *   res: the first entry of a list of rdma_getaddrinfo or rdma_query_addrinfo; NULL does
 *       nothing.
 *
 * Description:
 *   Frees all entries with their addresses, names and routes.
 *
 * Return value:
 *   None.
 *
 * Thread safety:
 *   Any thread at any time.
 *
 * See also:
 *   rdma_getaddrinfo(3), rdma_query_addrinfo(3), rdma_cm(7)
 */
void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/**
 * Starts to translate names; the outcome comes as an event.
 *
 * Arguments:
 *   id: any id; with RAI_SA one that is bound to an InfiniBand port.
 *   node: as in rdma_getaddrinfo.
 *   service: as in rdma_getaddrinfo, or with RAI_SA the number or the name, of at most 63 bytes,
 *       of a service that the subnet administrator knows.
 *   hints: wishes, or NULL. Only read during the call.
 *
 * Description:
 *   As rdma_getaddrinfo, but the call does not wait. The outcome is RDMA_CM_EVENT_ADDRINFO_RESOLVED,
 *   after which rdma_query_addrinfo gives the list, or RDMA_CM_EVENT_ADDRINFO_ERROR. Two more flags
 *   choose who is asked:
 *   RAI_DNS: the resolver of the system. The default.
 *   RAI_SA: the InfiniBand subnet administrator, once for an id.
 *   The status of the error event is a negative errno value; ENOENT stands for names that do not
 *   exist. An id can be destroyed or moved to another channel at any time meanwhile, neither waits
 *   for a name server.
 *
 * Return value:
 *   0, or -1 with errno. For an asynchronous id 0 means that the look-up has begun.
 *
 * Errors:
 *   EAGAIN: no thread could be started.
 *   EBADF: the event channel of the id was destroyed.
 *   EBUSY: an earlier look-up is under way, or its answer was not taken.
 *   EINTR: synchronous id: a signal came. A look-up of names is given up, that of a service goes
 *       on: rdma_query_addrinfo gives its answer after the next wait of the id.
 *   EINVAL: id is NULL, nothing is asked for, an address in the hints is shorter than its
 *       family, or with RAI_SA the service is missing or too long, the id is not bound, or asked
 *       before.
 *   ENODATA: the kernel did not take the command.
 *   ENOENT: the name or service does not exist (synchronous ids).
 *   ENOMEM: out of memory.
 *   ENOSYS: the kernel is too old.
 *   ENXIO: the device was removed.
 *   EOPNOTSUPP: RAI_SA comes with a node or with RAI_DNS, or the port is no InfiniBand port.
 *   EPERM: the caller is a child of fork, and the process that made the id still runs.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Needs a kernel that resolves InfiniBand services and lets programs write events (6.18 or later).
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_query_addrinfo(3), rdma_getaddrinfo(3), rdma_get_cm_event(3), rdma_cm(7)
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id,
                          const char *node,
                          const char *service,
                          const struct rdma_addrinfo *hints);

/**
 * Takes what rdma_resolve_addrinfo found.
 *
 * Arguments:
 *   id: the id, after RDMA_CM_EVENT_ADDRINFO_RESOLVED.
 *   info: where the list is returned; it belongs to the caller until rdma_freeaddrinfo. Not
 *       written on failure.
 *
 * Description:
 *   The list is as one of rdma_getaddrinfo. It can be taken once; the next look-up can begin then.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EINVAL: id or info is NULL.
 *   ENOENT: there is no answer, or not yet.
 *   ENOMEM: out of memory; the answer can still be taken.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_resolve_addrinfo(3), rdma_freeaddrinfo(3), rdma_cm(7)
 */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

/* end of src/export/addrinfo.rs */

#ifdef RDMACM_INLINE
RDMACM_INLINE struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

RDMACM_INLINE struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
