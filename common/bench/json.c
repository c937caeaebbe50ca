// SPDX-License-Identifier: MIT
/*
 * Results as JSON, by json-c.
 */
#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench-json.h"

/**
 * bench_json_add_string - add a string or null
 * @object: object
 * @key: key
 * @text: string; null is added if it is empty or NULL
 */
void bench_json_add_string(struct json_object *object, const char *key,
			   const char *text)
{
	json_object_object_add(object, key, text && *text ?
			       json_object_new_string(text) : NULL);
}

/**
 * bench_json_add_number - add a number
 * @object: object
 * @key: key
 * @number: value
 */
void bench_json_add_number(struct json_object *object, const char *key,
			   uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

/**
 * bench_json_add_list - add an array of numbers
 * @object: object
 * @key: key
 * @values: numbers
 * @n: length of @values
 */
void bench_json_add_list(struct json_object *object, const char *key,
			 const uint64_t *values, unsigned int n)
{
	struct json_object *list = json_object_new_array_ext(n);
	unsigned int i;

	for (i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_uint64(values[i]));
	json_object_object_add(object, key, list);
}

/**
 * bench_json_machine - describe the machine that a benchmark runs on
 *
 * Returns: an object with kernel, kernel_build, machine, cpus and memory_mib
 */
struct json_object *bench_json_machine(void)
{
	struct json_object *env = json_object_new_object();
	struct utsname uts;

	uname(&uts);
	bench_json_add_string(env, "kernel", uts.release);
	bench_json_add_string(env, "kernel_build", uts.version);
	bench_json_add_string(env, "machine", uts.machine);
	bench_json_add_number(env, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	bench_json_add_number(env, "memory_mib",
			      bench_field("/proc/meminfo", "MemTotal:") >> 10);
	return env;
}

/**
 * bench_json_environment - describe the machine, the driver and the device
 * @dev: device
 *
 * Returns: bench_json_machine() with the driver and the device added
 */
struct json_object *bench_json_environment(const struct bench_device *dev)
{
	struct json_object *env = bench_json_machine();
	char text[128];

	if (bench_read_line("/sys/module/radeon/srcversion", text, sizeof(text)))
		bench_json_add_string(env, "module_srcversion", text);
	bench_json_add_string(env, "driver", dev->driver);
	json_object_object_add(env, "pread_pwrite",
			       json_object_new_boolean(dev->has_rw));
	bench_json_add_string(env, "device", dev->device);
	bench_json_add_number(env, "vram_mib", dev->vram >> 20);
	bench_json_add_number(env, "vram_visible_mib", dev->vram_visible >> 20);
	bench_json_add_number(env, "gtt_mib", dev->gtt >> 20);
	return env;
}

/**
 * bench_json_write - write results to a file, and release them
 * @path: file
 * @root: results; the caller's reference is dropped
 *
 * Returns: 0, or a negative errno; then the file is as it was.
 */
int bench_json_write(const char *path, struct json_object *root)
{
	const char *text = json_object_to_json_string_ext(root,
		JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_NOSLASHESCAPE);
	struct bench_output out;
	int ret = text ? bench_output_open(&out, path) : -ENOMEM;

	if (!ret) {
		/* bench_output_close() reports errors of this call. */
		fprintf(out.file, "%s\n", text);
		ret = bench_output_close(&out);
	}
	json_object_put(root);
	return ret;
}
