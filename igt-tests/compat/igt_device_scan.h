/* SPDX-License-Identifier: MIT */
/*
 * The part of libigt's device selection (--device, IGT_DEVICE) that these tests
 * use; see igt.h beside this file.
 */
#ifndef NOMAP_COMPAT_IGT_DEVICE_SCAN_H
#define NOMAP_COMPAT_IGT_DEVICE_SCAN_H

#include <stdbool.h>

/* The library's struct has about 1,100 bytes; its fields differ by version. */
struct igt_device_card {
	char opaque[4096];
};

void igt_devices_scan(void);
int igt_device_filter_count(void);
const char *igt_device_filter_get(int num);
bool igt_device_card_match(const char *filter, struct igt_device_card *card);
int igt_open_card(struct igt_device_card *card);
int igt_open_render(struct igt_device_card *card);

#endif /* NOMAP_COMPAT_IGT_DEVICE_SCAN_H */
