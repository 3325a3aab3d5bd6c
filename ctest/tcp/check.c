// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "check.h"

#include <stdarg.h>

/* How long something is waited for that TCP has and a library may never have, in seconds. */
#define LONG_WAIT 1.0
/* A state that stood so long stands. */
#define QUIET_MS 20
/* A call that takes so long is asleep for ever. */
#define WATCH_S 3
/* No events. */
#define NOT_KNOWN 0x10000

extern const struct scenario *current;
/* Lines of TCP's run, where there was one. */
static char *oracle;

const char *named(const char *format, ...)
{
	static char text[8][200];
	static unsigned turn;
	char *to = text[turn++ % 8];
	va_list list;

	va_start(list, format);
	vsnprintf(to, sizeof text[0], format, list);
	va_end(list);
	return to;
}

const char *errno_name(int number)
{
	const char *name = number ? strerrorname_np(number) : "0";

	return name ? name : named("errno %d", number);
}

const char *event_names(unsigned events)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = { { POLLIN, "IN" },	     { POLLPRI, "PRI" },       { POLLOUT, "OUT" },	   { POLLERR, "ERR" },
		      { POLLHUP, "HUP" },    { POLLNVAL, "NVAL" },     { POLLRDHUP, "RDHUP" },     { POLLRDNORM, "RDNORM" },
		      { POLLRDBAND, "RDBAND" }, { POLLWRNORM, "WRNORM" }, { POLLWRBAND, "WRBAND" }, { POLLMSG, "MSG" } };
	static _Thread_local char text[4][100];
	static _Thread_local unsigned turn;
	char *to = text[turn++ % 4];
	size_t length = 0;

	*to = 0;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!(events & names[i].bit))
			continue;
		length += snprintf(to + length, sizeof text[0] - length, "%s%s", length ? "|" : "", names[i].name);
		events &= ~names[i].bit;
	}
	if (events)
		length += snprintf(to + length, sizeof text[0] - length, "|0x%x", events);
	return length ? to : "-";
}

void nap(int milliseconds)
{
	struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void check(const char *name, const char *format, ...)
{
	char text[400];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	printf("%s.%s: %s\n", current->name, name, text);
	fflush(stdout);
}

static timer_t watch;
static int watches;
static volatile sig_atomic_t watch_has_rung;

static void on_watch(int number)
{
	(void)number;
	watch_has_rung = 1;
}

void watch_call(void)
{
	const struct itimerspec limit = { .it_value = { WATCH_S, 0 }, .it_interval = { 0, 100000000 } };

	if (!watches) {
		struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
		struct sigaction action = { .sa_handler = on_watch };

		event._sigev_un._tid = gettid();
		sigaction(SIGUSR2, &action, NULL);
		watches = timer_create(CLOCK_MONOTONIC, &event, &watch) ? -1 : 1;
	}
	watch_has_rung = 0;
	if (watches > 0)
		timer_settime(watch, 0, &limit, NULL);
}

int call_was_asleep(void)
{
	const struct itimerspec none = { 0 };
	int error = errno;

	if (watches > 0)
		timer_settime(watch, 0, &none, NULL);
	errno = error;
	return watch_has_rung;
}

void watch_no_calls(void)
{
	call_was_asleep();
	signal(SIGUSR2, SIG_IGN);
	watches = -1;
}

long check_result(const char *name, long got, int error)
{
	if (call_was_asleep())
		check(name, "asleep");
	else if (got < 0)
		check(name, "%ld %s", got, errno_name(error));
	else
		check(name, "%ld", got);
	errno = error;
	return got;
}

void give_up(const char *file, int line, const char *what)
{
	const char *name = strrchr(file, '/');

	check("stopped", "%s:%d %s: %s", name ? name + 1 : file, line, what, errno_name(errno));
	exit(3);
}

int poll_now(int fd, int events)
{
	struct pollfd one = { fd, events, 0 };
	int count = call.poll(&one, 1, 0);

	return count < 0 ? -errno : one.revents;
}

int settle(int fd, int events)
{
	/* What came instead of events that never came. */
	static struct {
		int wanted, came;
	} instead[32];
	static int known;
	double start = now();
	int found, came = -1;

	for (int i = 0; i < known; i++)
		if (instead[i].wanted == events)
			came = instead[i].came;
	while (found = poll_now(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP), (found & events) != events) {
		if (found == came)
			return -1;
		if (now() - start > LONG_WAIT) {
			if (known < 32) {
				instead[known].wanted = events;
				instead[known++].came = found;
			}
			return -1;
		}
		nap(1);
	}
	return 0;
}

int so_error(int fd)
{
	int error = 0;
	socklen_t size = sizeof error;

	return call.getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? -1 : error;
}


const char *oracle_says(const char *name)
{
	const char *path = getenv("TCP_SAYS");
	char line[200];
	char *found;

	if (!oracle && path) {
		FILE *file = fopen(path, "r");
		size_t room = 0;

		if (!file || getdelim(&oracle, &room, 0, file) < 0)
			oracle = strdup("");
		if (file)
			fclose(file);
	}
	if (!oracle)
		return NULL;
	snprintf(line, sizeof line, "%s.%s: ", current->name, name);
	found = strstr(oracle, line);
	return found && (found == oracle || found[-1] == '\n') ? found + strlen(line) : NULL;
}

static const char *change_text(int events, int before)
{
	return events == before ? "unchanged" : events < 0 ? errno_name(-events) : event_names(events);
}

/* A state needs its time: on TCP until it stands, on a library until it is TCP's. */
static int standing_events(const char *name, int fd, int before)
{
	const char *wanted = oracle_says(name);
	double start = now();
	int events = poll_now(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP);

	for (int quiet = 0; quiet < QUIET_MS; quiet++) {
		int next;

		nap(1);
		next = poll_now(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP);
		quiet = next == events ? quiet : 0;
		events = next;
	}
	while (wanted && now() - start < LONG_WAIT / 2) {
		const char *text = change_text(events, before);
		size_t length = strlen(text);

		if (!strncmp(wanted, text, length) && strchr("\n ", wanted[length]))
			break;
		nap(2);
		events = poll_now(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP);
	}
	return events;
}

void check_events(const char *name, int fd)
{
	check(name, "%s", change_text(standing_events(name, fd, NOT_KNOWN), NOT_KNOWN));
}

void check_change(const char *name, int fd, int before)
{
	check(name, "%s", change_text(standing_events(name, fd, before), before));
}

void check_state(const char *name, int fd)
{
	int events = standing_events(name, fd, NOT_KNOWN);
	int error = so_error(fd);

	check(name, "%s error %s", change_text(events, NOT_KNOWN),
	      error < 0 ? errno_name(errno) : errno_name(error));
}

void check_time(const char *name, double start, double limit)
{
	double took = now() - start;

	check(name, "%s", took < limit - 0.002 ? "early" : took < limit + 1.0 ? "in time" : "late");
}
