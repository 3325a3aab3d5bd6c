// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A peer that has learnt the address and the key of another connection's memory. With the connections of the process in one
 * protection domain, the default and the C library's way, its write arrives. With a domain for each it is refused, and what
 * it was written to is as it was.
 * env: RDMACM_OWN_DOMAINS=1
 */
#include "peer.h"

static struct peer honest;
static int honest_fd;
static char area[8192];

static void two_connections(void)
{
	shake_hands(NULL);
	honest = peer;
	honest_fd = fd;
	shake_hands(NULL);
}

/* The other peer writes the first bytes of the honest one's, which then says that they are there. */
static char written_over(void)
{
	struct peer other = peer;

	memset(peer.from, 's', 64);
	post(IBV_WR_RDMA_WRITE, 0, be64toh(honest.other.first.address), be32toh(honest.other.first.key), peer.from, 64);
	/* After it, on the same queue pair: over when it has an answer. */
	tell(CREDIT | 1);
	usleep(200000);
	peer.id = honest.id;
	peer.region = honest.region;
	tell(DATA | 64);
	CHECK("R-9 the honest peer's bytes", rrecv(honest_fd, in, 64, MSG_WAITALL), 64, 0);
	peer.id = other.id;
	peer.region = other.region;
	return in[0];
}

/* Whatever is registered for a connection is in its domain: a large send buffer and areas of riomap, too. */
static void honest_use(void)
{
	struct pollfd poll = { 0 };
	int fds[2], size = 8;
	long sent, got = 0;

	pair(port++, fds);
	rsetsockopt(fds[0], SOL_RDMA, RDMA_IOMAPSIZE, &size, sizeof size);
	rfcntl(fds[0], F_SETFL, O_NONBLOCK);
	sent = rsend(fds[0], in, 100000, 0);
	CHECK_TRUE("a large send", sent > 16384);
	while (got < sent) {
		long n = rrecv(fds[1], in, sizeof in, 0);

		if (n <= 0)
			break;
		got += n;
	}
	CHECK("it arrives", got, sent, 0);
	CHECK("riomap", riomap(fds[0], area, sizeof area, 0, 0, 0), 0, 0);
	CHECK("riounmap", riounmap(fds[0], area, sizeof area), 0, 0);
	CHECK("riomap that rclose ends", riomap(fds[0], area, sizeof area, 0, 0, 0), 0, 0);
	rclose(fds[0]);
	poll = (struct pollfd){ fds[1], POLLIN, 0 };
	rpoll(&poll, 1, 5000);
	rclose(fds[1]);
}

int main(void)
{
	__typeof__(&rdmafake_live) alive = RDMAFAKE(rdmafake_live);
	struct rdmafake_live live = { 0 };
	int own = getenv("RDMACM_OWN_DOMAINS") && atoi(getenv("RDMACM_OWN_DOMAINS"));

	two_connections();
	if (!own) {
		CHECK("in one domain the write arrives", written_over(), 's', 0);
		return finish();
	}
	CHECK("R-9 the write of another peer", written_over(), 0, 0);
	refused("another connection's key");
	CHECK("R-9 the honest connection goes on", rsend(honest_fd, "y", 1, 0), 1, 0);
	rdma_disconnect(honest.id);
	rclose(honest_fd);
	rclose(fd);
	for (int i = 0; i < 20; i++)
		honest_use();
	if (alive) {
		/* The peers' two and the device's, which their ids hold; what the pool keeps goes after a moment. */
		for (int ms = 0; alive(&live), ms < 5000 && live.pds > 3; ms += 50)
			usleep(50000);
		CHECK("no domain is left", live.pds, 3, 0);
	}
	fflush(stdout);
	if (!fork()) {
		setenv("RDMACM_OWN_DOMAINS", "0", 1);
		execl("/proc/self/exe", "domains", NULL);
		_exit(9);
	}
	int status = -1;
	wait(&status);
	CHECK("without the setting", status, 0, 0);
	return finish();
}
