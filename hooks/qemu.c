// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /etc/libvirt/hooks/qemu.d/50-vfctl: libvirt runs it for every start and stop of every
 * domain, with the domain's XML on standard input, and waits for it without a limit. So:
 * nothing for domains that are not ours, a deadline for those that are, no shell, no
 * environment, never a word on standard output (libvirt would take it for XML).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open_host.h"
#include "vfctl/domain.h"
#include "vfctl/workflow.h"

#define DEADLINE_S 60
#define STDIN_MAX ((size_t)VFCTL_DOMAIN_STREAM_MAX)

enum { EXIT_OK = 0, EXIT_REFUSED = 1, EXIT_WRONG_CALL = 2 };

/* Operations libvirt may call that need nothing of us: their input is not even read. */
static const char *const needed[] = {"prepare", "started", "reconnect", "release"};

static volatile sig_atomic_t must_not_fail;

static void on_deadline(int number)
{
	static const char words[] = "vfctl hook: gave up after 60 s; a device does not answer "
				    "(dmesg, vfctl list)\n";

	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		_exit(EXIT_REFUSED);
	_exit(must_not_fail ? EXIT_OK : EXIT_REFUSED);
}

static void set_deadline(void)
{
	struct sigaction action = {.sa_handler = on_deadline};

	sigaction(SIGALRM, &action, NULL);
	alarm(DEADLINE_S);
}

/* One line, whatever the domain's name holds: it reaches logs and terminals. */
static void complain(const char *object, const char *words)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "vfctl hook: %.64s: %s", object, words);

	if (n >= (int)sizeof(line))
		n = (int)sizeof(line) - 1;
	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	fprintf(stderr, "%s\n", line);
}

static void log_warning(void *data, enum vfctl_log_level level, const char *text)
{
	if (level <= VFCTL_LOG_WARNING)
		complain(data, text);
}

/* All of standard input; NULL when it is larger than any domain or cannot be read. */
static char *read_stdin(size_t *ret_len)
{
	size_t len = 0, room = 16384;
	char *data = malloc(room);

	while (data) {
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

static int run(const char *const argv[4], const char *xml, size_t len)
{
	struct vfctl_ctx *ctx;
	int r;

	if (vfctl_ctx_new(&ctx) < 0) {
		complain(argv[0], "out of memory");
		return EXIT_REFUSED;
	}
	vfctl_ctx_set_log(ctx, log_warning, (void *)argv[0]);
	vfctl_ctx_set_write_timeout_ms(ctx, DEADLINE_S * 500);
	r = hook_open_host(ctx);
	if (r == 0)
		r = vfctl_hook_qemu(ctx, argv, xml, len);
	if (r < 0)
		complain(argv[0], vfctl_ctx_error(ctx));
	vfctl_ctx_free(ctx);
	return r < 0 && !must_not_fail ? EXIT_REFUSED : EXIT_OK;
}

static int is_needed(const char *operation)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (strcmp(needed[i], operation) == 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t len = 0;
	char *xml;
	int status;

	if (argc != 5) {
		fputs("usage: 50-vfctl DOMAIN OPERATION SUB-OPERATION EXTRA < domain.xml (libvirt "
		      "calls it)\n", stderr);
		return EXIT_WRONG_CALL;
	}
	if (!is_needed(argv[2]))
		return EXIT_OK;
	must_not_fail = strcmp(argv[2], "prepare") != 0;
	set_deadline();
	xml = read_stdin(&len);
	if (!xml) {
		complain(argv[1], "the domain XML could not be read (64 MiB at most)");
		return must_not_fail ? EXIT_OK : EXIT_REFUSED;
	}
	/* Not ours: the name of our metadata stands nowhere in it. */
	if (!memmem(xml, len, VFCTL_METADATA_NS, strlen(VFCTL_METADATA_NS))) {
		free(xml);
		return EXIT_OK;
	}
	status = run((const char *const *)argv + 1, xml, len);
	free(xml);
	return status;
}
