// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* preload_config: a rule's program name stands for all that begin with it, as in the C library.
 * rdma: 2
 * config: config_pre INET STREAM TCP
 * over-c: yes
 */
#include "common.h"

int main(void)
{
	int fds[2];

	pair(fds);
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]);
	return 0;
}
