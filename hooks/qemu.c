// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /etc/libvirt/hooks/qemu.d/50-vfctl: libvirt runs it for every start and stop of every domain,
 * with the domain's XML on standard input, and waits for it without a time limit. So it does
 * nothing for domains that do not concern vfctl, uses no shell and no environment, and prints
 * nothing on standard output, which libvirt would read as XML. It has its own time limit, whatever
 * the kernel does: a child does the work, because a process that hangs in the kernel can neither be
 * interrupted nor end itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "domain/definition.h"
#include "facts/hostfile.h"
#include "hook/guest_tuning.h"
#include "hook/hook.h"
#include "open_host.h"
#include "spec/host_yaml.h"
#include "tune.h"

#define STDIN_MAX ((size_t)VFCTL_DOMAIN_STREAM_MAX)
#define SLICE_MS 200
#define END_MS 5000 /* time limit for the end of a process that has done its work */

enum { EXIT_OK = 0, EXIT_REFUSED = 1, EXIT_WRONG_CALL = 2 };

/* The operations that need work: for all others not even the input is read. */
static const char *const needed[] = {"prepare", "start", "started", "reconnect", "release"};

/* Data from the child to its parent, in shared memory. */
struct shared {
	int64_t start;	    /* start of the hook, from which the budget of both counts */
	unsigned budget_ms; /* host.yaml may state a different budget */
	bool over;	    /* everything is done or rolled back: only output remains */
	bool may_refuse;    /* the operation, and the domain's devices, may be vfctl's to refuse */
	char doing[VFCTL_PROGRESS_SIZE];
};

/* Print one line, whatever the domain's name contains: it reaches logs and terminals. */
static void complain_hook(const char *object, const char *message)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "vfctl hook: %.64s: %s", object, message);

	if (n >= (int)sizeof(line))
		n = (int)sizeof(line) - 1;
	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f ||
			((unsigned char)line[i] == 0xc2 && ((unsigned char)line[i + 1] & 0xe0) == 0x80))
			line[i] = '?';
	fprintf(stderr, "%s\n", line);
}

static void log_warning(void *data, enum vfctl_log_level level, const char *text)
{
	if (level <= VFCTL_LOG_WARNING)
		complain_hook(data, text);
}

/*
 * A failure of these two prevents the guest's start; for other operations libvirt ignores it, or
 * kills the guest.
 */
static bool may_refuse(const char *operation)
{
	return strcmp(operation, "prepare") == 0 || strcmp(operation, "start") == 0;
}

/* ---- the input ---- */

/* Wait until input is available or has ended; false if the budget expires before. */
static bool wait_input(int64_t end)
{
	struct pollfd event = {.fd = STDIN_FILENO, .events = POLLIN};
	int64_t left = end - now_ms();

	int n = left > 0 ? poll(&event, 1, (int)left) : 0;

	return n > 0 || (n < 0 && errno == EINTR && wait_input(end));
}

/* Read all of standard input; NULL if it is larger than any domain or cannot be read. */
static char *read_stdin(size_t *ret_len, int64_t end)
{
	size_t len = 0, room = 16384;
	char *data = malloc(room);

	while (data && wait_input(end)) {
		ssize_t n = read(STDIN_FILENO, data + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || len + (size_t)n > STDIN_MAX)
			break;
		len += (size_t)n;
		if (n == 0) {
			*ret_len = len;
			return data;
		}
		if (len == room) {
			char *bigger = realloc(data, room * 2);

			if (!bigger)
				break;
			data = bigger;
			room *= 2;
		}
	}
	free(data);
	return NULL;
}

/* ---- the work, in the child ---- */

static void set_budget(struct vfctl_ctx *ctx, struct shared *shared, unsigned budget_ms)
{
	/* Reserve some time for the roll-back. */
	int64_t left = shared->start + budget_ms - budget_ms / 10 - now_ms();

	shared->budget_ms = budget_ms;
	vfctl_ctx_set_deadline_ms(ctx, left > 1 ? (unsigned)left : 1); /* 0 is none */
	vfctl_ctx_set_write_timeout_ms(ctx, budget_ms);
}

static int set_origin(struct vfctl_ctx *ctx, const char *const argv[4])
{
	char origin[160];

	snprintf(origin, sizeof(origin), "libvirt hook, domain '%.64s', %.16s", argv[0], argv[1]);
	/* Quotes in the name must not end the text. */
	for (char *c = strchr(origin, '\'') + 1; c < strrchr(origin, '\''); c++)
		if (*c == '\'')
			*c = '?';
	return vfctl_ctx_set_origin(ctx, origin);
}

/* The guest runs: a restarted daemon may find it without its watcher. */
static bool watches_guest(const char *operation)
{
	return strcmp(operation, "started") == 0 || strcmp(operation, "reconnect") == 0;
}

static void watch_guest(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, const char *xml,
	size_t len)
{
	char uuid[VFCTL_UUID_TEXT];

	/* A read error was reported when it started. */
	if (vfctl_guest_tuning_needed(ctx, spec, xml, len, uuid) == 1)
		tune_detached(uuid);
}

static int serve_hook(struct vfctl_ctx *ctx, struct shared *shared, struct vfctl_hook *hook,
	const char *const argv[4], const char *xml, size_t len)
{
	struct vfctl_host_spec *spec = NULL;
	int r = set_origin(ctx, argv);

	if (r == 0)
		r = vfctl_host_spec_read(ctx, NULL, &spec);
	/* The VFs that a start prepared must be restored even if host.yaml is not valid. */
	if (r < 0 && !shared->may_refuse) {
		complain_hook(argv[0], vfctl_ctx_error(ctx));
		r = 0;
	}
	if (r == 0 && spec)
		set_budget(ctx, shared, spec->hook_timeout_ms);
	if (r == 0)
		r = vfctl_hook_run(hook, spec);
	if (r == 0 && watches_guest(argv[1]))
		watch_guest(ctx, spec, xml, len);
	vfctl_host_spec_free(spec);
	return r;
}

static int serve(struct vfctl_ctx *ctx, struct shared *shared, const char *const argv[4],
	const char *xml, size_t len)
{
	enum vfctl_hook_interest interest = VFCTL_HOOK_SRIOV;
	struct vfctl_hook *hook = NULL;
	int r = hook_open_host(ctx);

	if (r == 0)
		r = vfctl_hook_begin(ctx, argv, xml, len, &hook);
	if (r == 0 && shared->may_refuse)
		interest = vfctl_hook_interest(ctx, hook);
	shared->may_refuse &= interest == VFCTL_HOOK_SRIOV;
	if (r == 0 && interest != VFCTL_HOOK_NOTHING)
		r = serve_hook(ctx, shared, hook, argv, xml, len);
	vfctl_hook_free(hook);
	return r;
}

static void tell_doing(void *data, const char *text)
{
	struct shared *shared = data;

	snprintf(shared->doing, sizeof(shared->doing), "%s", text);
}

static int run_hook(struct shared *shared, const char *const argv[4], const char *xml, size_t len)
{
	struct vfctl_ctx *ctx;
	int r;

	if (vfctl_ctx_new(&ctx) < 0) {
		complain_hook(argv[0], "out of memory");
		return EXIT_REFUSED;
	}
	vfctl_ctx_set_log(ctx, log_warning, (void *)argv[0]);
	vfctl_ctx_set_progress(ctx, tell_doing, shared);
	set_budget(ctx, shared, shared->budget_ms);
	r = serve(ctx, shared, argv, xml, len);
	shared->over = true;
	if (r < 0)
		complain_hook(argv[0], vfctl_ctx_error(ctx));
	vfctl_ctx_free(ctx);
	return r < 0 && shared->may_refuse ? EXIT_REFUSED : EXIT_OK;
}

/* ---- the watch, in the parent ---- */

/*
 * libvirt waits until all processes have closed the pipe that it reads, so the child must not keep
 * its descriptor.
 */
static void leave_parent(int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);
}

/*
 * If the watcher ends early, libvirt treats the start as failed, and calls release: changes that
 * the child made after that would never be rolled back. At release the child may continue.
 */
static bool may_go_on(const char *operation, pid_t watcher)
{
	return !may_refuse(operation) ||
		(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == watcher);
}

/* Pass on the output of the child until its end; false if the budget expires first. */
static bool pass_on(int output, const struct shared *shared)
{
	struct pollfd event = {.fd = output, .events = POLLIN};
	char some[1024];
	ssize_t n;

	for (;;) {
		int64_t left = shared->start + *(volatile const unsigned *)&shared->budget_ms - now_ms();

		/*
		 * Everything is done or rolled back, and reported: on a busy machine the end may be
		 * delayed.
		 */
		if (*(volatile const bool *)&shared->over)
			left += END_MS;
		if (left <= 0)
			return false;
		/* Wait in short intervals, because the budget may change meanwhile. */
		if (poll(&event, 1, left < SLICE_MS ? (int)left : SLICE_MS) <= 0)
			continue;
		n = read(output, some, sizeof(some));
		if (n <= 0)
			return true;
		if (write(STDERR_FILENO, some, (size_t)n) < 0)
			continue; /* there is no reader, but the exit status still counts */
	}
}

static int give_up(const struct shared *shared, const char *const argv[4])
{
	char message[VFCTL_PROGRESS_SIZE + 128], doing[VFCTL_PROGRESS_SIZE];

	memcpy(doing, shared->doing, sizeof(doing));
	doing[sizeof(doing) - 1] = '\0';
	snprintf(message, sizeof(message), "timed out after %u s%s%s; see dmesg and vfctl list%s",
		(shared->budget_ms + 999) / 1000, doing[0] ? ", " : "", doing,
		may_refuse(argv[1]) ? "" : ", then reset the VFs with: vfctl release");
	complain_hook(argv[0], message);
	return shared->may_refuse ? EXIT_REFUSED : EXIT_OK;
}

static int watch_hook(struct shared *shared, const char *const argv[4], const char *xml, size_t len)
{
	pid_t pid, watcher = getpid();
	int ends[2], status;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return run_hook(shared, argv, xml, len);
	pid = fork();
	if (pid == 0) {
		leave_parent(ends[1]);
		if (!may_go_on(argv[1], watcher))
			_exit(EXIT_REFUSED);
		exit(run_hook(shared, argv, xml, len));
	}
	close(ends[1]);
	if (pid < 0) {
		complain_hook(argv[0], "a process could not be started");
		return may_refuse(argv[1]) ? EXIT_REFUSED : EXIT_OK;
	}
	if (!pass_on(ends[0], shared))
		return give_up(shared, argv);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_REFUSED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	complain_hook(argv[0], "it was killed by a signal");
	return shared->may_refuse ? EXIT_REFUSED : EXIT_OK;
}

static int is_needed(const char *operation)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (strcmp(needed[i], operation) == 0)
			return 1;
	return 0;
}

/*
 * False: the domain has neither a PCI device nor vfctl's metadata. At its end the XML may no longer
 * show what it had, because it may have been edited.
 */
static bool concerns_us(const char *operation, const char *xml, size_t len)
{
	if (strcmp(operation, "started") == 0)
		return memmem(xml, len, VFCTL_METADATA_NS, strlen(VFCTL_METADATA_NS)) &&
			memmem(xml, len, ":tuning", strlen(":tuning"));
	return strcmp(operation, "release") == 0 || vfctl_domain_may_have_devices(xml, len) ||
		memmem(xml, len, VFCTL_METADATA_NS, strlen(VFCTL_METADATA_NS));
}

int main(int argc, char **argv)
{
	int64_t start = now_ms();
	struct shared *shared;
	size_t len = 0;
	char *xml;
	int status = EXIT_OK;

	signal(SIGCHLD, SIG_DFL); /* the caller may have ignored it */
	if (argc == 2 && strcmp(argv[0], TUNE_PROGRAM) == 0)
		return tune_guest(argv[1]);
	if (argc != 5) {
		fputs("usage: 50-vfctl DOMAIN OPERATION SUB-OPERATION EXTRA < domain.xml (libvirt "
		      "calls it)\n", stderr);
		return EXIT_WRONG_CALL;
	}
	if (!is_needed(argv[2]))
		return EXIT_OK;
	xml = read_stdin(&len, start + VFCTL_HOOK_TIMEOUT_MS);
	if (!xml) {
		complain_hook(argv[1], "the domain XML could not be read completely (at most 64 MiB and "
			"15 s)");
		return may_refuse(argv[2]) ? EXIT_REFUSED : EXIT_OK;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	if (shared != MAP_FAILED && concerns_us(argv[2], xml, len)) {
		shared->start = start;
		shared->may_refuse = may_refuse(argv[2]);
		shared->budget_ms = VFCTL_HOOK_TIMEOUT_MS;
		status = watch_hook(shared, (const char *const *)argv + 1, xml, len);
	}
	free(xml);
	return shared == MAP_FAILED && may_refuse(argv[2]) ? EXIT_REFUSED : status;
}
