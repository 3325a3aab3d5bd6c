/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Script lines that describe devices and rules. */
#include "real.h"
#include "rules.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

static int each(const char *list, int (*fn)(struct fk_dev *, const char *), struct fk_dev *d)
{
	char copy[512], *save, *item;

	snprintf(copy, sizeof(copy), "%s", list);
	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save))
		if (fn(d, item))
			return -EINVAL;
	return 0;
}

/* The machine's own addresses: some programs ask the real routing first. */
static int host_ips(struct fk_dev *d)
{
	struct ifaddrs *all, *i;

	if (getifaddrs(&all))
		return -errno;
	for (i = all; i; i = i->ifa_next) {
		struct fk_ip *ip = &d->ip[d->nips];

		if (!i->ifa_addr || d->nips == FK_MAX_IPS || (i->ifa_flags & IFF_LOOPBACK) ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		ip->addr.ss_family = i->ifa_addr->sa_family;
		memcpy(&ip->addr, i->ifa_addr, fk_sa_size(&ip->addr));
		ip->prefix = ip->addr.ss_family == AF_INET ? 24 : 64;
		d->nips++;
	}
	freeifaddrs(all);
	return 0;
}

static int one_ip(struct fk_dev *d, const char *text)
{
	if (!strcmp(text, "host"))
		return host_ips(d);
	if (d->nips == FK_MAX_IPS)
		return -ENOSPC;
	return fk_sa_parse(text, &d->ip[d->nips].addr, &d->ip[d->nips].prefix) ? -EINVAL :
		(d->nips++, 0);
}

static int one_gid(struct fk_dev *d, const char *text)
{
	struct fk_port_cfg *p = &d->port[0];

	if (p->ngids == FK_MAX_GIDS || inet_pton(AF_INET6, text, p->gid[p->ngids]) != 1)
		return -EINVAL;
	p->gid_type[p->ngids++] = p->link_layer == FK_LINK_ETH ? 2 : 0;
	return 0;
}

static int one_pkey(struct fk_dev *d, const char *text)
{
	for (uint32_t p = 0; p < FK_MAX_PORTS; p++)
		if (d->port[p].npkeys < FK_MAX_PKEYS)
			d->port[p].pkey[d->port[p].npkeys++] = (uint16_t)strtoul(text, NULL, 0);
	return 0;
}

static int set_type(struct fk_dev *d, const char *v)
{
	uint8_t link = FK_LINK_ETH;

	d->transport = FK_TRANSPORT_IB;
	if (!strcmp(v, "ib"))
		link = FK_LINK_IB;
	else if (!strcmp(v, "iwarp"))
		d->transport = FK_TRANSPORT_IWARP;
	else if (!strcmp(v, "usnic"))
		d->transport = FK_TRANSPORT_USNIC;
	else if (strcmp(v, "roce"))
		return -EINVAL;
	for (uint32_t p = 0; p < FK_MAX_PORTS; p++)
		d->port[p].link_layer = link;
	return 0;
}

static int device_word(struct fk_dev *d, const char *w)
{
	const struct { const char *key; uint32_t *to; } num[] = {
		{ "index", &d->index }, { "query_index", &d->query_index }, { "ports", &d->nports },
		{ "inline", &d->max_inline }, { "max_qp", &d->max_qp }, { "max_qp_wr", &d->max_qp_wr },
		{ "max_sge", &d->max_sge }, { "max_cq", &d->max_cq }, { "max_cqe", &d->max_cqe },
		{ "max_srq", &d->max_srq }, { "max_mr", &d->max_mr }, { "max_pd", &d->max_pd },
		{ "max_rd_atom", &d->max_rd_atom },
	};
	const char *v;

	for (size_t i = 0; i < sizeof(num) / sizeof(num[0]); i++)
		if ((v = fk_value(w, num[i].key))) {
			*num[i].to = (uint32_t)strtoll(v, NULL, 0);
			return 0;
		}
	if ((v = fk_value(w, "name")))
		snprintf(d->name, sizeof(d->name), "%s", v);
	else if ((v = fk_value(w, "guid")))
		d->guid = strtoull(v, NULL, 0);
	else if ((v = fk_value(w, "type")))
		return set_type(d, v);
	else if ((v = fk_value(w, "link")))
		d->port[0].link_layer = !strcmp(v, "ib") ? FK_LINK_IB : FK_LINK_ETH;
	else if ((v = fk_value(w, "ip")))
		return each(v, one_ip, d);
	else if ((v = fk_value(w, "gid")))
		return each(v, one_gid, d);
	else if ((v = fk_value(w, "pkey")))
		return each(v, one_pkey, d);
	else if ((v = fk_value(w, "lid")))
		d->port[0].lid = (uint16_t)strtoul(v, NULL, 0);
	else if ((v = fk_value(w, "mtu")))
		d->port[0].mtu = (uint8_t)strtoul(v, NULL, 0);
	else if ((v = fk_value(w, "state")))
		d->port[0].state = !strcmp(v, "down") ? 1 : 4;
	else if ((v = fk_value(w, "lists_index")))
		d->listed_index_known = atoi(v) != 0;
	else if ((v = fk_value(w, "ece")))
		d->ece = atoi(v) != 0;
	else
		return -EINVAL;
	return 0;
}

int fk_device_from_words(char **w, int n)
{
	uint64_t query_guid = 0;
	int has_query_guid = 0, r = 0;
	struct fk_dev *d;
	uint32_t dev;

	fk_lock();
	dev = FK_TAKE(fk_k->dev);
	if (!dev) {
		fk_unlock();
		return -ENOSPC;
	}
	d = fk_devp(dev);
	fk_dev_defaults(d, dev);
	for (int i = 1; i < n && !r; i++) {
		const char *v = fk_value(w[i], "query_guid");

		if (v) {
			query_guid = strtoull(v, NULL, 0);
			has_query_guid = 1;
		} else {
			r = device_word(d, w[i]);
		}
	}
	if (d->nports < 1 || d->nports > FK_MAX_PORTS)
		r = -EINVAL;
	if (r) {
		FK_GIVE(fk_k->dev, dev);
	} else {
		fk_dev_finish(d);
		if (has_query_guid)
			d->query_guid = query_guid;
	}
	fk_unlock();
	return r;
}

/* Without a device line there is one RoCE device with two addresses. */
void fk_default_devices(void)
{
	char a[] = "device", b[] = "ip=10.77.0.1/24,fd00:77::1/64";
	char *w[] = { a, b };

	if (!fk_k->dev.pool.high)
		fk_device_from_words(w, 2);
}

static int get_hex(struct fk_rule *r, const char *v)
{
	size_t n = strlen(v);

	if (n % 2 || n > 2 * sizeof(r->bytes))
		return -EINVAL;
	for (size_t i = 0; i < n / 2; i++) {
		char two[3] = { v[2 * i], v[2 * i + 1], 0 };

		if (!isxdigit((unsigned char)two[0]) || !isxdigit((unsigned char)two[1]))
			return -EINVAL;
		r->bytes[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	r->len = (uint32_t)(n / 2);
	return 0;
}

static int event_word(struct fk_rule *r, const char *w)
{
	struct rdmafake_event *e = &r->event;
	const char *v;
	int n;

	if ((v = fk_value(w, "event"))) {
		n = fk_event_by_name(v);
		if (n < 0)
			return -EINVAL;
		e->event = (uint32_t)n;
	} else if ((v = fk_value(w, "status"))) {
		e->status = fk_errno_by_name(v);
	} else if ((v = fk_value(w, "uid"))) {
		e->uid_set = 1;
		e->uid = strtoull(v, NULL, 0);
	} else if ((v = fk_value(w, "to"))) {
		r->self = !strcmp(v, "self");
		e->handle = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "report"))) {
		e->handle_set = 1;
		e->report_handle = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "pdata"))) {
		/* A number is a length; bytes are the letter 'x'. */
		e->pdata_len = (uint32_t)strtoul(v, NULL, 0) & 255;
		memset(r->pdata, 'x', sizeof(r->pdata));
		e->pdata = r->pdata;
	} else if ((v = fk_value(w, "qp"))) {
		e->qp_num = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "qkey"))) {
		e->qkey = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "arg"))) {
		e->arg_set = 1;
		e->arg = strtoull(v, NULL, 0);
	} else if (!strcmp(w, "ud")) {
		e->ud = 1;
	} else {
		return -EINVAL;
	}
	return 0;
}

static int rule_word(struct fk_rule *r, const char *w)
{
	const char *v;

	if ((v = fk_value(w, "nth"))) {
		r->nth = strtoull(v, NULL, 0);
	} else if ((v = fk_value(w, "count"))) {
		r->count = strtoull(v, NULL, 0);
	} else if (!strcmp(w, "always")) {
		r->count = UINT64_MAX;
	} else if (!strcmp(w, "after")) {
		r->after = 1;
	} else if ((v = fk_value(w, "errno"))) {
		r->err = abs(fk_errno_by_name(v));
	} else if ((v = fk_value(w, "handle"))) {
		r->by_handle = 1;
		r->handle = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "size"))) {
		r->size_rel = *v == '+' || *v == '-';
		r->size = atoi(v);
	} else if (!strcmp(w, "skip")) {
		r->skip = 1;
	} else if ((v = fk_value(w, "ms"))) {
		r->ms = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "label"))) {
		snprintf(r->label, sizeof(r->label), "%s", v);
	} else if ((v = fk_value(w, "dev"))) {
		snprintf(r->dev, sizeof(r->dev), "%s", v);
	} else if ((v = fk_value(w, "off"))) {
		r->off = (uint32_t)strtoul(v, NULL, 0);
	} else if ((v = fk_value(w, "hex"))) {
		return get_hex(r, v);
	} else if (r->kind == FK_RULE_INJECT) {
		return event_word(r, w);
	} else {
		return -EINVAL;
	}
	return 0;
}

int fk_rule_add(char **w, int n)
{
	static const char *const kinds[] = { "fail", "answer", "hold", "patch", "inject", "verbs",
					     "drop", "delay" };
	static const char *const places[] = { "node", "sysfs", "netlink", "chardev", "stat" };
	struct fk_rule r = { .nth = 1, .count = 1, .self = 1, .event.fd = -1 };
	const size_t nkinds = sizeof(kinds) / sizeof(kinds[0]);
	size_t k;
	int cmd, err;

	for (k = 0; k < nkinds && strcmp(w[0], kinds[k]); k++)
		;
	if (k == nkinds || n < 2)
		return -EINVAL;
	r.kind = (enum fk_rule_kind)k;
	cmd = r.kind >= FK_RULE_DROP ? fk_event_by_name(w[1]) : fk_cmd_by_name(w[1]);
	r.cmd = r.kind == FK_RULE_VERB ? -2 : cmd;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!strcmp(w[1], places[i]))
			r.cmd = -2;
	/* "hold verb:create_qp" holds a verbs call. */
	if (r.kind == FK_RULE_HOLD && !strncmp(w[1], "verb:", 5))
		r.cmd = -2;
	if (r.cmd < -2)
		return -EINVAL;
	if (r.cmd == -2)
		snprintf(r.target, sizeof(r.target), "%s", strncmp(w[1], "verb:", 5) ? w[1] : w[1] + 5);
	for (int i = 2; i < n; i++)
		if ((err = rule_word(&r, w[i])))
			return err;
	return fk_rule_store(&r);
}
