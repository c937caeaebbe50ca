// SPDX-License-Identifier: MIT
/*
 * The device: opening it, and queries of the driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_device_scan.h"
#include "igt_radeon.h"

/* drmtest.h has no flag for radeon: recognise it by the driver's name. */
static bool is_radeon(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool found = version && !strcmp(version->name, "radeon");

	drmFreeVersion(version);
	return found;
}

static int open_first(const char *pattern, int first)
{
	char path[32];
	int fd, i;

	for (i = first; i < first + 64; i++) {
		snprintf(path, sizeof(path), pattern, i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_radeon(fd))
			return fd;
		close(fd);
	}
	return -1;
}

/* Opens the first Radeon among the devices that --device asks for. */
static int open_chosen(int (*open_node)(struct igt_device_card *card))
{
	struct igt_device_card card;
	int fd, i;

	igt_devices_scan();
	for (i = 0; i < igt_device_filter_count(); i++) {
		if (!igt_device_card_match(igt_device_filter_get(i), &card))
			continue;
		fd = open_node(&card);
		if (fd < 0)
			continue;
		if (is_radeon(fd))
			return fd;
		close(fd);
	}
	return -1;
}

/**
 * igt_radeon_open:
 *
 * Opens the render node of the radeon device that --device asks for, or of the
 * first one. Skips if there is none.
 *
 * Returns: the file descriptor
 */
int igt_radeon_open(void)
{
	int fd = igt_device_filter_count() ? open_chosen(igt_open_render) :
					     open_first("/dev/dri/renderD%d", 128);

	igt_require_f(fd >= 0, "no render node of the radeon driver\n");
	return fd;
}

/**
 * igt_radeon_try_open_primary:
 *
 * Opens the primary (card) node of the same device.
 *
 * Returns: the file descriptor, or -1
 */
int igt_radeon_try_open_primary(void)
{
	return igt_device_filter_count() ? open_chosen(igt_open_card) :
					   open_first("/dev/dri/card%d", 0);
}

static int info(int fd, uint32_t request, void *value)
{
	struct drm_radeon_info arg = {
		.request = request,
		.value = (uintptr_t)value,
	};

	return igt_ioctl(fd, DRM_IOCTL_RADEON_INFO, &arg) ? -errno : 0;
}

/**
 * igt_radeon_info64:
 * @fd: device
 * @request: RADEON_INFO_* with a 64-bit answer
 *
 * Returns: the answer
 */
uint64_t igt_radeon_info64(int fd, uint32_t request)
{
	uint64_t value = 0;

	igt_assert_eq(info(fd, request, &value), 0);
	return value;
}

/**
 * igt_radeon_caches_all:
 * @fd: device
 *
 * Returns: whether the chip is one of RV610 to RV635, on which radeon_bo_create()
 * makes all BOs cached, as write-combined mappings of GTT hang the GPU. The chips'
 * device IDs are in the kernel's include/drm/drm_pciids.h.
 */
bool igt_radeon_caches_all(int fd)
{
	uint32_t id = 0;

	igt_assert_eq(info(fd, RADEON_INFO_DEVICE_ID, &id), 0);
	return (id >= 0x94c0 && id <= 0x94cf) || (id >= 0x9500 && id <= 0x951f) ||
	       (id >= 0x9580 && id <= 0x95cf);
}

/**
 * igt_radeon_has_address_spaces:
 * @fd: device
 *
 * Returns: whether each open file has an address space: on Cayman and later. Its page
 * directory (4 KiB), and the page table (32 KiB) in which the kernel has its IBs, are in
 * VRAM from open() on (radeon_driver_open_kms()).
 */
bool igt_radeon_has_address_spaces(int fd)
{
	uint32_t start;

	return !info(fd, RADEON_INFO_VA_START, &start);
}

/**
 * igt_radeon_require_gem_rw:
 * @fd: device
 *
 * Skips on a kernel without PREAD and PWRITE.
 */
void igt_radeon_require_gem_rw(int fd)
{
	uint64_t mask = 0;
	int ret = info(fd, RADEON_INFO_GEM_RW, &mask);

	igt_require_f(ret == 0 && mask & RADEON_GEM_RW_CAP_PREAD_PWRITE,
		      "this kernel has no radeon PREAD and PWRITE\n");
}

/**
 * igt_radeon_require_rw_caps:
 * @fd: device
 * @caps: RADEON_GEM_RW_CAP_*
 *
 * Skips on a kernel that cannot do all of @caps.
 */
void igt_radeon_require_rw_caps(int fd, uint32_t caps)
{
	uint64_t mask = 0;
	int ret = info(fd, RADEON_INFO_GEM_RW, &mask);

	igt_require_f(ret == 0 && (mask & caps) == caps,
		      "RADEON_INFO_GEM_RW lacks some of the bits %#x\n", caps);
}

/**
 * igt_radeon_vram_size:
 * @fd: device
 * @total: bytes of VRAM that BOs can use
 * @visible: bytes of it that the CPU can access, without pinned ones
 */
void igt_radeon_vram_size(int fd, uint64_t *total, uint64_t *visible)
{
	struct drm_radeon_gem_info arg = { 0 };

	igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_INFO, &arg), 0);
	*total = arg.vram_size;
	*visible = arg.vram_visible;
}

/**
 * igt_radeon_has_invisible_vram:
 * @fd: device
 *
 * Returns: whether the board has CPU-inaccessible VRAM
 */
bool igt_radeon_has_invisible_vram(int fd)
{
	uint64_t total, visible;

	igt_radeon_vram_size(fd, &total, &visible);
	/* GEM_INFO leaves pinned VRAM, as the console's, out of "visible". */
	return total - visible >= 64 << 20;
}

/**
 * igt_radeon_require_invisible_vram:
 * @fd: device
 *
 * Skips where the CPU can access all of VRAM.
 */
void igt_radeon_require_invisible_vram(int fd)
{
	igt_require_f(igt_radeon_has_invisible_vram(fd),
		      "all VRAM is visible to the CPU\n");
}
