/* SPDX-License-Identifier: MIT */
#include "glstream.h"

#include <drm/radeon_drm.h>
#include <pthread.h>
#include <stddef.h>

#define PKT3_SET_CONTEXT_REG 0x69
#define PKT3_DRAW_INDEX 0x2b
#define PKT3_DRAW_INDEX_AUTO 0x2d
#define PKT3_DRAW_INDEX_IMMD 0x2e
#define CONTEXT_REGS 0x28000
#define SQ_PGM_START_FS (gl_streams_evergreen ? 0x288a4 : 0x28894)

#define DMA_COPY 3
#define DMA_NOP 15
/* Evergreen's kinds of copies; before, a bit says that one surface is tiled. */
#define EG_COPY_TILED 8
#define R600_COPY_TILED (1u << 23)

uint64_t gl_streams_small = UINT64_MAX;
bool gl_streams_evergreen;

static struct gl_streams found;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void read_graphics(const uint32_t *ib, uint32_t length)
{
	for (uint32_t at = 0; at < length;) {
		uint32_t head = ib[at], count = (head >> 16 & 0x3fff) + 1;

		if (head >> 30 == 2) {
			at++;
			continue;
		}
		if (head >> 30 == 1 || at + count >= length) {
			found.unknown++;
			return;
		}
		if (head >> 30 == 3) {
			uint32_t op = head >> 8 & 0xff;

			found.draws += op == PKT3_DRAW_INDEX || op == PKT3_DRAW_INDEX_AUTO || op == PKT3_DRAW_INDEX_IMMD;
		}
		if (head >> 30 == 3 && (head >> 8 & 0xff) == PKT3_SET_CONTEXT_REG) {
			uint32_t first = CONTEXT_REGS + ib[at + 1] * 4, reg = SQ_PGM_START_FS;

			if (reg >= first && reg < first + (count - 1) * 4) {
				uint64_t address = (uint64_t)ib[at + 2 + (reg - first) / 4] << 8;

				found.fetch_shaders++;
				found.fetch_in_slab += address >= FETCH_BYTES;
			}
		}
		at += count + 1;
	}
}

static void read_dma(const uint32_t *ib, uint32_t length)
{
	for (uint32_t at = 0; at < length;) {
		uint32_t head = ib[at];
		bool tiled = gl_streams_evergreen ? (head >> 20 & 0xff) == EG_COPY_TILED : head & R600_COPY_TILED;
		uint32_t size = !tiled ? 5 : gl_streams_evergreen ? 9 : 7;

		if (head >> 28 == DMA_NOP) {
			at++;
			continue;
		}
		if (head >> 28 != DMA_COPY || at + size > length) {
			found.unknown++;
			return;
		}
		if (tiled) {
			found.dma_tiled++;
			found.tiled_in_slab += (uint64_t)ib[at + 1] << 8 >= gl_streams_small;
		} else {
			uint64_t to = (uint64_t)ib[at + 3] << 32 | ib[at + 1];
			uint64_t from = (uint64_t)ib[at + 4] << 32 | ib[at + 2];

			found.dma_buffers++;
			found.dma_in_slab += to >= gl_streams_small && from >= gl_streams_small;
		}
		at += size;
	}
}

void gl_stream(const void *arg)
{
	const struct drm_radeon_cs *cs = arg;
	const uint64_t *chunks = (const uint64_t *)(uintptr_t)cs->chunks;
	const uint32_t *ib = NULL;
	uint32_t length = 0, ring = RADEON_CS_RING_GFX;

	for (uint32_t i = 0; i < cs->num_chunks; i++) {
		const struct drm_radeon_cs_chunk *chunk = (const void *)(uintptr_t)chunks[i];
		const uint32_t *data = (const void *)(uintptr_t)chunk->chunk_data;

		if (chunk->chunk_id == RADEON_CHUNK_ID_IB) {
			ib = data;
			length = chunk->length_dw;
		} else if (chunk->chunk_id == RADEON_CHUNK_ID_FLAGS && chunk->length_dw > 1) {
			ring = data[1];
		}
	}
	pthread_mutex_lock(&lock);
	if (ring == RADEON_CS_RING_GFX)
		read_graphics(ib, length);
	else if (ring == RADEON_CS_RING_DMA)
		read_dma(ib, length);
	pthread_mutex_unlock(&lock);
}

struct gl_streams gl_streams(void)
{
	pthread_mutex_lock(&lock);

	struct gl_streams now = found;

	pthread_mutex_unlock(&lock);
	return now;
}
