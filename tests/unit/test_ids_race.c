// SPDX-License-Identifier: GPL-2.0-or-later
/* Pools over the host's own store: many processes, and random calls beside a naive model. */
#include "pools.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ids/pools.h"

/* ---- many processes ---- */

#define PROCESSES 8
#define TAKES 200

static void take_in_child(int child, int out, const char *yaml)
{
	uint64_t values[TAKES];

	/* the connection of the parent must not be used in a child */
	ids = NULL;
	spec = NULL;
	if (try_open(yaml, true) < 0) {
		fprintf(stderr, "child %d: %s\n", child, vfctl_ctx_error(ctx));
		_exit(1);
	}
	for (int i = 0; i < TAKES; i++)
		if (take(child * TAKES + i, &values[i]) < 0) {
			fprintf(stderr, "child %d: %s\n", child, vfctl_ctx_error(ctx));
			_exit(1);
		}
	close_pools();
	_exit(write(out, values, sizeof(values)) != sizeof(values));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Also the file and the pool are made in the race. */
static void many_processes_never_get_the_same(void **state)
{
	static const char yaml[] = POOL("0x10000..0x1063f", "rest: 0s"); /* 1600: just enough */
	static uint64_t values[PROCESSES * TAKES];
	int pipes[PROCESSES][2], status;

	for (int n = 0; n < PROCESSES; n++) {
		assert_int_equal(pipe(pipes[n]), 0);
		if (fork() == 0)
			take_in_child(n, pipes[n][1], yaml);
		close(pipes[n][1]);
	}
	for (int n = 0; n < PROCESSES; n++) {
		size_t have = 0;
		ssize_t got;

		while ((got = read(pipes[n][0], (char *)&values[n * TAKES] + have,
			TAKES * sizeof(*values) - have)) > 0)
			have += (size_t)got;
		close(pipes[n][0]);
		assert_int_equal(have, TAKES * sizeof(*values));
	}
	for (int n = 0; n < PROCESSES; n++) {
		wait(&status);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	qsort(values, ARRAY_SIZE(values), sizeof(*values), by_value);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_true(values[i] == 0x10000 + i);
}

/* ---- a naive model ---- */

#define MODEL_SIZE 40
#define MODEL_FIRST UINT64_C(0x02ffffffffffffec) /* the group bit lies in the middle */
#define OWNERS 60
#define REST 5

struct model {
	enum { FREE, LEASED, RESTING, QUARANTINED } state;
	int owner;
	int64_t until;
};

static uint64_t model_value(int i)
{
	return i < 20 ? MODEL_FIRST + (uint64_t)i : UINT64_C(0x0400000000000000) +
		(uint64_t)i - 20;
}

static int model_index(uint64_t value)
{
	return value < UINT64_C(0x0300000000000000) ? (int)(value - MODEL_FIRST)
		: 20 + (int)(value - UINT64_C(0x0400000000000000));
}

static bool is_free(const struct model *m, int64_t now)
{
	return m->state == FREE || (m->state == RESTING && m->until <= now);
}

static void check_take(struct model *m, int who, int64_t now)
{
	bool room = false, again = false;
	uint64_t value;
	int r = take(who, &value), i;

	for (int k = 0; k < MODEL_SIZE; k++) {
		room |= is_free(&m[k], now);
		again |= (m[k].state == LEASED || m[k].state == RESTING) && m[k].owner == who;
	}
	if (r < 0) {
		assert_int_equal(r, -ENOSPC);
		assert_false(room || again);
		return;
	}
	i = model_index(value);
	assert_true(i >= 0 && i < MODEL_SIZE);
	assert_true(is_free(&m[i], now) || (m[i].state != QUARANTINED && m[i].owner == who));
	for (int k = 0; k < MODEL_SIZE; k++)
		assert_true(k == i || m[k].state != LEASED || m[k].owner != who);
	m[i] = (struct model){LEASED, who, 0};
}

static void check_claim(struct model *m, int who, int i, int64_t now)
{
	bool other = false, mine = m[i].owner == who && m[i].state != QUARANTINED;
	int r = claim(who, model_value(i));

	for (int k = 0; k < MODEL_SIZE; k++)
		other |= k != i && m[k].state == LEASED && m[k].owner == who;
	if (r == 0) {
		assert_true(!other && (is_free(&m[i], now) || mine));
		m[i] = (struct model){LEASED, who, 0};
	} else {
		assert_int_equal(r, -EEXIST);
		assert_true(other || !(is_free(&m[i], now) || mine));
	}
}

static void check_release(struct model *m, int i, bool unused, int64_t now)
{
	int r = vfctl_ids_release(ids, VFCTL_ID_GUID, model_value(i), NULL, unused);

	if (m[i].state == LEASED)
		m[i] = unused ? (struct model){FREE, 0, 0}
			      : (struct model){RESTING, m[i].owner, now + REST};
	else if (m[i].state == QUARANTINED)
		m[i] = (struct model){FREE, 0, 0};
	else if (m[i].state == FREE || r == -ENOENT)
		/* a rest that is over may have been forgotten, or not yet */
		assert_true(r == -ENOENT && is_free(&m[i], now));
}

static void check_quarantine(struct model *m, int i, int64_t now)
{
	int r = vfctl_ids_quarantine(ids, VFCTL_ID_GUID, model_value(i), NULL, "seen");

	assert_true(r >= 0);
	if (r == 1) {
		assert_true(is_free(&m[i], now));
		m[i] = (struct model){QUARANTINED, 0, 0};
	} else {
		assert_true(m[i].state != FREE);
	}
}

static void check_counts(const struct model *m)
{
	unsigned leased = 0, quarantined = 0;
	struct vfctl_id_stats n = stats();

	for (int i = 0; i < MODEL_SIZE; i++) {
		leased += m[i].state == LEASED;
		quarantined += m[i].state == QUARANTINED;
	}
	assert_int_equal(n.leased, leased);
	assert_int_equal(n.quarantined, quarantined);
}

static void random_calls_agree_with_a_naive_model(void **state)
{
	const char *given = getenv("VFCTL_TEST_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);
	struct model m[MODEL_SIZE] = {0};

	for (int i = 0; i < MODEL_SIZE; i++)
		m[i].owner = -1;
	print_message("VFCTL_TEST_SEED=%u\n", seed);
	srandom(seed);
	open_pools(POOL("02:ff:ff:ff:ff:ff:ff:ec..04:00:00:00:00:00:00:13", "rest: 5s"));
	assert_int_equal(stats().size, MODEL_SIZE);
	for (int step = 0; step < 3000; step++) {
		int who = (int)(random() % OWNERS), i = (int)(random() % MODEL_SIZE);
		int64_t now = ids->store->now += random() % 4 == 0;

		switch (random() % 8) {
		case 0 ... 3:
			check_take(m, who, now);
			break;
		case 4:
			check_claim(m, who, i, now);
			break;
		case 5:
		case 6:
			check_release(m, i, random() % 2, now);
			break;
		default:
			if (random() % 4 == 0)
				check_quarantine(m, i, now);
		}
		check_counts(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(many_processes_never_get_the_same),
		TEST(random_calls_agree_with_a_naive_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
