// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who owns a listener: processes that have it socket, bind, listen, connect, fork, poll, accept, close, exec and end in
 * any order. The client of each row is served, in time, by whoever accepts. A row is a line of steps of its processes:
 *
 *   P.accept   process P accepts and serves one client, and that is waited for
 *   P:accept   it begins to; P? waits for the end
 *   300        milliseconds
 *
 * P is there at first, and clients K and L. D serves the rest of the program: a data base, say.
 * rdma: 20
 * limit: 120
 */
#include "others.h"

#include <ctype.h>
#include <signal.h>

enum { NAMES = 128, LATE = 5000, AT_ONCE = 4 };

/* Channels of the row, by the name of a process: [0] is the runner's end. */
static int channels[NAMES][2], passing[2];
static pid_t pids[NAMES];
static int port, database;

/* What a process has. Its children inherit it. */
static char me;
static int listening = -1, own = -1, set = -1;

static const char *const rows[] = {
	/* One process. */
	"P.listen K:dial P.accept K?",
	"P.listen P.poll K:dial P.accept K?",
	"P.listen K:dial P.ready P.accept K?",
	"P.listen P.poll K:dial P.ready P.accept K?",
	"P.listen P.poll K:dial 700 P.ready P.accept K?",
	"P.listen P.select K:dial P.accept K?",
	"P.listen P.watch P.wait K:dial P.event P.accept K?",
	"P.listen P.watch K:dial 700 P.event P.accept K?",
	"P.socket P.watch P.bind P.listens K:dial P.event P.accept K?",
	"P.listen P:accept 100 K.dial P?",
	"P.listen P.flags P.poll K:dial P.ready P.accept K?",
	"P.listen P.poll K:dial 100 L:dial P.accept P.accept K? L?",
	"P.listen P.poll K:dial L:dial 700 P.accept P.accept K? L?",
	"P.listen K:dial P.accept K? L:dial P.accept L?",
	"P.listen P.poll K:dial 700 P.accept K? L:dial P.ready P.accept L?",
	"P.listen P.write K:dial 500 P.accept K?",
	"P.listen P.again P.poll K:dial P.accept K?",
	"P.listen P.copy P.poll K:dial P.accept K?",
	"P.listen P.poll P.copy K:dial P.accept K?",
	"P.listen P.poll P.serve K:dial K? L:dial L?",
	/* It connects. */
	"P.listen P.out K:dial P.accept K?",
	"P.listen P.poll P.out K:dial P.accept K?",
	"P.listen P.self P.accept P.answer",
	"P.listen P.poll P.self P.accept P.answer",
	"P.listen P.poll P.self P.ready P.accept P.answer K:dial P.accept K?",
	"P.listen P.watch P.self P.event P.accept P.answer",
	"P.listen P.serve P.self P.answer P.self P.answer",
	"P.listen P.serve 200 P.self P.answer K:dial K?",
	"P.listen P.self P.accept P.answer P.self P.accept P.answer",
	"P.out P.listen P.out P.self P.accept P.answer",
	/* A child accepts. */
	"P.listen P.fork=A K:dial A.accept K?",
	"P.listen P.out P.fork=A K:dial A.accept K?",
	"P.listen P.out P.fork=A P.fork=B A.serve B.serve K:dial K? L:dial L?",
	"P.listen P.poll P.fork=A K:dial A.accept K?",
	"P.listen P.poll K:dial P.fork=A A.accept K?",
	"P.listen P.poll K:dial 100 P.ready P.fork=A A.accept K?",
	"P.listen P.watch P.wait P.fork=A K:dial A.accept K?",
	"P.listen P.watch P.wait K:dial P.event P.fork=A A.accept K?",
	"P.listen P.watch P.fork=A K:dial A.event A.accept K?",
	"P.listen P.watch P.wait P.fork=A K:dial A.event A.accept K?",
	"P.listen P.fork=A A.poll K:dial A.accept K?",
	"P.listen P.fork=A A.poll K:dial P.accept K?",
	"P.listen P.poll P.fork=A A.poll K:dial P.accept K?",
	"P.listen P.fork=A A.poll P.poll K:dial A.accept K?",
	"P.listen P.fork=A A.poll P.poll K:dial P.accept K?",
	"P.listen P:accept K.dial P? P.fork=A L:dial A.accept L?",
	"P.listen K:dial P.accept K? L:dial 400 P.fork=A A.accept L?",
	"P.listen P.fork=A K:dial P.accept K? L:dial A.accept L?",
	"P.listen P.fork=A K:dial A.accept K? L:dial P.accept L?",
	"P.listen P.fork=A P.fork=B A:accept B:accept 200 K.dial L.dial A? B?",
	"P.listen P.fork=A P.close K:dial A.accept K?",
	"P.listen P.poll P.fork=A P.close K:dial A.accept K?",
	"P.listen P.poll P.fork=A A.poll P.close K:dial A.accept K?",
	"P.listen P.poll K:dial 100 P.fork=A P.close A.accept K?",
	"P.listen P.fork=A A.close K:dial P.accept K?",
	"P.listen P.fork=A A.poll A.close K:dial P.accept K?",
	"P.listen P.fork=A A.poll K:dial 100 A.close P.accept K?",
	/* A child connects to its parent. */
	"P.listen P.fork=A A:own 700 P.accept A? A.answer",
	"P.listen P.poll P.fork=A A:own 700 P.accept A? A.answer",
	"P.listen P.fork=A A:self P.accept A? A.answer",
	"P.listen P.fork=A A.out K:dial P.accept K?",
	"P.listen P.poll P.fork=A A.out K:dial P.accept K?",
	"P.listen P.fork=A A.close A:self P.accept A? A.answer",
	"P.listen P.fork=A P.self A.accept P.answer",
	"P.listen P.poll P.fork=A P.self A.accept P.answer",
	"P.listen P.serve P.fork=A A.self A.answer P.self P.answer",
	/* Somebody ends. */
	"P.listen P.fork=A P.exit K:dial A.accept K?",
	"P.listen P.poll P.fork=A P.exit K:dial A.accept K?",
	"P.listen P.poll P.fork=A P!kill 100 K:dial A.accept K?",
	"P.listen P.poll K:dial 100 P.fork=A P.exit A.accept K?",
	"P.listen P.poll K:dial 100 P.fork=A P!kill 100 A.accept K?",
	"P.listen P.poll P.fork=A K:dial 100 P!kill 100 A.accept K?",
	"P.listen P.poll P.fork=A A.poll P.exit 1200 K:dial A.accept K?",
	"P.listen P.poll P.fork=A A.fork=B A.exit P.exit K:dial B.accept K?",
	"P.listen P.fork=A A.poll A!kill 100 K:dial P.accept K?",
	"P.listen P.fork=A A.poll K:dial 100 A!kill 100 P.accept K?",
	"P.listen P.fork=A A.poll A.exit K:dial P.ready P.accept K?",
	"P.listen P.serve P.fork=A K.dial P!kill 100 L:dial A.accept L?",
	"P.listen P.poll P.fork=A P!stop K:dial A.accept K?",
	"P.listen P.fork=A P.fork=B A.serve B.serve 100 K:dial K? A!kill 100 L:dial L?",
	/* Other programs. */
	"P.listen P.exec K:dial P.accept K?",
	"P.listen P.poll P.exec K:dial P.accept K?",
	"P.listen P.poll K:dial 100 P.exec P.accept K?",
	"P.listen P.poll P.fork=A A.exec K:dial A.accept K?",
	"P.listen P.poll K:dial P.ready P.fork=A A.exec A.accept K?",
	"P.listen P.fork=A A.exec A.again A.poll K:dial A.accept K?",
	"P.listen P.fork=A A.exec A.again A.poll K:dial P.accept K?",
	"P.listen P.poll P.fork=A A.input A.exec K:dial A.accept K?",
	"P.listen P.fork=A A.close P.pass A.take K:dial A.accept K?",
	"P.listen P.poll P.fork=A A.close P.pass A.take P.close K:dial A.accept K?",
	"P.listen P.poll P.fork=A A.close P.pass A.take A.again A.poll K:dial A.accept K?",
	"P.listen P.poll P.fork=A A.close P.pass A.take A.again A.poll K:dial P.accept K?",
};

static const char *error(void)
{
	return errno_name(errno);
}

/* Serves one client of a connection that was accepted, or not. */
static const char *served(int fd)
{
	char text[8] = "";
	long n;

	if (fd < 0)
		return error();
	n = recv(fd, text, 2, MSG_WAITALL);
	if (n != 2)
		return close(fd), n < 0 ? error() : "no question";
	text[0] = (char)toupper(text[0]);
	send(fd, text, 2, MSG_NOSIGNAL);
	close(fd);
	return "served";
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg;

	for (;;)
		if (strcmp(served(accept(fd, NULL, NULL)), "served"))
			nap(10);
	return NULL;
}

/* Connects, and asks. */
static const char *ask(int to)
{
	own = socket(AF_INET, SOCK_STREAM, 0);
	if (connect_to(own, HERE, to))
		return error();
	return send(own, "hi", 2, MSG_NOSIGNAL) == 2 ? "asked" : error();
}

static const char *answer(void)
{
	char text[8] = "";
	long n = recv(own, text, 2, MSG_WAITALL);

	close(own);
	return n < 0 ? error() : n == 2 && !strcmp(text, "Hi") ? "answered" : "an end";
}

static const char *pass_on(int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof fd)] = "";
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(head), &fd, sizeof fd);
	return sendmsg(passing[0], &message, 0) == 1 ? "ok" : error();
}

static const char *take_over(void)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };

	if (recvmsg(passing[1], &message, 0) != 1)
		return error();
	memcpy(&listening, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof listening);
	return "ok";
}

static const char *ok(long result)
{
	return result < 0 ? error() : "ok";
}

static const char *selects(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(listening, &in);
	return select(listening + 1, &in, NULL, NULL, &(struct timeval){ 0, 10000 }) < 0 ? error() : "ok";
}

static const char *watch(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 7 };

	set = epoll_create1(0);
	return ok(epoll_ctl(set, EPOLL_CTL_ADD, listening, &event));
}

static const char *has_event(int milliseconds)
{
	struct epoll_event event = { .events = 0 };
	int n = epoll_wait(set, &event, 1, milliseconds);

	return n < 0 ? error() : n == 0 ? "no event" : event.events == EPOLLIN && event.data.u32 == 7 ? "event" : "?";
}

static void act(void);

static const char *forks(char name)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		me = name;
		act();
	}
	pids[(int)name] = pid;
	return pid < 0 ? error() : "ok";
}

static void execute(void)
{
	char numbers[3][12];

	snprintf(numbers[0], 12, "%d", channels[(int)me][1]);
	snprintf(numbers[1], 12, "%d", listening);
	snprintf(numbers[2], 12, "%d", port);
	fcntl(listening, F_SETFD, 0);
	execl(self, self, "actor", numbers[0], numbers[1], numbers[2], NULL);
}

static const char *make(void) { return ok(listening = socket(AF_INET, SOCK_STREAM, 0)); }
static const char *bind_here(void) { return ok(bind_to(listening, HERE, 0)); }
static const char *listen_now(void) { return ok(listen(listening, 16)); }
static const char *listen_all(void) { return make(), bind_here(), listen_now(); }
static const char *no_wait(void) { return ok(fcntl(listening, F_SETFL, O_NONBLOCK)); }
static const char *polls(void) { return readable(listening, 0), "ok"; }
static const char *is_ready(void) { return readable(listening, 3000) ? "ready" : "not ready"; }
static const char *polls_write(void) { return ok(poll(&(struct pollfd){ listening, POLLOUT, 0 }, 1, 0)); }
static const char *waits(void) { return has_event(10); }
static const char *waits_long(void) { return has_event(3000); }
static const char *out(void) { return strcmp(ask(database), "asked") ? error() : answer(); }
static const char *asks(void) { return ask(port); }
static const char *dials(void) { return strcmp(ask(port), "asked") ? error() : answer(); }
static const char *passes(void) { return pass_on(listening); }
static const char *closes(void) { return ok(close(listening)); }
static const char *nothing(void) { return "ok"; }

static const char *accepts(void)
{
	if (fcntl(listening, F_GETFL) & O_NONBLOCK)
		readable(listening, 3000);
	return served(accept(listening, NULL, NULL));
}

static const char *serves(void)
{
	pthread_t thread;

	return ok(-pthread_create(&thread, NULL, serve, (void *)(long)listening));
}

static const char *copies(void)
{
	int copy = dup(listening);

	close(listening);
	listening = copy;
	return ok(copy);
}

static const char *is_input(void)
{
	int copy = dup2(listening, 0);

	close(listening);
	listening = copy;
	return ok(copy);
}

static const struct {
	const char *name, *(*perform)(void);
} steps[] = {
	{ "listen", listen_all },
	{ "socket", make },
	{ "bind", bind_here },
	{ "listens", listen_now },
	{ "again", listen_now },
	{ "flags", no_wait },
	{ "poll", polls },
	{ "ready", is_ready },
	{ "write", polls_write },
	{ "select", selects },
	{ "watch", watch },
	{ "wait", waits },
	{ "event", waits_long },
	{ "accept", accepts },
	{ "serve", serves },
	{ "copy", copies },
	{ "input", is_input },
	{ "out", out },
	{ "self", asks },
	{ "own", asks },
	{ "answer", answer },
	{ "dial", dials },
	{ "pass", passes },
	{ "take", take_over },
	{ "close", closes },
	{ "pid", nothing },
};

static const char *perform(const char *name)
{
	if (!strncmp(name, "fork=", 5))
		return forks(name[5]);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (!strcmp(steps[i].name, name))
			return steps[i].perform();
	return "no such step";
}

/* A process that does what the runner says, in words with the port before them. It answers with its number, or that of
 * a new port. */
static void act(void)
{
	int channel = channels[(int)me][1];
	char words[64], said[64];
	long n;

	while ((n = recv(channel, words, sizeof words - 1, 0)) > 0) {
		char *name = strchr(words, ' ') + 1;
		int ends = !strcmp(name, "exit"), executes = !strcmp(name, "exec");
		const char *result;

		words[n] = 0;
		port = atoi(words);
		result = ends || executes ? "ok" : perform(name);
		n = strncmp(name, "listen", 6) ? getpid() : port_of(listening);
		snprintf(said, sizeof said, "%ld %s", n, result);
		send(channel, said, strlen(said) + 1, 0);
		if (ends)
			exit(0);
		if (executes)
			execute();
	}
	_exit(0);
}

static void tell(char name, const char *step)
{
	char words[64];

	snprintf(words, sizeof words, "%d %s", port, step);
	MUST(send(channels[(int)name][0], words, strlen(words) + 1, 0));
}

/* The number and the words of an answer, which must come in time. */
static int hear(char name, char *said, int size)
{
	double start = now();
	long n;

	if (!readable(channels[(int)name][0], 2 * LATE))
		return say("  %c: nothing", name), -1;
	n = recv(channels[(int)name][0], said, size - 1, 0);
	said[n > 0 ? n : 0] = 0;
	if (now() - start > LATE / 1000.0)
		say("  %c: late", name);
	return n > 0 ? atoi(said) : -1;
}

static int collect(char name, const char *step)
{
	char said[64];
	int number = hear(name, said, sizeof said);

	if (number < 0)
		return 0;
	if (!strncmp(step, "listen", 6))
		port = number;
	say("  %c.%s: %s", name, step, strchr(said, ' ') + 1);
	if (strncmp(step, "fork=", 5))
		return 1;
	tell(step[5], "pid");
	return (pids[(int)step[5]] = hear(step[5], said, sizeof said)) > 0;
}

static void run(const char *row)
{
	char copy[200], *state, begun[NAMES][32] = { "" };

	say("%s", row);
	snprintf(copy, sizeof copy, "%s", row);
	for (int name = 'A'; name <= 'Z'; name++)
		MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channels[name]));
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, passing));
	forks('P'), forks('K'), forks('L');
	for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
		char name = *word, how = word[1], *step = begun[(int)name];

		if (isdigit(name)) {
			nap(atoi(word));
			continue;
		}
		if (how == '!') {
			kill(pids[(int)name], !strcmp(word + 2, "stop") ? SIGSTOP : SIGKILL);
			continue;
		}
		if (how != '?') {
			snprintf(step, sizeof begun[0], "%s", word + 2);
			tell(name, step);
		}
		if (how != ':' && !collect(name, step))
			break;
	}
	for (int name = 'A'; name <= 'Z'; name++)
		if (pids[name] > 0)
			kill(pids[name], SIGKILL);
}

/* Rows run beside each other, each in a process of its own, and are said in order. */
static void run_all(void)
{
	enum { COUNT = sizeof rows / sizeof rows[0] };
	int outputs[COUNT], begun = 0, pair[2];

	for (int ended = 0; ended < COUNT; ended++) {
		char room[4096];
		long n;

		for (; begun < COUNT && begun < ended + AT_ONCE; begun++) {
			MUST(pipe(pair));
			fflush(stdout);
			if (MUST(fork()) == 0) {
				dup2(pair[1], 1);
				close(pair[0]), close(pair[1]);
				for (int row = ended; row < begun; row++)
					close(outputs[row]);
				run(rows[begun]);
				fflush(stdout);
				_exit(0);
			}
			close(pair[1]);
			outputs[begun] = pair[0];
		}
		fflush(stdout);
		while ((n = read(outputs[ended], room, sizeof room)) > 0)
			fwrite(room, 1, n, stdout);
		close(outputs[ended]);
	}
}

int main(int argc, char **argv)
{
	int server;
	pid_t pid;

	self = argv[0];
	if (argc > 4) {
		me = 'X';
		channels[(int)me][1] = atoi(argv[2]);
		listening = atoi(argv[3]);
		act();
	}
	server = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(bind_to(server, HERE, 0));
	MUST(listen(server, 64));
	database = port_of(server);
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0)
		serve((void *)(long)server);
	close(server);
	run_all();
	kill(pid, SIGKILL);
	return 0;
}
