/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "real.h"
#include "rules.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { MAX_RULES = 512, MAX_HELD = 64, FORK_WAIT_MS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change;
static pthread_once_t cond_once = PTHREAD_ONCE_INIT;
static struct fk_rule rules[MAX_RULES];
static int nrules;
static _Atomic int any;
static _Atomic uint64_t seen[FK_CMD_LAST + 2];
static struct fk_verb *_Atomic verbs;

static struct held {
	char label[32];
	int used, go;
} held[MAX_HELD];

static void cond_make(void)
{
	pthread_condattr_t a;

	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&change, &a);
	pthread_condattr_destroy(&a);
}

bool fk_rules_any(void)
{
	return atomic_load_explicit(&any, memory_order_acquire) != 0;
}

int fk_rule_store(const struct fk_rule *r)
{
	int err = 0;

	fk_hold(&lock);
	if (nrules == MAX_RULES)
		err = -ENOSPC;
	else
		rules[nrules++] = *r;
	atomic_store(&any, nrules);
	fk_let_go(&lock);
	return err;
}

void fk_rules_clear(void)
{
	fk_hold(&lock);
	nrules = 0;
	atomic_store(&any, 0);
	fk_let_go(&lock);
	fk_hold_release(NULL);
}

void fk_rules_fork(int step)
{
	static __thread bool taken;

	if (step == 0)
		taken = fk_hold_within(&lock, FORK_WAIT_MS);
	else if (step == 1 && taken)
		fk_let_go(&lock);
	if (step != 2)
		return;
	/* Waiters were the parent's. */
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	cond_make();
	memset(held, 0, sizeof(held));
	if (taken)
		fk_unshield();
}

/* Counts the occurrence; true when the rule is to act on this one. */
static bool due(struct fk_rule *r)
{
	r->seen++;
	return r->seen >= r->nth && r->seen - r->nth < r->count;
}

static void add_to_plan(const struct fk_rule *r, struct fk_plan *p)
{
	switch (r->kind) {
	case FK_RULE_FAIL:
		if (r->after)
			p->err_after = r->err;
		else
			p->err = r->err;
		break;
	case FK_RULE_ANSWER:
		p->has_size = 1;
		p->size_rel = r->size_rel;
		p->size = r->size;
		p->skip = r->skip;
		break;
	case FK_RULE_HOLD:
		if (r->after) {
			p->hold_after = 1;
			memcpy(p->label_after, r->label, sizeof(p->label_after));
		} else {
			p->hold = 1;
			memcpy(p->label, r->label, sizeof(p->label));
		}
		break;
	case FK_RULE_PATCH:
		if (p->npatch < 4) {
			p->patch[p->npatch].off = r->off;
			p->patch[p->npatch].len = r->len;
			memcpy(p->patch[p->npatch].bytes, r->bytes, sizeof(r->bytes));
			p->npatch++;
		}
		break;
	case FK_RULE_INJECT:
		if (p->ninject < 4) {
			p->inject_self[p->ninject] = r->self;
			p->inject[p->ninject] = r->event;
			if (r->event.pdata)
				p->inject[p->ninject].pdata = r->pdata;
			p->ninject++;
		}
		break;
	default:
		break;
	}
}

void fk_plan_command(uint32_t cmd, uint32_t handle, struct fk_plan *plan)
{
	atomic_fetch_add_explicit(&seen[cmd <= FK_CMD_LAST ? cmd : FK_CMD_LAST + 1], 1,
				  memory_order_relaxed);
	if (!plan)
		return;
	fk_hold(&lock);
	for (int i = 0; i < nrules; i++) {
		struct fk_rule *r = &rules[i];

		if (r->kind >= FK_RULE_VERB || r->cmd == -2 ||
		    (r->cmd >= 0 && (uint32_t)r->cmd != cmd) ||
		    (r->by_handle && r->handle != handle))
			continue;
		if (due(r))
			add_to_plan(r, plan);
	}
	fk_let_go(&lock);
}

/* 0: deliver the event now, -1: lose it, else deliver it after so many ms. */
int fk_plan_event(uint32_t event)
{
	int what = 0;

	if (!fk_rules_any())
		return 0;
	fk_hold(&lock);
	for (int i = 0; i < nrules; i++) {
		struct fk_rule *r = &rules[i];

		if (r->kind < FK_RULE_DROP || (r->cmd >= 0 && (uint32_t)r->cmd != event))
			continue;
		if (due(r))
			what = r->kind == FK_RULE_DROP ? -1 : (int)r->ms;
	}
	fk_let_go(&lock);
	return what;
}

static int plan_named(enum fk_rule_kind kind, const char *name, const char *dev)
{
	int err = 0, hold = 0;
	char label[32];

	if (!fk_rules_any())
		return 0;
	fk_hold(&lock);
	for (int i = 0; i < nrules; i++) {
		struct fk_rule *r = &rules[i];

		if (r->cmd != -2 || strcmp(r->target, name) ||
		    (r->dev[0] && (!dev || strcmp(r->dev, dev))))
			continue;
		if (r->kind != kind && r->kind != FK_RULE_HOLD)
			continue;
		if (!due(r))
			continue;
		if (r->kind == FK_RULE_HOLD) {
			hold = 1;
			memcpy(label, r->label, sizeof(label));
		} else {
			err = r->err;
		}
	}
	fk_let_go(&lock);
	if (hold)
		fk_hold_wait(label);
	return err;
}

int fk_plan_path(const char *what)
{
	return plan_named(FK_RULE_FAIL, what, NULL);
}

int fk_verb_hit(struct fk_verb *v, const char *dev)
{
	int no = 0;

	fk_kill_point(v->name);
	atomic_fetch_add_explicit(&v->count, 1, memory_order_relaxed);
	if (!atomic_load_explicit(&v->listed, memory_order_relaxed) &&
	    atomic_compare_exchange_strong(&v->listed, &no, 1)) {
		v->next = atomic_load(&verbs);
		while (!atomic_compare_exchange_weak(&verbs, &v->next, v))
			;
	}
	return plan_named(FK_RULE_VERB, v->name, dev);
}

uint64_t fk_count_cmd(int cmd)
{
	uint64_t n = 0;

	for (int i = 0; i <= FK_CMD_LAST + 1; i++)
		if (cmd < 0 || i == cmd)
			n += atomic_load(&seen[i]);
	return n;
}

uint64_t fk_count_verb(const char *name)
{
	uint64_t n = 0;

	/* A call may have several entry points. */
	for (struct fk_verb *v = atomic_load(&verbs); v; v = v->next)
		if (!strcmp(v->name, name))
			n += atomic_load(&v->count);
	return n;
}

static struct timespec in_ms(int ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += (ms % 1000) * 1000000L;
	if (ts.tv_nsec >= 1000000000L) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000L;
	}
	return ts;
}

/* Bounded: a test that forgets to release must fail and not hang. */
void fk_hold_wait(const char *label)
{
	struct timespec end = in_ms((int)fk_k->tune.hold_limit_ms);
	int i, old, r = 0;

	pthread_once(&cond_once, cond_make);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_HELD && held[i].used; i++)
		;
	if (i < MAX_HELD) {
		held[i].used = 1;
		held[i].go = 0;
		snprintf(held[i].label, sizeof(held[i].label), "%s", label);
		pthread_cond_broadcast(&change);
		while (!held[i].go && r == 0)
			r = pthread_cond_timedwait(&change, &lock, &end);
		held[i].used = 0;
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(old, NULL);
	if (r)
		fk_log_note("hold '%s' ran into its limit", label);
}

int fk_hold_release(const char *label)
{
	int n = 0;

	pthread_once(&cond_once, cond_make);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MAX_HELD; i++)
		if (held[i].used && !held[i].go && (!label || !strcmp(label, held[i].label))) {
			held[i].go = 1;
			n++;
		}
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
	return n;
}

int fk_hold_held(const char *label, int timeout_ms)
{
	struct timespec end = in_ms(timeout_ms);
	int found = 0, old, r = 0;

	pthread_once(&cond_once, cond_make);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_mutex_lock(&lock);
	while (!found && r == 0) {
		for (int i = 0; i < MAX_HELD; i++)
			if (held[i].used && !held[i].go && (!label || !strcmp(label, held[i].label)))
				found = 1;
		if (!found)
			r = pthread_cond_timedwait(&change, &lock, &end);
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(old, NULL);
	return found ? 0 : -ETIMEDOUT;
}
