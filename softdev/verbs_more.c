/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Entry points that programs seldom use: refused, so that none reaches the real library. */
#include "verbs.h"

#include <errno.h>

FK_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t len,
			   int access)
{
	(void)mr, (void)flags, (void)pd, (void)addr, (void)len, (void)access;
	return fk_verr(EOPNOTSUPP);
}

FK_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t off, size_t len, uint64_t iova,
					   int fd, int access)
{
	(void)pd, (void)off, (void)len, (void)iova, (void)fd, (void)access;
	return FK_NULL(EOPNOTSUPP);
}

FK_EXPORT struct ibv_context *ibv_import_device(int fd)
{
	(void)fd;
	return FK_NULL(EOPNOTSUPP);
}

FK_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *c, uint32_t handle)
{
	(void)c, (void)handle;
	return FK_NULL(EOPNOTSUPP);
}

FK_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	(void)pd, (void)handle;
	return FK_NULL(EOPNOTSUPP);
}

FK_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp, (void)op, (void)flags;
	return 0;
}

/* The caller's GID is all that a made-up link needs. */
FK_EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *c, struct ibv_ah_attr *attr,
					  uint8_t mac[6], uint16_t *vid)
{
	(void)c;
	for (int i = 0; i < 6; i++)
		mac[i] = attr->grh.dgid.raw[10 + i];
	*vid = 0xffff;
	return 0;
}
