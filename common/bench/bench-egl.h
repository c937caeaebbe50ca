/* SPDX-License-Identifier: MIT */
/*
 * Desktop GL without a window (egl.c), for the programs that are linked with EGL.
 */
#ifndef BENCH_EGL_H
#define BENCH_EGL_H

#include <stdbool.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

/* What --help says of the renderer. */
#define BENCH_GL_HELP \
	"The renderer is the one that Mesa chooses: LIBGL_ALWAYS_SOFTWARE=1 and\n" \
	"GALLIUM_DRIVER=llvmpipe or softpipe, or LD_PRELOAD=libr7xx_shim.so.\n"

/**
 * struct bench_egl - a display without a window
 * @display: surfaceless, initialized
 * @config: a configuration of it that has desktop GL
 */
struct bench_egl {
	EGLDisplay display;
	EGLConfig config;
};

bool bench_egl_start(struct bench_egl *egl);
EGLContext bench_egl_context(const struct bench_egl *egl, const EGLint *attributes);

#endif /* BENCH_EGL_H */
