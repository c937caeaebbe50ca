/* SPDX-License-Identifier: MIT */
/* Draws: where inputs of pixel shaders are interpolated, points behind the edges, indirect ones. */

#include "evergreen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIDE 8

/* Binds a new framebuffer of this format, all 0. */
static void cleared_target(GLenum format, GLsizei width, GLsizei height)
{
	const GLuint zeroes[4] = { 0 };

	new_target(format, width, height);
	if (format == GL_R32UI)
		glClearBufferuiv(GL_COLOR, 0, zeroes);
	else
		glClear(GL_COLOR_BUFFER_BIT);
}

/* An input whose value is the place in pixels, as it is declared and at an offset. */
static void places_of_inputs(void)
{
	static const char *const declarations[] = { "", "sample", "centroid", "sample noperspective",
						    "centroid noperspective" };
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const float x_offset = 0.25f, y_offset = -0.125f;

	for (unsigned n = 0; n < sizeof(declarations) / sizeof(*declarations); n++) {
		char vertex[512], pixel[512];
		const char *sources[] = { vertex, pixel };
		float found[SIDE][SIDE][4];

		snprintf(vertex, sizeof(vertex), "#version 430\n#extension GL_ARB_gpu_shader5 : require\n"
			 "layout(location = 0) in vec2 p; %s out vec2 place;"
			 "void main() { gl_Position = vec4(p, 0.0, 1.0); place = (p + 1.0) * 4.0; }", declarations[n]);
		snprintf(pixel, sizeof(pixel), "#version 430\n#extension GL_ARB_gpu_shader5 : require\n"
			 "%s in vec2 place; out vec4 c;"
			 "void main() { c = vec4(place, interpolateAtOffset(place, vec2(0.25, -0.125))); }", declarations[n]);
		cleared_target(GL_RGBA32F, SIDE, SIDE);
		program_of(types, sources);
		quad();
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_FLOAT, found);
		for (unsigned y = 0; y < SIDE; y++) {
			for (unsigned x = 0; x < SIDE; x++) {
				const float expected[] = { x + 0.5f, y + 0.5f, x + 0.5f + x_offset, y + 0.5f + y_offset };

				for (unsigned i = 0; i < 4; i++) {
					if (fabsf(found[y][x][i] - expected[i]) > 1.0f / 32) {
						wrong("\"%s\": component %u at %u %u is %f, expected %f", declarations[n],
						      i, x, y, found[y][x][i], expected[i]);
						return;
					}
				}
			}
		}
	}
}

/* Points of eight pixels whose centre is a pixel outside of a viewport of 16. */
static void tessellated_points(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_TESS_EVALUATION_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *sources[] = { "#version 430\nvoid main() { gl_Position = vec4(0.0); }",
				  "#version 430\nlayout(quads, point_mode) in; uniform vec2 p;"
				  "void main() { gl_Position = vec4(p, 0.0, 1.0); gl_PointSize = 8.0; }",
				  "#version 430\nout uint c; void main() { c = 1u; }" };
	static const struct {
		float x, y;
		int first[2], end[2];
	} points[] = {
		{ -1.125f, 0, { 0, 4 }, { 3, 12 } },
		{ 1.125f, 0, { 13, 4 }, { 16, 12 } },
		{ 0, 1.125f, { 4, 13 }, { 12, 16 } },
		{ 0, 0, { 4, 4 }, { 12, 12 } },
	};
	GLuint array, program;

	program = program_of(types, sources);
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	glEnable(GL_PROGRAM_POINT_SIZE);
	glPatchParameteri(GL_PATCH_VERTICES, 1);
	for (unsigned n = 0; n < sizeof(points) / sizeof(*points); n++) {
		uint32_t found[16][16], expected[16][16] = { { 0 } };

		cleared_target(GL_R32UI, 16, 16);
		glUniform2f(glGetUniformLocation(program, "p"), points[n].x, points[n].y);
		glDrawArrays(GL_PATCHES, 0, 1);
		glReadPixels(0, 0, 16, 16, GL_RED_INTEGER, GL_UNSIGNED_INT, found);
		for (int y = points[n].first[1]; y < points[n].end[1]; y++) {
			for (int x = points[n].first[0]; x < points[n].end[0]; x++)
				expected[y][x] = 1;
		}
		equal("points", found, expected, 16 * 16);
	}
	glDisable(GL_PROGRAM_POINT_SIZE);
}

/* Each vertex is a point in the pixel that gl_VertexID says. */
static void first_of_indirect(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *sources[] = { "#version 430\nflat out uint id; void main() { id = uint(gl_VertexID);"
				  "  gl_Position = vec4((float(gl_VertexID) + 0.5) / 8.0 - 1.0, 0.0, 0.0, 1.0); }",
				  "#version 430\nflat in uint id; out uint c; void main() { c = id + 1u; }" };
	const uint32_t expected[16] = { [5] = 6, 7, 8, [11] = 12, 13 };
	const uint32_t arguments[] = { 3, 1, 5, 0, 2, 1, 1, 9, 0 }, indices[] = { 0, 2, 3 };
	uint32_t found[16];
	GLuint array, buffers[2];

	cleared_target(GL_R32UI, 16, 1);
	program_of(types, sources);
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	glGenBuffers(2, buffers);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, buffers[0]);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(arguments), arguments, GL_STATIC_DRAW);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
	glDrawArraysIndirect(GL_POINTS, NULL);
	glDrawElementsIndirect(GL_POINTS, GL_UNSIGNED_INT, (const void *)(4 * sizeof(*arguments)));
	glReadPixels(0, 0, 16, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, found);
	equal("pixels", found, expected, 16);
}

/* Vertices in the program's memory, which a compatibility context draws from, and indices with a base. */
static void base_of_indirect(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *sources[] = { "#version 130\nattribute float x; void main() { gl_Position = vec4(x, 0.0, 0.0, 1.0); }",
				  "#version 130\nout uint c; void main() { c = 1u; }" };
	const uint32_t expected[16] = { [4] = 1, 1, [7] = 1 };
	const uint32_t arguments[] = { 3, 1, 1, 4, 0 }, indices[] = { 9, 0, 1, 3 };
	EGLDisplay display = eglGetCurrentDisplay();
	EGLContext core = eglGetCurrentContext(), context = context_create(EGL_NO_CONTEXT);
	uint32_t found[16];
	float places[16];
	GLuint buffers[2];
	GLint x;

	for (unsigned i = 0; i < 16; i++)
		places[i] = (i + 0.5f) / 8 - 1;
	cleared_target(GL_R32UI, 16, 1);
	x = glGetAttribLocation(program_of(types, sources), "x");
	glEnableVertexAttribArray((GLuint)x);
	glVertexAttribPointer((GLuint)x, 1, GL_FLOAT, GL_FALSE, 0, places);
	glGenBuffers(2, buffers);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, buffers[0]);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(arguments), arguments, GL_STATIC_DRAW);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
	glDrawElementsIndirect(GL_POINTS, GL_UNSIGNED_INT, NULL);
	glReadPixels(0, 0, 16, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, found);
	equal("pixels", found, expected, 16);
	no_error("drawing");
	context_destroy(context);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, core);
}

const struct test draw_tests[] = {
	{ "places-of-inputs", places_of_inputs },
	{ "tessellated-points", tessellated_points },
	{ "first-of-indirect", first_of_indirect },
	{ "base-of-indirect", base_of_indirect },
	{ NULL, NULL },
};
