// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names that rustc's code calls and gcc's thread sanitizer has under the plain ones, which it watches. */
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	return memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n)
{
	return memmove(to, from, n);
}

void *__tsan_memset(void *to, int value, size_t n)
{
	return memset(to, value, n);
}
