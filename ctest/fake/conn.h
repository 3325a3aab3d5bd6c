/* Shared by the files that move the connection protocol. */
#ifndef FK_CONN_H
#define FK_CONN_H

#include "fake.h"

enum fk_msg { FK_MSG_REQ, FK_MSG_REP, FK_MSG_REJ };

enum { FK_DEFAULT_QKEY = 0x01234567 };

size_t fk_pdata_room(const struct fk_id *p, enum fk_msg msg);
void fk_conn_take(struct fk_conn *to, const struct rdma_ucm_conn_param *p, bool qkey);
void fk_listener_room(uint32_t listener);
void fk_listener_gone(uint32_t listener);
void fk_fill_ah(const struct fk_id *p, struct ib_uverbs_ah_attr *ah);

#endif
