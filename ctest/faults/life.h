// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Lives of rsockets, of whose steps one fails. */
#ifndef LIFE_H
#define LIFE_H

/* hooks.c: the n-th call NAME of libc by librdmacm fails with that error. */
void start_hooks(void);
void arm_libc(const char *name, long number, int error);
void stop_counting(void);
int libc_hit(void);
void print_libc_counts(void);

/* lives.c */
struct life {
	const char *name;
	/* Calls may fail where `strict` is 0. What succeeds must be right. */
	void (*run)(int strict);
};

extern const struct life lives[];
/* A success that is none, or a failure in a strict life. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
