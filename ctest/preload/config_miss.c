// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* preload_config: rules of other programs, families and types take nothing here.
 * rdma: 0
 * config: # a comment, then rules
 * config: other INET STREAM TCP
 * config: config_miss INET6 STREAM *
 * config: config_miss AF_INET DGRAM udp
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
