/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Render a case and look at the text. The test has a context of its own in @ctx. */
#ifndef VFCTL_TESTS_DOMAIN_XML_H
#define VFCTL_TESTS_DOMAIN_XML_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "domain_case.h"

static struct vfctl_ctx *ctx;

static inline char *read_file(const char *path)
{
	_buf_ struct buf text = {0};
	FILE *file = fopen(path, "re");
	char part[4096];
	size_t n;

	if (!file)
		return NULL;
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(&text, part, n);
	fclose(file);
	return buf_steal(&text);
}

static inline char *render(const struct domain_case *c)
{
	char *xml = NULL;

	if (vfctl_domain_render(ctx, &c->request, &xml) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return xml;
}

static inline char *render_template(struct domain_case *c, const char *template_text)
{
	c->request.template_text = template_text;
	c->request.template_name = "t.xml";
	return render(c);
}

static inline void assert_has(const char *xml, const char *part)
{
	if (!strstr(xml, part))
		fail_msg("no %s in:\n%s", part, xml);
}

static inline void assert_lacks(const char *xml, const char *part)
{
	if (strstr(xml, part))
		fail_msg("%s in:\n%s", part, xml);
}

static inline unsigned count(const char *xml, const char *part)
{
	unsigned n = 0;

	while ((xml = strstr(xml, part))) {
		xml += strlen(part);
		n++;
	}
	return n;
}

/* True when the schema and xmllint are there; the XML is then valid or the test fails. */
static inline bool validate(const char *xml)
{
	const char *dir = getenv("VFCTL_SCHEMA_DIR");
	_free_ char *schema =
		str_format("%s/domain.rng", dir ? dir : "/usr/share/libvirt/schemas");
	char path[] = "/tmp/vfctl-test-XXXXXX";
	int fd, status;
	pid_t pid;

	if (access(schema, R_OK) < 0)
		return false;
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml, strlen(xml)), strlen(xml));
	close(fd);
	pid = fork();
	if (pid == 0) {
		execlp("xmllint", "xmllint", "--noout", "--relaxng", schema, path, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return false;
	if (status)
		fail_msg("not valid:\n%s", xml);
	return true;
}

#endif
