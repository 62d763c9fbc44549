// SPDX-License-Identifier: GPL-2.0-or-later
/* A text that parses is printed, and the output parses to the same set. */
#include <string.h>

#include "base/cpuset.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char printed[VFCTL_CPU_MAX * 5 + 1];
	struct vfctl_cpuset set, again;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (vfctl_cpuset_parse(text, &set) == 0) {
		FUZZ_CHECK(vfctl_cpuset_format(&set, printed, sizeof(printed)) <
			   sizeof(printed));
		FUZZ_CHECK(vfctl_cpuset_parse(printed, &again) == 0);
		FUZZ_CHECK(!memcmp(&set, &again, sizeof(set)));
	}
	free(text);
	return 0;
}
