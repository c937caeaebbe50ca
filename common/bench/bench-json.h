/* SPDX-License-Identifier: MIT */
/*
 * Results as JSON (json.c), for the programs that are linked with json-c. An
 * object owns the objects that are added to it.
 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <json-c/json.h>

#include "bench.h"

void bench_json_add_string(struct json_object *object, const char *key,
			   const char *text);
void bench_json_add_number(struct json_object *object, const char *key,
			   uint64_t number);
void bench_json_add_list(struct json_object *object, const char *key,
			 const uint64_t *values, unsigned int n);
struct json_object *bench_json_machine(void);
struct json_object *bench_json_environment(const struct bench_device *dev);
int bench_json_write(const char *path, struct json_object *root);

#endif
