// SPDX-License-Identifier: MIT
/*
 * Desktop GL without a window: programs draw into framebuffer objects.
 */
#include <stddef.h>

#include "bench-egl.h"

/**
 * bench_egl_start - open Mesa's surfaceless display
 * @egl: filled in
 *
 * Returns: whether it has desktop GL
 */
bool bench_egl_start(struct bench_egl *egl)
{
	static const EGLint attributes[] = {
		EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE
	};
	EGLint n;

	egl->display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA,
					     EGL_DEFAULT_DISPLAY, NULL);
	return egl->display != EGL_NO_DISPLAY &&
	       eglInitialize(egl->display, NULL, NULL) && eglBindAPI(EGL_OPENGL_API) &&
	       eglChooseConfig(egl->display, attributes, &egl->config, 1, &n) && n >= 1;
}

/**
 * bench_egl_context - make a GL context and bind it, without surfaces
 * @egl: what bench_egl_start() filled in
 * @attributes: of eglCreateContext(), NULL for none
 *
 * Returns: the context, or EGL_NO_CONTEXT
 */
EGLContext bench_egl_context(const struct bench_egl *egl, const EGLint *attributes)
{
	EGLContext context = eglCreateContext(egl->display, egl->config, EGL_NO_CONTEXT,
					      attributes);

	if (context == EGL_NO_CONTEXT)
		return EGL_NO_CONTEXT;
	if (eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
		return context;
	eglDestroyContext(egl->display, context);
	return EGL_NO_CONTEXT;
}
