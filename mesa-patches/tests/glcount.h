/* SPDX-License-Identifier: MIT */
#ifndef GLCOUNT_H
#define GLCOUNT_H

/**
 * DOC: Counting what a GL driver asks of the kernel
 *
 * A program that is linked with glcount.c (and with -rdynamic) has its own
 * ioctl(), mmap() and munmap(), which count and pass on. So the no-op shim,
 * r7xx-shim and a real kernel are counted alike.
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
 */
struct gl_counts {
	unsigned long ioctls, maps, unmaps, pwrites, preads, transfers, submissions;
};

/** gl_counts() - the counts of all threads so far */
struct gl_counts gl_counts(void);

#endif
