/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* ibv_query_device and ibv_query_port in all their forms. */
#include "verbs.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static void device_attr(const struct fk_dev *d, struct ibv_device_attr *a)
{
	memset(a, 0, sizeof(*a));
	snprintf(a->fw_ver, sizeof(a->fw_ver), "softdev");
	a->node_guid = htobe64(d->guid);
	a->sys_image_guid = a->node_guid;
	a->max_mr_size = UINT64_MAX;
	a->page_size_cap = 0xfffff000;
	a->max_qp = (int)d->max_qp;
	a->max_qp_wr = (int)d->max_qp_wr;
	/* As soft-RoCE, and XRC. */
	a->device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR | IBV_DEVICE_PORT_ACTIVE_EVENT |
			      IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_XRC | IBV_DEVICE_SRQ_RESIZE;
	a->max_sge = a->max_sge_rd = (int)d->max_sge;
	a->max_cq = (int)d->max_cq;
	a->max_cqe = (int)d->max_cqe;
	a->max_mr = (int)d->max_mr;
	a->max_pd = (int)d->max_pd;
	a->max_qp_rd_atom = a->max_qp_init_rd_atom = (int)d->max_rd_atom;
	a->max_res_rd_atom = (int)(d->max_rd_atom * d->max_qp);
	a->atomic_cap = IBV_ATOMIC_HCA;
	a->max_mcast_grp = FK_MAX_ATTACH;
	a->max_mcast_qp_attach = 64;
	a->max_total_mcast_qp_attach = FK_MAX_ATTACH;
	a->max_ah = 65536;
	a->max_srq = (int)d->max_srq;
	a->max_srq_wr = (int)d->max_qp_wr;
	a->max_srq_sge = (int)d->max_sge;
	a->max_pkeys = FK_MAX_PKEYS;
	a->local_ca_ack_delay = 15;
	a->phys_port_cnt = (uint8_t)d->nports;
}

FK_EXPORT int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	int err = FK_VERB("query_device", fk_ctx_name(c));

	if (err)
		return fk_verr(err);
	device_attr(fk_devp(fk_uctx(c)->dev), a);
	return 0;
}

int fk_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in,
		       struct ibv_device_attr_ex *a, size_t len)
{
	int err = FK_VERB("query_device", fk_ctx_name(c));

	if (err || (in && in->comp_mask) || len < sizeof(a->orig_attr))
		return fk_verr(err ? err : EINVAL);
	memset(a, 0, len);
	device_attr(fk_devp(fk_uctx(c)->dev), &a->orig_attr);
	if (len >= offsetof(struct ibv_device_attr_ex, phys_port_cnt_ex) + sizeof(a->phys_port_cnt_ex))
		a->phys_port_cnt_ex = a->orig_attr.phys_port_cnt;
	return 0;
}

int fk_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *a, size_t len)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	const struct fk_port_cfg *p;
	struct ibv_port_attr out = { 0 };
	int err = FK_VERB("query_port", fk_ctx_name(c));

	if (err || !port || port > d->nports)
		return fk_verr(err ? err : EINVAL);
	p = &d->port[port - 1];
	out.state = p->state;
	out.max_mtu = out.active_mtu = p->mtu;
	out.gid_tbl_len = FK_MAX_GIDS;
	out.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
	out.max_msg_sz = 1u << 23;
	out.pkey_tbl_len = FK_MAX_PKEYS;
	out.lid = p->lid;
	out.sm_lid = p->sm_lid;
	out.max_vl_num = 1;
	out.subnet_timeout = 18;
	out.active_width = 2;
	out.active_speed = 32;
	out.phys_state = 5;
	out.link_layer = d->transport == FK_TRANSPORT_IWARP ? FK_LINK_ETH : p->link_layer;
	memset(a, 0, len);
	memcpy(a, &out, len < sizeof(out) ? len : sizeof(out));
	return 0;
}

/* Callers of the plain entry point may have the older, shorter structure. */
#undef ibv_query_port
FK_EXPORT int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *a)
{
	return fk_query_port(c, port, (struct ibv_port_attr *)(void *)a,
			     offsetof(struct ibv_port_attr, port_cap_flags2));
}
