// SPDX-License-Identifier: MIT
/*
 * clear-cost: the cost of clearing VRAM for new BOs.
 *
 * Variants: not cleared, cleared by the CPU, cleared by the GPU. They are set by
 * the module's parameters (gem_rw_clear_vram, gem_rw_clear_cpu_max), so this
 * needs root. For each of them and some sizes, medians in microseconds of
 *
 * create	GEM_CREATE
 * ready	GEM_CREATE and GEM_WAIT_IDLE: until the BO can be used
 * close	GEM_CLOSE of a BO that is ready
 *
 * The variants take turns, sample by sample, so that compared samples are only
 * moments apart.
 *
 * usage: clear-cost [SAMPLES]
 * Exit status: 0; 1 if something failed; 77 without a device, or the parameters.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "radeon_drm.h"

#include "bench.h"

#define PARAMETERS	"/sys/module/radeon/parameters/"
#define MAX_SAMPLES	10001
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

enum value { CREATE, READY, CLOSE, VALUES };

static const struct {
	const char *name, *clear, *cpu_max;
} arms[] = {
	{ "off", "N", "32768" },
	{ "cpu", "Y", "4294967295" },
	{ "gpu", "Y", "0" },
};

static const unsigned int sizes_kib[] = { 4, 16, 64, 256, 1024, 4096, 16384 };

static int write_parameter(const char *name, const char *value)
{
	char path[96];
	int fd, ok;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ok = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return ok ? 0 : -EIO;
}

/* One BO's life. Returns 0 or a negative errno. */
static int sample(int fd, uint64_t size, uint64_t ns[VALUES])
{
	uint64_t start = bench_now(), ready;
	uint32_t handle;
	int ret;

	ret = bench_gem_create(fd, size, RADEON_GEM_DOMAIN_VRAM,
			       RADEON_GEM_CPU_ACCESS, &handle);
	if (ret)
		return ret;
	ns[CREATE] = bench_now() - start;
	ret = bench_gem_wait(fd, handle);
	if (ret)
		return ret;
	ready = bench_now();
	ns[READY] = ready - start;
	ret = bench_gem_close(fd, handle);
	ns[CLOSE] = bench_now() - ready;
	return ret;
}

static double median_us(uint64_t *ns, unsigned int n)
{
	return bench_spread(ns, n).median / 1000.0;
}

static int measure(int fd, unsigned int kib, unsigned int samples)
{
	static uint64_t v[ARRAY_LEN(arms)][VALUES][MAX_SAMPLES];
	uint64_t ns[VALUES];
	unsigned int arm, i, k;
	int ret;

	for (i = 0; i < samples; i++) {
		for (arm = 0; arm < ARRAY_LEN(arms); arm++) {
			ret = write_parameter("gem_rw_clear_vram",
					      arms[arm].clear);
			if (!ret)
				ret = write_parameter("gem_rw_clear_cpu_max",
						      arms[arm].cpu_max);
			/* Not counted: caches and freed memory are another variant's. */
			if (!ret)
				ret = sample(fd, kib * 1024ull, ns);
			if (!ret)
				ret = sample(fd, kib * 1024ull, ns);
			if (ret)
				return ret;
			for (k = 0; k < VALUES; k++)
				v[arm][k][i] = ns[k];
		}
	}
	for (arm = 0; arm < ARRAY_LEN(arms); arm++)
		printf("%6u  %-4s %10.1f %10.1f %10.1f\n", kib, arms[arm].name,
		       median_us(v[arm][CREATE], samples),
		       median_us(v[arm][READY], samples),
		       median_us(v[arm][CLOSE], samples));
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int samples = 301, i;
	struct bench_device dev;
	int ret = 0;

	if (argc > 2 || (argc == 2 && (samples = atoi(argv[1])) - 1 >= MAX_SAMPLES)) {
		fprintf(stderr, "usage: clear-cost [SAMPLES], 1 to %d\n", MAX_SAMPLES);
		return 1;
	}
	if (bench_open(&dev)) {
		fprintf(stderr, "clear-cost: no render node of the radeon driver\n");
		return 77;
	}
	if (access(PARAMETERS "gem_rw_clear_vram", W_OK)) {
		fprintf(stderr, "clear-cost: no access to " PARAMETERS "gem_rw_clear_vram\n");
		return 77;
	}

	printf("   KiB  arm    create_us   ready_us   close_us\n");
	for (i = 0; i < ARRAY_LEN(sizes_kib) && !ret; i++)
		ret = measure(dev.fd, sizes_kib[i], samples);
	write_parameter("gem_rw_clear_vram", "Y");
	write_parameter("gem_rw_clear_cpu_max", "32768");
	close(dev.fd);
	if (ret) {
		fprintf(stderr, "clear-cost: %s\n", strerror(-ret));
		return 1;
	}
	return 0;
}
