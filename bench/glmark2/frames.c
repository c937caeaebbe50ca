// SPDX-License-Identifier: MIT
/*
 * Preloaded into glmark2's X11 flavour: makes its frames the same on each renderer, and
 * keeps them.
 *
 * GLMARK2_FRAMES  directory for the pictures; without it nothing changes
 * GLMARK2_STEP    milliseconds by which glmark2's clock advances with each swap
 *
 * glmark2 alone sees that clock: Mesa and X have the real one. Each swap first writes the
 * back buffer to N.ppm (N counts from 1) and a line "@frame N WIDTHxHEIGHT MICROSECONDS"
 * (the real time since the last swap, without the reading) to stdout, among glmark2's
 * own lines. The last line, "@end FRAMES CLOCK-READS", says what was intercepted.
 *
 * glmark2 takes libGL's functions by dlsym() and glXGetProcAddress(), so these are
 * intercepted, too.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>

#define EXPORT __attribute__((visibility("default")))

typedef void (*function)(void);

static struct {
	const char *directory;
	uint64_t step;
	uintptr_t program, program_end;
	unsigned long frames, clock_reads;
	uint64_t last;
	function (*get)(const GLubyte *name);
	void (*swap)(Display *display, GLXDrawable drawable);
} self;

static void fail(const char *what)
{
	fprintf(stderr, "glmark2-frames: %s\n", what);
	_exit(99);
}

static void *real(const char *name)
{
	static void *(*next)(void *, const char *);

	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!next)
		fail("no dlsym()");
	return next(RTLD_NEXT, name);
}

static int real_clock(clockid_t clock, struct timespec *time)
{
	static int (*next)(clockid_t, struct timespec *);

	if (!next)
		next = (int (*)(clockid_t, struct timespec *))real("clock_gettime");
	return next(clock, time);
}

static uint64_t microseconds(void)
{
	struct timespec now;

	real_clock(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ull + now.tv_nsec / 1000;
}

/* dl_iterate_phdr() begins with the program; returning 1 ends it there. */
static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		if (!self.program)
			self.program = begin;
		self.program_end = begin + part->p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *step = getenv("GLMARK2_STEP");

	self.directory = getenv("GLMARK2_FRAMES");
	self.step = step ? strtoull(step, NULL, 10) : 0;
	if (self.directory && !self.step)
		fail("GLMARK2_STEP is not a number of milliseconds");
	dl_iterate_phdr(find_program, NULL);
	self.last = microseconds();
}

__attribute__((destructor)) static void end(void)
{
	if (!self.directory)
		return;
	printf("@end %lu %lu\n", self.frames, self.clock_reads);
	fflush(stdout);
}

/* Is the caller glmark2 itself? */
static bool ours(void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	return self.directory && at >= self.program && at < self.program_end;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t ms;

	if (!ours(__builtin_return_address(0)))
		return real_clock(clock, time);
	self.clock_reads++;
	ms = 1000000 + self.frames * self.step;
	time->tv_sec = ms / 1000;
	time->tv_nsec = ms % 1000 * 1000000;
	return 0;
}

static function gl(const char *name)
{
	function found = self.get((const GLubyte *)name);

	if (!found)
		fail(name);
	return found;
}

/* The back buffer, bottom row first, as RGBA. */
static uint8_t *read_back(unsigned int width, unsigned int height)
{
	void (*get_integer)(GLenum, GLint *) = (void (*)(GLenum, GLint *))gl("glGetIntegerv");
	void (*store)(GLenum, GLint) = (void (*)(GLenum, GLint))gl("glPixelStorei");
	PFNGLBINDFRAMEBUFFERPROC bind = (PFNGLBINDFRAMEBUFFERPROC)gl("glBindFramebuffer");
	PFNGLBINDBUFFERPROC bind_buffer = (PFNGLBINDBUFFERPROC)gl("glBindBuffer");
	void (*read)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *) =
		(void (*)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *))gl("glReadPixels");
	GLenum (*get_error)(void) = (GLenum (*)(void))gl("glGetError");
	uint8_t *pixels = malloc((size_t)width * height * 4);
	GLint framebuffer, buffer, alignment;

	if (!pixels)
		fail("no memory");
	/* An error of glmark2's own would be taken for one of glReadPixels(). */
	if (get_error() != GL_NO_ERROR)
		fail("a GL error before the picture was read");
	get_integer(GL_READ_FRAMEBUFFER_BINDING, &framebuffer);
	get_integer(GL_PIXEL_PACK_BUFFER_BINDING, &buffer);
	get_integer(GL_PACK_ALIGNMENT, &alignment);
	bind(GL_READ_FRAMEBUFFER, 0);
	bind_buffer(GL_PIXEL_PACK_BUFFER, 0);
	store(GL_PACK_ALIGNMENT, 4);
	read(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	store(GL_PACK_ALIGNMENT, alignment);
	bind_buffer(GL_PIXEL_PACK_BUFFER, buffer);
	bind(GL_READ_FRAMEBUFFER, framebuffer);
	if (get_error() != GL_NO_ERROR)
		fail("glReadPixels() failed");
	return pixels;
}

static void keep(const uint8_t *pixels, unsigned int width, unsigned int height)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%lu.ppm", self.directory, self.frames);
	file = fopen(path, "w");
	if (!file)
		fail(path);
	fprintf(file, "P6\n%u %u\n255\n", width, height);
	for (unsigned int y = height; y-- > 0;)
		for (unsigned int x = 0; x < width; x++)
			fwrite(pixels + ((size_t)y * width + x) * 4, 3, 1, file);
	if (ferror(file) | fclose(file))
		fail(path);
}

static void swap_buffers(Display *display, GLXDrawable drawable)
{
	PFNGLXQUERYDRAWABLEPROC query = (PFNGLXQUERYDRAWABLEPROC)gl("glXQueryDrawable");
	void (*finish)(void) = (void (*)(void))gl("glFinish");
	unsigned int width = 0, height = 0;
	uint64_t took;
	uint8_t *pixels;

	finish();
	took = microseconds() - self.last;
	query(display, drawable, GLX_WIDTH, &width);
	query(display, drawable, GLX_HEIGHT, &height);
	if (!width || !height)
		fail("a window without a size");
	pixels = read_back(width, height);
	self.frames++;
	keep(pixels, width, height);
	free(pixels);
	printf("@frame %lu %ux%u %llu\n", self.frames, width, height, (unsigned long long)took);
	fflush(stdout);
	self.last = microseconds();
	self.swap(display, drawable);
}

static function get_proc_address(const GLubyte *name)
{
	function found = self.get(name);

	if (found && strcmp((const char *)name, "glXSwapBuffers") == 0) {
		self.swap = (void (*)(Display *, GLXDrawable))found;
		return (function)swap_buffers;
	}
	return found;
}

EXPORT void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *, const char *);
	void *found;

	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	/* RTLD_NEXT depends on the caller's return address, which a tail call keeps. */
	if (!ours(__builtin_return_address(0)))
		return next(handle, name);
	found = next(handle, name);
	if (!found)
		return NULL;
	if (strcmp(name, "glXGetProcAddress") == 0 || strcmp(name, "glXGetProcAddressARB") == 0) {
		self.get = (function (*)(const GLubyte *))found;
		return (void *)get_proc_address;
	}
	if (strcmp(name, "glXSwapBuffers") == 0) {
		self.swap = (void (*)(Display *, GLXDrawable))found;
		return (void *)swap_buffers;
	}
	return found;
}
