// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's half of a profile: its files, their keys, cloud-init, and a guest that is set now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/ctx.h"
#include "base/json.h"
#include "guest/tune.h"
#include "spec/doc.h"
#include "tuning/guest_half.h"

static struct vfctl_ctx *ctx;

static const struct vfctl_guest_half_vf igb = {.mac = {{0x52, 0x54, 0, 0, 0, 1}}, .pf_driver = "igb"};
static const struct vfctl_guest_half_vf mlx5 = {.mac = {{0x52, 0x54, 0, 0, 0, 2}}, .rdma = true,
	.pf_driver = "mlx5_core"};
static const struct vfctl_guest_half_vf ipoib = {.infiniband = true, .rdma = true,
	.pf_driver = "mlx5_core"};

static const struct vfctl_profile *profile(const char *name)
{
	for (size_t i = 0; i < vfctl_profile_count(); i++)
		if (strcmp(vfctl_profile_at(i)->name, name) == 0)
			return vfctl_profile_at(i);
	fail_msg("no profile %s", name);
	return NULL;
}

static enum vfctl_guest_network network;

static struct vfctl_guest_half *make(const struct vfctl_profile *p,
	const struct vfctl_guest_half_vf *vfs, size_t count)
{
	struct vfctl_guest_half *t = NULL;

	if (vfctl_guest_half_make(ctx, p, vfs, count, network, &t) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return t;
}

static const char *text_of(const struct vfctl_guest_half *t, const char *path)
{
	for (size_t i = 0; i < t->file_count; i++)
		if (strcmp(t->files[i].path, path) == 0)
			return t->files[i].text;
	return NULL;
}

static void has(const char *text, const char *message)
{
	if (!text || !strstr(text, message))
		fail_msg("'%s' is not in: %s", message, text ? text : "(no file)");
}

static void has_note(const struct vfctl_guest_half *t, const char *message)
{
	for (size_t i = 0; i < t->note_count; i++)
		if (strstr(t->notes[i], message))
			return;
	fail_msg("no note says '%s'", message);
}

#define LINK1 "/etc/systemd/network/10-vfctl-52-54-00-00-00-01.link"
#define LINK2 "/etc/systemd/network/10-vfctl-52-54-00-00-00-02.link"

static void what_igbvf_cannot_do_is_said(void **unused)
{
	struct vfctl_guest_half *t = make(profile("paper-rx1"), &igb, 1);
	const char *link = text_of(t, LINK1);

	has(link, "MACAddress=52:54:00:00:00:01\nDriver=igbvf\n");
	has(link, "\nRxCoalesceSec=0us\n");
	assert_null(strstr(link, "Frames"));
	has_note(t, "igbvf has no rx-frames");
	has_note(t, "igbvf with rx-usecs 0 still waits about 1 us");
	assert_null(text_of(t, "/etc/sysctl.d/90-vfctl.conf"));
	assert_null(text_of(t, "/etc/security/limits.d/90-vfctl.conf"));
	vfctl_guest_half_free(t);
}

static void rdma_has_modules_limits_and_advice(void **unused)
{
	struct vfctl_guest_half *t = make(profile("latency"), &mlx5, 1);

	has(text_of(t, LINK2), "Driver=mlx5_core\n");
	has(text_of(t, LINK2), "RxMaxCoalescedFrames=1\nUseAdaptiveRxCoalesce=no\n");
	has(text_of(t, "/etc/sysctl.d/90-vfctl.conf"), "net.core.busy_poll = 50\n");
	has(text_of(t, "/etc/modules-load.d/vfctl.conf"), "rdma_ucm\n");
	assert_null(strstr(text_of(t, "/etc/modules-load.d/vfctl.conf"), "ib_umad"));
	has(text_of(t, "/etc/security/limits.d/90-vfctl.conf"), "* hard memlock unlimited\n");
	has(text_of(t, "/etc/vfctl/mpi-advice.txt"), "UCX_IB_PCI_RELAXED_ORDERING=y");
	has(text_of(t, "/etc/vfctl/mpi-advice.txt"), "This profile is for latency: poll.");
	vfctl_guest_half_free(t);
	t = make(profile("throughput"), &ipoib, 1);
	has(text_of(t, "/etc/systemd/network/10-vfctl-ipoib.link"), "[Match]\nType=infiniband\n");
	has(text_of(t, "/etc/modules-load.d/vfctl.conf"), "ib_umad\nib_ipoib\n");
	has(text_of(t, "/etc/vfctl/mpi-advice.txt"), "block where vCPUs are shared");
	vfctl_guest_half_free(t);
}

#define RULES "/etc/udev/rules.d/90-vfctl.rules"

/* The mode comes before the MTU that it permits, so the .link file, which udev reads earlier, has none. */
static void ipoib_has_its_mode_from_udev_and_from_the_program_that_sets_it(void **unused)
{
	const struct vfctl_guest_half_vf vf = {.infiniband = true, .rdma = true, .pf_driver = "mlx4_core",
		.mtu = 65520, .ipoib_mode = VFCTL_IPOIB_CONNECTED};
	struct vfctl_guest_half *t = make(profile("throughput"), &vf, 1);

	has(text_of(t, RULES), "SUBSYSTEM==\"net\", ATTR{type}==\"32\", ATTR{mode}=\"connected\", "
			       "ATTR{mtu}=\"65520\"\n");
	assert_null(strstr(text_of(t, "/etc/systemd/network/10-vfctl-ipoib.link"), "MTUBytes"));
	vfctl_guest_half_free(t);
	network = VFCTL_NETWORK_NETWORKD;
	t = make(profile("throughput"), &vf, 1);
	has(text_of(t, "/etc/systemd/network/10-vfctl-ipoib.network"), "MTUBytes=65520\n\n[IPoIB]\nMode=connected\n");
	vfctl_guest_half_free(t);
	network = VFCTL_NETWORK_MANAGER;
	t = make(profile("throughput"), &vf, 1);
	has(text_of(t, "/etc/NetworkManager/system-connections/vfctl-ipoib.nmconnection"),
		"transport-mode=connected\nmtu=65520\n");
	vfctl_guest_half_free(t);
	network = VFCTL_NETWORK_NETPLAN;
	t = make(profile("throughput"), &vf, 1);
	has(text_of(t, "/etc/netplan/60-vfctl-ipoib.yaml"), "infiniband-mode: connected\n      mtu: 65520\n");
	vfctl_guest_half_free(t);
	network = VFCTL_NETWORK_ANY;
}

/* systemd does not support CQE modes, nor 0 for two of its keys. */
static void what_link_files_cannot_say_is_a_rule(void **unused)
{
	const struct vfctl_guest_half_vf bnxt = {.mac = {{0x52, 0x54, 0, 0, 0, 1}}, .pf_driver = "bnxt_en"};
	struct vfctl_profile own = {.name = (char *)"own"};
	struct vfctl_guest_half *t;
	const char *rules;

	own.coalesce.mask = VFCTL_COALESCE_BIT(VFCTL_CQE_MODE_RX) | VFCTL_COALESCE_BIT(VFCTL_RX_USECS) |
		VFCTL_COALESCE_BIT(VFCTL_STATS_BLOCK_USECS);
	own.coalesce.values[VFCTL_CQE_MODE_RX] = 1;
	own.coalesce.values[VFCTL_RX_USECS] = 8;
	t = make(&own, &bnxt, 1);
	rules = text_of(t, "/etc/udev/rules.d/90-vfctl.rules");
	has(rules, "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{address}==\"52:54:00:00:00:01\", ");
	has(rules, "RUN+=\"/usr/sbin/ethtool -C $name stats-block-usecs 0 cqe-mode-rx on\"\n");
	has(text_of(t, LINK1), "RxCoalesceSec=8us\n");
	vfctl_guest_half_free(t);
	own.coalesce.mask = VFCTL_COALESCE_BIT(VFCTL_CQE_MODE_RX);
	t = make(&own, &mlx5, 1);
	assert_null(text_of(t, LINK2));
	assert_non_null(text_of(t, "/etc/udev/rules.d/90-vfctl.rules"));
	vfctl_guest_half_free(t);
}

static void nothing_is_asked_of_a_guest_without_need(void **unused)
{
	struct vfctl_guest_half *t = NULL;

	assert_int_equal(vfctl_guest_half_make(ctx, profile("mixed"), NULL, 0, VFCTL_NETWORK_ANY, &t), -ENODATA);
	assert_null(t);
	has(vfctl_ctx_error(ctx), "profile mixed has no settings");
}

/* The [Link] keys of systemd 252, those of interrupt moderation and what we write besides. */
static const char *const known[] = {"NamePolicy", "AlternativeNamesPolicy", "MACAddressPolicy",
	"MTUBytes", "RxCoalesceSec", "RxMaxCoalescedFrames", "RxCoalesceIrqSec",
	"RxMaxCoalescedIrqFrames", "TxCoalesceSec", "TxMaxCoalescedFrames", "TxCoalesceIrqSec",
	"TxMaxCoalescedIrqFrames", "StatisticsBlockCoalesceSec", "UseAdaptiveRxCoalesce",
	"UseAdaptiveTxCoalesce", "CoalescePacketRateLow", "RxCoalesceLowSec",
	"RxMaxCoalescedLowFrames", "TxCoalesceLowSec", "TxMaxCoalescedLowFrames",
	"CoalescePacketRateHigh", "RxCoalesceHighSec", "RxMaxCoalescedHighFrames",
	"TxCoalesceHighSec", "TxMaxCoalescedHighFrames", "CoalescePacketRateSampleIntervalSec",
	"MACAddress", "Driver", "Type"};

static bool is_known(const char *line, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i]) == len && strncmp(known[i], line, len) == 0)
			return true;
	return false;
}

static void check_link(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		if (*line != '#' && *line != '[' && *line != '\n' &&
			!is_known(line, strcspn(line, "=\n")))
			fail_msg("systemd does not know: %.40s", line);
}

/* Each setting with each driver, and at its limits. */
static void link_files_have_keys_of_systemd_alone(void **unused)
{
	static const char *const drivers[] = {"igb", "ixgbe", "i40e", "ice", "mlx5_core", "mlx4_core",
		"bnxt_en", "enic", "hns3", "netdevsim", "unheard-of"};
	static const uint32_t values[] = {0, 1, 2, 64, 1000, 4095, UINT32_MAX};
	size_t made = 0;

	for (size_t d = 0; d < ARRAY_SIZE(drivers); d++)
		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			struct vfctl_guest_half_vf vf = igb;
			struct vfctl_profile p = {.name = (char *)"p"};
			struct vfctl_guest_half *t = NULL;

			vf.pf_driver = drivers[d];
			p.coalesce.mask = VFCTL_COALESCE_BIT(VFCTL_COALESCE_KEYS) - 1;
			for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++)
				p.coalesce.values[i] =
					vfctl_coalesce_is_switch((enum vfctl_coalesce_key)i) ? values[v] & 1 : values[v];
			if (vfctl_guest_half_make(ctx, &p, &vf, 1, VFCTL_NETWORK_ANY, &t) < 0)
				continue;
			made++;
			if (text_of(t, LINK1))
				check_link(text_of(t, LINK1));
			vfctl_guest_half_free(t);
		}
	assert_true(made > 50);
}

/* ---- cloud-init ---- */

static const struct doc_node *value_of(const struct doc_node *map, const char *key)
{
	assert_int_equal(map->kind, DOC_MAP);
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->keys[i]->text, key) == 0)
			return map->items[i];
	fail_msg("no %s", key);
	return NULL;
}

static void check_user_data(const struct vfctl_guest_half *t, const char *text)
{
	struct doc_node *root = NULL;
	const struct doc_node *files, *commands;

	assert_memory_equal(text, "#cloud-config\n", 14);
	if (doc_parse(ctx, "user-data", text, strlen(text), 1 << 20, &root) < 0)
		fail_msg("%s\n%s", vfctl_ctx_error(ctx), text);
	files = value_of(root, "write_files");
	assert_int_equal(files->count, t->file_count);
	for (size_t i = 0; i < t->file_count; i++) {
		assert_string_equal(value_of(files->items[i], "path")->text, t->files[i].path);
		assert_string_equal(value_of(files->items[i], "permissions")->text, "0644");
		assert_string_equal(value_of(files->items[i], "content")->text, t->files[i].text);
	}
	commands = value_of(root, "runcmd");
	assert_int_equal(commands->count, t->command_count);
	for (size_t i = 0; i < t->command_count; i++)
		for (size_t k = 0; t->commands[i][k]; k++)
			assert_string_equal(commands->items[i]->items[k]->text, t->commands[i][k]);
	doc_free(root);
}

static void user_data_is_yaml_with_these_files(void **unused)
{
	const struct vfctl_guest_half_vf vfs[] = {igb, mlx5, ipoib};

	for (size_t i = 0; i < vfctl_profile_count(); i++) {
		struct vfctl_guest_half *t = make(vfctl_profile_at(i), vfs, ARRAY_SIZE(vfs));
		char *text = NULL, *again = NULL;

		assert_int_equal(vfctl_guest_half_cloud_init(ctx, t, &text), 0);
		assert_int_equal(vfctl_guest_half_cloud_init(ctx, t, &again), 0);
		assert_string_equal(text, again);
		check_user_data(t, text);
		free(text);
		free(again);
		vfctl_guest_half_free(t);
	}
}

/* ---- a guest that runs ---- */

static struct {
	char written[4096];	 /* paths, in order */
	char file[4096];	 /* the last that was written */
	unsigned usecs, sets;	 /* of eth1 */
	bool liar, deaf, refuses; /* keeps its value; has no agent; install fails */
	char out[512];		 /* of the program that ran last */
	int status;
} guest;

static const char links[] =
	"1: lo: <LOOPBACK,UP> mtu 65536 qdisc noqueue \\    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
	"3: eth1.7@eth1: <BROADCAST> mtu 1500 qdisc noop \\    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
	"2: eth1: <BROADCAST,UP> mtu 1500 qdisc mq \\    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n";

static const char *arg(const struct json *args, size_t i)
{
	const char *text = json_text(json_item(args, i));

	return text ? text : "";
}

static void run_ethtool(const struct json *args)
{
	if (strcmp(arg(args, 3), "eth1") != 0) {
		guest.status = 76;
	} else if (strcmp(arg(args, 2), "-C") == 0) {
		guest.sets++;
		/* As igbvf does: 1 is refused, and 0 is told as 1. */
		if (atoi(arg(args, 5)) == 1)
			guest.status = 1;
		else if (!guest.liar)
			guest.usecs = (unsigned)atoi(arg(args, 5));
	} else {
		snprintf(guest.out, sizeof(guest.out), "Coalesce parameters for eth1:\n"
			"Adaptive RX: n/a  TX: n/a\nrx-usecs:\t%u\nrx-frames:\tn/a\n",
			guest.usecs ? guest.usecs : 1);
	}
}

/* The requested program, after timeout(1). */
static void run_program(const struct json *arguments)
{
	const struct json *args = json_member(arguments, "arg");
	const char *program = arg(args, 1), *input = json_text(json_member(arguments, "input-data"));
	char *plain = NULL;
	size_t len = 0;

	guest.status = 0;
	*guest.out = '\0';
	if (strcmp(program, "ip") == 0)
		snprintf(guest.out, sizeof(guest.out), "%s", links);
	else if (strcmp(program, "ethtool") == 0)
		run_ethtool(args);
	else if (strcmp(program, "readlink") == 0)
		snprintf(guest.out, sizeof(guest.out), "../../../bus/pci/drivers/igbvf\n");
	else if (strcmp(program, "cat") == 0)
		snprintf(guest.out, sizeof(guest.out), "1\n");
	else if (strcmp(program, "install") == 0 && guest.refuses)
		guest.status = 1;
	else if (strcmp(program, "install") == 0) {
		assert_int_equal(base64_decode(input, &plain, &len), 0);
		snprintf(guest.file, sizeof(guest.file), "%.*s", (int)len, plain);
		snprintf(guest.written + strlen(guest.written),
			sizeof(guest.written) - strlen(guest.written), "%s\n", arg(args, 6));
		free(plain);
	} else if (strcmp(program, "sysctl") != 0 && strcmp(program, "udevadm") != 0) {
		guest.status = 127;
	}
}

static int answer(struct vfctl_ctx *c, struct vfctl_hypervisor *self, const char *name,
	const char *command, unsigned timeout_s, char **ret)
{
	struct json *asked = NULL;
	struct buf coded = {0};

	if (guest.deaf)
		return ctx_fail(c, -EOPNOTSUPP, "guest %s: the guest agent is not connected", name);
	assert_int_equal(json_read(c, "command", command, strlen(command), &asked), 0);
	if (strcmp(json_text(json_member(asked, "execute")), "guest-exec") == 0) {
		run_program(json_member(asked, "arguments"));
		*ret = strdup("{\"return\":{\"pid\":7}}");
	} else {
		base64_add(&coded, guest.out, strlen(guest.out));
		*ret = str_format("{\"return\":{\"exited\":true,\"exitcode\":%d,\"out-data\":\"%s\"}}",
			guest.status, coded.data ? coded.data : "");
		free(coded.data);
	}
	json_free(asked);
	return *ret ? 0 : -ENOMEM;
}

static struct vfctl_hypervisor hypervisor = {.agent = answer};

static int apply(struct vfctl_guest_outcome **ret, size_t *ret_count)
{
	struct vfctl_guest_half *t = make(profile("latency"), &igb, 1);
	int r = vfctl_guest_half_apply(ctx, &hypervisor, "web", profile("latency"), &igb, 1, t, ret,
		ret_count);

	vfctl_guest_half_free(t);
	return r;
}

static const struct vfctl_guest_outcome *outcome(const struct vfctl_guest_outcome *v, size_t count,
	const char *what)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(v[i].what, what) == 0)
			return &v[i];
	fail_msg("nothing is said of %s", what);
	return NULL;
}

static void a_running_guest_is_set_and_read_back(void **unused)
{
	struct vfctl_guest_outcome *v = NULL;
	size_t count = 0;

	memset(&guest, 0, sizeof(guest));
	guest.usecs = 3;
	assert_int_equal(apply(&v, &count), 0);
	assert_string_equal(guest.written, LINK1 "\n/etc/sysctl.d/90-vfctl.conf\n");
	has(guest.file, "net.core.busy_poll = 50\n");
	assert_int_equal(guest.usecs, 0);
	has(outcome(v, count, "52:54:00:00:00:01")->message, "eth1 has rx-usecs=0, read back (before: rx-usecs=3)");
	assert_true(outcome(v, count, "52:54:00:00:00:01")->done);
	for (size_t i = 0; i < count; i++)
		assert_true(v[i].done);
	vfctl_guest_outcomes_free(v, count);
	/* Once more: nothing is set that is so. */
	assert_int_equal(apply(&v, &count), 0);
	assert_int_equal(guest.sets, 1);
	has(outcome(v, count, "52:54:00:00:00:01")->message, "has rx-usecs=0 already");
	vfctl_guest_outcomes_free(v, count);
}

static void what_is_not_done_is_said_and_the_rest_is_done(void **unused)
{
	struct vfctl_guest_outcome *v = NULL;
	size_t count = 0;

	memset(&guest, 0, sizeof(guest));
	guest.usecs = 3;
	guest.liar = true;
	assert_int_equal(apply(&v, &count), 0);
	assert_false(outcome(v, count, "52:54:00:00:00:01")->done);
	has(outcome(v, count, "52:54:00:00:00:01")->message, "was set to rx-usecs=0 but has rx-usecs=3");
	assert_true(outcome(v, count, LINK1)->done);
	vfctl_guest_outcomes_free(v, count);
	guest.liar = false;
	guest.refuses = true;
	assert_int_equal(apply(&v, &count), 0);
	assert_false(outcome(v, count, LINK1)->done);
	assert_true(outcome(v, count, "52:54:00:00:00:01")->done);
	vfctl_guest_outcomes_free(v, count);
}

static void without_an_agent_it_is_said_what_to_do(void **unused)
{
	struct vfctl_guest_outcome *v = NULL;
	size_t count = 0;

	memset(&guest, 0, sizeof(guest));
	guest.deaf = true;
	assert_int_equal(apply(&v, &count), -EOPNOTSUPP);
	has(vfctl_ctx_error(ctx), "not connected");
	has(vfctl_ctx_error(ctx), "--cloud-init FILE");
	has(vfctl_ctx_error(ctx), "org.qemu.guest_agent.0");
}

static int begin(void **unused)
{
	return vfctl_ctx_new(&ctx);
}

static int end(void **unused)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_igbvf_cannot_do_is_said),
		cmocka_unit_test(rdma_has_modules_limits_and_advice),
		cmocka_unit_test(ipoib_has_its_mode_from_udev_and_from_the_program_that_sets_it),
		cmocka_unit_test(what_link_files_cannot_say_is_a_rule),
		cmocka_unit_test(nothing_is_asked_of_a_guest_without_need),
		cmocka_unit_test(link_files_have_keys_of_systemd_alone),
		cmocka_unit_test(user_data_is_yaml_with_these_files),
		cmocka_unit_test(a_running_guest_is_set_and_read_back),
		cmocka_unit_test(what_is_not_done_is_said_and_the_rest_is_done),
		cmocka_unit_test(without_an_agent_it_is_said_what_to_do),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
