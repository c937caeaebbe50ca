// SPDX-License-Identifier: MIT
// Uploads a glyph of 8x8 pixels into an atlas in VRAM and reads it back, without
// mapping the atlas:  cc glyph.c $(pkg-config --cflags --libs libdrm_radeon)
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <xf86drm.h>
#include <radeon_bo.h>
#include <radeon_bo_gem.h>
#include <radeon_drm_rw.h>

enum { PITCH = 1024, ROWS = 1024, X = 40, Y = 16, W = 8, H = 8 };

int main(int argc, char **argv)
{
	static const unsigned char bits[H] = { 0x18, 0x24, 0x42, 0x42, 0x7e, 0x42, 0x42, 0x00 };
	unsigned char glyph[H][W], back[H][W];
	int fd = open(argc > 1 ? argv[1] : "/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	struct radeon_bo_manager *bom = radeon_bo_manager_gem_ctor(fd);
	struct radeon_bo *atlas = fd < 0 || !bom ? NULL :
		radeon_bo_open(bom, 0, PITCH * ROWS, 4096, RADEON_GEM_DOMAIN_VRAM, 0);
	if (!atlas)
		return fprintf(stderr, "glyph: no radeon device, or no memory\n"), 1;

	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			glyph[y][x] = bits[y] & 0x80 >> x ? 0xff : 0;
	// Eight rows in one call: the atlas has another pitch than the glyph.
	struct radeon_gem_bo_region region = {
		.bo = atlas, .bo_offset = Y * PITCH + X, .bo_pitch = PITCH,
		.data = glyph, .data_pitch = W, .row_bytes = W, .rows = H,
	};
	int r = radeon_gem_bo_transfer(bom, &region, 1, RADEON_GEM_TRANSFER_WRITE, NULL);
	for (int y = 0; r == 0 && y < H; y++)
		r = radeon_gem_bo_pread(atlas, (Y + y) * PITCH + X, W, back[y], 0);
	if (r)
		fprintf(stderr, "glyph: %s\n", strerror(-r));
	for (int y = 0; r == 0 && y < H; y++, putchar('\n'))
		for (int x = 0; x < W; x++)
			putchar(back[y][x] ? '#' : '.');
	radeon_bo_unref(atlas);
	radeon_bo_manager_gem_dtor(bom);
	return r || memcmp(glyph, back, sizeof(glyph));
}
