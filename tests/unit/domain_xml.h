/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Render a case and look at the text. The test has a context of its own in @ctx. */
#ifndef VFCTL_TESTS_DOMAIN_XML_H
#define VFCTL_TESTS_DOMAIN_XML_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sonames.h"
#include "domain/definition.h"
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

/* Whether xmllint accepts the file; false if there is no schema, or no xmllint. */
static inline bool matches_schema(const char *dir, const char *path, const char *xml)
{
	_free_ char *schema = str_format("%s/domain.rng", dir);
	int status;
	pid_t pid;

	if (access(schema, R_OK) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		execlp("xmllint", "xmllint", "--noout", "--relaxng", schema, path, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return false;
	if (status)
		fail_msg("not valid by %s:\n%s", schema, xml);
	return true;
}

/* In a process of its own: libvirt keeps threads and memory. 0, or what went wrong. */
static inline int define_in_test_driver(const char *xml)
{
	void *lib = dlopen(SONAME_LIBVIRT, RTLD_NOW);
	void *(*open_driver)(const char *) = lib ? dlsym(lib, "virConnectOpen") : NULL;
	void *(*define)(void *, const char *) = lib ? dlsym(lib, "virDomainDefineXML") : NULL;
	void *driver = open_driver ? open_driver("test:///default") : NULL;

	if (!driver || !define)
		return 127;
	return define(driver, xml) ? 0 : 1;
}

/* libvirt also checks what a schema cannot say, such as that a pinned vCPU exists. */
static inline void assert_defined(const char *xml)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(define_in_test_driver(xml));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status && !(WIFEXITED(status) && WEXITSTATUS(status) == 127))
		fail_msg("libvirt does not define:\n%s", xml);
}

/*
 * The XML is valid by the schemas in $VFCTL_SCHEMAS (a:b:c; that of the installed libvirt), and
 * libvirt defines it, or the test fails. False if a schema or xmllint is not there.
 */
static inline bool validate(const char *xml)
{
	const char *dirs = getenv("VFCTL_SCHEMAS");
	_free_ char *list = strdup(dirs ? dirs : "/usr/share/libvirt/schemas");
	char path[] = "/tmp/vfctl-test-XXXXXX", *save = NULL;
	bool done = true;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml, strlen(xml)), strlen(xml));
	close(fd);
	for (char *dir = strtok_r(list, ":", &save); dir; dir = strtok_r(NULL, ":", &save))
		done &= matches_schema(dir, path, xml);
	unlink(path);
	if (dirs && !done)
		fail_msg("a schema of VFCTL_SCHEMAS or xmllint is not there: %s", dirs);
	assert_defined(xml);
	return done;
}

#endif
