/* SPDX-License-Identifier: MIT */
#ifndef GLSTREAM_H
#define GLSTREAM_H

/**
 * DOC: Reading the command streams of r600
 *
 * A program that is linked with glcount.c gives each command stream to gl_stream(), which
 * finds addresses in it: those that user space wrote, before the kernel adds where the BO is.
 * An address tells whether an object is a part of a slab.
 *
 * Sources: r600_cs_track_check() and the parsers of DMA streams in r600_cs.c and evergreen_cs.c of
 * Linux 6.12; "R6xx/R7xx Acceleration", revision 1.0, section "PM4 packets".
 */

#include <stdbool.h>
#include <stdint.h>

/** Of an entry of a slab with fetch shaders, in bytes (r600_pipe.c). */
#define FETCH_BYTES (16 * 1024)

/**
 * struct gl_streams - what was found since the program began
 * @fetch_shaders: draws' fetch shaders
 * @fetch_in_slab: those among them at FETCH_BYTES or beyond: a BO of its own ends there
 * @dma_buffers: copies from buffer to buffer by the DMA ring
 * @dma_in_slab: those among them with both addresses at gl_streams_small or beyond
 * @dma_tiled: copies by the DMA ring between a tiled and a linear surface
 * @tiled_in_slab: those among them whose tiled surface is at gl_streams_small or beyond
 * @draws: of all kinds but indirect ones
 * @unknown: packets that the reader does not know, which should not be
 */
struct gl_streams {
	unsigned long fetch_shaders, fetch_in_slab, dma_buffers, dma_in_slab, dma_tiled, tiled_in_slab, draws, unknown;
};

/**
 * Size of the largest object that the program copies, in bytes: in a BO of its own no address is larger.
 * By default no address counts.
 */
extern uint64_t gl_streams_small;

/** Whether the chip is of Evergreen or later, whose registers and DMA packets differ. */
extern bool gl_streams_evergreen;

/** gl_streams() - what was found so far, in all threads */
struct gl_streams gl_streams(void);

/**
 * gl_stream() - reads a command stream
 * @cs: the argument of DRM_RADEON_CS, struct drm_radeon_cs
 */
void gl_stream(const void *cs);

#endif
