// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How lines are written: whole ones from many threads and from a forked child, into a file of each process, and
 * never into a file that the program got in the place of its standard error. The program runs itself with the
 * variables that each check needs.
 */
#include "trace.h"

#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { THREADS = 8, ROUNDS = 200 };

static int wrong;

static void expect_that(int is_so, const char *what)
{
	if (!is_so) {
		printf("wrong: %s\n", what);
		wrong++;
	}
}

/* A refused call: one line. */
static void fail_once(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		_exit(3);
	if (!rdma_disconnect(id))
		_exit(4);
	rdma_destroy_id(id);
}

static void *fail_often(void *ch)
{
	for (int i = 0; i < ROUNDS; i++)
		fail_once(ch);
	return NULL;
}

/* What the child processes of this test do. */
static int part(const char *name)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	pthread_t threads[THREADS];
	int status;

	if (!ch)
		return 2;
	if (!strcmp(name, "threads")) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, fail_often, ch);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	} else if (!strcmp(name, "fork")) {
		fail_once(ch);
		if (fork() == 0) {
			ch = rdma_create_event_channel();
			fail_once(ch);
			_exit(0);
		}
		wait(&status);
	} else if (!strcmp(name, "closed")) {
		/* Standard error's number, and all others, become the program's own files. */
		fail_once(ch);
		close(2);
		if (open(getenv("DATA"), O_RDWR | O_CREAT, 0600) != 2)
			return 5;
		for (int fd = 100; fd < 1024; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				dup2(2, fd);
		fail_once(ch);
		fail_once(ch);
	} else {
		fail_once(ch);
	}
	return 0;
}

static char *read_all(const char *name)
{
	static char text[1 << 20];
	FILE *file = fopen(name, "r");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[length] = 0;
	if (file)
		fclose(file);
	return text;
}

/* Whole lines that begin as they should; how many. */
static int lines_in(const char *name)
{
	int count = 0;
	char *text = read_all(name);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), count++) {
		char part[16], level[16];
		int pid, tid;

		if (sscanf(line, "%*d-%*d-%*dT%*d:%*d:%*fZ rdmacm[%d:%d] %15s %15[a-z]:", &pid, &tid, part, level) != 4 ||
		    !strstr(line, "EINVAL") || strstr(line + 10, "rdmacm[") != strchr(line, 'r')) {
			printf("wrong line: %s\n", line);
			wrong++;
		}
	}
	return count;
}

static const char *folder;

static const char *in_folder(const char *name)
{
	static char paths[4][300];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static int run_part(const char *name, const char *log, const char *file)
{
	int status;
	pid_t child = fork();

	if (!child) {
		int fd = open(in_folder("stderr"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

		dup2(fd, 2);
		close(fd);
		setenv("RDMACM_LOG", log, 1);
		setenv("DATA", in_folder("data"), 1);
		if (file)
			setenv("RDMACM_LOG_FILE", file, 1);
		execl("/proc/self/exe", "log", name, NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	expect_that(status == 0, name);
	return child;
}

int main(int argc, char **argv)
{
	char template[] = "/tmp/rdmacm-why-XXXXXX", name[64];
	struct stat data;
	glob_t found;
	int child;

	if (argc > 1)
		return part(argv[1]);
	folder = mkdtemp(template);

	run_part("threads", "warn", NULL);
	expect_that(lines_in(in_folder("stderr")) == THREADS * ROUNDS, "a whole line of each thread's failures");

	run_part("fork", "1", NULL);
	expect_that(lines_in(in_folder("stderr")) == 2, "parent and child write a line each");
	run_part("fork", "1", in_folder("%p.log"));
	expect_that(lines_in(in_folder("stderr")) == 0, "nothing on standard error with a file");
	expect_that(!glob(in_folder("*.log"), 0, NULL, &found) && found.gl_pathc == 2, "a file of each process");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		expect_that(lines_in(found.gl_pathv[i]) == 1, "a line in each");
		expect_that(!stat(found.gl_pathv[i], &data) && (data.st_mode & 0777) == 0600, "for the user alone");
		unlink(found.gl_pathv[i]);
	}

	run_part("closed", "warn", NULL);
	expect_that(lines_in(in_folder("stderr")) == 1, "one line before standard error was closed");
	expect_that(!stat(in_folder("data"), &data) && !data.st_size, "none in the file that took its number");
	run_part("closed", "warn", in_folder("one.log"));
	expect_that(lines_in(in_folder("one.log")) == 3, "a log file that was closed is opened again");
	expect_that(!stat(in_folder("data"), &data) && !data.st_size, "none in the file that took the log's number");

	run_part("once", "verbs=trace,rsocket=info", NULL);
	expect_that(lines_in(in_folder("stderr")) == 0, "no line of a part that was not asked for");
	run_part("once", "error", NULL);
	expect_that(lines_in(in_folder("stderr")) == 0, "no warning at level error");
	run_part("once", "cm=trace", NULL);
	expect_that(strstr(read_all(in_folder("stderr")), " cm trace: CREATE_ID on fd ") != NULL, "commands at trace");
	child = run_part("once", "cm=trace", in_folder("missing/log"));
	snprintf(name, sizeof(name), "rdmacm[%d:%d] cm error: cannot open RDMACM_LOG_FILE %s, ", child, child,
		 in_folder("missing/log"));
	expect_that(strstr(read_all(in_folder("stderr")), name) != NULL, "a file that cannot be opened is said");

	unlink(in_folder("stderr"));
	unlink(in_folder("data"));
	unlink(in_folder("one.log"));
	rmdir(folder);
	return wrong != 0;
}
