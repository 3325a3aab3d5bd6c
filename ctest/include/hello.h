/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The stream protocol's structs, for peers made of verbs. */
#ifndef CTEST_HELLO_H
#define CTEST_HELLO_H

#include <stdint.h>

struct entry {
	uint64_t address;
	uint32_t key, length;
};

/* The private data of connect and accept. */
struct hello {
	uint8_t version, flags;
	uint16_t credits;
	uint8_t reserved[3], iomap;
	struct entry targets, first;
} __attribute__((packed));

#endif
