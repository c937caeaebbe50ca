// SPDX-License-Identifier: MIT
/*
 * Pages of user memory during a zero-copy: they are kept and marked dirty, the
 * GPU cannot write those that it only reads, and bytes beside the range can be
 * written by others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_page.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw pages
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, pages of user memory
 * Description: Checks that bytes that the GPU has written to pages of user
 *              memory are not lost when these are written back or swapped out,
 *              that the GPU cannot write pages that it only reads, and that
 *              bytes that others write beside the range are kept.
 */
IGT_TEST_DESCRIPTION("Checks user pages that the GPU copies from and to.");

#define HOLD_US		60000000u
#define END_SECONDS	60u
#define LARGE		(4 * MIB)
#define SWAP_SIZE	(24 * MIB)

/*
 * A zero-copy in a thread of its own. Engines are held back, so that it lasts
 * until flight_end().
 */
struct flight {
	uint64_t pins;
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo;
	struct igt_radeon_thread thread;
	uint8_t *model;
};

static uint64_t pinned(int fd)
{
	return igt_radeon_baseline_take(fd).pins;
}

static void flight_start(struct flight *f, int fd, enum igt_radeon_op op,
			 uint8_t *mem, size_t size, uint32_t seed)
{
	unsigned int i;

	memset(f, 0, sizeof(*f));
	f->model = igt_radeon_bo_init_pattern(&f->bo, fd, size,
					      &igt_radeon_reachable[0], seed);
	f->pins = pinned(fd);
	f->stats = igt_radeon_stats(fd);
	f->thread.call = (struct igt_radeon_call) {
		.op = op,
		.fd = fd,
		.handle = f->bo.handle,
		.size = size,
		.mem = mem,
	};
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_thread_start(&f->thread);
	for (i = 0; i < 500 && pinned(fd) < f->pins + size / PAGE / 2; i++)
		usleep(10000);
	igt_assert_f(i < 500, "no page was pinned\n");
	igt_assert(!igt_radeon_thread_ended(&f->thread));
}

/* Releases the engines. All but the edges has to go by zero-copy. */
static void flight_end(struct flight *f)
{
	const uint64_t size = f->thread.call.size;

	igt_radeon_set_latency(f->bo.fd, 0);
	igt_assert_eq(igt_radeon_thread_join(&f->thread, END_SECONDS), 0);
	f->stats = igt_radeon_stats_since(f->bo.fd, &f->stats);
	igt_assert_f(f->stats.bytes[IGT_RADEON_ZERO_COPY] >= size - 2 * PAGE,
		     "only %llu bytes were copied straight\n",
		     (unsigned long long)f->stats.bytes[IGT_RADEON_ZERO_COPY]);
	igt_radeon_bo_fini(&f->bo);
}

/* Makes a file on a disk, to which its pages are written back. */
static int disk_file(char *path, size_t size)
{
	int file;

	strcpy(path, "/var/tmp/igt-radeon-XXXXXX");
	file = mkstemp(path);
	igt_assert(file >= 0);
	igt_assert_eq(fallocate(file, 0, 0, size), 0);
	return file;
}

/**
 * SUBTEST: file-written-back
 * Description: A zero-copy read goes to a shared mapping of a file. While the
 *              pages are pinned they are written back, and are clean. After the
 *              call they are dirty again: the file holds the bytes that were
 *              read after it was written back and dropped from memory.
 */
static void test_written_back(int fd)
{
	uint8_t *mem, *got = igt_radeon_malloc(LARGE);
	unsigned char in_core[LARGE / PAGE];
	unsigned int i, clean = 0, left = 0;
	struct igt_radeon_page page;
	struct flight f;
	char path[64];
	int file;

	igt_radeon_require_hold(fd);
	file = disk_file(path, LARGE);
	mem = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	igt_assert(mem != MAP_FAILED);
	memset(mem, 0x11, LARGE);
	flight_start(&f, fd, IGT_RADEON_PREAD, mem + 1, LARGE - 1, 7);
	igt_assert_eq(msync(mem, LARGE, MS_SYNC), 0);
	for (i = 0; i < LARGE / PAGE; i++) {
		page = igt_radeon_page(mem + i * PAGE);
		clean += page.present && !(page.flags & IGT_RADEON_KPF_DIRTY);
	}
	flight_end(&f);
	munmap(mem, LARGE);
	igt_assert_f(clean > LARGE / PAGE / 2,
		     "only %u pages were clean meanwhile\n", clean);

	igt_assert_eq(fsync(file), 0);
	igt_assert_eq(posix_fadvise(file, 0, LARGE, POSIX_FADV_DONTNEED), 0);
	mem = mmap(NULL, LARGE, PROT_READ, MAP_SHARED, file, 0);
	igt_assert(mem != MAP_FAILED);
	igt_assert_eq(mincore(mem, LARGE, in_core), 0);
	for (i = 0; i < LARGE / PAGE; i++)
		left += in_core[i] & 1;
	igt_assert_f(left < LARGE / PAGE / 8, "%u pages were not dropped\n",
		     left);
	memcpy(got, mem, LARGE);
	munmap(mem, LARGE);
	close(file);
	unlink(path);
	igt_radeon_assert_equal(got + 1, f.model, LARGE - 1, "file");
	free(f.model);
	free(got);
}

/* Swap space in a file; the header is that of mkswap. */
static char swap_path[64];

static void swap_off(int sig)
{
	(void)sig;
	if (swap_path[0] && !swapoff(swap_path))
		unlink(swap_path);
	swap_path[0] = 0;
}

static void require_swap(void)
{
	static uint8_t page[PAGE];
	uint32_t header[3] = { 1, SWAP_SIZE / PAGE - 1, 0 };
	uint8_t *zeros;
	int file;

	memcpy(page + 1024, header, sizeof(header));
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	file = disk_file(swap_path, SWAP_SIZE);
	/* swapon() refuses files with holes or unwritten extents. */
	zeros = calloc(1, SWAP_SIZE);
	igt_assert(zeros);
	memcpy(zeros, page, PAGE);
	igt_assert(write(file, zeros, SWAP_SIZE) == (ssize_t)SWAP_SIZE);
	free(zeros);
	fchmod(file, 0600);
	fsync(file);
	close(file);
	igt_install_exit_handler(swap_off);
	igt_require_f(!swapon(swap_path, 0), "no swap space: %s\n",
		      strerror(errno));
}

static unsigned int page_out(uint8_t *mem)
{
	unsigned int i, tries, out = 0;

	for (tries = 0; tries < 20 && out < LARGE / PAGE / 2; tries++) {
		igt_assert_eq(madvise(mem, LARGE, MADV_PAGEOUT), 0);
		for (i = 0, out = 0; i < LARGE / PAGE; i++)
			out += igt_radeon_page(mem + i * PAGE).swapped;
	}
	return out;
}

/**
 * SUBTEST: swapped-out
 * Description: A zero-copy read goes to anonymous memory that was swapped out
 *              and swapped in by loads, so that its pages are clean. After the
 *              call it is swapped out again, and comes back with the bytes
 *              read.
 */
static void test_swapped_out(int fd)
{
	uint8_t *mem = igt_radeon_memory(LARGE);
	volatile uint8_t sum = 0;
	unsigned int i, out;
	struct flight f;

	igt_radeon_require_hold(fd);
	require_swap();
	madvise(mem, LARGE, MADV_NOHUGEPAGE);
	igt_radeon_pattern(mem, LARGE, 9);
	out = page_out(mem);
	igt_assert_f(out >= LARGE / PAGE / 2, "only %u pages were swapped out\n",
		     out);
	for (i = 0; i < LARGE; i += PAGE)
		sum += mem[i];
	flight_start(&f, fd, IGT_RADEON_PREAD, mem + 1, LARGE - 1, 10);
	/* Pinned pages cannot be swapped out; trying must do no harm. */
	madvise(mem, LARGE, MADV_PAGEOUT);
	flight_end(&f);
	out = page_out(mem);
	igt_assert_f(out >= LARGE / PAGE / 2, "only %u pages were swapped out\n",
		     out);
	igt_radeon_assert_equal(mem + 1, f.model, LARGE - 1, "memory");
	munmap(mem, LARGE);
	free(f.model);
	swap_off(0);
}

/**
 * SUBTEST: beside-the-range
 * Description: A zero-copy read goes to memory that begins and ends within a
 *              page. Bytes that another thread writes meanwhile to these pages,
 *              beside the range, are not overwritten, also where the device's
 *              DMA goes through a bounce buffer (swiotlb).
 *
 * SUBTEST: bounced
 * Description: The same, and fails unless the DMA used a bounce buffer.
 *              Needs the lab's module dma32, loaded before radeon, and memory
 *              beyond 4 GiB.
 */
static void test_beside(int fd, bool bounced)
{
	static const char used[] = "/sys/kernel/debug/swiotlb/io_tlb_used";
	const size_t at = 513, size = LARGE - 2 * at;
	uint8_t *mem = igt_radeon_memory(LARGE);
	long before = 0, during = 0;
	struct flight f;
	char text[1024];

	igt_radeon_require_hold(fd);
	igt_radeon_mount_debugfs();
	if (bounced)
		igt_require_f(!access("/sys/module/dma32", F_OK),
			      "the device reaches all memory: load dma32.ko first\n");
	memset(mem, 0x11, LARGE);
	if (bounced && igt_radeon_get(used, text, sizeof(text)) > 0)
		before = atol(text);
	flight_start(&f, fd, IGT_RADEON_PREAD, mem + at, size, 11);
	if (bounced && igt_radeon_get(used, text, sizeof(text)) > 0)
		during = atol(text);
	memset(mem, 0x22, at);
	memset(mem + at + size, 0x22, at);
	flight_end(&f);
	igt_assert_f(!bounced || during > before, "no bounce buffer was used\n");
	igt_radeon_assert_equal(mem + at, f.model, size, "memory");
	memset(f.model, 0x22, at);
	igt_radeon_assert_equal(mem, f.model, at, "before the range");
	igt_radeon_assert_equal(mem + at + size, f.model, at, "after the range");
	munmap(mem, LARGE);
	free(f.model);
}

/* Registers and GART entries, as the CPU sees them through the PCI BARs. */
struct gart {
	volatile uint32_t *mmio;
	const volatile uint64_t *table;
	void *map;
	size_t map_size;
	unsigned int entries;
};

#define MMIO_SIZE		(64 * KIB)
/* Page table of VM context 0, the kernel's, and location of VRAM (rv770d.h) */
#define MC_VM_FB_LOCATION	0x2024
#define PAGE_TABLE_BASE		0x153c
#define PAGE_TABLE_START	0x155c
#define PAGE_TABLE_END		0x157c
/* An entry of the GART (radeon.h, R600_PTE_*) */
#define PTE_VALID		(1ull << 0)
#define PTE_READABLE		(1ull << 5)
#define PTE_WRITEABLE		(1ull << 6)
#define PTE_ADDRESS		0x000000fffffff000ull

static void *map_bar(int fd, unsigned int bar, off_t offset, size_t size)
{
	char path[96];
	struct stat st;
	void *map;
	int file;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/resource%u",
		 major(st.st_rdev), minor(st.st_rdev), bar);
	file = open(path, O_RDWR | O_CLOEXEC);
	igt_require_f(file >= 0, "no access to %s\n", path);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
	close(file);
	igt_require_f(map != MAP_FAILED, "%s cannot be mapped\n", path);
	return map;
}

static void gart_open(struct gart *g, int fd)
{
	uint64_t vram, base;

	g->mmio = map_bar(fd, 2, 0, MMIO_SIZE);
	vram = (uint64_t)(g->mmio[MC_VM_FB_LOCATION / 4] & 0xffff) << 24;
	base = (uint64_t)g->mmio[PAGE_TABLE_BASE / 4] << 12;
	g->entries = g->mmio[PAGE_TABLE_END / 4] -
		     g->mmio[PAGE_TABLE_START / 4] + 1;
	igt_assert_f(base >= vram && g->entries > 1024 && g->entries < 1 << 20,
		     "no GART table\n");
	g->map_size = g->entries * sizeof(uint64_t);
	g->map = map_bar(fd, 0, base - vram, g->map_size);
	g->table = g->map;
}

static void gart_close(struct gart *g)
{
	munmap(g->map, g->map_size);
	munmap((void *)g->mmio, MMIO_SIZE);
}

/* Counts GART entries for pages of @mem, and those that allow writes. */
static void gart_count(const struct gart *g, const uint8_t *mem, size_t size,
		       unsigned int *bound, unsigned int *writeable)
{
	uint64_t *frames = igt_radeon_malloc(size / PAGE * sizeof(*frames));
	uint64_t entry, other = 0;
	unsigned int i, j;

	for (i = 0; i < size / PAGE; i++)
		frames[i] = igt_radeon_page(mem + i * PAGE).frame;
	*bound = 0;
	*writeable = 0;
	for (i = 0; i < g->entries; i++) {
		entry = g->table[i];
		/* Most entries are those of the driver's dummy page. */
		if (!(entry & PTE_VALID) || entry == other)
			continue;
		for (j = 0; j < size / PAGE; j++)
			if ((entry & PTE_ADDRESS) / PAGE == frames[j])
				break;
		if (j == size / PAGE) {
			other = entry;
			continue;
		}
		(*bound)++;
		*writeable += !!(entry & PTE_WRITEABLE);
		igt_assert(entry & PTE_READABLE);
	}
	free(frames);
}

/**
 * SUBTEST: gart-read-only
 * Description: While the GPU copies from user memory that the process can only
 *              read, none of the GART entries for its pages allows writes.
 *              While the GPU copies to user memory, all of them do.
 */
static void test_gart(int fd)
{
	/* Few pages: each is looked up in all of the table. */
	const size_t size = 2 * MIB;
	unsigned int bound, writeable;
	struct flight f;
	struct gart g;
	uint8_t *mem;

	igt_radeon_require_hold(fd);
	igt_radeon_require_param("gem_rw_zero_copy_min", size / 2);
	gart_open(&g, fd);
	mem = igt_radeon_memory(size);
	madvise(mem, size, MADV_NOHUGEPAGE);
	memset(mem, 0x33, size);
	flight_start(&f, fd, IGT_RADEON_PREAD, mem + 1, size - 1, 12);
	gart_count(&g, mem, size, &bound, &writeable);
	flight_end(&f);
	free(f.model);
	/* The CPU may copy the edges. */
	igt_assert_f(bound >= size / PAGE - 2 && writeable == bound,
		     "%u pages are bound, the GPU can write to %u\n", bound,
		     writeable);

	igt_assert_eq(mprotect(mem, size, PROT_READ), 0);
	flight_start(&f, fd, IGT_RADEON_PWRITE, mem + 1, size - 1, 13);
	gart_count(&g, mem, size, &bound, &writeable);
	flight_end(&f);
	free(f.model);
	munmap(mem, size);
	gart_close(&g);
	igt_assert_f(bound >= size / PAGE - 2, "only %u pages are bound\n",
		     bound);
	igt_assert_f(!writeable, "the GPU can write to %u of %u pages\n",
		     writeable, bound);
}

static void assert_untouched(const uint8_t *mem, size_t size, enum igt_radeon_op op)
{
	igt_assert_f(mem[0] == 1 && !memcmp(mem, mem + 1, size - 1),
		     "%s: a call that failed has changed user memory\n",
		     igt_radeon_op_name[op]);
}

/**
 * SUBTEST: fault-before-busy
 * Description: A call with NOWAIT, for a BO that the GPU is going to write,
 *              whose user memory ends early gives -EFAULT and not -EBUSY,
 *              wherever the memory ends. Neither changes the memory.
 */
static void test_fault_before_busy(int fd)
{
	static const uint32_t ends[] = {
		PAGE, 64 * KIB, 256 * KIB, 256 * KIB + PAGE, MIB, LARGE - PAGE,
	};
	struct igt_radeon_bo bo, src;
	enum igt_radeon_op op;
	unsigned int i;
	uint8_t *mem;
	int ret;

	igt_radeon_require_hold(fd);
	igt_radeon_bo_init(&bo, fd, LARGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&src, fd, LARGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, LARGE);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		mem = igt_radeon_memory(LARGE);
		memset(mem, 1, LARGE);
		ret = igt_radeon_rw(op, fd, bo.handle, 0, LARGE, mem,
				    RADEON_GEM_RW_NOWAIT);
		igt_assert_f(ret == -EBUSY, "%s: %d instead of -EBUSY\n",
			     igt_radeon_op_name[op], ret);
		assert_untouched(mem, LARGE, op);
		for (i = ARRAY_SIZE(ends); i--;) {
			munmap(mem + ends[i], LARGE - ends[i]);
			ret = igt_radeon_rw(op, fd, bo.handle, 0, LARGE, mem,
					    RADEON_GEM_RW_NOWAIT);
			igt_assert_f(ret == -EFAULT,
				     "%s, memory of %u bytes: %d instead of -EFAULT\n",
				     igt_radeon_op_name[op], ends[i], ret);
			assert_untouched(mem, ends[i], op);
		}
		munmap(mem, LARGE);
	}
	igt_assert_f(igt_radeon_bo_busy(&bo), "a call has waited\n");
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
	}

	igt_describe("Pages written back in a zero-copy are dirty after it.");
	igt_subtest("file-written-back")
		test_written_back(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Memory swapped out after a zero-copy keeps its bytes.");
	igt_subtest("swapped-out")
		test_swapped_out(fd);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		swap_off(0);
	}

	igt_describe("Bytes that others write beside the range are kept.");
	igt_subtest("beside-the-range")
		test_beside(fd, false);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("The same with DMA through a bounce buffer.");
	igt_subtest("bounced")
		test_beside(fd, true);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("The GPU cannot write pages that it only reads.");
	igt_subtest("gart-read-only")
		test_gart(fd);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		igt_radeon_reset_params();
	}

	igt_describe("-EFAULT goes before -EBUSY.");
	igt_subtest("fault-before-busy")
		test_fault_before_busy(fd);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
