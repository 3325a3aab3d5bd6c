// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A device with room for three connections only: the others go over TCP, and nobody sees a difference.
 * rdma: 2
 * fake: device name=fake0 type=roce ip=10.77.0.1/24,fd00:77::1/64 max_qp=6
 */
#include "common.h"

int main(void)
{
	int server = listener(16), fds[10][2];

	for (int i = 0; i < 10; i++)
		pair_of(server, fds[i]);
	for (int i = 0; i < 10; i++)
		ping(fds[i][0], fds[i][1]);
	for (int i = 0; i < 10; i++) {
		close(fds[i][0]);
		SAY(recv(fds[i][1], &(char){ 0 }, 1, 0));
		close(fds[i][1]);
	}
	close(server);
	return 0;
}
