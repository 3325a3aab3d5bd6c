/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared by the files that move the connection protocol. */
#ifndef FK_CONN_H
#define FK_CONN_H

#include "fake.h"

enum fk_msg { FK_MSG_REQ, FK_MSG_REP, FK_MSG_REJ };

enum { FK_DEFAULT_QKEY = 0x01234567 };

size_t fk_pdata_room(const struct fk_id *p, enum fk_msg msg);
void fk_conn_take(struct fk_conn *to, const struct rdma_ucm_conn_param *p, bool qkey);
void fk_depths(struct fk_id *p, uint8_t responder, uint8_t initiator);
void fk_sidr_refused(uint32_t id, int status, const void *data, size_t len);
void fk_listener_room(uint32_t listener);
void fk_listener_gone(uint32_t listener);
void fk_fill_ah(const struct fk_id *p, struct ib_uverbs_ah_attr *ah);

#endif
