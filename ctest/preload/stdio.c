/* Streams of fdopen on a connection. dprintf is not among what the preload library sees (docs/preload.md). */
#include "common.h"

int main(void)
{
	int fds[2];
	char line[64];
	FILE *a, *b;

	pair(fds);
	a = fdopen(fds[0], "r+");
	b = fdopen(fds[1], "r+");
	fprintf(a, "a line\nanother\n");
	fflush(a);
	say("%s", fgets(line, sizeof line, b) ? line : "nothing");
	say("%s", fgets(line, sizeof line, b) ? line : "nothing");
	MUST(write(fds[1], "by number\n", 10));
	say("%s", fgets(line, sizeof line, a) ? line : "nothing");
	SAY(fclose(a));
	say("end %d", fgetc(b));
	SAY(fclose(b));
	return 0;
}
