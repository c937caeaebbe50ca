// SPDX-License-Identifier: MIT
/*
 * See unit.h. Compiled once for each unit: UNIT is old, new or up; search.h is
 * made from that kernel's source, and its maple tree is linked with this.
 */
#include "maple-shared.h"
#include <linux/maple_tree.h>
#include <linux/xarray.h>
#include "unit.h"

/* The loops of the searches count these. */
extern unsigned long search_nodes, search_slots;

/* The harness only has the maple tree; the searches also need a part of mm. */
#undef PAGE_SIZE
#define PAGE_SIZE TEST_PAGE
#define VM_GROWSDOWN TEST_GROWSDOWN
#define VM_SHADOW_STACK TEST_SHADOW_STACK
#define VM_STARTGAP_FLAGS TEST_STACKS
/* Linux 7's names of the same flags. */
#define VMA_STARTGAP_FLAGS TEST_STACKS
#define vma_test_any_mask(vma, mask) (((vma)->vm_flags & (mask)) != 0)
#define UP__old 0
#define UP__new 0
#define UP__up TEST_GROWSUP
#define UP_(unit) UP__##unit
#define UP(unit) UP_(unit)
#define VM_GROWSUP UP(UNIT)
static unsigned long stack_guard_gap, mmap_min_addr;

struct mm_struct {
	struct maple_tree mm_mt;
};

static struct mm_struct mms[2];
static struct task {
	struct mm_struct *mm;
} task = { &mms[0] };
#define current (&task)

#include "search.h"

static struct steps steps;

#ifdef SEARCH_GUARD
unsigned long vma_guard_gap(void *entry)
{
	/* A zero entry, which a fork stores, is not a VMA. */
	if (entry && !xa_is_zero(entry))
		((struct vm_area_struct *)entry)->asked++;
	return SEARCH_GUARD(entry);
}
#endif

/* As mm_init() does. */
static void init_tree(struct mm_struct *mm)
{
	mt_init_flags(&mm->mm_mt, MM_MT_FLAGS);
}

static void fail(const char *what)
{
	fprintf(stderr, "%s: the maple tree gives an error\n", what);
	abort();
}

static void begin(unsigned long guard, unsigned long min, bool rcu)
{
	static bool once;

	if (!once)
		maple_tree_init();
	once = true;
	__mt_destroy(&current->mm->mm_mt);
	init_tree(current->mm);
	if (!rcu)
		mt_clear_in_rcu(&current->mm->mm_mt);
	stack_guard_gap = guard;
	mmap_min_addr = min;
}

static void store(unsigned long start, unsigned long end, struct vm_area_struct *vma)
{
	MA_STATE(mas, &current->mm->mm_mt, start, end - 1);

	if (mas_store_gfp(&mas, vma, GFP_KERNEL))
		fail("store");
}

static unsigned long search(const struct query *q)
{
	struct vm_unmapped_area_info info = {
		.length = q->length,
		.low_limit = q->low,
		.high_limit = q->high,
		.align_mask = q->align_mask,
		.align_offset = q->align_offset,
		.start_gap = q->start_gap,
	};
	unsigned long addr;

	search_nodes = search_slots = 0;
	addr = q->topdown ? unmapped_area_topdown(&info) : unmapped_area(&info);
	steps.nodes += search_nodes;
	steps.slots += search_slots;
	return addr;
}

/* The copy of the tree, as dup_mmap() makes it. */
static struct mm_struct *copy_tree(void)
{
	struct mm_struct *mm = current->mm == &mms[0] ? &mms[1] : &mms[0];

	init_tree(mm);
	if (!mt_in_rcu(&current->mm->mm_mt))
		mt_clear_in_rcu(&mm->mm_mt);
	if (__mt_dup(&current->mm->mm_mt, &mm->mm_mt, GFP_KERNEL))
		fail("dup");
	mt_clear_in_rcu(&mm->mm_mt);
	return mm;
}

static void fork_all(struct vm_area_struct *(*child)(struct vm_area_struct *parent))
{
	struct mm_struct *mm = copy_tree();
	struct vm_area_struct *vma, *copy;
	MA_STATE(mas, &mm->mm_mt, 0, 0);

	mas_for_each(&mas, vma, ULONG_MAX) {
		copy = child(vma);
		if (copy) {
			mas.index = vma->vm_start;
			mas.last = vma->vm_end - 1;
			mas_store(&mas, copy);
		} else {
			__mas_set_range(&mas, vma->vm_start, vma->vm_end - 1);
			if (mas_store_gfp(&mas, NULL, GFP_KERNEL))
				fail("fork");
		}
		if (mas_is_err(&mas))
			fail("fork");
	}
	mas_destroy(&mas);
	if (mt_in_rcu(&current->mm->mm_mt))
		mt_set_in_rcu(&mm->mm_mt);
	__mt_destroy(&current->mm->mm_mt);
	task.mm = mm;
}

static bool valid_tree(struct maple_tree *mt)
{
	int run = atomic_read(&maple_tree_tests_run);
	int passed = atomic_read(&maple_tree_tests_passed);

	mt_validate(mt);
	return atomic_read(&maple_tree_tests_run) - run ==
	       atomic_read(&maple_tree_tests_passed) - passed;
}

static void fork_fails(unsigned int n)
{
	struct mm_struct *mm = copy_tree();
	struct vm_area_struct *vma;
	MA_STATE(mas, &mm->mm_mt, 0, 0);

	mas_for_each(&mas, vma, ULONG_MAX) {
		if (n--)
			continue;
		mas_set_range(&mas, vma->vm_start, vma->vm_end - 1);
		mas_store(&mas, XA_ZERO_ENTRY);
		break;
	}
	mas_destroy(&mas);
	if (!valid_tree(&mm->mm_mt))
		fail("failed fork");
	__mt_destroy(&mm->mm_mt);
}

static bool valid(void)
{
	return valid_tree(&current->mm->mm_mt);
}

static unsigned int height(void)
{
	return (current->mm->mm_mt.ma_flags & MT_FLAGS_HEIGHT_MASK) >>
	       MT_FLAGS_HEIGHT_OFFSET;
}

#define NAME__(unit) unit_##unit
#define NAME_(unit) NAME__(unit)
const struct unit NAME_(UNIT) = {
	.begin = begin,
	.store = store,
	.search = search,
	.fork = fork_all,
	.fork_fails = fork_fails,
	.valid = valid,
	.height = height,
	.steps = &steps,
};
