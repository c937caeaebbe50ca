/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-share - BOs that are not the program's alone
 *
 * usage: gl-share dma-buf|pinned|endless
 *
 * dma-buf: a texture is rendered, exported by EGL_MESA_image_dma_buf_export, imported in another process by
 * EGL_EXT_image_dma_buf_import, read and rendered there, and read again here. Each process has contexts and a
 * device of its own. Then the first one deletes it; the other one still has it. A file that is no
 * dma-buf is refused.
 *
 * pinned: buffers that are the program's memory, GL_AMD_pinned_memory: copies read what the CPU has written since, and
 * write where the CPU sees it. Memory of a file is refused.
 *
 * endless: draws with a shader that does not end.
 *
 * Status 0: all is right; 1: it is not, with a message.
 */

#define _GNU_SOURCE
#include "gltest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Large enough for 2D tiles. */
#define SIDE 256
#define RED 0xff0000ffu
#define GREEN 0xff00ff00u
#define BLUE 0xffff0000u

#ifndef GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD
#define GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD 0x9160
#endif

static uint32_t pixels[SIDE][SIDE];

/* What EGL needs to find an image again. */
struct image {
	int fourcc;
	EGLint stride, offset;
};

static void *egl_function(const char *name)
{
	void *function = (void *)eglGetProcAddress(name);

	if (!function)
		die("there is no %s()", name);
	return function;
}

/* Clears a rectangle of the framebuffer. */
static void clear(int x, int y, int width, int height, float red, float green, float blue)
{
	glEnable(GL_SCISSOR_TEST);
	glScissor(x, y, width, height);
	glClearColor(red, green, blue, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
}

/* A texture as framebuffer. */
static GLuint framebuffer(GLuint texture)
{
	GLuint fbo;

	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		die("the framebuffer is not complete");
	glViewport(0, 0, SIDE, SIDE);
	return fbo;
}

/* Checks all pixels: red, a green rectangle, and a blue one if @blue. */
static void expect(const char *who, bool blue)
{
	/* Mesa keeps what was read, until this process draws: a pixel that is red already. */
	clear(0, 0, 1, 1, 1, 0, 0);
	memset(pixels, 0x55, sizeof(pixels));
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	no_error(who);
	for (int y = 0; y < SIDE; y++) {
		for (int x = 0; x < SIDE; x++) {
			bool is_green = x >= 16 && x < 116 && y >= 32 && y < 72;
			bool is_blue = blue && x >= 200 && x < 210 && y >= 5 && y < 250;
			uint32_t wanted = is_green ? GREEN : is_blue ? BLUE : RED;

			if (pixels[y][x] != wanted)
				die("%s: pixel %d,%d is %08x, not %08x", who, x, y, pixels[y][x], wanted);
		}
	}
}

/* Sends a byte, and a descriptor with what describes it if @fd is not -1. */
static void send_image(int socket, const struct image *image, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec data = { .iov_base = (void *)image, .iov_len = sizeof(*image) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *header;

	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != sizeof(*image))
		die("sendmsg fails");
}

static int receive_image(int socket, struct image *image)
{
	int fd = -1;
	char control[CMSG_SPACE(sizeof(fd))];
	struct iovec data = { .iov_base = image, .iov_len = sizeof(*image) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };

	if (recvmsg(socket, &message, 0) != sizeof(*image) || !CMSG_FIRSTHDR(&message))
		die("no image comes");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void tell(int socket)
{
	if (write(socket, "x", 1) != 1)
		die("write fails");
}

static void await(int socket)
{
	char byte;

	if (read(socket, &byte, 1) != 1)
		die("the other process has ended");
}

static EGLImageKHR import(int fd, const struct image *image)
{
	PFNEGLCREATEIMAGEKHRPROC create = egl_function("eglCreateImageKHR");
	const EGLint attributes[] = {
		EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_LINUX_DRM_FOURCC_EXT, image->fourcc,
		EGL_DMA_BUF_PLANE0_FD_EXT, fd, EGL_DMA_BUF_PLANE0_OFFSET_EXT, image->offset,
		EGL_DMA_BUF_PLANE0_PITCH_EXT, image->stride, EGL_NONE
	};

	return create(context_display(), EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attributes);
}

static int importer(int socket)
{
	void (*target)(GLenum, void *);
	struct image image;
	EGLImageKHR found;
	GLuint texture;
	int fd = receive_image(socket, &image), other = memfd_create("no-dma-buf", 0);

	context_create(EGL_NO_CONTEXT);
	target = egl_function("glEGLImageTargetTexture2DOES");
	if (ftruncate(other, SIDE * SIDE * 4) || import(other, &image) != EGL_NO_IMAGE_KHR)
		die("a file that is no dma-buf is imported");
	found = import(fd, &image);
	if (found == EGL_NO_IMAGE_KHR)
		die("the image is not imported (0x%x)", eglGetError());
	close(fd);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	target(GL_TEXTURE_2D, found);
	no_error("the image as texture");
	framebuffer(texture);
	expect("the importer", false);
	clear(200, 5, 10, 245, 0, 0, 1);
	glFinish();
	tell(socket);
	/* The exporter has deleted it. */
	await(socket);
	expect("the importer, alone", true);
	return 0;
}

static int exporter(int socket, int child)
{
	PFNEGLCREATEIMAGEKHRPROC create;
	PFNEGLEXPORTDMABUFIMAGEQUERYMESAPROC query;
	PFNEGLEXPORTDMABUFIMAGEMESAPROC export;
	PFNEGLDESTROYIMAGEKHRPROC destroy;
	struct image image = { 0 };
	EGLImageKHR made;
	GLuint texture, fbo, before;
	EGLuint64KHR modifier;
	int planes, fd, status;

	context_create(EGL_NO_CONTEXT);
	create = egl_function("eglCreateImageKHR");
	query = egl_function("eglExportDMABUFImageQueryMESA");
	export = egl_function("eglExportDMABUFImageMESA");
	destroy = egl_function("eglDestroyImageKHR");
	/* So that the other process has it at another address. */
	glGenTextures(1, &before);
	glBindTexture(GL_TEXTURE_2D, before);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1024, 1024, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	fbo = framebuffer(texture);
	clear(0, 0, SIDE, SIDE, 1, 0, 0);
	clear(16, 32, 100, 40, 0, 1, 0);
	expect("the exporter", false);
	made = create(context_display(), eglGetCurrentContext(), EGL_GL_TEXTURE_2D_KHR,
		      (EGLClientBuffer)(uintptr_t)texture, NULL);
	if (made == EGL_NO_IMAGE_KHR || !query(context_display(), made, &image.fourcc, &planes, &modifier) ||
	    planes != 1 || !export(context_display(), made, &fd, &image.stride, &image.offset))
		die("the texture is not exported (0x%x)", eglGetError());
	expect("the exporter, exported", false);
	glFinish();
	send_image(socket, &image, fd);
	close(fd);
	await(socket);
	expect("the exporter, from the importer", true);
	destroy(context_display(), made);
	glDeleteFramebuffers(1, &fbo);
	glDeleteTextures(1, &texture);
	glFinish();
	tell(socket);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
		die("the importer fails");
	printf("dma-buf: %s, stride %d: read and rendered by two processes\n", glGetString(GL_RENDERER), image.stride);
	return 0;
}

static int dma_buf(void)
{
	int sockets[2], child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		die("socketpair fails");
	/* Before the device is open: each process has its own. */
	child = fork();
	if (!child) {
		close(sockets[0]);
		exit(importer(sockets[1]));
	}
	close(sockets[1]);
	return exporter(sockets[0], child);
}

#define PINNED (64 * 1024)

static int pinned(void)
{
	uint8_t *memory, *file, *wanted = malloc(PINNED), *found = malloc(PINNED);
	GLuint buffers[3];
	int fd = memfd_create("file", 0);

	context_create(EGL_NO_CONTEXT);
	if (posix_memalign((void **)&memory, 4096, PINNED) || ftruncate(fd, PINNED))
		die("no memory");
	file = mmap(NULL, PINNED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fill(memory, PINNED, 1);
	glGenBuffers(3, buffers);
	glBindBuffer(GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, buffers[0]);
	glBufferData(GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, PINNED, memory, GL_STREAM_COPY);
	no_error("GL_AMD_pinned_memory");
	glBindBuffer(GL_COPY_READ_BUFFER, buffers[0]);
	glBindBuffer(GL_COPY_WRITE_BUFFER, buffers[1]);
	glBufferData(GL_COPY_WRITE_BUFFER, PINNED, NULL, GL_STATIC_COPY);
	for (int round = 2; round < 5; round++) {
		/* No call of GL tells that the CPU has written. */
		fill(memory, PINNED, round);
		fill(wanted, PINNED, round);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, PINNED);
		glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, PINNED, found);
		if (memcmp(wanted, found, PINNED))
			die("round %d: the GPU does not read what the CPU has written", round);
	}
	fill(wanted, PINNED, 9);
	glBufferSubData(GL_COPY_WRITE_BUFFER, 0, PINNED, wanted);
	glCopyBufferSubData(GL_COPY_WRITE_BUFFER, GL_COPY_READ_BUFFER, 4096, 8192, 16384);
	glFinish();
	if (memcmp(memory + 8192, wanted + 4096, 16384))
		die("the CPU does not see what the GPU has written");
	fill(found, PINNED, 4);
	if (memcmp(memory, found, 8192) || memcmp(memory + 24576, found + 24576, PINNED - 24576))
		die("the GPU has written elsewhere");
	no_error("copies");
	glBindBuffer(GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, buffers[2]);
	glBufferData(GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, PINNED, file, GL_STREAM_COPY);
	if (glGetError() == GL_NO_ERROR)
		die("memory of a file is accepted");
	printf("pinned: %s\n", glGetString(GL_RENDERER));
	return 0;
}

static int endless(void)
{
	GLuint program, texture, vbo;
	static const float triangle[] = { -1, -1, 3, -1, -1, 3 };

	context_create(EGL_NO_CONTEXT);
	program = link_program(compile(GL_VERTEX_SHADER, "#version 120\n"
				       "attribute vec2 position;\n"
				       "void main() { gl_Position = vec4(position, 0.0, 1.0); }\n"),
			       compile(GL_FRAGMENT_SHADER, "#version 120\n"
				       "uniform float step, shade;\n"
				       "void main() { float x = 1.0; while (x > 0.0) x += step; gl_FragColor = vec4(shade, x, 0.5, 1.0); }\n"),
			       NULL);
	glUseProgram(program);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	framebuffer(texture);
	glGenBuffers(1, &vbo);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, sizeof(triangle), triangle, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	for (int i = 0; i < 6; i++) {
		/* The loop ends at once, but in the last but one. */
		glUniform1f(glGetUniformLocation(program, "step"), i == 4 ? 1.0f : -2.0f);
		glUniform1f(glGetUniformLocation(program, "shade"), (float)(i + 1) / 8);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		glFinish();
	}
	no_error("draws");
	printf("endless: %s\n", glGetString(GL_RENDERER));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "dma-buf"))
		return dma_buf();
	if (argc == 2 && !strcmp(argv[1], "pinned"))
		return pinned();
	if (argc == 2 && !strcmp(argv[1], "endless"))
		return endless();
	fprintf(stderr, "usage: gl-share dma-buf|pinned|endless\n");
	return 2;
}
