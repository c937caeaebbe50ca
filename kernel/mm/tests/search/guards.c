// SPDX-License-Identifier: MIT
/*
 * Runs only those tests of the maple tree that the series adds to the harness,
 * the tests of guards: the others take minutes. The harness' main() is weak.
 */
#include <stdio.h>

#include "maple-shared.h"
#include <linux/maple_tree.h>

void maple_tree_init(void);
void maple_tree_guard_tests(void);

int main(void)
{
	int run, passed;

	maple_tree_init();
	maple_tree_guard_tests();
	run = atomic_read(&maple_tree_tests_run);
	passed = atomic_read(&maple_tree_tests_passed);
	printf("%d of %d checks of guards hold\n", passed, run);
	return !run || passed != run;
}
