// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Moving bytes: flags, vectors, messages, batches, files, pipes, large transfers, counts.
 * rdma: 10
 */
#include "common.h"

static char buf[1 << 20], back[1 << 20];

static void fill(void)
{
	for (long i = 0; i < (long)sizeof buf; i++)
		buf[i] = pattern(i);
}

static void flags(void)
{
	int fds[2], waiting = -1, on = 1;
	struct later later;
	char text[32] = "";

	TITLE("flags");
	pair(fds);
	SAY(recv(fds[0], text, 1, MSG_DONTWAIT));
	SAY(recv(fds[0], text, 0, MSG_DONTWAIT));
	SAY(ioctl(fds[0], FIONREAD, &waiting));
	say("%d", waiting);
	MUST(send(fds[1], "hello", 5, 0));
	if (!readable(fds[0], 5000))
		say("nothing came");
	SAY(ioctl(fds[0], FIONREAD, &waiting));
	say("%d", waiting);
	SAY(recv(fds[0], text, 3, MSG_PEEK));
	say("%.3s", text);
	SAY(recv(fds[0], text, 9, MSG_PEEK));
	say("%.5s", text);
	SAY(recv(fds[0], text, 2, 0));
	say("%.2s", text);
	SAY(recv(fds[0], text, 9, MSG_PEEK | MSG_DONTWAIT));
	say("%.3s", text);
	do_later(&later, 200, fds[1], 's');
	SAY(recv(fds[0], text, 8, MSG_WAITALL));
	say("%.8s", text);
	was_done(&later);
	MUST(send(fds[1], "end", 3, 0));
	do_later(&later, 100, fds[1], 'h');
	SAY(recv(fds[0], text, 9, MSG_WAITALL));
	was_done(&later);
	SAY(recv(fds[0], text, 9, MSG_WAITALL));
	SAY(send(fds[0], text, 0, 0));
	SAY(ioctl(fds[1], FIONBIO, &on));
	SAY(recv(fds[1], text, 1, 0));
	say("O_NONBLOCK %d", !!(fcntl(fds[1], F_GETFL) & O_NONBLOCK));
	on = 0;
	SAY(ioctl(fds[1], FIONBIO, &on));
	say("O_NONBLOCK %d", !!(fcntl(fds[1], F_GETFL) & O_NONBLOCK));
	SAY(fcntl(fds[1], F_SETFL, O_NONBLOCK));
	SAY(read(fds[1], text, 1));
	SAY(ioctl(fds[1], 0x12345678, &on));
	close(fds[0]), close(fds[1]);
}

static void vectors(void)
{
	int fds[2];
	char a[3] = "", b[4] = "", c[32] = "";
	struct iovec out[3] = { { "ab", 2 }, { "", 0 }, { "cdefgh", 6 } }, in[3] = { { a, 2 }, { b, 3 }, { c, 20 } };
	struct sockaddr_in name;
	struct msghdr message = { .msg_iov = in, .msg_iovlen = 3, .msg_name = &name, .msg_namelen = sizeof name, .msg_flags = -1 };

	TITLE("vectors and messages");
	pair(fds);
	SAY(writev(fds[1], out, 3));
	SAY(readv(fds[0], in, 3));
	say("%s %s %s", a, b, c);
	SAY(sendmsg(fds[1], &(struct msghdr){ .msg_iov = out, .msg_iovlen = 3 }, 0));
	SAY(recvmsg(fds[0], &message, MSG_PEEK));
	SAY(recvmsg(fds[0], &message, 0));
	say("%s %s %.3s, name %u, flags %d, control %zu", a, b, c, message.msg_namelen, message.msg_flags & ~MSG_CMSG_CLOEXEC,
	    message.msg_controllen);
	MUST(write(fds[1], "0123456789", 10));
	message.msg_iovlen = 2;
	SAY(recvmsg(fds[0], &message, MSG_WAITALL));
	say("%s %s", a, b);
	SAY(recvfrom(fds[0], c, 3, 0, (struct sockaddr *)&name, &(socklen_t){ sizeof name }));
	SAY(recvfrom(fds[0], c, 3, 0, NULL, NULL));
	SAY(sendto(fds[1], "x", 1, 0, NULL, 0));
	SAY(read(fds[0], c, 3));
	SAY(pread(fds[0], c, 1, 0));
	SAY(pwrite(fds[0], c, 1, 0));
	SAY(lseek(fds[0], 0, SEEK_SET));
	volatile int count = -1;
	SAY(writev(fds[1], out, count));
	SAY(recv(fds[0], (char *)8, 0, MSG_DONTWAIT));
	close(fds[0]), close(fds[1]);
}

/* Places in a socket: none but the current one, which preadv2 and pwritev2 call -1. Counts that nobody takes. */
static void places(void)
{
	static struct iovec many[2000];
	struct msghdr message = { .msg_iov = many, .msg_iovlen = 2000 };
	char a[3] = "", b[4] = "";
	struct iovec out[2] = { { "ab", 2 }, { "cde", 3 } }, in[2] = { { a, 2 }, { b, 3 } };
	int fds[2];
	volatile int none = -1;

	TITLE("places and counts");
	pair(fds);
	SAY(preadv(fds[0], in, 2, 0));
	SAY(pwritev(fds[0], out, 2, 0));
	SAY(preadv2(fds[0], in, 2, 0, 0));
	SAY(pwritev2(fds[0], out, 2, 5, 0));
	SAY(pwritev2(fds[1], out, 2, -1, 0));
	MUST(readable(fds[0], 5000) - 1);
	SAY(preadv2(fds[0], in, 2, -1, 0));
	say("%s %s", a, b);
	SAY(pwritev2(fds[1], out, 2, -1, 0));
	SAY(preadv2(fds[0], in, 2, -1, 0));
	SAY(readv(fds[0], in, none));
	SAY(preadv2(fds[0], in, none, -1, 0));
	SAY(pwritev2(fds[0], out, none, -1, 0));
	SAY(writev(fds[0], many, 2000));
	SAY(readv(fds[0], many, 2000));
	SAY(sendmsg(fds[0], &message, 0));
	SAY(recvmsg(fds[0], &message, MSG_DONTWAIT));
	message.msg_iovlen = (size_t)none;
	SAY(sendmsg(fds[0], &message, 0));
	SAY(recvmsg(fds[0], &message, MSG_DONTWAIT));
	SAY(writev(fds[0], out, 0));
	many[0] = (struct iovec){ a, (size_t)-1 };
	SAY(writev(fds[0], many, 1));
	close(fds[0]), close(fds[1]);
}

static void batches(void)
{
	int fds[2];
	char rooms[3][4] = { "" };
	struct iovec out[3] = { { "one", 3 }, { "two", 3 }, { "six", 3 } };
	struct mmsghdr send_[3] = { 0 }, recv_[3] = { 0 };
	struct iovec in[3];
	struct timespec limit = { 0, 200000000 };

	TITLE("batches");
	pair(fds);
	for (int i = 0; i < 3; i++) {
		in[i] = (struct iovec){ rooms[i], 3 };
		send_[i].msg_hdr = (struct msghdr){ .msg_iov = &out[i], .msg_iovlen = 1 };
		recv_[i].msg_hdr = (struct msghdr){ .msg_iov = &in[i], .msg_iovlen = 1 };
	}
	SAY(sendmmsg(fds[1], send_, 3, 0));
	say("%u %u %u", send_[0].msg_len, send_[1].msg_len, send_[2].msg_len);
	SAY(recvmmsg(fds[0], recv_, 3, MSG_WAITALL, NULL));
	say("%.3s %.3s %.3s, %u", rooms[0], rooms[1], rooms[2], recv_[2].msg_len);
	SAY(recvmmsg(fds[0], recv_, 3, MSG_DONTWAIT, NULL));
	MUST(write(fds[1], "abcd", 4));
	if (!readable(fds[0], 5000))
		say("nothing came");
	SAY(recvmmsg(fds[0], recv_, 3, MSG_WAITFORONE, &limit));
	say("%u %u", recv_[0].msg_len, recv_[1].msg_len);
	close(fds[0]), close(fds[1]);
}

struct sink {
	int fd;
	long want, got;
	pthread_t thread;
};

static void *sink_run(void *arg)
{
	struct sink *sink = arg;

	sink->got = read_all(sink->fd, back, sink->want);
	return NULL;
}

static void sink_start(struct sink *sink, int fd, long want)
{
	memset(back, 0, sizeof back);
	*sink = (struct sink){ .fd = fd, .want = want };
	pthread_create(&sink->thread, NULL, sink_run, sink);
}

static void sink_end(struct sink *sink, const char *from)
{
	pthread_join(sink->thread, NULL);
	say("received %ld, right %d", sink->got, !memcmp(back, from, sink->want));
}

static void files(void)
{
	char name[] = "data.XXXXXX";
	int fds[2], file = MUST(mkstemp(name)), pipes[2];
	struct sink sink;
	off_t offset = 1000;
	loff_t at = 5;
	long done = 0, n;

	TITLE("sendfile and splice");
	unlink(name);
	MUST(write(file, buf, 300000));
	MUST(lseek(file, 10, SEEK_SET));
	pair(fds);
	sink_start(&sink, fds[1], 200000);
	while (done < 200000 && (n = sendfile(fds[0], file, &offset, 200000 - done)) > 0)
		done += n;
	say("sent %ld, offset %ld, position %ld", done, (long)offset, (long)lseek(file, 0, SEEK_CUR));
	sink_end(&sink, buf + 1000);
	sink_start(&sink, fds[1], 299990);
	for (done = 0; (n = sendfile(fds[0], file, NULL, 400000)) > 0;)
		done += n;
	say("sent %ld, last %ld, position %ld", done, n, (long)lseek(file, 0, SEEK_CUR));
	sink_end(&sink, buf + 10);
	offset = 300000;
	SAY(sendfile(fds[0], file, &offset, 10));
	offset = -1;
	SAY(sendfile(fds[0], file, &offset, 10));
	SAY(sendfile(fds[0], -1, NULL, 10));
	MUST(pipe(pipes));
	sink_start(&sink, fds[1], 5000);
	MUST(write(pipes[1], buf, 5000));
	SAY(splice(pipes[0], NULL, fds[0], NULL, 5000, 0));
	sink_end(&sink, buf);
	MUST(send(fds[1], buf, 3000, 0));
	for (done = 0; done < 3000 && (n = splice(fds[0], NULL, pipes[1], NULL, 3000 - done, SPLICE_F_MOVE)) > 0;)
		done += n;
	say("spliced %ld, right %d", done, read(pipes[0], back, 4000) == 3000 && !memcmp(back, buf, 3000));
	MUST(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	SAY(splice(fds[0], NULL, pipes[1], NULL, 10, SPLICE_F_NONBLOCK));
	MUST(fcntl(fds[0], F_SETFL, 0));
	SAY(splice(fds[0], &at, pipes[1], NULL, 10, 0));
	SAY(splice(fds[0], NULL, fds[1], NULL, 10, 0));
	MUST(shutdown(fds[1], SHUT_WR));
	SAY(splice(fds[0], NULL, pipes[1], NULL, 10, 0));
	close(fds[0]), close(fds[1]), close(file), close(pipes[0]), close(pipes[1]);
}

static void large(void)
{
	int fds[2];
	struct sink sink;
	long done, n;

	TITLE("a mebibyte both ways, and without blocking");
	pair(fds);
	for (int side = 0; side < 2; side++) {
		sink_start(&sink, fds[side], sizeof buf);
		SAY(write_all(fds[!side], buf, sizeof buf));
		sink_end(&sink, buf);
	}
	MUST(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	sink_start(&sink, fds[1], sizeof buf);
	for (done = 0; done < (long)sizeof buf;) {
		struct pollfd one = { fds[0], POLLOUT, 0 };

		n = send(fds[0], buf + done, sizeof buf - done, 0);
		if (n > 0)
			done += n;
		else if (errno != EAGAIN || poll(&one, 1, 5000) != 1)
			break;
	}
	sink_end(&sink, buf);
	close(fds[0]), close(fds[1]);
}

int main(void)
{
	fill();
	flags();
	vectors();
	places();
	batches();
	files();
	large();
	return 0;
}
