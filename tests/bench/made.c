// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made SHAPE: raw data as a CSV file, made from a seed after the shapes of published tables, for
 * vfctl bench import.
 *	moderation	UDP round trips under six settings of rx-usecs: samples
 *	osu		latency over message size, native and guest, two settings: a figure a trial
 *	threads		throughput over threads, four configurations
 *	tunnel		one configuration bare, one through a tunnel
 *	large CELLS	15 trials x 100,000 samples in each of CELLS cells of two configurations
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS 15

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double u = uniform(), v = uniform();

	return sqrt(-2 * log(u + 1e-300)) * cos(6.283185307179586 * v);
}

static void moderation(void)
{
	static const struct {
		const char *name;
		double wait;
	} settings[] = {{"rx-usecs-3", 0}, {"rx-usecs-10", 0}, {"rx-usecs-100", 10}, {"rx-usecs-250", 690},
		{"rx-usecs-500", 1740}, {"rx-usecs-1000", 3820}};

	puts("configuration,test,tool,size,trial,samples");
	for (int trial = 1; trial <= TRIALS; trial++)
		for (size_t k = 0; k < sizeof(settings) / sizeof(settings[0]); k++) {
			double drift = 4 * normal();

			printf("%s,udp round trip,sockperf,64,%d,", settings[k].name, trial);
			for (int i = 0; i < 500; i++)
				printf(i ? " %.1f" : "%.1f", 340 + drift + settings[k].wait + 18 * fabs(normal()) +
					(uniform() < 0.02 ? 900 * uniform() : 0));
			putchar('\n');
		}
}

static void osu(void)
{
	static const char *const names[] = {"native RX88", "native RX1", "VM RX88", "VM RX1"};
	static const double us[][5] = {{64, 5.05, 3.77, 7.06, 5.40}, {128, 5.23, 3.80, 7.12, 5.36},
		{256, 5.61, 4.50, 7.47, 6.27}, {512, 5.86, 4.64, 7.62, 6.68},
		{1024, 6.23, 5.39, 8.03, 7.58}, {2048, 7.74, 6.62, 8.90, 8.65},
		{4096, 8.86, 7.61, 10.01, 9.40}, {8192, 11.45, 9.98, 11.60, 10.78},
		{16384, 16.2, 14.45, 14.8, 14.2}};

	puts("configuration,test,tool,size,trial,metric,unit,value");
	for (int trial = 1; trial <= TRIALS; trial++)
		for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
			for (int k = 0; k < 4; k++)
				printf("%s,osu_latency,osu,%.0f,%d,mean,us,%.3f\n", names[k], us[i][0], trial,
					us[i][k + 1] + 0.05 * normal());
}

static void threads(void)
{
	static const char *const names[] = {"bare metal", "VM MTU 1500", "VM MTU 9000", "VM VF"};
	static const int counts[] = {1, 2, 4, 8, 10, 12, 16, 20, 24};
	static const double gbits[][9] = {{60, 118, 215, 300, 330, 348, 380, 391, 395},
		{8, 9, 9.5, 10, 10, 10, 9.8, 9.6, 9.5}, {15, 17, 14, 13.5, 13.4, 13.3, 13.2, 13.1, 13},
		{72, 140, 260, 349, 362, 371, 378, 389, 394}};

	puts("configuration,test,tool,threads,trial,metric,unit,value");
	for (int trial = 1; trial <= 12; trial++)
		for (int i = 0; i < 9; i++)
			for (int k = 0; k < 4; k++)
				printf("%s,iperf,iperf,%d,%d,throughput,bit/s,%.0f\n", names[k], counts[i], trial,
					1e9 * gbits[k][i] * (1 + 0.015 * normal()));
}

/* Two parameters: threads and direction, or size and threads. */
static void directions(void)
{
	static const char *const names[] = {"virtio", "VF"}, *const ways[] = {"forward", "reverse"};
	static const int counts[] = {1, 2, 4, 8, 12, 16, 24};
	static const double shares[] = {1, 0.8};

	puts("configuration,test,tool,threads,direction,trial,metric,unit,value");
	for (int trial = 1; trial <= 6; trial++)
		for (int i = 0; i < 7; i++)
			for (int k = 0; k < 4; k++)
				printf("%s,iperf,iperf,%d,%s,%d,throughput,bit/s,%.0f\n", names[k % 2], counts[i],
					ways[k / 2], trial, 1e9 * shares[k / 2] * (1 + 0.015 * normal()) *
					(k % 2 ? 380 * counts[i] / (counts[i] + 4.0) : 13 + 0.1 * counts[i]));
}

static void sizes(void)
{
	static const char *const names[] = {"virtio", "VF"};
	static const int threads[] = {1, 4, 16, 64};

	puts("configuration,test,tool,size,threads,trial,metric,unit,value");
	for (int trial = 1; trial <= 6; trial++)
		for (int size = 2; size <= 8192; size *= 4)
			for (int k = 0; k < 8; k++)
				printf("%s,osu_allreduce,osu_allreduce,%d,%d,%d,mean,us,%.3f\n", names[k % 2],
					size, threads[k / 2], trial, (k % 2 ? 3 : 9) * (1 + 0.4 * (k / 2)) *
					(1 + size / 2000.0) * (1 + 0.02 * normal()));
}

static void tunnel(void)
{
	static const struct {
		const char *name, *mtu;
		double gbits;
	} rows[] = {{"bare", "65450", 23.3}, {"tunnel", "65450", 11.4}, {"bare", "1420", 9.1},
		{"tunnel", "1420", 2.1}};

	puts("configuration,test,tool,mtu,threads,trial,metric,unit,value");
	for (int trial = 1; trial <= 9; trial++)
		for (int k = 0; k < 4; k++)
			printf("%s,throughput,iperf,%s,8,%d,throughput,bit/s,%.0f\n", rows[k].name, rows[k].mtu,
				trial, 1e9 * rows[k].gbits * (1 + 0.02 * normal()));
}

/* Twelve digits of text a sample would be nobody's clock: three behind the point are. */
static void large(long cells)
{
	char line[16];

	puts("configuration,test,size,trial,samples");
	for (int trial = 1; trial <= TRIALS; trial++)
		for (long cell = 0; cell < cells; cell++) {
			printf("%s,lat,%ld,%d,", cell % 2 ? "vf" : "native", 1L << cell / 2, trial);
			for (int i = 0; i < 100000; i++) {
				double u = uniform();
				unsigned ns = (unsigned)(1000 + 100 * (cell % 2) + 400 * u * u * u + (u > 0.999 ? 50000 * (u - 0.999) * 1000 : 0));

				fwrite(line, 1, (size_t)snprintf(line, sizeof(line), "%u.%03u ", ns / 1000, ns % 1000),
					stdout);
			}
			putchar('\n');
		}
}

int main(int argc, char **argv)
{
	const char *shape = argc > 1 ? argv[1] : "";

	if (strcmp(shape, "moderation") == 0)
		moderation();
	else if (strcmp(shape, "osu") == 0)
		osu();
	else if (strcmp(shape, "threads") == 0)
		threads();
	else if (strcmp(shape, "tunnel") == 0)
		tunnel();
	else if (strcmp(shape, "directions") == 0)
		directions();
	else if (strcmp(shape, "sizes") == 0)
		sizes();
	else if (strcmp(shape, "large") == 0 && argc == 3)
		large(strtol(argv[2], NULL, 10));
	else
		return 2;
	return fflush(stdout) != 0;
}
