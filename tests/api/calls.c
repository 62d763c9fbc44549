// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls: getters past their ends, keys that do not exist, options that are wrong, objects freed as NULL, on
 * the host of tests/api/host with 2 VFs on ens1. Prints "ok".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vfctl/vfctl.h>

static int failures;

#define CHECK(what)                                                                  \
	do {                                                                         \
		if (!(what)) {                                                       \
			printf("line %d: %s\n", __LINE__, #what);                    \
			failures++;                                                  \
		}                                                                    \
	} while (0)

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void free_nothing(void)
{
	vfctl_ctx_free(NULL);
	vfctl_session_close(NULL);
	vfctl_snapshot_free(NULL);
	vfctl_change_free(NULL);
	vfctl_declaration_free(NULL);
	vfctl_doctor_free(NULL);
	vfctl_recovery_free(NULL);
	vfctl_guest_free(NULL);
	vfctl_model_free(NULL);
	vfctl_placed_free(NULL);
	vfctl_assignment_free(NULL);
}

static void context(struct vfctl_ctx *ctx)
{
	CHECK(vfctl_ctx_error(ctx)[0] == '\0' && vfctl_ctx_remedy(ctx)[0] == '\0');
	CHECK(vfctl_ctx_set(ctx, "colour", "red") == -EINVAL && vfctl_ctx_usage_error(ctx));
	CHECK(strcmp(vfctl_ctx_remedy(ctx), "it has state, temp-dir, origin and write-timeout-ms") == 0);
	CHECK(vfctl_ctx_set(ctx, "write-timeout-ms", "0") == -EINVAL);
	CHECK(vfctl_ctx_set(ctx, "write-timeout-ms", "5000") == 0);
	CHECK(vfctl_ctx_set(ctx, "origin", "a test") == 0 && vfctl_ctx_set(ctx, "temp-dir", "/tmp") == 0);
	CHECK(!vfctl_ctx_reason(ctx, 0, NULL) && !vfctl_ctx_unfinished(ctx));
}

static void keys(const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	const char *key, *help = NULL;
	char text[8] = "kept";
	size_t count = 0;

	for (; (key = vfctl_pf_key(count, &help)); count++)
		CHECK(help && *help && vfctl_pf_get(pf, key, NULL, 0) != -ENOENT);
	CHECK(count > 15);
	for (count = 0; (key = vfctl_vf_key(count, &help)); count++)
		CHECK(help && *help && vfctl_vf_get(vf, key, NULL, 0) != -ENOENT);
	CHECK(count > 20);
	CHECK(vfctl_pf_get(pf, "colour", text, sizeof(text)) == -ENOENT);
	CHECK(vfctl_pf_get(pf, "bond", text, sizeof(text)) == -ENODATA && strcmp(text, "kept") == 0);
	/* Cut, with the whole length. */
	CHECK(vfctl_pf_get(pf, "address", text, sizeof(text)) == 12 && strcmp(text, "0000:10") == 0);
	CHECK(vfctl_vf_get(vf, "trust", text, sizeof(text)) == 2 && strcmp(text, "on") == 0);
	for (count = 0; (key = vfctl_attr_key(count, &help)); count++)
		CHECK(vfctl_vf_get(vf, key, NULL, 0) != -ENOENT);
	CHECK(count > 10);
}

static void inventory(struct vfctl_ctx *ctx)
{
	struct vfctl_snapshot *snapshot = NULL;
	const struct vfctl_pf *pf, *same = NULL;
	const struct vfctl_vf *vf;
	char text[VFCTL_BDF_TEXT];

	CHECK(vfctl_snapshot_read(ctx, NULL, &snapshot) == 0);
	pf = vfctl_snapshot_pf(snapshot, 0);
	CHECK(pf && !vfctl_snapshot_pf(snapshot, 1) && !vfctl_snapshot_gap(snapshot, 0));
	CHECK(vfctl_pf_node(pf) == 0 && vfctl_pf_total_vfs(pf) == 7 && vfctl_pf_vf_count(pf) == 2);
	vf = vfctl_pf_vf(pf, 1);
	CHECK(vf && !vfctl_pf_vf(pf, 2) && vfctl_vf_index(vf) == 1 && vfctl_vf_node(vf) == 0);
	CHECK(vfctl_vf_holder(vf) == VFCTL_HOLDER_NONE && vfctl_vf_is_free(vf));
	CHECK(vfctl_snapshot_find_vf(ctx, snapshot, "ens1/1", &same, &vf) == 0 && same == pf);
	CHECK(vfctl_snapshot_find_vf(ctx, snapshot, vfctl_vf_address(vf, text), NULL, &vf) == 0);
	CHECK(vfctl_snapshot_find_vf(ctx, snapshot, "ens1/7", NULL, &vf) == -ENOENT);
	keys(pf, vf);
	vfctl_snapshot_free(snapshot);
}

static void options(struct vfctl_ctx *ctx, struct vfctl_session *session)
{
	static const char *const calls[] = {"vfctl_session_open", "vfctl_plan_create", "vfctl_plan_destroy",
		"vfctl_plan_set", "vfctl_plan_tune", "vfctl_plan_define", "vfctl_plan_undefine",
		"vfctl_plan_attach", "vfctl_plan_detach", "vfctl_plan_adopt", "vfctl_recover_open_changes",
		"vfctl_plan_rebuild"};
	struct vfctl_change *change = NULL;
	const char *help;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		help = NULL;
		CHECK(vfctl_option_at(calls[i], 0, &help) && help && *help);
	}
	CHECK(!vfctl_option_at("vfctl_plan_paint", 0, NULL) && !vfctl_option_at(calls[0], 9, NULL));
	CHECK(vfctl_plan_destroy(session, "ens1", OPTIONS("colour=red"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_destroy(session, "ens1", OPTIONS("colour"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_create(session, "ens1", 2, OPTIONS("colour=red"), true, &change) == -EINVAL);
	CHECK(strstr(vfctl_ctx_error(ctx), "colour: not a VF attribute; known are mac, "));
	CHECK(strstr(vfctl_ctx_error(ctx), "vfctl_plan_create also takes driver, "));
	CHECK(vfctl_plan_create(session, "ens1", 2, OPTIONS("driver=igb"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_create(session, "ens1", 2, OPTIONS("mac=02:00:00:00:00:01"), true, &change) ==
		-EINVAL);
	CHECK(vfctl_plan_create(session, "ens1", 2, OPTIONS("driver=none", "driver=none"), true, &change) ==
		-EINVAL);
	CHECK(vfctl_plan_set(session, OPTIONS("ens1/0"), NULL, true, &change) == -EINVAL);
	CHECK(vfctl_plan_set(session, OPTIONS("ens1/0"), OPTIONS("config=on", "vlan=1"), true, &change) ==
		-EINVAL);
	CHECK(vfctl_plan_tune(session, "ens1", OPTIONS("profile=colour"), true, &change) == -ENOENT);
	CHECK(vfctl_plan_tune(session, "ens1", OPTIONS("colour=1"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_attach(session, "web", OPTIONS("count=2"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_attach(session, "web", OPTIONS("vf=ens1/0", "count=65"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_detach(session, "web", OPTIONS("wait=0"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_undefine(session, "web", NULL, true, &change) == -EINVAL);
	CHECK(vfctl_plan_move(session, "web", true, &change) == -EINVAL);
	CHECK(vfctl_plan_adopt(session, "web", OPTIONS("undo=on"), true, &change) == -EINVAL);
	CHECK(vfctl_plan_rebuild(session, OPTIONS("trust-metadata=off"), true, &change) == -EINVAL);
	CHECK(!change);
}

static void changes(struct vfctl_ctx *ctx, struct vfctl_session *session)
{
	struct vfctl_change *change = NULL;
	char *json = NULL;

	CHECK(vfctl_plan_set(session, OPTIONS("ens1/0", "ens1/1"), OPTIONS("vlan=8", "max-rate=100"), false,
		&change) == 0);
	CHECK(vfctl_change_count(change) > 0 && vfctl_change_describe(change, 0));
	CHECK(!vfctl_change_describe(change, 99) && !vfctl_operation_type(change, 99, 0));
	CHECK(strcmp(vfctl_operation_type(change, 0, 0), "vf-attrs") == 0);
	CHECK(vfctl_change_json(ctx, change, &json) == 0 && strncmp(json, "{\"format\": 1, ", 14) == 0);
	CHECK(strstr(json, "{\"type\": \"vf-attrs\", \"target\": \"0000:10:00.0/0\", \"want\": \""));
	CHECK(strstr(json, "\\\"vlan\\\":\\\"8\\\"}\", \"before\": \"{"));
	CHECK(vfctl_change_run(ctx, change) == 0);
	vfctl_change_free(change);
	free(json);
	change = NULL;
	CHECK(vfctl_plan_destroy(session, "ens1", NULL, true, &change) == 0);
	CHECK(vfctl_change_run(ctx, change) == -EINVAL);
	vfctl_change_free(change);
	change = NULL;
	CHECK(vfctl_plan_release(session, "web", false, &change) == 0 && vfctl_change_count(change) == 0);
	CHECK(vfctl_change_run(ctx, change) == 0);
	vfctl_change_free(change);
	change = NULL;
	/* A VLAN that is not declared. */
	CHECK(vfctl_plan_clean(session, false, &change) == 0 && vfctl_change_count(change) > 0);
	vfctl_change_free(change);
}

static void reports(struct vfctl_session *session)
{
	struct vfctl_declaration *declaration = NULL;
	struct vfctl_recovery *recovery = NULL;
	struct vfctl_doctor *doctor = NULL;
	const char *why = NULL;

	CHECK(vfctl_doctor_run(session, NULL, &doctor) == 0);
	for (size_t i = 0; vfctl_doctor_get(doctor, i, "check"); i++)
		CHECK(vfctl_doctor_get(doctor, i, "severity") && !vfctl_doctor_get(doctor, i, "colour"));
	for (size_t i = 0; vfctl_doctor_gap(doctor, i, &why); i++)
		CHECK(why && *why);
	vfctl_doctor_free(doctor);
	CHECK(vfctl_doctor_run(session, "ens9", &doctor) == -ENOENT);
	CHECK(vfctl_recover_open_changes(session, OPTIONS("dry-run=on"), &recovery) == 0);
	CHECK(!vfctl_recovery_get(recovery, 0, "story"));
	vfctl_recovery_free(recovery);
	CHECK(vfctl_declaration_read(session, &declaration) == 0);
	CHECK(strcmp(vfctl_declaration_get(declaration, 0, "kind"), "host") == 0);
	CHECK(!vfctl_declaration_get(declaration, 1, "kind") && !vfctl_declaration_change(declaration, 1));
	CHECK(vfctl_session_after_change(session, NULL) == 0);
	vfctl_declaration_free(declaration);
}

static const char guest_text[] = "{\"name\": \"web\", \"vcpus\": 2, \"memory\": \"64MiB\", "
	"\"hugepages\": \"none\", \"vfs\": [{\"pf\": \"ens1\"}]}";

static void check_place(const struct vfctl_assignment *a)
{
	enum vfctl_reason_kind kind = VFCTL_REASON_REMEDY;
	char text[64], vf[VFCTL_BDF_TEXT];

	CHECK(vfctl_assignment_refusal(a) == VFCTL_REFUSAL_NONE && vfctl_assignment_node(a) == 0);
	CHECK(vfctl_assignment_vf(a, 0, vf) && !vfctl_assignment_vf(a, 1, vf));
	CHECK(vfctl_assignment_get(a, "vcpus", text, sizeof(text)) == 3 && strcmp(text, "0,1") == 0);
	CHECK(vfctl_assignment_get(a, "memory-bytes", text, sizeof(text)) == 8);
	CHECK(vfctl_assignment_get(a, "iothread-cpus", text, sizeof(text)) == -ENODATA);
	CHECK(vfctl_assignment_get(a, "colour", text, sizeof(text)) == -ENOENT);
	CHECK(vfctl_assignment_reason(a, 0, &kind) && !vfctl_assignment_reason(a, 99, NULL));
}

static void check_xml(struct vfctl_ctx *ctx, const struct vfctl_placed *placed,
	const struct vfctl_host_model *model)
{
	struct vfctl_assignment *back = NULL;
	char *xml = NULL, text[64];

	CHECK(vfctl_placed_xml(placed, NULL, &xml) == 0 && strstr(xml, "<name>web</name>"));
	CHECK(vfctl_domain_read_placement(ctx, xml, model, &back) == 0);
	CHECK(vfctl_assignment_get(back, "vcpus", text, sizeof(text)) == 3 && strcmp(text, "0,1") == 0);
	vfctl_assignment_free(back);
	free(xml);
	xml = NULL;
	CHECK(vfctl_placed_xml(placed, "no-such-template", &xml) == -ENOENT && !xml);
	CHECK(vfctl_domain_read_placement(ctx, "<domain", NULL, &back) == -EINVAL);
}

static void guests(struct vfctl_ctx *ctx, struct vfctl_session *session)
{
	struct vfctl_host_model *model = NULL, *copy = NULL;
	struct vfctl_placed *placed = NULL;
	struct vfctl_guest *guest = NULL;
	char *text = NULL;

	CHECK(vfctl_guest_parse(ctx, "web", guest_text, strlen(guest_text), &guest) == 0);
	CHECK(strcmp(vfctl_guest_name(guest), "web") == 0);
	CHECK(vfctl_guest_schema(ctx, &text) == 0 && strstr(text, "draft-07"));
	free(text);
	CHECK(vfctl_session_model(session, &model) == 0);
	text = vfctl_model_format(model);
	CHECK(text && vfctl_model_parse(ctx, "copy", text, strlen(text), &copy) == 0);
	free(text);
	CHECK(vfctl_place_on_model(ctx, copy, &guest, 1, &placed) == 0);
	check_place(vfctl_placed_assignment(placed, 0));
	CHECK(!vfctl_placed_assignment(placed, 1) && vfctl_placed_is_proven(placed));
	CHECK(vfctl_placed_xml(placed, NULL, &text) == -EINVAL);
	vfctl_placed_free(placed);
	CHECK(vfctl_place_guest(session, guest, &placed) == 0);
	check_place(vfctl_placed_assignment(placed, 0));
	check_xml(ctx, placed, model);
	vfctl_placed_free(placed);
	vfctl_model_free(copy);
	vfctl_model_free(model);
	vfctl_guest_free(guest);
}

int main(void)
{
	struct vfctl_session *session = NULL;
	struct vfctl_ctx *ctx;

	free_nothing();
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	context(ctx);
	CHECK(vfctl_ctx_set(ctx, "state", getenv("VFCTL_STATE")) == 0);
	CHECK(vfctl_session_open(ctx, OPTIONS("colour=red"), &session) == -EINVAL && !session);
	CHECK(vfctl_session_open(ctx, OPTIONS("host-yaml=/no/such.yaml"), &session) == -ENOENT);
	CHECK(vfctl_session_open(ctx, OPTIONS("write=on", "libvirt=none", "reserve=3"), &session) == 0);
	inventory(ctx);
	options(ctx, session);
	changes(ctx, session);
	reports(session);
	guests(ctx, session);
	vfctl_session_close(session);
	vfctl_ctx_free(ctx);
	if (!failures)
		puts("ok");
	return failures != 0;
}
