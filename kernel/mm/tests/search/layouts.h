/* SPDX-License-Identifier: MIT */
/*
 * Address spaces that the random tests do not reach: many stacks in a row, and
 * a last leaf that is larger than the gap at its end.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H

/* Checks all of them and prints what searches cost; ends the program if one is wrong. */
void check_layouts(void);

#endif
