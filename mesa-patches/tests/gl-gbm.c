/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-gbm
 *
 * gbm_bo_map() to write a linear BO keeps the texels that the program leaves alone, on the
 * radeon no-op shim, whose GPU copies no textures: the texels are looked for in the BOs' memory.
 *
 * Status 0: they are kept; 1: they are not, with a message.
 */

#include "gltest.h"

#include <fcntl.h>
#include <gbm.h>
#include <stdio.h>
#include <string.h>

#define SIDE 16

static uint32_t texels[SIDE][SIDE];

/* Writes rows through a mapping of the whole BO. Returns its pitch in bytes. */
static uint32_t write_rows(struct gbm_bo *bo, unsigned rows)
{
	uint32_t pitch;
	void *data = NULL;
	uint8_t *map = gbm_bo_map(bo, 0, 0, SIDE, SIDE, GBM_BO_TRANSFER_WRITE, &pitch, &data);

	if (!map)
		die("gbm_bo_map fails");
	for (unsigned y = 0; y < rows; y++)
		memcpy(map + y * pitch, texels[y], sizeof(texels[y]));
	gbm_bo_unmap(bo, data);
	return pitch;
}

int main(void)
{
	int fd = open("/dev/dri/renderD128", O_RDWR);
	struct gbm_device *device;
	struct gbm_bo *bo;
	uint32_t pitch;

	/* For the functions of the shim. */
	context_create(EGL_NO_CONTEXT);
	device = fd < 0 ? NULL : gbm_create_device(fd);
	if (!shim.counter || !device)
		die("gl-gbm needs the radeon no-op shim");
	bo = gbm_bo_create(device, SIDE, SIDE, GBM_FORMAT_XRGB8888, GBM_BO_USE_LINEAR | GBM_BO_USE_RENDERING);
	if (!bo)
		die("gbm_bo_create fails");
	fill(texels, sizeof(texels), 1);
	write_rows(bo, SIDE);
	fill(texels[0], sizeof(texels[0]), 2);
	pitch = write_rows(bo, 1);
	if (shim.find(texels, sizeof(texels[0]), SIDE, sizeof(texels[0]), pitch) != 1)
		die("the rows that were left alone are lost");
	printf("%llu mappings\n", (unsigned long long)shim.counter("mmap"));
	gbm_bo_destroy(bo);
	gbm_device_destroy(device);
	return 0;
}
