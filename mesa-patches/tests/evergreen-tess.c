/* SPDX-License-Identifier: MIT */
/* Tessellation: the points of each domain, what covers it, what the shaders of a patch exchange. */

#include "evergreen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "#version 430\n#extension GL_ARB_enhanced_layouts : require\n"

enum { MOST = 1 << 14 };

/** struct levels - outer and inner levels of a patch */
struct levels {
	float outer[4], inner[2];
};

static const char VERTEX[] = HEADER "layout(location = 0) in vec2 p; out vec4 v;"
				    "void main() { v = vec4(p, gl_VertexID, gl_InstanceID); gl_Position = v; }";

/* A program without control shader, whose evaluation shader has this layout and code. */
static void tess_program(const char *layout, const char *code)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_TESS_EVALUATION_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *sources[] = { VERTEX, NULL,
				  HEADER "out vec4 c; void main() { c = vec4(1.0 / 255.0); }" };
	char eval[2048];

	snprintf(eval, sizeof(eval), HEADER "layout(%s) in; %s", layout, code);
	sources[1] = eval;
	program_of(types, sources);
}

static void set_levels(const struct levels *levels)
{
	glPatchParameterfv(GL_PATCH_DEFAULT_OUTER_LEVEL, levels->outer);
	glPatchParameterfv(GL_PATCH_DEFAULT_INNER_LEVEL, levels->inner);
}

/* Draws @patches patches of @size vertices and records the vectors of the points. Returns their number. */
static unsigned record(GLenum mode, unsigned size, unsigned patches, float (*out)[4])
{
	GLuint buffer, query, array, count = 0;
	GLint framebuffer;
	unsigned each = mode == GL_POINTS ? 1 : mode == GL_LINES ? 2 : 3;

	glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer);
	/* Without a framebuffer there are no draws. */
	if (!framebuffer)
		new_target(GL_RGBA8, 16, 16);
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, MOST * 16, NULL, GL_DYNAMIC_COPY);
	glGenQueries(1, &query);
	glEnable(GL_RASTERIZER_DISCARD);
	glPatchParameteri(GL_PATCH_VERTICES, (GLint)size);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
	glBeginTransformFeedback(mode);
	glDrawArrays(GL_PATCHES, 0, (GLsizei)(size * patches));
	glEndTransformFeedback();
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &count);
	glDisable(GL_RASTERIZER_DISCARD);
	buffer_read(buffer, out, MOST * 16);
	return count * each;
}

static int by_place(const void *a, const void *b)
{
	const float *p = a, *q = b;

	for (unsigned i = 0; i < 2; i++) {
		if (fabsf(p[i] - q[i]) > 1e-4f)
			return p[i] < q[i] ? -1 : 1;
	}
	return 0;
}

/* Compares points as sets: places to 1/4096, as drivers round them. */
static void same_points(const char *what, float (*found)[4], unsigned count, float (*expected)[4], unsigned wanted)
{
	if (count != wanted) {
		wrong("%s: %u points, expected %u", what, count, wanted);
		return;
	}
	qsort(found, count, sizeof(*found), by_place);
	qsort(expected, count, sizeof(*expected), by_place);
	for (unsigned i = 0; i < count; i++) {
		if (fabsf(found[i][0] - expected[i][0]) > 1.0f / 4096 || fabsf(found[i][1] - expected[i][1]) > 1.0f / 4096) {
			wrong("%s: point %u is at %f %f, expected %f %f", what, i, found[i][0], found[i][1],
			      expected[i][0], expected[i][1]);
			return;
		}
	}
}

static unsigned add(float (*to)[4], unsigned n, float u, float v)
{
	to[n][0] = u;
	to[n][1] = v;
	return n + 1;
}

static const char POINT[] = "layout(xfb_buffer = 0, xfb_offset = 0) out vec4 o;"
			    "void main() { o = vec4(gl_TessCoord, gl_PrimitiveID); gl_Position = o; }";

/* With equal spacing GL says where each point of a quad and of isolines is. */
static void points(void)
{
	static const struct levels cases[] = {
		{ { 1, 1, 1, 1 }, { 1, 1 } }, { { 2, 3, 4, 5 }, { 6, 7 } }, { { 1, 1, 1, 2 }, { 1, 1 } },
		{ { 64, 1, 63, 7 }, { 2, 64 } }, { { 3.5f, 0.5f, 9.01f, 100 }, { 1, 5.5f } },
	};
	static float found[MOST][4], expected[MOST][4];
	unsigned n;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct levels *l = &cases[i];
		unsigned o[4], m[2], ones = 1;
		char what[32];

		for (unsigned j = 0; j < 4; j++)
			o[j] = (unsigned)ceilf(fminf(fmaxf(l->outer[j], 1), 64));
		for (unsigned j = 0; j < 2; j++)
			m[j] = (unsigned)ceilf(fminf(fmaxf(l->inner[j], 1), 64));
		ones = o[0] * o[1] * o[2] * o[3] * m[0] * m[1] == 1;
		for (unsigned j = 0; j < 2; j++)
			m[j] = m[j] == 1 && !ones ? 2 : m[j];

		tess_program("quads, equal_spacing, point_mode", POINT);
		set_levels(l);
		n = 0;
		for (unsigned j = 0; j < o[0]; j++)
			n = add(expected, n, 0, 1 - (float)j / o[0]);
		for (unsigned j = 0; j < o[1]; j++)
			n = add(expected, n, (float)j / o[1], 0);
		for (unsigned j = 0; j < o[2]; j++)
			n = add(expected, n, 1, (float)j / o[2]);
		for (unsigned j = 0; j < o[3]; j++)
			n = add(expected, n, 1 - (float)j / o[3], 1);
		for (unsigned j = 1; j < m[0]; j++) {
			for (unsigned k = 1; k < m[1]; k++)
				n = add(expected, n, (float)j / m[0], (float)k / m[1]);
		}
		snprintf(what, sizeof(what), "quads %u", i);
		same_points(what, found, record(GL_POINTS, 4, 1, found), expected, n);

		tess_program("isolines, equal_spacing, point_mode", POINT);
		n = 0;
		for (unsigned j = 0; j < o[0]; j++) {
			for (unsigned k = 0; k <= o[1]; k++)
				n = add(expected, n, (float)k / o[1], (float)j / o[0]);
		}
		snprintf(what, sizeof(what), "isolines %u", i);
		same_points(what, found, record(GL_POINTS, 1, 1, found), expected, n);
	}
	/* A triangle of four segments, inside it one of two, and the centre. */
	tess_program("triangles, equal_spacing, point_mode", POINT);
	set_levels(&(struct levels){ { 2, 1, 3, 0 }, { 4, 0 } });
	n = add(expected, 0, 0, 0);
	n = add(expected, n, 0, 0.5f);
	n = add(expected, n, 1, 0);
	n = add(expected, n, 0, 1);
	n = add(expected, n, 1.0f / 3, 2.0f / 3);
	n = add(expected, n, 2.0f / 3, 1.0f / 3);
	for (unsigned j = 0; j < 3; j++) {
		static const float inner[3][2] = { { 1, 1 }, { 4, 1 }, { 1, 4 } };
		const float *a = inner[j], *b = inner[(j + 1) % 3];

		n = add(expected, n, a[0] / 6, a[1] / 6);
		n = add(expected, n, (a[0] + b[0]) / 12, (a[1] + b[1]) / 12);
	}
	n = add(expected, n, 1.0f / 3, 1.0f / 3);
	same_points("triangles", found, record(GL_POINTS, 3, 1, found), expected, n);
	for (unsigned i = 0; i < n; i++) {
		if (fabsf(found[i][0] + found[i][1] + found[i][2] - 1) > 1e-6f)
			wrong("triangles: the coordinates of point %u are not 1 together", i);
	}
}

/* Edges are symmetric, and have the number of segments of their spacing; some patches are dropped. */
static void spacings(void)
{
	static const char *const names[3] = { "equal_spacing", "fractional_odd_spacing", "fractional_even_spacing" };
	static const float levels[] = { 1, 1.25f, 2, 2.5f, 3, 3.75f, 8, 21.5f, 63.5f, 64, 99 };
	static float found[MOST][4];

	for (unsigned s = 0; s < 3; s++) {
		char layout[64];

		snprintf(layout, sizeof(layout), "isolines, %s, point_mode", names[s]);
		tess_program(layout, POINT);
		for (unsigned i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
			float least = s == 2 ? 2 : 1, most = s == 1 ? 63 : 64, level = fminf(fmaxf(levels[i], least), most);
			unsigned segments = (unsigned)ceilf(level), n, lengths = 0;

			if (s == 1 && segments % 2 == 0)
				segments++;
			if (s == 2 && segments % 2)
				segments++;
			set_levels(&(struct levels){ { 1, levels[i], 1, 1 }, { 1, 1 } });
			n = record(GL_POINTS, 1, 1, found);
			if (n != segments + 1) {
				wrong("%s %g: %u points, expected %u", names[s], levels[i], n, segments + 1);
				continue;
			}
			qsort(found, n, sizeof(*found), by_place);
			for (unsigned j = 0; j < n; j++) {
				if (found[j][0] != 1 - found[n - 1 - j][0])
					wrong("%s %g: %f has no mirror", names[s], levels[i], found[j][0]);
			}
			/* Segments shorter than the first or longer: two at most, unless the first is one. */
			for (unsigned j = 1; j + 1 < n; j++)
				lengths += fabsf(found[j + 1][0] - found[j][0] - found[1][0]) > 1e-4f;
			if (lengths > 2 && lengths != n - 3)
				wrong("%s %g: %u segments have another length", names[s], levels[i], lengths);
			if (s == 0 && lengths)
				wrong("%s %g: segments are not equal", names[s], levels[i]);
		}
	}
	tess_program("triangles, point_mode", POINT);
	for (unsigned i = 0; i < 4; i++) {
		struct levels l = { { 1, 1, 1, 1 }, { 1, 1 } };

		l.outer[i] = i % 2 ? 0 : -1;
		set_levels(&l);
		if (record(GL_POINTS, 3, 1, found) != (i < 3 ? 0 : 3))
			wrong("level %u of 0 or less", i);
	}
}

/* Each pixel is covered once, from the front; from the back with the other order. */
static void coverage(void)
{
	enum { SIZE = 64 };
	static const struct levels cases[] = {
		{ { 1, 1, 1, 1 }, { 1, 1 } }, { { 1, 3, 7, 20 }, { 5, 2 } }, { { 9.5f, 64, 2, 3.25f }, { 1, 33.3f } },
		{ { 4, 4, 4, 4 }, { 4, 4 } }, { { 1, 1, 1, 1 }, { 12.2f, 1 } }, { { 64, 64, 64, 64 }, { 64, 64 } },
	};
	static const char *const spacings[3] = { "equal_spacing", "fractional_odd_spacing", "fractional_even_spacing" };
	static const char *const orders[2] = { "ccw", "cw" };
	static uint8_t found[SIZE * SIZE][4], expected[SIZE * SIZE][4];
	static float vertices[MOST][4];

	new_target(GL_RGBA8, SIZE, SIZE);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases) * 6; i++) {
		const char *order = orders[i / 3 % 2], *spacing = spacings[i % 3];
		char layout[64];

		for (unsigned domain = 0; domain < 2; domain++) {
			snprintf(layout, sizeof(layout), "%s, %s, %s", domain ? "triangles" : "quads", spacing, order);
			tess_program(layout, "layout(xfb_buffer = 0, xfb_offset = 0) out vec4 o; void main() { vec2 t = gl_TessCoord.xy;"
					     " o = gl_Position = vec4(t * 2.0 - 1.0, 0.0, 1.0); }");
			set_levels(&cases[i / 6]);
			record(GL_TRIANGLES, 3, 1, vertices);
			for (unsigned y = 0; y < SIZE; y++) {
				/* Below the line from (1, 0) to (0, 1), which goes through no pixel's centre but by a corner. */
				for (unsigned x = 0; x < SIZE; x++)
					memset(expected[y * SIZE + x], !domain || x + y < SIZE - 1, 4);
			}
			for (unsigned cull = 0; cull < 2; cull++) {
				bool visible = !cull || i / 3 % 2 == 0;

				(cull ? glEnable : glDisable)(GL_CULL_FACE);
				glClearColor(0, 0, 0, 0);
				glClear(GL_COLOR_BUFFER_BIT);
				glDrawArrays(GL_PATCHES, 0, 3);
				glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, found);
				for (unsigned p = 0; domain && p < SIZE * SIZE; p++) {
					/* The line itself belongs to either side. */
					if (p % SIZE + p / SIZE == SIZE - 1)
						memcpy(found[p], expected[p], 4);
				}
				if (!visible)
					memset(expected, 0, sizeof(expected));
				equal(layout, found, expected, SIZE * SIZE);
			}
			glDisable(GL_CULL_FACE);
		}
	}
}

/*
 * The control shader gets the vertices of its patch, makes more or fewer of them, and each of its
 * invocations reads what another has written. What comes before the barrier is in a branch, as in
 * the case "barriers".
 */
static void patches(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_TESS_CONTROL_SHADER, GL_TESS_EVALUATION_SHADER, 0 };
	static const unsigned sizes[][2] = { { 1, 3 }, { 5, 7 }, { 32, 1 }, { 3, 32 }, { 32, 32 } };
	static float found[MOST][4], expected[MOST][4];
	enum { PATCHES = 3 };

	for (unsigned s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		unsigned in = sizes[s][0], out = sizes[s][1], n = 0;
		char control[2048], what[32];
		const char *sources[] = { VERTEX, control,
			HEADER "layout(isolines, point_mode) in; in vec4 c[]; patch in vec4 whole;"
			"layout(xfb_buffer = 0, xfb_offset = 0) out vec4 o;"
			"void main() { int i = int(gl_TessCoord.x * whole.w + 0.5);"
			"  o = vec4(c[i].x, whole.xy, gl_PrimitiveID * 1000 + gl_PatchVerticesIn); }" };

		snprintf(control, sizeof(control), HEADER
			 "layout(vertices = %u) out; in vec4 v[]; out vec4 c[]; patch out vec4 whole; out float own[];"
			 "void main() { int i = gl_InvocationID, n = %u; float sum = v[0].z + v[gl_PatchVerticesIn - 1].z;"
			 "  if (sum >= 0.0) own[gl_InvocationID] = sum + 0.5 * float(i);"
			 "  barrier();"
			 "  c[gl_InvocationID] = vec4(own[n - 1 - i], 0.0, 0.0, 0.0);"
			 "  if (i == 0) { whole = vec4(gl_PrimitiveID, own[n - 1], 0.0, float(max(n - 1, 1)));"
			 "    gl_TessLevelOuter[0] = 1.0; gl_TessLevelOuter[1] = float(max(n - 1, 1)); } }", out, out);
		program_of(types, sources);
		snprintf(what, sizeof(what), "%u to %u", in, out);
		if (out == 1)
			continue; /* its evaluation shader would read c[1] */
		for (unsigned p = 0; p < PATCHES; p++) {
			float sum = (float)(p * in + p * in + in - 1);

			for (unsigned i = 0; i < out; i++, n++) {
				expected[n][0] = sum + 0.5f * (float)(out - 1 - i);
				expected[n][1] = (float)p;
				expected[n][2] = sum + 0.5f * (float)(out - 1);
				expected[n][3] = (float)(p * 1000 + out);
			}
		}
		if (record(GL_POINTS, in, PATCHES, found) != n)
			wrong("%s: not %u points", what, n);
		equal(what, found, expected, n * 4);
	}
}

/* A geometry shader gets the primitives of the patches, and their numbers. */
static void geometry(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_TESS_EVALUATION_SHADER, GL_GEOMETRY_SHADER, 0 };
	const char *const sources[] = { VERTEX,
		HEADER "layout(quads) in; out vec4 e; void main() { e = vec4(gl_TessCoord, gl_PrimitiveID); }",
		HEADER "layout(triangles) in; layout(points, max_vertices = 1) out; in vec4 e[];"
		"layout(xfb_buffer = 0, xfb_offset = 0) out vec4 o;"
		"void main() { vec2 a = e[1].xy - e[0].xy, b = e[2].xy - e[0].xy;"
		"  o = vec4(a.x * b.y - a.y * b.x, gl_PrimitiveIDIn, e[0].w, e[2].w); EmitVertex(); }" };
	static float found[MOST][4];
	float area = 0;
	unsigned n;

	program_of(types, sources);
	set_levels(&(struct levels){ { 5, 5, 5, 5 }, { 5, 5 } });
	n = record(GL_POINTS, 4, 3, found);
	if (n != 3 * 50)
		wrong("%u triangles", n);
	for (unsigned i = 0; i < n; i++) {
		area += found[i][0];
		if (found[i][1] != (float)(i / 50) || found[i][2] != found[i][1] || found[i][3] != found[i][1])
			wrong("triangle %u is of patches %g, %g, %g", i, found[i][1], found[i][2], found[i][3]);
	}
	if (fabsf(area - 6) > 1e-3f)
		wrong("the triangles' area is %g", area / 2);
}

/* A program without a tessellation and one with it, whose vertex shaders read the same texture, in turn. */
static void tessellation_in_turn(void)
{
	static const char FETCH[] = "#version 430\nlayout(binding = 0) uniform usampler2D s; flat out uint v;"
				    "void main() { v = texelFetch(s, ivec2(1, 0), 0).x; gl_Position = vec4(0.25, 0.0, 0.0, 1.0); }";
	static const char PIXEL[] = "#version 430\nflat in uint w; out uint c; void main() { c = w; }";
	const GLenum plain_types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *plain[] = { FETCH, "#version 430\nflat in uint v; out uint c; void main() { c = v; }" };
	const GLenum tess_types[] = { GL_VERTEX_SHADER, GL_TESS_EVALUATION_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *tess[] = { FETCH,
			       "#version 430\nlayout(quads, point_mode) in; layout(binding = 1) uniform usampler2D t;"
			       "flat in uint v[]; flat out uint w;"
			       "void main() { w = v[0] * 100u + texelFetch(t, ivec2(2, 0), 0).x; gl_Position = vec4(0.25, 0.0, 0.0, 1.0); }",
			       PIXEL };
	const uint32_t texels[2][4] = { { 11, 12, 13, 14 }, { 21, 22, 23, 24 } };
	GLuint programs[2], textures[2], array;

	glGenTextures(2, textures);
	for (unsigned i = 0; i < 2; i++) {
		glActiveTexture(GL_TEXTURE0 + i);
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4, 1);
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, texels[i]);
	}
	glActiveTexture(GL_TEXTURE2);
	new_target(GL_R32UI, 4, 1);
	glActiveTexture(GL_TEXTURE0);
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	programs[0] = program_of(plain_types, plain);
	programs[1] = program_of(tess_types, tess);
	glPatchParameteri(GL_PATCH_VERTICES, 1);
	for (unsigned round = 0; round < 6; round++) {
		const unsigned with = round & 1;
		const uint32_t expected = with ? 1223 : 12, zero[4] = { 0 };
		uint32_t found;

		glUseProgram(programs[with]);
		glClearBufferuiv(GL_COLOR, 0, zero);
		glDrawArrays(with ? GL_PATCHES : GL_POINTS, 0, 1);
		glReadPixels(2, 0, 1, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, &found);
		if (found != expected) {
			wrong("draw %u: %u, expected %u", round, found, expected);
			break;
		}
	}
}

const struct test tess_tests[] = {
	{ "tess-points", points },
	{ "tess-spacings", spacings },
	{ "tess-coverage", coverage },
	{ "tess-patches", patches },
	{ "tess-geometry", geometry },
	{ "tessellation-in-turn", tessellation_in_turn },
	{ NULL, NULL },
};
