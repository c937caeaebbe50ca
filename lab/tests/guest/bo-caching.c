// SPDX-License-Identifier: MIT
/*
 * Says which memory type the kernel gives to the pages of BOs in GTT.
 *
 * usage: bo-caching [DEVICE]	(default /dev/dri/renderD128; needs root)
 *
 * For each caching mode the program counts all pages of the machine by memory
 * type, makes a BO, maps and touches it, and counts again. One line a mode:
 *
 *	MODE pages=N wc=+N uc=+N
 *
 * x86 keeps the memory type of RAM in two page flags (arch/x86/mm/pat/
 * memtype.c), which /proc/kpageflags shows: KPF_ARCH alone is write-combining,
 * KPF_ARCH_2 (or KPF_UNCACHED, in older kernels) alone uncached. The driver may
 * silently ignore RADEON_GEM_GTT_WC and RADEON_GEM_GTT_UC (it does so for PCI
 * boards); these flags show it. (/proc/PID/pagemap does not show pages of a GEM
 * mapping.)
 *
 * Exit status: 0 if the pages of each mode have the type asked for, 1 if not,
 * 2 on errors.
 */
#include <drm/radeon_drm.h>
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BO_SIZE		(8u << 20)
#define KPF_ARCH	(UINT64_C(1) << 38)
#define KPF_UNCACHED	(UINT64_C(1) << 39)	/* until Linux 6.10 */
#define KPF_ARCH_2	(UINT64_C(1) << 41)	/* since then */
#define KPF_TYPE	(KPF_ARCH | KPF_UNCACHED | KPF_ARCH_2)

struct pages {
	long wc, uc;
};

static const struct mode {
	const char *name;
	uint32_t flags;
	int wc, uc;
} modes[] = {
	{ "cached", 0, 0, 0 },
	{ "write-combined", RADEON_GEM_GTT_WC, 1, 0 },
	{ "uncached", RADEON_GEM_GTT_UC, 0, 1 },
};

static struct pages count_pages(void)
{
	static uint64_t flags[8192];
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	struct pages count = { 0 };
	ssize_t n;

	if (fd < 0)
		err(2, "/proc/kpageflags");
	while ((n = read(fd, flags, sizeof(flags))) > 0) {
		for (ssize_t i = 0; i < n / 8; i++) {
			uint64_t type = flags[i] & KPF_TYPE;

			count.wc += type == KPF_ARCH;
			count.uc += type == KPF_UNCACHED || type == KPF_ARCH_2;
		}
	}
	if (n < 0)
		err(2, "/proc/kpageflags");
	close(fd);
	return count;
}

/* Makes a BO that lives until the program's end, and touches its pages. */
static void make_bo(int drm, const struct mode *mode)
{
	const long page = sysconf(_SC_PAGESIZE);
	struct drm_radeon_gem_create create = {
		.size = BO_SIZE,
		.alignment = page,
		.initial_domain = RADEON_GEM_DOMAIN_GTT,
		.flags = mode->flags,
	};
	struct drm_radeon_gem_mmap map = { .size = BO_SIZE };
	volatile char *p;

	if (ioctl(drm, DRM_IOCTL_RADEON_GEM_CREATE, &create))
		err(2, "GEM_CREATE, %s", mode->name);
	map.handle = create.handle;
	if (ioctl(drm, DRM_IOCTL_RADEON_GEM_MMAP, &map))
		err(2, "GEM_MMAP");
	p = mmap(NULL, BO_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, drm, map.addr_ptr);
	if (p == MAP_FAILED)
		err(2, "mmap");
	for (long i = 0; i < BO_SIZE; i += page)
		p[i] = 1;
}

/* Counts what a new BO changes. Returns whether it has the type asked for. */
static int check(int drm, const struct mode *mode)
{
	const long pages = BO_SIZE / sysconf(_SC_PAGESIZE);
	struct pages before, after;
	long wc, uc;

	/* TTM keeps freed pages of each type; the first BO uses them up. */
	make_bo(drm, mode);
	before = count_pages();
	make_bo(drm, mode);
	after = count_pages();
	wc = after.wc - before.wc;
	uc = after.uc - before.uc;
	printf("%s pages=%ld wc=%+ld uc=%+ld\n", mode->name, pages, wc, uc);
	return wc == mode->wc * pages && uc == mode->uc * pages;
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "/dev/dri/renderD128";
	int drm = open(device, O_RDWR | O_CLOEXEC);
	int good = 1;

	if (drm < 0)
		err(2, "%s", device);
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		good &= check(drm, &modes[i]);
	return !good;
}
