// SPDX-License-Identifier: MIT
/*
 * The arms of live-bos that go through libdrm_radeon. Each is a process of its
 * own, which loads one library.
 */
#include <errno.h>
#include <string.h>

#include "libdrm-symbols.h"
#include "live-bos.h"

static struct bench_libdrm lib;

int lb_libdrm_start(const struct bench_device *dev,
		    const struct lb_options *options, char *why, size_t size)
{
	return bench_libdrm_load(&lib, BENCH_LIBDRM_NOMAP, options->libdrm,
				 dev->fd, why, size);
}

int lb_debian_start(const struct bench_device *dev,
		    const struct lb_options *options, char *why, size_t size)
{
	(void)options;
	return bench_libdrm_load(&lib, BENCH_LIBDRM_DEBIAN, NULL, dev->fd, why,
				 size);
}

int lb_libdrm_create(const struct bench_device *dev, uint32_t domain,
		     struct lb_bo *bo)
{
	(void)dev;
	errno = 0;
	bo->object = lib.open(lib.manager, 0, LB_BO_SIZE, 4096, domain, 0);
	if (!bo->object)
		return errno ? -errno : -ENOMEM;
	bo->handle = bo->object->handle;
	return 0;
}

/* radeon_bo_unref() reports no errors. */
int lb_libdrm_destroy(const struct bench_device *dev, struct lb_bo *bo)
{
	(void)dev;
	lib.unref(bo->object);
	return 0;
}

int lb_libdrm_upload(const struct bench_device *dev, struct lb_bo *bo,
		     const void *data)
{
	(void)dev;
	return lib.pwrite(bo->object, 0, LB_BO_SIZE, data, 0);
}

/* What clients have always done; the library decides whether the map stays. */
int lb_libdrm_upload_map(const struct bench_device *dev, struct lb_bo *bo,
			 const void *data)
{
	int ret = lib.map(bo->object, 1);

	(void)dev;
	if (ret)
		return ret;
	memcpy(bo->object->ptr, data, LB_BO_SIZE);
	return lib.unmap(bo->object);
}
