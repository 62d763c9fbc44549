// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "base/json.h"
#include "lease/guest_run.h"
#include "sriov/ops.h"
#include "state/journal.h"
#include "state/leases.h"
#include "state/sqlite.h"
#include "state/store.h"

static char dir[64], path[96];
static struct vfctl_ctx *ctx;

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(name);
}

static int set_up(void **state)
{
	strcpy(dir, "/tmp/vfctl-store-XXXXXX");
	if (!mkdtemp(dir) || vfctl_ctx_new(&ctx) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/state.db", dir);
	return vfctl_ctx_set_state_path(ctx, path);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Lease number @n: one VF (@vf) and one CPU (@cpu); below 0: none. */
static int take(struct store *store, int n, int vf, int cpu)
{
	struct vfctl_lease_vf one = {.bdf = {.bus = 1, .slot = (uint8_t)(vf / 8),
		.function = (uint8_t)(vf % 8)}, .pf = {.bus = 1}, .index = (uint32_t)vf};
	char name[24];
	struct vfctl_lease_cell cells[] = {
		{.node = 1, .memory_node = 1, .memory_bytes = 1u << 29, .page_bytes = 2u << 20},
		{.node = 0, .memory_node = 3, .memory_bytes = 1u << 29, .shared_vcpus = 2}};
	struct vfctl_lease l = {.domain_name = name, .node = 1, .memory_bytes = 1u << 30,
		.vfs = &one, .vf_count = vf >= 0, .cells = cells, .cell_count = 2};

	snprintf(name, sizeof(name), "guest%d", n);
	snprintf(l.id, sizeof(l.id), "lease%d", n);
	snprintf(l.domain_uuid, sizeof(l.domain_uuid), "%08x-0000-4000-8000-000000000000",
		(unsigned)n);
	if (cpu >= 0)
		vfctl_cpuset_add(&l.cpus, (unsigned)cpu);
	return store_take(store, &l);
}

#define UUID_1 "00000001-0000-4000-8000-000000000000"

/* The run of guest 1 changed that VF, which had @had before. */
static void note(const char *target, const struct vfctl_vf_attrs *had)
{
	char *before = json_of_attrs(had);
	const struct op op = {&op_guest_attrs, (char *)target, before, before};

	assert_int_equal(run_note(ctx, UUID_1, "guest1", &op, 1), 0);
	free(before);
}

static size_t count_leases(void)
{
	struct vfctl_leases *leases;
	size_t n;

	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	n = leases->count;
	vfctl_leases_free(leases);
	return n;
}

static struct store *open_store(void)
{
	struct store *store = NULL;

	if (store_open(ctx, STORE_WRITE, &store) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return store;
}

static void a_lease_reads_back(void **state)
{
	_cleanup_(store_closep) struct store *store = NULL;
	struct vfctl_vf_attrs attrs = {.mask = VFCTL_ATTR_VLAN | VFCTL_ATTR_TRUST, .vlan = 9,
		.proto = VFCTL_VLAN_8021AD, .trust = true};
	struct vfctl_bdf vf = {.bus = 1, .slot = 1, .function = 1};
	struct vfctl_leases *leases;

	assert_int_equal(count_leases(), 0); /* no file yet */
	store = open_store();
	assert_int_equal(take(store, 1, 9, 4), 0);
	note("0000:01:00.0/9", &attrs);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_false(leases->v[0].running); /* not by what was noted alone */
	vfctl_leases_free(leases);
	assert_int_equal(run_mark(ctx, UUID_1, "lease1", "guest1"), 0);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->count, 1);
	assert_string_equal(leases->v[0].domain_name, "guest1");
	assert_true(leases->v[0].running);
	assert_true(vfctl_cpuset_has(&leases->v[0].cpus, 4));
	assert_int_equal(leases->v[0].cell_count, 2);
	assert_int_equal(leases->v[0].cells[0].node, 1);
	assert_int_equal(leases->v[0].cells[0].page_bytes, 2u << 20);
	assert_int_equal(leases->v[0].cells[1].node, 0);
	assert_int_equal(leases->v[0].cells[1].memory_node, 3);
	assert_int_equal(leases->v[0].cells[1].memory_bytes, 1u << 29);
	assert_int_equal(leases->v[0].cells[1].shared_vcpus, 2);
	assert_int_equal(leases->v[0].vfs[0].index, 9);
	assert_int_equal(leases->v[0].vfs[0].saved.mask, attrs.mask);
	assert_int_equal(leases->v[0].vfs[0].saved.proto, VFCTL_VLAN_8021AD);
	assert_ptr_equal(vfctl_leases_find_vf(leases, &vf), &leases->v[0]);
	vfctl_leases_free(leases);
	assert_int_equal(store_drop(store, "lease1"), 0);
	assert_int_equal(store_drop(store, "lease1"), -ENOENT);
	assert_int_equal(count_leases(), 0);
	assert_int_equal(take(store, 1, 9, 4), 0); /* the run went with the lease */
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_false(leases->v[0].running || leases->v[0].vfs[0].saved.mask);
	vfctl_leases_free(leases);
}

static void a_conflict_names_the_holder_and_changes_nothing(void **state)
{
	_cleanup_(store_closep) struct store *store = open_store();
	struct vfctl_lease_vf vf = {.bdf = {.bus = 1}, .index = 0};

	assert_int_equal(take(store, 1, 0, 0), 0);
	assert_int_equal(take(store, 2, 0, 1), -EEXIST);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "guest1"));
	assert_non_null(strstr(vfctl_ctx_error(ctx), "0000:01:00.0"));
	assert_int_equal(take(store, 2, 1, 0), -EEXIST);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "CPU 0"));
	assert_int_equal(take(store, 1, 3, 3), -EEXIST); /* it holds a lease already */
	assert_int_equal(count_leases(), 1);
	assert_int_equal(take(store, 2, 1, 1), 0);
	assert_int_equal(store_add_vf(store, "lease2", &vf), -EEXIST);
	assert_int_equal(store_drop(store, "lease1"), 0);
	assert_int_equal(store_add_vf(store, "lease2", &vf), 0);
	assert_int_equal(store_remove_vf(store, "lease1", &vf.bdf), -ENOENT);
	assert_int_equal(store_remove_vf(store, "lease2", &vf.bdf), 0);
	assert_int_not_equal(store_add_vf(store, "no such lease", &vf), 0);
}

static int share(struct store *store, const char *id, unsigned cpu, unsigned qemu_cpu)
{
	char name[] = "sharer";
	struct vfctl_lease l = {.domain_name = name};

	str_copy(l.id, sizeof(l.id), id);
	snprintf(l.domain_uuid, sizeof(l.domain_uuid), "%s", id);
	vfctl_cpuset_add(&l.cpus, cpu);
	vfctl_cpuset_add(&l.qemu_cpus, qemu_cpu);
	return store_take(store, &l);
}

/*
 * CPUs of QEMU's threads may belong to several leases, but not to one alone; they are free after
 * the last one.
 */
static void qemu_cpus_are_shared_and_nobodys_own(void **state)
{
	_cleanup_(store_closep) struct store *store = open_store();
	struct vfctl_leases *leases;

	assert_int_equal(take(store, 1, -1, 3), 0);
	assert_int_equal(share(store, "a", 1, 8), 0);
	assert_int_equal(share(store, "b", 2, 8), 0);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_true(vfctl_cpuset_has(&leases->v[0].qemu_cpus, 8));
	assert_true(vfctl_cpuset_has(&leases->v[1].qemu_cpus, 8));
	assert_false(vfctl_cpuset_has(&leases->v[1].cpus, 8));
	vfctl_leases_free(leases);
	assert_int_equal(share(store, "c", 4, 3), -EEXIST);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "CPU 3 is leased to domain guest1"));
	assert_int_equal(take(store, 2, -1, 8), -EEXIST);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "CPU 8 runs shared QEMU threads"));
	assert_int_equal(count_leases(), 3);
	assert_int_equal(store_drop(store, "a"), 0);
	assert_int_equal(take(store, 2, -1, 8), -EEXIST);
	assert_int_equal(store_drop(store, "b"), 0);
	assert_int_equal(take(store, 2, -1, 8), 0);
}

/* 0: it got the VF; 1: it was told who has it; 2: anything else. */
static int try_in_child(int n, int vf)
{
	struct store *store;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r < 0) {
		fprintf(stderr, "child %d: %s\n", n, vfctl_ctx_error(ctx));
		return 2;
	}
	r = take(store, n, vf, -1);
	if (r < 0 && r != -EEXIST)
		fprintf(stderr, "child %d: %s\n", n, vfctl_ctx_error(ctx));
	store_close(store);
	if (r == -EEXIST)
		return strstr(vfctl_ctx_error(ctx), "guest") ? 1 : 2;
	return r == 0 ? 0 : 2;
}

#define CHILDREN 16

/* The first time the file does not even exist: making it is part of the race. */
static void of_many_at_once_one_wins(void **state)
{
	for (int round = 0; round < 6; round++) {
		int outcomes[3] = {0}, start[2];

		assert_int_equal(pipe(start), 0);
		for (int n = 0; n < CHILDREN; n++) {
			if (fork())
				continue;
			close(start[1]);
			while (read(start[0], &n, 1) > 0)
				;
			_exit(try_in_child(round * CHILDREN + n + 1, round));
		}
		close(start[0]);
		close(start[1]); /* go */
		for (int n = 0; n < CHILDREN; n++) {
			int status;

			wait(&status);
			outcomes[WIFEXITED(status) && WEXITSTATUS(status) < 2 ?
				WEXITSTATUS(status) : 2]++;
		}
		assert_int_equal(outcomes[0], 1);
		assert_int_equal(outcomes[1], CHILDREN - 1);
		assert_int_equal(count_leases(), round + 1);
	}
}

static void write_file(const char *data, size_t len)
{
	FILE *file = fopen(path, "we");

	fwrite(data, 1, len, file);
	fclose(file);
}

static void what_is_no_state_file_is_left_alone(void **state)
{
	static const char junk[] = "this is not a database, and it is long enough to see that "
				   "for certain, is it not? ..........................";
	struct vfctl_leases *leases;
	struct store *store;
	struct stat st;

	write_file(junk, sizeof(junk));
	assert_int_equal(store_open(ctx, STORE_WRITE, &store), -EBADF);
	assert_int_equal(vfctl_leases_read(ctx, &leases), -EBADF);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, sizeof(junk));
	/* Its leases are lost: it is not taken for that of a new host. */
	write_file("", 0);
	assert_int_equal(store_open(ctx, STORE_WRITE, &store), -EBADF);
	assert_int_equal(vfctl_leases_read(ctx, &leases), -EBADF);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	/* Another program's database. */
	remove(path);
	{
		struct db *db;

		assert_int_equal(db_open(ctx, path, true, &db), 0);
		assert_int_equal(db_exec(db, "CREATE TABLE lease (x)"), 0);
		db_close(db);
		assert_true(store_open(ctx, STORE_WRITE, &store) < 0);
	}
}

/* Neither a reader nor a writer takes the file, and it stays as it is. */
static void another_schema_is_refused(void **state)
{
	static const struct {
		const char *number, *message;
	} cases[] = {{"1000", "was written by a newer vfctl (schema 1000; this vfctl supports "},
		{"12", "was written by a newer vfctl (schema 12; this vfctl supports 11)"},
		{"10", "has schema 10, which this vfctl does not support (it supports 11); move the file "
			"away, then run: vfctl recover --rebuild"},
		{"1", "has schema 1, which this vfctl does not support"},
		{"-1", "has schema -1, which this vfctl does not support"}};
	struct store *store = open_store();
	struct vfctl_leases *leases;
	struct open_changes *changes;
	struct db *db;

	store_close(store);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *set = str_format("PRAGMA user_version = %s", cases[i].number);
		int version;

		assert_int_equal(db_open(ctx, path, true, &db), 0);
		assert_int_equal(db_exec(db, set), 0);
		db_close(db);
		assert_int_equal(store_open(ctx, STORE_WRITE, &store), -EBADF);
		assert_non_null(strstr(vfctl_ctx_error(ctx), cases[i].message));
		assert_int_equal(vfctl_leases_read(ctx, &leases), -EBADF);
		assert_non_null(strstr(vfctl_ctx_error(ctx), cases[i].message));
		assert_int_equal(journal_read(ctx, NULL, &changes), -EBADF);
		assert_int_equal(db_open(ctx, path, false, &db), 0);
		assert_int_equal(db_version(db, &version), 0);
		db_close(db);
		assert_int_equal(version, atoi(cases[i].number));
	}
}

/* The first saved values are kept: a second start must not save the policy of the first one. */
static void the_first_save_stays(void **state)
{
	_cleanup_(store_closep) struct store *store = open_store();
	struct vfctl_vf_attrs first = {.mask = VFCTL_ATTR_TRUST, .trust = true};
	struct vfctl_vf_attrs second = {.mask = VFCTL_ATTR_TRUST | VFCTL_ATTR_SPOOFCHK,
		.trust = false, .spoofchk = true};
	struct vfctl_bdf vf = {.bus = 1};
	struct vfctl_leases *leases;

	assert_int_equal(take(store, 1, 0, 0), 0);
	note("0000:01:00.0/0", &first);
	note("0000:01:00.0/0", &second);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->v[0].vfs[0].saved.mask, VFCTL_ATTR_TRUST | VFCTL_ATTR_SPOOFCHK);
	assert_true(leases->v[0].vfs[0].saved.trust);
	vfctl_leases_free(leases);
	/* It ends with the VF's stay, be it that it comes back. */
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(store_remove_vf(store, "lease1", &vf), 0);
	assert_int_equal(store_add_vf(store, "lease1", &leases->v[0].vfs[0]), 0);
	vfctl_leases_free(leases);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->v[0].vfs[0].saved.mask, 0);
	vfctl_leases_free(leases);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lease_reads_back),
		TEST(a_conflict_names_the_holder_and_changes_nothing),
		TEST(of_many_at_once_one_wins),
		TEST(what_is_no_state_file_is_left_alone),
		TEST(another_schema_is_refused),
		TEST(qemu_cpus_are_shared_and_nobodys_own),
		TEST(the_first_save_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
