// SPDX-License-Identifier: MIT
/*
 * Makes one call of a kernel function fail: a kprobe at its beginning returns a
 * value in its place. kernel/tests/probe-fails uses it to fail the probe of
 * radeon at a chosen step, with an unmodified module as with ours. For x86-64.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "Function to fail, which must not be inlined");

static unsigned int skip;
module_param(skip, uint, 0444);
MODULE_PARM_DESC(skip, "Number of calls that do not fail before the one that does");

static long value = -12;
module_param(value, long, 0444);
MODULE_PARM_DESC(value, "What the function returns (default -ENOMEM)");

static unsigned int hits;
module_param(hits, uint, 0444);
MODULE_PARM_DESC(hits, "Number of calls that have failed: 0 or 1");

static atomic_t calls = ATOMIC_INIT(0);

/*
 * A function that only returns. A kprobe may sit on a call of ftrace, which does not
 * restore the stack pointer: so go there, rather than remove the return address here.
 */
asm(".pushsection .text, \"ax\"\n"
	".globl failprobe_return\n"
	".type failprobe_return, @function\n"
	"failprobe_return:\n"
    ANNOTATE_NOENDBR
    ASM_RET
	".size failprobe_return, .-failprobe_return\n"
	".popsection\n");

void failprobe_return(void);

static int failprobe_handler(struct kprobe *kprobe, struct pt_regs *regs)
{
	if (atomic_inc_return(&calls) != skip + 1)
		return 0;

	hits++;
	regs_set_return_value(regs, value);
	instruction_pointer_set(regs, (unsigned long)failprobe_return);
	return 1;
}

static struct kprobe failprobe = {
	.pre_handler = failprobe_handler,
};

static int __init failprobe_init(void)
{
	failprobe.symbol_name = function;
	return register_kprobe(&failprobe);
}
module_init(failprobe_init);

static void __exit failprobe_exit(void)
{
	unregister_kprobe(&failprobe);
}
module_exit(failprobe_exit);

MODULE_DESCRIPTION("Make one call of a function fail");
MODULE_LICENSE("Dual MIT/GPL");
