// SPDX-License-Identifier: GPL-2.0-or-later
/* set: VFs (PF/INDEX, PF/FIRST-LAST, addresses) and attributes, in any order, or a batch. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attr_args.h"
#include "base/parse.h"
#include "command.h"
#include "main.h"
#include "session.h"
#include "vfs/plans.h"

#define VFS_MAX 4096
#define BATCH_MAX (4u << 20)

struct items {
	struct vfctl_set_item *v;
	size_t count, room;
};

static void items_free(struct items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free((char *)items->v[i].vf);
	free(items->v);
}

/* The items take over @name. */
static int add_item(struct invocation *in, struct items *items, char *name)
{
	_free_ char *own = name;

	if (items->count == items->room) {
		size_t room = items->room ? items->room * 2 : 16;
		struct vfctl_set_item *bigger = reallocarray(items->v, room, sizeof(*bigger));

		if (!bigger)
			return fail(in, -ENOMEM);
		items->v = bigger;
		items->room = room;
	}
	if (!own)
		return fail(in, -ENOMEM);
	if (items->count == VFS_MAX)
		return usage(in, "more than %d VFs", VFS_MAX);
	items->v[items->count++] = (struct vfctl_set_item){.vf = steal(own)};
	return 0;
}

/* Expand "PF/FIRST-LAST" to its VFs; anything else is one name, which is checked later. */
static int add_vfs(struct invocation *in, struct items *items, const char *word)
{
	const char *slash = strrchr(word, '/');
	unsigned first, last;
	int end = 0, status = 0;

	/* Accept the form of ip link. */
	if (strcmp(word, "vf") == 0)
		return usage(in, "a VF is named PF/INDEX, such as ens1f0/3");
	if (vfctl_vf_attr_name(word))
		return attr_arg(in, word, NULL);
	if (!slash || !isdigit((unsigned char)slash[1]) ||
		sscanf(slash + 1, "%5u-%5u%n", &first, &last, &end) != 2 || slash[1 + end])
		return add_item(in, items, strdup(word));
	if (last < first || last - first >= VFS_MAX)
		return usage(in, "'%s' is not a range of VFs", word);
	for (unsigned i = first; i <= last && !status; i++) {
		char *name = NULL;

		if (asprintf(&name, "%.*s/%u", (int)(slash - word), word, i) < 0)
			name = NULL;
		status = add_item(in, items, name);
	}
	return status;
}

/* The words of one command or one line of a batch: all its VFs get its attributes. */
static int add_text(struct invocation *in, struct items *items, const char *const *message,
	size_t count)
{
	struct vfctl_vf_attrs attrs = {0};
	size_t first = items->count;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = strchr(message[i], '=') ? attr_arg(in, message[i], &attrs)
					       : add_vfs(in, items, message[i]);
	if (status)
		return status;
	if (items->count == first || !attrs.mask)
		return usage(in, "%s: vfctl set VF... ATTRIBUTE=VALUE...",
			attrs.mask ? "name a VF" : "name an attribute");
	if (vfctl_vf_attrs_check(in->ctx, &attrs) < 0)
		return usage(in, "%s", vfctl_ctx_error(in->ctx));
	if (attrs.mask & VFCTL_ATTR_MAC && items->count - first > 1)
		return usage(in, "%zu VFs cannot have the same MAC", items->count - first);
	for (size_t i = first; i < items->count; i++)
		items->v[i].attrs = attrs;
	return 0;
}

static int read_line(struct invocation *in, struct items *items, char *line)
{
	const char *message[ARGS_MAX];
	size_t count = 0;
	char *save = NULL;

	line[strcspn(line, "#")] = '\0';
	for (char *w = strtok_r(line, " \t\r\n", &save); w; w = strtok_r(NULL, " \t\r\n", &save)) {
		if (count == ARGS_MAX)
			return usage(in, "the line has too many words");
		message[count++] = w;
	}
	return count ? add_text(in, items, message, count) : 0;
}

static int read_batch(struct invocation *in, struct items *items, const char *path)
{
	size_t len, number = 0;
	_free_ char *text = NULL;
	char *rest, *line, where[256];
	int status = read_named(in, path, BATCH_MAX, &text, &len);

	if (status)
		return status;
	rest = text;
	while (!status && (line = strsep(&rest, "\n")) && (rest || *line)) {
		snprintf(where, sizeof(where), "%.200s:%zu:%zu", path, ++number,
			strspn(line, " \t") + 1);
		in->where = where;
		status = read_line(in, items, line);
		in->where = NULL;
	}
	return status || items->count ? status : usage(in, "%s does not name a VF", path);
}

static int collect_set(struct invocation *in, struct items *items)
{
	const char *batch = option_of(in, "batch");

	if (batch && in->arg_count)
		return usage(in, "--batch takes the VFs from the file, not from the command line");
	if (batch)
		return read_batch(in, items, batch);
	return add_text(in, items, in->args, in->arg_count);
}

static int run_set(struct invocation *in)
{
	struct vfctl_set_options options = {.live = option_of(in, "live"),
		.config = option_of(in, "config")};
	_cleanup_(items_free) struct items items = {0};
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	struct vfctl_change *change;
	int r, status = collect_set(in, &items);
	char done[96];

	if (status)
		return status;
	r = options.config ? main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv) : 0;
	options.hypervisor = hv;
	if (r == 0)
		r = vfctl_set_plan(in->ctx, items.v, items.count, &options, in->dry_run, &change);
	if (r < 0)
		return fail(in, r);
	snprintf(done, sizeof(done), "%zu VF%s set; %s", items.count, plural(items.count),
		options.config && !options.live ? "it takes effect when its domain starts next"
						: "every value reads back");
	in->result_vfs = items.v;
	in->result_vf_count = items.count;
	status = run_change(in, change, done);
	in->result_vf_count = 0;
	return status;
}

static const struct option_row options[] = {
	{"batch", 'b', "FILE", "read lines of VF... ATTRIBUTE=VALUE... from FILE (-: standard input)",
		NULL},
};

static bool attr_term(size_t at, const char **ret_name, const char **ret_help)
{
	const struct vfctl_vf_attr_info *info = vfctl_vf_attr_info(at);

	if (!info)
		return false;
	*ret_name = info->key;
	*ret_help = info->help;
	return true;
}

const struct command cmd_set = {
	.name = "set",
	.group = GROUP_VFS,
	.common = true,
	.answer = change_answer,
	.args = "VF... ATTRIBUTE=VALUE...",
	.summary = "Set attributes of VFs and read them back",
	.text = "A VF is PF/INDEX; several VFs are PF/FIRST-LAST. All VFs of one command "
		"belong to one PF, and either all of them are changed or none. A vlan without"
		" qos or proto has qos 0 and 802.1Q. guid=VALUE sets the node GUID and the "
		"port GUID. link-state also accepts follow, up and down. Only ConnectX-3 sets"
		" pkey on the host. The MAC, the GUIDs and the vectors of a VF in use cannot "
		"change. When a domain starts, its VFs get the attributes of its lease; "
		"--config changes the lease and the definition. Before another guest gets a "
		"VF, vfctl resets trust, query-rss, VLAN and rates to safe defaults, unless "
		"host.yaml declares other values.",
	.examples = {{"vfctl set ens1/0-3 vlan=100 max-rate=10gbit", "four VFs"},
		{"vfctl set ens1/0 vlan=200 --config", "from the next start of its domain on"}},
	.terms = "attributes",
	.term = attr_term,
	.max_args = ARGS_MAX,
	.operand = OPERAND_VF,
	.changes = true,
	OPTIONS(options),
	.call = CALL_SET,
	.run = run_set,
};
