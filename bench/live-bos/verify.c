// SPDX-License-Identifier: MIT
/*
 * Makes the contents of BOs, and checks them.
 */
#include <string.h>

#include "radeon_drm.h"

#include "live-bos.h"

/* BOs per GPU copy; also the number of BOs that auto mode checks by the GPU. */
#define BATCH 256u

/**
 * lb_contents - make the contents of a BO
 * @words: filled in
 * @arm: index in lb_arms
 * @domain: index in lb_domains
 * @index: number of the BO
 */
void lb_contents(uint64_t words[LB_WORDS], unsigned int arm,
		 unsigned int domain, uint64_t index)
{
	/* Odd multipliers: no two words of one BO, nor of two BOs, agree. */
	uint64_t word = (index << 8 | arm << 4 | domain) * 0x9e3779b97f4a7c15u;
	unsigned int i;

	for (i = 0; i < LB_WORDS; i++) {
		words[i] = word;
		word += 0xd1342543de82ef95u;
	}
}

static int by_pread(const struct bench_device *dev, unsigned int arm,
		    unsigned int domain, const struct lb_bo *bos,
		    unsigned int first, unsigned int end, unsigned int *wrong)
{
	uint64_t want[LB_WORDS], got[LB_WORDS];
	unsigned int i;
	int ret;

	for (i = first; i < end; i++) {
		ret = bench_gem_pread(dev->fd, bos[i].handle, 0, got,
				      LB_BO_SIZE);
		if (ret)
			return ret;
		lb_contents(want, arm, domain, i);
		*wrong += memcmp(want, got, LB_BO_SIZE) != 0;
	}
	return 0;
}

/**
 * lb_check_init - make the BO for checks by the GPU
 * @dev: device
 * @check: filled in; lives as long as the process
 */
int lb_check_init(const struct bench_device *dev, struct lb_check *check)
{
	int ret = bench_gem_create(dev->fd, BATCH * LB_BO_SIZE,
				   RADEON_GEM_DOMAIN_GTT, 0, &check->handle);

	if (ret)
		return ret;
	return bench_gem_mmap(dev->fd, check->handle, BATCH * LB_BO_SIZE,
			   (void **)&check->map);
}

static int by_gpu(const struct bench_device *dev, const struct lb_check *check,
		  unsigned int arm, unsigned int domain,
		  const struct lb_bo *bos, unsigned int first,
		  unsigned int end, unsigned int *wrong)
{
	uint64_t want[LB_WORDS];
	struct bench_piece pieces[BATCH];
	unsigned int i, n;
	int ret;

	for (; first < end; first += n) {
		n = end - first < BATCH ? end - first : BATCH;
		for (i = 0; i < n; i++)
			pieces[i] = (struct bench_piece) {
				.handle = bos[first + i].handle,
				.dst_offset = i * LB_BO_SIZE,
				.bytes = LB_BO_SIZE,
			};
		memset(check->map, 0, n * LB_BO_SIZE);
		ret = bench_gem_copy(dev->fd, check->handle,
				     RADEON_GEM_DOMAIN_GTT, pieces, n,
				     lb_domains[domain].domain);
		if (!ret)
			ret = bench_gem_wait(dev->fd, check->handle);
		if (ret)
			return ret;
		for (i = 0; i < n; i++) {
			lb_contents(want, arm, domain, first + i);
			*wrong += memcmp(want, check->map + i * LB_BO_SIZE,
					 LB_BO_SIZE) != 0;
		}
	}
	return 0;
}

/**
 * lb_verify - check the contents of BOs
 * @dev: device
 * @check: what lb_check_init() made
 * @how: by PREAD, by the GPU, or both
 * @arm: index in lb_arms
 * @domain: index in lb_domains
 * @bos: all BOs of this worker
 * @first: first to check
 * @end: one after the last to check
 * @wrong: set to the number of BOs with other contents
 */
int lb_verify(const struct bench_device *dev, const struct lb_check *check,
	      enum lb_verify how, unsigned int arm, unsigned int domain,
	      const struct lb_bo *bos, unsigned int first, unsigned int end,
	      unsigned int *wrong)
{
	unsigned int some = end - first > BATCH ? end - BATCH : first;
	unsigned int twice = 0;
	int ret;

	*wrong = 0;
	if (how == LB_VERIFY_GPU || (how == LB_VERIFY_AUTO && !dev->has_rw))
		return by_gpu(dev, check, arm, domain, bos, first, end,
			      wrong);

	ret = by_pread(dev, arm, domain, bos, first, end, wrong);
	if (ret || how == LB_VERIFY_PREAD)
		return ret;

	/* PREAD must return what the GPU sees. */
	ret = by_gpu(dev, check, arm, domain, bos, some, end, &twice);
	if (twice > *wrong)
		*wrong = twice;
	return ret;
}
