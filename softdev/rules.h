/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A rule of the script: what to do to which occurrence of which call. */
#ifndef FK_RULES_H
#define FK_RULES_H

#include "fake.h"

enum fk_rule_kind { FK_RULE_FAIL, FK_RULE_ANSWER, FK_RULE_HOLD, FK_RULE_PATCH, FK_RULE_INJECT, FK_RULE_VERB,
		    FK_RULE_DROP, FK_RULE_DELAY };

struct fk_rule {
	enum fk_rule_kind kind;
	int cmd;		/* command (or event) number, -1 any, -2: named target below */
	char target[32];
	char dev[64];
	uint64_t nth, count, seen;
	int by_handle;
	uint32_t handle;
	int after;
	int err;
	int size_rel, size, skip;
	uint32_t ms;
	char label[32];
	uint32_t off, len;
	uint8_t bytes[32];
	struct rdmafake_event event;
	int self;
	uint8_t pdata[FK_PDATA];
};

/* One verbs entry point; counts itself and is known by name once it was used. */
struct fk_verb {
	const char *name;
	_Atomic uint64_t count;
	_Atomic int listed;
	struct fk_verb *next;
};

int fk_verb_hit(struct fk_verb *v, const char *dev);

#define FK_VERB(verb, dev) \
	__extension__ ({ static struct fk_verb v_ = { .name = verb }; fk_verb_hit(&v_, dev); })

int fk_rule_store(const struct fk_rule *r);
const char *fk_value(const char *word, const char *key);

#endif
