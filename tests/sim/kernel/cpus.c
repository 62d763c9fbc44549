// SPDX-License-Identifier: GPL-2.0-or-later
/* Where interrupts go (kernel/irq/proc.c), governors (drivers/cpufreq/cpufreq.c) and C-states of CPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cpuset.h"
#include "sim.h"

#define CPUFREQ "/sys/devices/system/cpu/cpu%u/cpufreq/"

static int parse(struct host *h, const char *text, struct vfctl_cpuset *ret)
{
	_free_ char *all = sim_get(h, "/sys/devices/system/cpu/online");
	struct vfctl_cpuset online;

	if (!all || vfctl_cpuset_parse(all, &online) < 0 || vfctl_cpuset_parse(text, ret) < 0 ||
		!vfctl_cpuset_intersects(ret, &online))
		return -EINVAL;
	return 0;
}

/*
 * A managed one (no write bit) takes nothing. One of the CPUs gets the interrupt, and that at once
 * unless .sim/irq/N exists: then with the next interrupt, which does not come here.
 */
int sim_irq_write(struct host *h, const char *path, const char *text)
{
	char list[1024], one[16];
	struct vfctl_cpuset cpus;
	unsigned irq, mode;
	int r;

	if (sscanf(path, "/proc/irq/%u/smp_affinity_list", &irq) != 1)
		return -EACCES;
	r = files_mode(h, path, &mode);
	if (r < 0 || !(mode & 0200))
		return r < 0 ? r : -EIO;
	r = parse(h, text, &cpus);
	if (r < 0)
		return r;
	vfctl_cpuset_format(&cpus, list, sizeof(list));
	sim_put(h, list, "/proc/irq/%u/smp_affinity_list", irq);
	if (sim_has(h, "/.sim/irq/%u", irq))
		return 0;
	snprintf(one, sizeof(one), "%d\n", vfctl_cpuset_next(&cpus, 0));
	return sim_put(h, one, "/proc/irq/%u/effective_affinity_list", irq);
}

static bool has_word(const char *message, const char *word)
{
	size_t len = strcspn(word, " \n");

	for (; message && *message; message += strcspn(message, " \n"), message += strspn(message, " \n"))
		if (strcspn(message, " \n") == len && !strncmp(message, word, len))
			return true;
	return false;
}

/* pm_qos_resume_latency_us_store() of drivers/base/power/sysfs.c. */
static int write_latency(struct host *h, const char *path, const char *text)
{
	char *end, line[32];
	long us = strtol(text, &end, 0);

	if (!sim_has(h, "%s", path))
		return -ENOENT;
	if (!str_eq(text, "n/a") && (end == text || *end || us < 0 || us >= INT32_MAX))
		return -EINVAL;
	snprintf(line, sizeof(line), "%s\n", text);
	return sim_put(h, line, "%s", path);
}

/* All CPUs of a policy have one governor. */
int sim_cpu_write(struct host *h, const char *path, const char *text)
{
	_free_ char *known = NULL, *all = NULL;
	char *save = NULL;
	unsigned cpu;

	if (strstr(path, "/power/pm_qos_resume_latency_us"))
		return write_latency(h, path, text);
	if (sscanf(path, CPUFREQ, &cpu) != 1 || !strstr(path, "/scaling_governor"))
		return -EACCES;
	if (!sim_has(h, CPUFREQ "scaling_governor", cpu))
		return -ENOENT;
	known = sim_get(h, CPUFREQ "scaling_available_governors", cpu);
	all = sim_get(h, CPUFREQ "affected_cpus", cpu);
	if (!known || !all || !has_word(known, text))
		return -EINVAL;
	for (char *word = strtok_r(all, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		char other[96];

		snprintf(other, sizeof(other), CPUFREQ "scaling_governor", (unsigned)atoi(word));
		files_write(h, other, text);
	}
	return 0;
}
