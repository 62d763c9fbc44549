// SPDX-License-Identifier: GPL-2.0-or-later
/* Which tool printed a text: each prints something of its own. */
#include "bench/reading.h"
#include "bench/text.h"

/* A tool's own text, and the program that prints it; "^": at the beginning of a line. */
static const struct {
	const char *text;
	enum bench_tool tool;
	const char *program; /* NULL: the tool has one */
} marks[] = {
	{"RDMA_Write Latency Test", BENCH_PERFTEST, "ib_write_lat"},
	{"RDMA_Read Latency Test", BENCH_PERFTEST, "ib_read_lat"},
	{"Send Latency Test", BENCH_PERFTEST, "ib_send_lat"},
	{"Atomic FETCH_AND_ADD Latency Test", BENCH_PERFTEST, "ib_atomic_lat"},
	{"Atomic CMP_AND_SWAP Latency Test", BENCH_PERFTEST, "ib_atomic_lat"},
	{"RDMA_Write BW Test", BENCH_PERFTEST, "ib_write_bw"},
	{"RDMA_Write Bidirectional BW Test", BENCH_PERFTEST, "ib_write_bw"},
	{"RDMA_Read BW Test", BENCH_PERFTEST, "ib_read_bw"},
	{"RDMA_Read Bidirectional BW Test", BENCH_PERFTEST, "ib_read_bw"},
	{"Send BW Test", BENCH_PERFTEST, "ib_send_bw"},
	{"Send Bidirectional BW Test", BENCH_PERFTEST, "ib_send_bw"},
	{"Atomic FETCH_AND_ADD BW Test", BENCH_PERFTEST, "ib_atomic_bw"},
	{"Atomic CMP_AND_SWAP BW Test", BENCH_PERFTEST, "ib_atomic_bw"},
	{"# OSU MPI Latency Test", BENCH_OSU, "osu_latency"},
	{"# OSU MPI Bandwidth Test", BENCH_OSU, "osu_bw"},
	{"# OSU MPI Bi-Directional Bandwidth Test", BENCH_OSU, "osu_bibw"},
	{"# OSU MPI Barrier Latency Test", BENCH_OSU, "osu_barrier"},
	{"# OSU MPI Non-blocking Barrier Latency Test", BENCH_OSU, "osu_ibarrier"},
	{"# OSU MPI Broadcast Latency Test", BENCH_OSU, "osu_bcast"},
	{"# OSU MPI Allreduce Latency Test", BENCH_OSU, "osu_allreduce"},
	{"# OSU MPI Allgather Latency Test", BENCH_OSU, "osu_allgather"},
	{"# OSU MPI All-to-All Personalized Exchange", BENCH_OSU, "osu_alltoall"},
	{"^# OSU ", BENCH_OSU, NULL},
	{"^Connecting to host ", BENCH_IPERF3, NULL},
	{"^iperf 3.", BENCH_IPERF3, NULL},
	{"\"version\":\t\"iperf 3.", BENCH_IPERF3, NULL},
	{"\"version\": \"iperf 3.", BENCH_IPERF3, NULL},
	{"\"version\":\"iperf 3.", BENCH_IPERF3, NULL},
	{"^Client connecting to ", BENCH_IPERF2, NULL},
	{"^Server listening on TCP port ", BENCH_IPERF2, NULL},
	{"^Server listening on UDP port ", BENCH_IPERF2, NULL},
	{"^sockperf: ", BENCH_SOCKPERF, NULL},
	{"MIGRATED TCP ", BENCH_NETPERF, NULL},
	{"MIGRATED UDP ", BENCH_NETPERF, NULL},
	{"^tcp_lat:", BENCH_QPERF, NULL},
	{"^tcp_bw:", BENCH_QPERF, NULL},
	{"^udp_lat:", BENCH_QPERF, NULL},
	{"^udp_bw:", BENCH_QPERF, NULL},
	{"^rc_lat:", BENCH_QPERF, NULL},
	{"^rc_bw:", BENCH_QPERF, NULL},
	{"^rc_rdma_write_lat:", BENCH_QPERF, NULL},
	{"^rc_rdma_write_bw:", BENCH_QPERF, NULL},
	{"^rc_rdma_read_lat:", BENCH_QPERF, NULL},
	{"^rc_rdma_read_bw:", BENCH_QPERF, NULL},
};

static bool has_mark(struct span text, const char *mark)
{
	struct span line;

	if (*mark != '^')
		return span_find(text, mark);
	while (span_line(&text, &line))
		if (span_starts(line, mark + 1))
			return true;
	return false;
}

const char *bench_guess(const char *text, size_t len)
{
	const struct span all = {text, text + len};
	const char *program = NULL;
	size_t found = ARRAY_SIZE(marks);

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (!has_mark(all, marks[i].text))
			continue;
		if (found < ARRAY_SIZE(marks) && marks[found].tool != marks[i].tool)
			return NULL;
		found = found < ARRAY_SIZE(marks) ? found : i;
		program = program ? program : marks[i].program;
	}
	if (found == ARRAY_SIZE(marks))
		return NULL;
	return program ? program : bench_tool_name(marks[found].tool);
}
