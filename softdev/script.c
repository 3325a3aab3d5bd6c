/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The script language: lines of words, see README.md. */
#include "real.h"
#include "rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 48 };

const char *fk_value(const char *word, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(word, key, n) && word[n] == '=' ? word + n + 1 : NULL;
}

static int set_u32(const char *word, const char *key, uint32_t *to)
{
	const char *v = fk_value(word, key);

	if (v)
		*to = (uint32_t)strtoull(v, NULL, 0);
	return v != NULL;
}

static int set_err(const char *word, const char *key, int32_t *to)
{
	const char *v = fk_value(word, key);

	if (v)
		*to = -abs(fk_errno_by_name(v));
	return v != NULL;
}

static int do_kernel(char **w, int n)
{
	struct fk_tune *t = &fk_k->tune;
	const char *v;
	int32_t e;

	for (int i = 1; i < n; i++) {
		if (set_u32(w[i], "max_cmd", &t->max_cmd) || set_u32(w[i], "af_ib", &t->af_ib) ||
		    set_u32(w[i], "timewait", &t->timewait_ms) ||
		    set_u32(w[i], "dreq_timeout", &t->dreq_ms) || set_u32(w[i], "index", &t->index_known) ||
		    set_u32(w[i], "ece", &t->ece) || set_u32(w[i], "rnr_ms", &t->rnr_ms) ||
		    set_u32(w[i], "rtr_mask", &t->rtr_mask_extra) ||
		    set_u32(w[i], "hold_limit", &t->hold_limit_ms) ||
		    set_u32(w[i], "max_backlog", &t->max_backlog) ||
		    set_err(w[i], "addr_error", &t->addr_error))
			continue;
		if ((v = fk_value(w[i], "unreachable"))) {
			t->unreachable_status = fk_errno_by_name(v);
		} else if (set_err(w[i], "mcast_error", &e)) {
			t->mcast_error = (uint32_t)-e;
		} else if ((v = fk_value(w[i], "pdata"))) {
			t->exact_pdata = !strcmp(v, "exact");
		} else if ((v = fk_value(w[i], "ports"))) {
			t->port_low = fk_k->next_port = (uint32_t)atoi(v);
			t->port_high = strchr(v, '-') ? (uint32_t)atoi(strchr(v, '-') + 1) : t->port_low;
		} else {
			return -EINVAL;
		}
	}
	return 0;
}

static int do_handles(char **w, int n)
{
	struct fk_handles *h = &fk_k->id_handle;
	const char *v;

	for (int i = 1; i < n; i++) {
		if (set_u32(w[i], "base", &h->base)) {
			/* Only sensible while no id exists. */
			h->hint = 0;
		} else if ((v = fk_value(w[i], "reuse"))) {
			h->mode = !strcmp(v, "never") ? FK_REUSE_NEVER :
				  !strcmp(v, "lifo") ? FK_REUSE_LIFO : FK_REUSE_LOWEST;
		} else {
			return -EINVAL;
		}
	}
	return 0;
}

static int do_peer(char **w, int n)
{
	for (int i = 1; i < n && fk_k->npeers < FK_MAX_PEERS; i++)
		if (fk_sa_parse(w[i], &fk_k->peer[fk_k->npeers++], NULL))
			return -EINVAL;
	return 0;
}

static int do_service(char **w, int n)
{
	struct fk_service *s = &fk_k->service[fk_k->nservices];
	const char *v;

	if (fk_k->nservices == FK_MAX_SERVICES)
		return -ENOSPC;
	for (int i = 1; i < n; i++) {
		if ((v = fk_value(w[i], "id")))
			s->id = strtoull(v, NULL, 0);
		else if ((v = fk_value(w[i], "name")))
			snprintf(s->name, sizeof(s->name), "%s", v);
		else if ((v = fk_value(w[i], "gid")))
			inet_pton(AF_INET6, v, s->gid);
		else if ((v = fk_value(w[i], "pkey")))
			s->pkey = (uint16_t)strtoul(v, NULL, 0);
		else
			return -EINVAL;
	}
	fk_k->nservices++;
	return 0;
}

static int run_line(char **w, int n)
{
	if (!strcmp(w[0], "device"))
		return fk_device_from_words(w, n);
	if (!strcmp(w[0], "nodevices")) {
		for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
			fk_devp(i)->present = 0;
		if (!fk_k->dev.pool.high)
			FK_TAKE(fk_k->dev);
		return 0;
	}
	if (!strcmp(w[0], "kernel"))
		return do_kernel(w, n);
	if (!strcmp(w[0], "handles"))
		return do_handles(w, n);
	if (!strcmp(w[0], "peer"))
		return do_peer(w, n);
	if (!strcmp(w[0], "service"))
		return do_service(w, n);
	if (!strcmp(w[0], "release"))
		return fk_hold_release(n > 1 ? w[1] : NULL) >= 0 ? 0 : -EINVAL;
	if (!strcmp(w[0], "remove"))
		return n > 1 ? fk_dev_remove(w[1]) : -EINVAL;
	if (!strcmp(w[0], "return"))
		return n > 1 ? fk_dev_return(w[1]) : -EINVAL;
	if (!strcmp(w[0], "log")) {
		fk_log_start(n > 1 ? w[1] : NULL);
		return 0;
	}
	if (!strcmp(w[0], "reset")) {
		fk_rules_clear();
		return 0;
	}
	return fk_rule_add(w, n);
}

/* What the one who makes the kernel says of it; others join as it is. */
static bool of_the_kernel(const char *word)
{
	static const char *const words[] = { "device", "nodevices", "kernel", "handles", "peer", "service" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static int run_text(const char *text, bool joining, const char *from)
{
	char *copy = strdup(text), *save, *line, *word, *wsave;
	char *words[MAX_WORDS];
	int first = 0;

	if (!copy)
		return -ENOMEM;
	for (line = strtok_r(copy, "\n;", &save); line; line = strtok_r(NULL, "\n;", &save)) {
		char *hash = strchr(line, '#');
		int n = 0, r;

		if (hash)
			*hash = 0;
		for (word = strtok_r(line, " \t\r", &wsave); word && n < MAX_WORDS;
		     word = strtok_r(NULL, " \t\r", &wsave))
			words[n++] = word;
		if (!n || (joining && of_the_kernel(words[0])))
			continue;
		r = run_line(words, n);
		if (r && from && !first)
			fk_say("%s: error in the statement '%s%s%s%s': %s", from, words[0], n > 1 ? " " : "",
			       n > 1 ? words[1] : "", n > 2 ? " …" : "", strerror(-r));
		if (r) {
			fk_log_note("script: '%s ...' gives %d", words[0], r);
			if (!first)
				first = r;
		}
	}
	free(copy);
	return first;
}

int fk_script_text(const char *text)
{
	return run_text(text, false, NULL);
}

/* An absolute name is a file's; anything else may be the text itself. */
void fk_script_env(bool first)
{
	const char *env = getenv("RDMAFAKE");
	char *text;
	ssize_t n;
	int fd;

	if (!env || !*env)
		return;
	fd = REAL(open)(env, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && *env == '/') {
		fk_say("cannot read the script %s: %s", env, strerror(errno));
		return;
	}
	if (fd < 0) {
		run_text(env, !first, "RDMAFAKE");
		return;
	}
	text = calloc(1, 1 << 20);
	n = text ? REAL(read)(fd, text, (1 << 20) - 1) : -1;
	if (n < 0)
		fk_say("cannot read the script %s: %s", env, strerror(errno));
	else
		run_text(text, !first, env);
	REAL(close)(fd);
	free(text);
}
