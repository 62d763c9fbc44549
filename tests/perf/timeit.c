// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timeit [-n RUNS] [-i STDIN] [-b BEFORE] [-x STATUS] NAME COMMAND...: run a command RUNS times and
 * print "NAME median_us min_us max_rss_kb". BEFORE is a shell command run, untimed, before
 * each. The first run that exits with neither 0 nor STATUS ends it with 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void child(char **argv, const char *input)
{
	int in = open(input, O_RDONLY), out = open("/dev/null", O_WRONLY);

	if (in < 0 || out < 0)
		_exit(126);
	dup2(in, 0);
	dup2(out, 1);
	execvp(argv[0], argv);
	_exit(127);
}

/* Wall time of one run in us; negative when it failed. */
static double run(char **argv, const char *input, int fine, long *rss)
{
	struct rusage usage;
	double start = now_us();
	pid_t pid = vfork();
	int status;

	if (pid == 0)
		child(argv, input);
	if (wait4(pid, &status, 0, &usage) < 0 || !WIFEXITED(status) ||
		(WEXITSTATUS(status) && WEXITSTATUS(status) != fine))
		return -1;
	if (usage.ru_maxrss > *rss)
		*rss = usage.ru_maxrss;
	return now_us() - start;
}

int main(int argc, char **argv)
{
	const char *input = "/dev/null", *before = NULL;
	int runs = 20, fine = 0, opt;
	double *times;
	long rss = 0;

	while ((opt = getopt(argc, argv, "+n:i:b:x:")) != -1) {
		if (opt == 'n')
			runs = atoi(optarg);
		else if (opt == 'i')
			input = optarg;
		else if (opt == 'b')
			before = optarg;
		else if (opt == 'x')
			fine = atoi(optarg);
		else
			return 2;
	}
	if (argc - optind < 2 || runs < 1)
		return 2;
	times = calloc((size_t)runs, sizeof(*times));
	for (int i = 0; i < runs; i++) {
		if (before && system(before) != 0)
			return 1;
		times[i] = run(argv + optind + 1, input, fine, &rss);
		if (times[i] < 0) {
			fprintf(stderr, "timeit: %s failed\n", argv[optind + 1]);
			return 1;
		}
	}
	qsort(times, (size_t)runs, sizeof(*times), compare);
	printf("%s %.0f %.0f %ld\n", argv[optind], times[runs / 2], times[0], rss);
	free(times);
	return 0;
}
