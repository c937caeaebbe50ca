// SPDX-License-Identifier: MIT
/*
 * Shared parts of the radeon tests: device and buffer objects. The GPU's and
 * the board's side is in igt_radeon_gpu.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"

const struct igt_radeon_placement igt_radeon_reachable[] = {
	{ "VRAM", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS },
	{ "GTT cached", RADEON_GEM_DOMAIN_GTT, 0 },
	{ "GTT write-combined", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC },
	{ "GTT uncached", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_UC },
	{ "system", RADEON_GEM_DOMAIN_CPU, 0 },
};

const unsigned int igt_radeon_reachable_count =
	sizeof(igt_radeon_reachable) / sizeof(igt_radeon_reachable[0]);

static const struct igt_radeon_placement invisible_vram = {
	"VRAM beyond the aperture",
	RADEON_GEM_DOMAIN_VRAM,
	RADEON_GEM_NO_CPU_ACCESS,
};

/* There is no flag for radeon in drmtest.h: the driver's name decides. */
static int open_by_name(const char *pattern, int first)
{
	char path[32];
	drmVersionPtr version;
	bool found;
	int fd, i;

	for (i = first; i < first + 64; i++) {
		snprintf(path, sizeof(path), pattern, i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		version = drmGetVersion(fd);
		found = version && !strcmp(version->name, "radeon");
		drmFreeVersion(version);
		if (found)
			return fd;
		close(fd);
	}
	return -1;
}

/**
 * igt_radeon_open:
 *
 * Opens the first radeon render node; skips without one.
 *
 * Returns: the file descriptor
 */
int igt_radeon_open(void)
{
	int fd = open_by_name("/dev/dri/renderD%d", 128);

	igt_require_f(fd >= 0, "no render node of the radeon driver\n");
	return fd;
}

/**
 * igt_radeon_try_open_primary:
 *
 * Opens the first radeon primary (card) node.
 *
 * Returns: the file descriptor, or -1
 */
int igt_radeon_try_open_primary(void)
{
	return open_by_name("/dev/dri/card%d", 0);
}

static int info(int fd, uint32_t request, void *value)
{
	struct drm_radeon_info arg = {
		.request = request,
		.value = (uintptr_t)value,
	};

	return drmIoctl(fd, DRM_IOCTL_RADEON_INFO, &arg) ? -errno : 0;
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
 * @visible: bytes of it inside the CPU's aperture
 */
void igt_radeon_vram_size(int fd, uint64_t *total, uint64_t *visible)
{
	struct drm_radeon_gem_info arg = { 0 };

	igt_assert_eq(drmIoctl(fd, DRM_IOCTL_RADEON_GEM_INFO, &arg), 0);
	*total = arg.vram_size;
	*visible = arg.vram_visible;
}

/**
 * igt_radeon_has_invisible_vram:
 * @fd: device
 *
 * Returns: whether there is VRAM beyond the CPU's aperture
 */
bool igt_radeon_has_invisible_vram(int fd)
{
	uint64_t total, visible;

	igt_radeon_vram_size(fd, &total, &visible);
	/* "visible" is less than "total" by the console's BO on every board. */
	return total - visible >= 64 << 20;
}

/**
 * igt_radeon_require_invisible_vram:
 * @fd: device
 *
 * Skips where the CPU's aperture spans all of VRAM.
 */
void igt_radeon_require_invisible_vram(int fd)
{
	igt_require_f(igt_radeon_has_invisible_vram(fd),
		      "all VRAM is visible to the CPU\n");
}

/**
 * igt_radeon_placement:
 * @fd: device
 * @i: index
 *
 * Lists igt_radeon_reachable, and VRAM beyond the aperture if there is some.
 *
 * Returns: a placement, or NULL behind the last
 */
const struct igt_radeon_placement *igt_radeon_placement(int fd, unsigned int i)
{
	if (i < igt_radeon_reachable_count)
		return &igt_radeon_reachable[i];
	if (i == igt_radeon_reachable_count && igt_radeon_has_invisible_vram(fd))
		return &invisible_vram;
	return NULL;
}

/**
 * igt_radeon_bo_init:
 * @bo: filled in
 * @fd: device
 * @size: bytes
 * @domain: RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_* creation flags
 */
void igt_radeon_bo_init(struct igt_radeon_bo *bo, int fd, uint64_t size,
			uint32_t domain, uint32_t flags)
{
	struct drm_radeon_gem_create arg = {
		.size = size,
		.alignment = 4096,
		.initial_domain = domain,
		.flags = flags,
	};

	igt_assert_eq(drmIoctl(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg), 0);
	*bo = (struct igt_radeon_bo) {
		.fd = fd,
		.handle = arg.handle,
		.domain = domain,
		.flags = flags,
		.size = size,
	};
}

/**
 * igt_radeon_bo_fini:
 * @bo: its handle is closed
 */
void igt_radeon_bo_fini(struct igt_radeon_bo *bo)
{
	struct drm_gem_close arg = { .handle = bo->handle };

	igt_assert_eq(drmIoctl(bo->fd, DRM_IOCTL_GEM_CLOSE, &arg), 0);
	bo->handle = 0;
}

/**
 * igt_radeon_bo_map:
 * @bo: BO
 *
 * Returns: a shared, writable mapping of the whole BO, for munmap()
 */
void *igt_radeon_bo_map(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_mmap arg = {
		.handle = bo->handle,
		.size = bo->size,
	};
	void *ptr;

	igt_assert_eq(drmIoctl(bo->fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg), 0);
	ptr = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd,
		   arg.addr_ptr);
	igt_assert(ptr != MAP_FAILED);
	return ptr;
}

/**
 * igt_radeon_bo_wait:
 * @bo: waits until no engine uses it
 */
void igt_radeon_bo_wait(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = bo->handle };

	igt_assert_eq(drmIoctl(bo->fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg),
		      0);
}

/**
 * igt_radeon_bo_busy:
 * @bo: BO
 *
 * Returns: whether an engine has work queued that uses @bo
 */
bool igt_radeon_bo_busy(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_busy arg = { .handle = bo->handle };
	int ret = drmIoctl(bo->fd, DRM_IOCTL_RADEON_GEM_BUSY, &arg);

	igt_assert(ret == 0 || errno == EBUSY);
	return ret != 0;
}

/* Whether only an engine reaches the BO without moving it first. */
static bool needs_engine(const struct igt_radeon_bo *bo)
{
	return bo->flags & RADEON_GEM_NO_CPU_ACCESS;
}

/**
 * igt_radeon_bo_fill:
 * @bo: BO
 * @data: its new contents, bo->size bytes
 *
 * Writes the BO without using PWRITE: through a mapping, or with CP_DMA from
 * a mapped BO if @bo is one that the CPU should not touch. Waits for it.
 */
void igt_radeon_bo_fill(const struct igt_radeon_bo *bo, const void *data)
{
	struct igt_radeon_bo stage;
	void *map;

	if (needs_engine(bo)) {
		igt_radeon_bo_init(&stage, bo->fd, bo->size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_fill(&stage, data);
		igt_radeon_copy(IGT_RADEON_CP_DMA, bo, 0, &stage, 0, bo->size);
		igt_radeon_bo_wait(bo);
		igt_radeon_bo_fini(&stage);
		return;
	}

	igt_radeon_bo_wait(bo);
	map = igt_radeon_bo_map(bo);
	memcpy(map, data, bo->size);
	munmap(map, bo->size);
}

/**
 * igt_radeon_bo_init_pattern:
 * @bo: filled in
 * @fd: device
 * @size: bytes
 * @p: where
 * @seed: of the pattern
 *
 * Makes a BO that holds a pattern.
 *
 * Returns: the same bytes in ordinary memory, for free()
 */
uint8_t *igt_radeon_bo_init_pattern(struct igt_radeon_bo *bo, int fd,
				    uint64_t size,
				    const struct igt_radeon_placement *p,
				    uint32_t seed)
{
	uint8_t *model = igt_radeon_malloc(size);

	igt_radeon_bo_init(bo, fd, size, p->domain, p->flags);
	igt_radeon_pattern(model, size, seed);
	igt_radeon_bo_fill(bo, model);
	return model;
}

/**
 * igt_radeon_bo_read:
 * @bo: BO
 * @data: gets its contents, bo->size bytes
 *
 * Waits, then reads the whole BO without using PREAD, by the same ways as
 * igt_radeon_bo_fill().
 */
void igt_radeon_bo_read(const struct igt_radeon_bo *bo, void *data)
{
	struct igt_radeon_bo stage;
	void *map;

	if (needs_engine(bo)) {
		igt_radeon_bo_init(&stage, bo->fd, bo->size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &stage, 0, bo, 0, bo->size);
		igt_radeon_bo_read(&stage, data);
		igt_radeon_bo_fini(&stage);
		return;
	}

	igt_radeon_bo_wait(bo);
	map = igt_radeon_bo_map(bo);
	memcpy(data, map, bo->size);
	munmap(map, bo->size);
}

/**
 * igt_radeon_assert_equal:
 * @got: bytes
 * @model: what they should be
 * @size: how many
 * @what: for the message, which names the first byte that differs
 */
void igt_radeon_assert_equal(const void *got, const void *model, uint64_t size,
			     const char *what)
{
	const uint8_t *a = got, *b = model;
	uint64_t i;

	if (!memcmp(a, b, size))
		return;

	for (i = 0; i < size && a[i] == b[i]; i++)
		;
	igt_assert_f(false,
		     "%s: byte %#llx of %#llx is %#04x, should be %#04x\n",
		     what, (unsigned long long)i, (unsigned long long)size,
		     a[i], b[i]);
}

/**
 * igt_radeon_bo_assert:
 * @bo: BO
 * @model: what it should hold, bo->size bytes
 * @what: for the message
 *
 * Compares what igt_radeon_bo_read() gives.
 */
void igt_radeon_bo_assert(const struct igt_radeon_bo *bo, const void *model,
			  const char *what)
{
	void *copy = igt_radeon_malloc(bo->size);

	igt_radeon_bo_read(bo, copy);
	igt_radeon_assert_equal(copy, model, bo->size, what);
	free(copy);
}

/**
 * igt_radeon_userptr:
 * @fd: device
 * @mem: page-aligned anonymous memory
 * @size: bytes, whole pages
 * @handle: the new BO
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_userptr(int fd, void *mem, uint64_t size, uint32_t *handle)
{
	struct drm_radeon_gem_userptr arg = {
		.addr = (uintptr_t)mem,
		.size = size,
		.flags = RADEON_GEM_USERPTR_ANONONLY |
			 RADEON_GEM_USERPTR_REGISTER |
			 RADEON_GEM_USERPTR_VALIDATE,
	};

	if (drmIoctl(fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg))
		return -errno;
	*handle = arg.handle;
	return 0;
}

/**
 * igt_radeon_foreign_dmabuf:
 * @size: bytes, whole pages
 *
 * Returns: a dma-buf of another exporter (udmabuf), or a negative errno
 */
int igt_radeon_foreign_dmabuf(uint64_t size)
{
	struct udmabuf_create create = {
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = size,
	};
	int dev, memfd, dmabuf;

	dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -errno;

	memfd = memfd_create("foreign", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	igt_assert(memfd >= 0);
	igt_assert_eq(ftruncate(memfd, size), 0);
	igt_assert_eq(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);

	create.memfd = memfd;
	dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	if (dmabuf < 0)
		dmabuf = -errno;
	close(memfd);
	close(dev);
	return dmabuf;
}

/**
 * igt_radeon_import_foreign:
 * @fd: device
 * @size: bytes, whole pages
 * @handle: the new BO
 *
 * Imports memory of another exporter.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_import_foreign(int fd, uint64_t size, uint32_t *handle)
{
	int dmabuf = igt_radeon_foreign_dmabuf(size);
	int ret;

	if (dmabuf < 0)
		return dmabuf;

	ret = drmPrimeFDToHandle(fd, dmabuf, handle) ? -errno : 0;
	close(dmabuf);
	return ret;
}

/**
 * igt_radeon_pread:
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @dst: user memory
 * @flags: RADEON_GEM_RW_*
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_pread(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		     void *dst, uint32_t flags)
{
	struct drm_radeon_gem_pread arg = {
		.handle = handle,
		.pad = flags,
		.offset = offset,
		.size = size,
		.data_ptr = (uintptr_t)dst,
	};

	return drmIoctl(fd, DRM_IOCTL_RADEON_GEM_PREAD, &arg) ? -errno : 0;
}

/**
 * igt_radeon_pwrite:
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @src: user memory
 * @flags: RADEON_GEM_RW_*
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_pwrite(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		      const void *src, uint32_t flags)
{
	struct drm_radeon_gem_pwrite arg = {
		.handle = handle,
		.pad = flags,
		.offset = offset,
		.size = size,
		.data_ptr = (uintptr_t)src,
	};

	return drmIoctl(fd, DRM_IOCTL_RADEON_GEM_PWRITE, &arg) ? -errno : 0;
}

/**
 * igt_radeon_transfer:
 * @fd: device
 * @regions: array
 * @count: number of regions
 * @flags: RADEON_GEM_RW_*, RADEON_GEM_TRANSFER_WRITE
 * @done: number of regions that the kernel says are done, also on an error
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_transfer(int fd,
			const struct drm_radeon_gem_transfer_region *regions,
			uint32_t count, uint32_t flags, uint32_t *done)
{
	struct drm_radeon_gem_transfer arg = {
		.regions_ptr = (uintptr_t)regions,
		.region_count = count,
		.flags = flags,
		/* Not a number of regions: the kernel has to set it. */
		.regions_done = UINT32_MAX,
	};
	int ret = drmIoctl(fd, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg) ? -errno : 0;

	*done = arg.regions_done;
	return ret;
}

/**
 * igt_radeon_malloc:
 * @size: bytes
 *
 * Returns: memory, never NULL
 */
void *igt_radeon_malloc(size_t size)
{
	void *mem = malloc(size);

	igt_assert(mem);
	return mem;
}

/**
 * igt_radeon_pattern:
 * @mem: filled
 * @size: bytes
 * @seed: different seeds give different bytes nearly everywhere
 */
void igt_radeon_pattern(void *mem, size_t size, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	uint8_t *bytes = mem;
	size_t i;

	for (i = 0; i + 4 <= size; i += 4) {
		/* xorshift32 */
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		memcpy(bytes + i, &state, 4);
	}
	for (; i < size; i++)
		bytes[i] = seed + i;
}

/**
 * igt_radeon_put:
 * @path: a file of sysfs, procfs or debugfs
 * @text: written to it
 *
 * Returns: whether that worked
 */
bool igt_radeon_put(const char *path, const char *text)
{
	const ssize_t length = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, length) == length;
	close(fd);
	return done;
}

/**
 * igt_radeon_count_maps:
 * @containing: count only lines with this text, or NULL for all
 *
 * Returns: the number of mappings of this process
 */
unsigned int igt_radeon_count_maps(const char *containing)
{
	/* Static and read by hand: counting must not itself map anything. */
	static char buf[65536], line[512];
	unsigned int count = 0;
	size_t used = 0;
	ssize_t got, i;
	int fd;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	igt_assert(fd >= 0);
	while ((got = read(fd, buf, sizeof(buf))) > 0) {
		for (i = 0; i < got; i++) {
			if (buf[i] != '\n') {
				if (used < sizeof(line) - 1)
					line[used++] = buf[i];
				continue;
			}
			line[used] = 0;
			used = 0;
			if (!containing || strstr(line, containing))
				count++;
		}
	}
	close(fd);
	igt_assert_eq(got, 0);
	return count;
}

/**
 * igt_radeon_drop_sys_admin:
 *
 * Gives up CAP_SYS_ADMIN for good, keeping the user id: DRM takes every file
 * that an administrator opens as authenticated. For child processes.
 */
void igt_radeon_drop_sys_admin(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	igt_assert_eq(syscall(SYS_capget, &header, data), 0);
	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &=
		~CAP_TO_MASK(CAP_SYS_ADMIN);
	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].permitted &=
		~CAP_TO_MASK(CAP_SYS_ADMIN);
	igt_assert_eq(syscall(SYS_capset, &header, data), 0);
}
