/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Protocol of the socket of the ibacm daemon. */
#ifndef ACM_H
#define ACM_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>

#define ACM_VERSION 1

/* acm_hdr.opcode: an operation; responses have ACM_OP_ACK set. */
#define ACM_OP_MASK 0x0F
#define ACM_OP_RESOLVE 0x01
#define ACM_OP_PERF_QUERY 0x02
#define ACM_OP_EP_QUERY 0x03
#define ACM_OP_ACK 0x80

/* acm_hdr.status */
#define ACM_STATUS_SUCCESS 0
#define ACM_STATUS_ENOMEM 1
#define ACM_STATUS_EINVAL 2
#define ACM_STATUS_ENODATA 3
#define ACM_STATUS_ENOTCONN 5
#define ACM_STATUS_ETIMEDOUT 6
#define ACM_STATUS_ESRCADDR 7
#define ACM_STATUS_ESRCTYPE 8
#define ACM_STATUS_EDESTADDR 9
#define ACM_STATUS_EDESTTYPE 10

/* Requests: query the subnet administrator too; only use the cache. */
#define ACM_FLAGS_QUERY_SA (1 << 31)
#define ACM_FLAGS_NODELAY (1 << 30)

#define ACM_MSG_HDR_LENGTH 16
#define ACM_MAX_ADDRESS 64
#define ACM_MSG_EP_LENGTH 72
#define ACM_MAX_PROV_NAME 64
/* Room for eight endpoints: six paths and connection data. */
#define ACM_MSG_DATA_LENGTH (ACM_MSG_EP_LENGTH * 8)

struct acm_hdr {
	uint8_t version;
	uint8_t opcode;
	uint8_t status;
	uint8_t data[3];
	/* Of the whole message, including the header. */
	uint16_t length;
	/* Set by the client, repeated in the response. */
	uint64_t tid;
};

/* acm_ep_addr_data.type */
#define ACM_EP_INFO_NAME 0x0001
#define ACM_EP_INFO_ADDRESS_IP 0x0002
#define ACM_EP_INFO_ADDRESS_IP6 0x0003
#define ACM_EP_INFO_PATH 0x0010

union acm_ep_info {
	uint8_t addr[ACM_MAX_ADDRESS];
	uint8_t name[ACM_MAX_ADDRESS];
	struct ibv_path_record path;
};

/* acm_ep_addr_data.flags */
#define ACM_EP_FLAG_SOURCE (1 << 0)
#define ACM_EP_FLAG_DEST (1 << 1)

struct acm_ep_addr_data {
	uint32_t flags;
	uint16_t type;
	uint16_t reserved;
	union acm_ep_info info;
};

/* Request or response of ACM_OP_RESOLVE: host byte order, except for info, which is big endian. */
struct acm_resolve_msg {
	struct acm_hdr hdr;
	__extension__ struct acm_ep_addr_data data[0];
};

/* Indices of the counters in a response of ACM_OP_PERF_QUERY. */
enum {
	ACM_CNTR_ERROR,
	ACM_CNTR_RESOLVE,
	ACM_CNTR_NODATA,
	ACM_CNTR_ADDR_QUERY,
	ACM_CNTR_ADDR_CACHE,
	ACM_CNTR_ROUTE_QUERY,
	ACM_CNTR_ROUTE_CACHE,
	ACM_MAX_COUNTER
};

/* ACM_OP_PERF_QUERY: big endian. */
struct acm_perf_msg {
	struct acm_hdr hdr;
	__extension__ uint64_t data[0];
};

/* ACM_OP_EP_QUERY: big endian. */
struct acm_ep_config_data {
	uint64_t dev_guid;
	uint8_t port_num;
	uint8_t rsvd[3];
	uint16_t pkey;
	uint16_t addr_cnt;
	uint8_t prov_name[ACM_MAX_PROV_NAME];
	__extension__ union acm_ep_info addrs[0];
};

struct acm_ep_query_msg {
	struct acm_hdr hdr;
	__extension__ struct acm_ep_config_data data[0];
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
/* Any message. */
struct acm_msg {
	struct acm_hdr hdr;
	__extension__ union {
		uint8_t data[ACM_MSG_DATA_LENGTH];
		__extension__ struct acm_ep_addr_data resolve_data[0];
		__extension__ uint64_t perf_data[0];
		__extension__ struct acm_ep_config_data ep_data[0];
	};
};
#pragma GCC diagnostic pop

#endif
