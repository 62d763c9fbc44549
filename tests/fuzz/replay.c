// SPDX-License-Identifier: GPL-2.0-or-later
/* Run the files of a corpus through a fuzz function: what a fuzzer found stays a test. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "fuzz.h"

#define FILE_MAX_BYTES (4 * 1024 * 1024)

static int replay(const char *dir, const char *name)
{
	_free_ char *path = str_format("%s/%s", dir, name);
	_free_ uint8_t *data = malloc(FILE_MAX_BYTES);
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t size;

	if (!file || !data) {
		fprintf(stderr, "cannot read %s\n", path);
		return 1;
	}
	size = fread(data, 1, FILE_MAX_BYTES, file);
	fclose(file);
	printf("%s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	/* Every cut of a small file as well: parsers fail at ends. */
	for (size_t len = size < 2048 ? size : 0; len-- > 0;)
		LLVMFuzzerTestOneInput(data, len);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	int failed = 0, files = 0;
	DIR *dir;

	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
		return 2;
	}
	dir = opendir(argv[1]);
	if (!dir) {
		perror(argv[1]);
		return 1;
	}
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			failed |= replay(argv[1], entry->d_name);
			files++;
		}
	closedir(dir);
	return failed || !files;
}
