// SPDX-License-Identifier: GPL-2.0-or-later
#include "tune.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts/hostfile.h"
#include "hook/guest_tuning.h"
#include "open_host.h"
#include "spec/host_yaml.h"

int tune_guest(const char *uuid)
{
	struct vfctl_host_spec *spec = NULL;
	struct vfctl_ctx *ctx;
	int r = vfctl_ctx_new(&ctx);

	if (r < 0)
		return EXIT_FAILURE;
	r = hook_open_host(ctx);
	if (r == 0)
		r = vfctl_host_spec_read(ctx, NULL, &spec);
	if (r == 0)
		r = vfctl_guest_tuning_watch(ctx, spec, uuid);
	vfctl_host_spec_free(spec);
	vfctl_ctx_free(ctx);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void leave_everything(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/") < 0)
		return; /* it only keeps a directory busy */
}

static void become_tuner(const char *uuid)
{
	char *const argv[] = {(char *)TUNE_PROGRAM, (char *)uuid, NULL};

	leave_everything();
	execv("/proc/self/exe", argv);
	/* A newer program replaced it meanwhile: exit with the status of the old one. */
	_exit(tune_guest(uuid));
}

void tune_detached(const char *uuid)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0)
			become_tuner(uuid);
		_exit(pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}
