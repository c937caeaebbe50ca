/* SPDX-License-Identifier: MIT */
/* Cases of gl-board with textures that are shared. */
#include "board.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Textures that are shared as dma-bufs: what is uploaded into one is sampled from the other,
 * by another context.
 */
void dma_buf(void)
{
	PFNEGLCREATEIMAGEKHRPROC create_image = (void *)eglGetProcAddress("eglCreateImageKHR");
	PFNEGLDESTROYIMAGEKHRPROC destroy_image = (void *)eglGetProcAddress("eglDestroyImageKHR");
	PFNEGLEXPORTDMABUFIMAGEQUERYMESAPROC query = (void *)eglGetProcAddress("eglExportDMABUFImageQueryMESA");
	PFNEGLEXPORTDMABUFIMAGEMESAPROC export = (void *)eglGetProcAddress("eglExportDMABUFImageMESA");
	void (*target_image)(GLenum, EGLImageKHR) = (void *)eglGetProcAddress("glEGLImageTargetTexture2DOES");
	EGLContext first = eglGetCurrentContext(), second;
	uint8_t data[SIDE * SIDE * 4];
	GLuint ours, theirs;
	int fourcc, planes, fd, stride, offset;
	EGLImageKHR image;

	glGenTextures(1, &ours);
	/* It is bound and has contents when it gets a BO that can be exported. */
	fill(data, sizeof(data), 4711);
	rgba_texture(ours, SIDE, SIDE, data);
	draw_texture(SIDE, SIDE);
	same(pixels, data, sizeof(data), "texture before it is shared", 0);
	image = create_image(context_display(), first, EGL_GL_TEXTURE_2D_KHR, (EGLClientBuffer)(uintptr_t)ours, NULL);
	if (!image || !query(context_display(), image, &fourcc, &planes, NULL) || planes != 1 ||
	    !export(context_display(), image, &fd, &stride, &offset))
		die("a texture cannot be exported (0x%x)", eglGetError());

	second = context_create(EGL_NO_CONTEXT);
	setup();

	const EGLint attribs[] = {
		EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_LINUX_DRM_FOURCC_EXT, fourcc, EGL_DMA_BUF_PLANE0_FD_EXT, fd,
		EGL_DMA_BUF_PLANE0_OFFSET_EXT, offset, EGL_DMA_BUF_PLANE0_PITCH_EXT, stride, EGL_NONE
	};
	EGLImageKHR import = create_image(context_display(), EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attribs);

	if (!import)
		die("a dma-buf cannot be imported (0x%x)", eglGetError());
	glGenTextures(1, &theirs);
	glBindTexture(GL_TEXTURE_2D, theirs);
	target_image(GL_TEXTURE_2D, import);
	nearest();
	no_error("importing a dma-buf");
	draw_texture(SIDE, SIDE);
	same(pixels, data, sizeof(data), "texture when it is shared", 0);
	/* The first context has not bound it again since. */
	context_current(first);
	fill(data, sizeof(data), 4712);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, data);
	draw_texture(SIDE, SIDE);
	same(pixels, data, sizeof(data), "bound texture after it is shared", 0);

	for (unsigned i = 0; i < 40; i++) {
		/* Each context uploads a part in turn; what is sampled in the other has both. */
		unsigned y = i * 7 % SIDE, h = i % 5 + 1 < SIDE - y ? i % 5 + 1 : SIDE - y;

		context_current(i % 2 ? second : first);
		glBindTexture(GL_TEXTURE_2D, i % 2 ? theirs : ours);
		if (!i) {
			fill(data, sizeof(data), 0);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, data);
		} else {
			fill(data + y * SIDE * 4, h * SIDE * 4, i);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, y, SIDE, h, GL_RGBA, GL_UNSIGNED_BYTE, data + y * SIDE * 4);
		}
		glFinish();
		context_current(i % 2 ? first : second);
		glBindTexture(GL_TEXTURE_2D, i % 2 ? ours : theirs);
		clear();
		draw_texture(SIDE, SIDE);
		same(pixels, data, sizeof(data), "shared texture", i);
	}
	no_error("sharing");
	glDeleteTextures(1, &theirs);
	destroy_image(context_display(), import);
	context_destroy(second);
	context_current(first);
	glDeleteTextures(1, &ours);
	destroy_image(context_display(), image);
	close(fd);
	/* Programs have names of the context in which they were made. */
	setup();
}

#define TEXTURES 16
#define TEXELS 16

unsigned left_slabs;

/* Small textures are parts of slabs. Half of them are exported: each of these gets a BO of its
 * own with the contents that it had, and the others stay where they are.
 */
void leave_slabs(void)
{
	PFNEGLCREATEIMAGEKHRPROC create_image = (void *)eglGetProcAddress("eglCreateImageKHR");
	PFNEGLDESTROYIMAGEKHRPROC destroy_image = (void *)eglGetProcAddress("eglDestroyImageKHR");
	PFNEGLEXPORTDMABUFIMAGEMESAPROC export = (void *)eglGetProcAddress("eglExportDMABUFImageMESA");
	EGLContext context = eglGetCurrentContext();
	uint8_t data[TEXELS * TEXELS * 4];
	EGLImageKHR images[TEXTURES / 2];
	uint32_t handles[TEXTURES / 2];
	int fds[TEXTURES / 2];
	unsigned exported = 0;

	glGenTextures(TEXTURES, names);
	for (unsigned i = 0; i < TEXTURES; i++) {
		fill(data, sizeof(data), plain(i));
		rgba_texture(names[i], TEXELS, TEXELS, data);
	}
	glFinish();
	for (unsigned i = 0; i < TEXTURES / 2; i++) {
		unsigned long created = gl_counts().creates;
		bool own = true;
		int stride, offset;

		fds[i] = -1;
		images[i] = create_image(context_display(), context, EGL_GL_TEXTURE_2D_KHR,
					 (EGLClientBuffer)(uintptr_t)names[2 * i], NULL);
		if (!images[i] || !export(context_display(), images[i], &fds[i], &stride, &offset))
			die("a small texture cannot be exported (0x%x)", eglGetError());

		struct gl_export bo = gl_last_export();

		handles[i] = bo.handle;
		for (unsigned k = 0; k < i; k++)
			own &= handles[k] != handles[i];
		exported++;
		if (offset || !own || bo.size >= 2 * SIDE * SIDE * 4) {
			/* Debian's Mesa does so where it has slabs. */
			fprintf(stderr, "a small texture is exported as bytes from %d on of a BO of %llu bytes%s\n", offset,
				(unsigned long long)bo.size, own ? "" : ", as was another");
			wrong++;
			break;
		}
		left_slabs += gl_counts().creates > created;
	}
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < TEXTURES; i++) {
			fill(data, sizeof(data), round ? later(i) : plain(i));
			glBindTexture(GL_TEXTURE_2D, names[i]);
			if (round)
				glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, TEXELS, TEXELS, GL_RGBA, GL_UNSIGNED_BYTE, data);
			clear();
			draw_texture(TEXELS, TEXELS);
			same(pixels, data, sizeof(data), round ? "texture written after exports" : "texture after exports", i);
		}
	}
	for (unsigned i = 0; i < exported; i++) {
		destroy_image(context_display(), images[i]);
		close(fds[i]);
	}
	glDeleteTextures(TEXTURES, names);
}
