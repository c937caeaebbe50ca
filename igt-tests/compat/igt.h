/* SPDX-License-Identifier: MIT */
/*
 * The part of libigt's core interface that these tests use, declared for
 * builds against the shared library alone: distributions package libigt.so.0
 * (Debian: igt-gpu-tools) but none of its headers. In an IGT source tree this
 * file is not used; there, "igt.h" is IGT's own.
 *
 * Everything here is binary interface: names, argument lists and the order in
 * which the control-flow blocks must call into the library. It was checked
 * against the dynamic symbols of libigt 2.0 and 2.5. The blocks are written
 * the way IGT spells them since 2.3: "int igt_main()", "igt_fixture()".
 */
#ifndef NOMAP_COMPAT_IGT_H
#define NOMAP_COMPAT_IGT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <xf86drm.h>

struct option;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * The library's igt_ioctl is a pointer to a function, thread-local in some
 * versions. It points to drmIoctl() unless a test changes it.
 */
#define igt_ioctl	drmIoctl

/* Start and end of a subtest; the library longjmps to the buffer to end it. */
extern jmp_buf igt_subtest_jmpbuf;
int igt_subtest_init_parse_opts(int *argc, char **argv,
				const char *short_opts,
				const struct option *long_opts,
				const char *help,
				int (*handler)(int opt, int index, void *data),
				void *data);
void igt_exit(void) __attribute__((noreturn));
void igt_success(void);
bool __igt_run_subtest(const char *name, const char *file, const int line);
bool __igt_fixture(void);
void __igt_fixture_complete(void);
void igt_describe_f(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Verdicts */
void __igt_fail_assert(const char *domain, const char *file, const int line,
		       const char *func, const char *assertion,
		       const char *fmt, ...)
	__attribute__((noreturn, format(printf, 6, 7)));
void __igt_skip_check(const char *file, const int line, const char *func,
		      const char *check, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 5, 6)));

/* Slow machines (INTEL_SIMULATION is set) */
bool igt_run_in_simulation(void);
#define SLOW_QUICK(slow, quick) (igt_run_in_simulation() ? (quick) : (slow))

/* Children, time-outs, cleaning up */
bool __igt_fork(void);
void igt_waitchildren(void);
void igt_set_timeout(unsigned int seconds, const char *op);
void igt_reset_timeout(void);
typedef void (*igt_exit_handler_t)(int sig);
void igt_install_exit_handler(igt_exit_handler_t fn);

/* Log */
enum igt_log_level {
	IGT_LOG_DEBUG,
	IGT_LOG_INFO,
	IGT_LOG_WARN,
	IGT_LOG_CRITICAL,
	IGT_LOG_NONE,
};
void igt_log(const char *domain, enum igt_log_level level,
	     const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define igt_debug(...) igt_log(NULL, IGT_LOG_DEBUG, __VA_ARGS__)
#define igt_info(...) igt_log(NULL, IGT_LOG_INFO, __VA_ARGS__)
#define igt_warn(...) igt_log(NULL, IGT_LOG_WARN, __VA_ARGS__)

/* The library looks this name up in the program for --help-description. */
#define IGT_TEST_DESCRIPTION(text) const char *__igt_test_description = text
#define igt_describe(text) igt_describe_f("%s", text)

#define COMPAT_PASTE_(a, b) a##b
#define COMPAT_PASTE(a, b) COMPAT_PASTE_(a, b)

/* Return values of the handler of a program's own options */
#define IGT_OPT_HANDLER_SUCCESS	0
#define IGT_OPT_HANDLER_ERROR	(-2)

#define igt_main_args(short_opts, long_opts, help, handler, data) \
	main(int argc, char **argv); \
	static void compat_test_body(void); \
	int main(int argc, char **argv) \
	{ \
		igt_subtest_init_parse_opts(&argc, argv, short_opts, \
					    long_opts, help, handler, data); \
		compat_test_body(); \
		igt_exit(); \
	} \
	static void compat_test_body(void)

#define igt_main() igt_main_args(NULL, NULL, NULL, NULL, NULL)

/* A failing or skipping block jumps back to sigsetjmp(), which ends it. */
#define COMPAT_ENTER (sigsetjmp(igt_subtest_jmpbuf, 1) == 0)

#define igt_fixture() COMPAT_FIXTURE(COMPAT_PASTE(compat_once_, __LINE__))
#define COMPAT_FIXTURE(once) \
	for (volatile bool once = true; \
	     once && __igt_fixture() && COMPAT_ENTER; \
	     once = false, __igt_fixture_complete())

#define igt_subtest(name) \
	for (; __igt_run_subtest((name), __FILE__, __LINE__) && COMPAT_ENTER; \
	     igt_success())

#define igt_fork(child, count) \
	for (int child = 0; child < (count); child++) \
		for (; __igt_fork(); exit(0))

#define COMPAT_FAIL(what, ...) \
	__igt_fail_assert(NULL, __FILE__, __LINE__, __func__, what, __VA_ARGS__)

#define igt_assert(cond) \
	do { \
		if (!(cond)) \
			COMPAT_FAIL(#cond, NULL); \
	} while (0)

#define igt_assert_f(cond, ...) \
	do { \
		if (!(cond)) \
			COMPAT_FAIL(#cond, __VA_ARGS__); \
	} while (0)

#define igt_assert_eq(a, b) \
	do { \
		int a_ = (a), b_ = (b); \
		if (a_ != b_) \
			COMPAT_FAIL(#a " == " #b, "error: %d != %d\n", a_, b_); \
	} while (0)

#define igt_assert_eq_u64(a, b) \
	do { \
		unsigned long long a_ = (a), b_ = (b); \
		if (a_ != b_) \
			COMPAT_FAIL(#a " == " #b, \
				    "error: %#llx != %#llx\n", a_, b_); \
	} while (0)

#define igt_require_f(cond, ...) \
	do { \
		if (!(cond)) \
			__igt_skip_check(__FILE__, __LINE__, __func__, #cond, \
					 __VA_ARGS__); \
	} while (0)

#endif /* NOMAP_COMPAT_IGT_H */
