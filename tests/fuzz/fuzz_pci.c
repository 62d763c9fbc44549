// SPDX-License-Identifier: GPL-2.0-or-later
/* The first two bytes divide the rest: a function's configuration space, and its vital product data. */
#include "any_host.h"
#include "pci/acs.h"
#include "pci/bars.h"
#include "pci/config.h"
#include "pci/express.h"
#include "pci/serial.h"
#include "pci/vectors.h"

static uint8_t *exact(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (copy && size)
		memcpy(copy, data, size);
	return copy;
}

static void parse(const uint8_t *config, size_t config_len, const uint8_t *vpd, size_t vpd_len)
{
	struct pci_serials serials;

	pci_serials_parse(config, config_len, vpd, vpd_len, &serials);
	FUZZ_CHECK(strlen(serials.device) < PCI_SERIAL_TEXT && strlen(serials.product) < PCI_SERIAL_TEXT);
	pci_acs_parse(config, config_len);
	if (config_len < 64)
		return;
	for (unsigned id = 0; id < 64; id++) {
		FUZZ_CHECK(config_capability(config, config_len, (uint8_t)id) < config_len);
		FUZZ_CHECK(config_extended(config, config_len, id) + 12 <= config_len ||
			!config_extended(config, config_len, id));
	}
}

static void read_files(const uint8_t *data, size_t size)
{
	static const struct vfctl_bdf bdf = {.bus = 0x10};
	struct vfctl_pci_express express;
	struct pci_serials serials;
	struct vfctl_bdf port;
	struct any_host any;
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return;
	any_host_set(ctx, &any, data, size);
	pci_serials_read(ctx, &bdf, &serials);
	pci_express_read(ctx, &bdf, &express);
	pci_acs_of_path(ctx, &bdf, &port);
	pci_bar_bytes(ctx, &bdf);
	pci_vectors(ctx, &bdf);
	vfctl_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first;
	uint8_t *config, *vpd;

	if (size < 2)
		return 0;
	first = (size_t)data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	first = first < size ? first : size;
	config = exact(data, first);
	vpd = exact(data + first, size - first);
	if (config && vpd)
		parse(config, first, vpd, size - first);
	free(config);
	free(vpd);
	read_files(data, size);
	return 0;
}
