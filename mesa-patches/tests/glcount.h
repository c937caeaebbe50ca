/* SPDX-License-Identifier: MIT */
#ifndef GLCOUNT_H
#define GLCOUNT_H

#include <stdint.h>

/**
 * DOC: Counting what a GL driver asks of the kernel
 *
 * A program that is linked with glcount.c (and with -rdynamic) has its own
 * ioctl(), mmap() and munmap(), which count and pass on. So the no-op shim,
 * r7xx-shim and a real kernel are counted alike. glstream.h reads the command streams.
 */

/**
 * struct gl_counts - calls since the program began
 * @ioctls: of DRM
 * @maps: shared mappings of files, as those of BOs are
 * @unmaps: munmap(), of anything
 * @pwrites: GEM_PWRITE
 * @preads: GEM_PREAD
 * @transfers: GEM_TRANSFER
 * @submissions: CS
 * @creates: GEM_CREATE that succeeded
 * @exports: PRIME_HANDLE_TO_FD that succeeded
 */
struct gl_counts {
	unsigned long ioctls, maps, unmaps, pwrites, preads, transfers, submissions, creates, exports;
};

/**
 * struct gl_export - a BO that was exported as a dma-buf
 * @handle: its GEM handle; a number names no other BO while it is open
 * @size: its size in bytes, as it was asked for; 0: it was not created in this process
 */
struct gl_export {
	uint32_t handle;
	uint64_t size;
};

/** gl_last_export() - the BO that was exported last, by any thread */
struct gl_export gl_last_export(void);

/** gl_counts() - the counts of all threads so far */
struct gl_counts gl_counts(void);

#endif
