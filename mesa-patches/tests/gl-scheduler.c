/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-scheduler
 *
 * Shaders that need what a scheduler has to share out: read ports of registers and constants, units, GPRs, the
 * stack, AR, lines of the constant cache, clauses. Their results are whole numbers, so that all drivers have the
 * same. lab/mutations --mesa compares what a changed Mesa prints with what the unmodified one does.
 *
 * gl-scheduler CASE... runs these cases and prints what each pixel has. --list names them; those behind the
 * empty line need OpenGL 4.3. Status 1: something is missing, with a line on stderr.
 */

#include "gltest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 4 /* pixels of the target in x and y */
#define TEXELS 16 /* of the textures in x and y */
#define CONSTANTS 40

static const char VERTEX[] =
	"#version 330\n"
	"layout(location = 0) in vec2 p;"
	"uniform vec4 k[40];"
	"out vec4 v0, v1, v2, v3, v4, v5;"
	"void main() {"
	"	gl_Position = vec4(p, 0.0, 1.0);"
	/* 1 at all vertices: the linker moves what does not depend on the vertex to the fragment shader. */
	"	float one = min(abs(p.x), 1.0);"
	"	v0 = k[0] * one; v1 = k[1] * one; v2 = k[2] * one; v3 = k[3] * one; v4 = k[4] * one; v5 = k[5] * one;"
	"}";

/* What all fragment shaders begin with: texels a to h of each pixel. */
static const char HEAD[] =
	"#version 330\n"
	"in vec4 v0, v1, v2, v3, v4, v5;"
	"layout(location = 0) out vec4 o;"
	"uniform vec4 k[40];"
	"uniform sampler2D t, s;"
	"uniform isamplerBuffer y;"
	"layout(std140) uniform U { ivec4 n[16]; };"
	"vec4 at(int i) { return texelFetch(t, ivec2(gl_FragCoord.xy) + ivec2(i, i / 3), 0); }"
	"void main() {"
	"	vec4 a = at(0), b = at(1), c = at(2), d = at(3), e = at(4), f = at(5), g = at(6), h = at(7);\n";

static char source[1 << 16];

/* Adds to the source of a fragment shader. */
static void add(const char *text)
{
	if (strlen(source) + strlen(text) + 1 > sizeof(source))
		die("a source is too long");
	strcat(source, text);
}

static void line(const char *format, int i)
{
	char text[512];

	snprintf(text, sizeof(text), format, i, i, i, i);
	add(text);
}

/* Three registers of an element are all that a group can read: each swizzle has to be another one. */
static void ports(void)
{
	add("o = vec4(a.x * b.x + c.x, b.x * c.x + a.x, c.x * a.x + b.x, d.y * e.y + f.y)"
	    "+ vec4(e.y * f.y + d.y, f.y * d.y + e.y, g.z * h.z + a.z, h.z * a.z + g.z)"
	    "+ vec4(a.w * b.w + c.w, d.w * a.w + b.w, c.w * d.w + a.w, b.w * c.w + d.w);");
}

/* Two elements of a register, and the second one of another register. */
static void operands(void)
{
	add("o = vec4(a.x * a.y + 3.0, c.z * b.y + 5.0, 1.0, 2.0);");
}

static void constants(void)
{
	add("o = vec4(a.x * k[0].x + k[9].z, a.y * k[17].y + k[3].x, a.z * k[5].z + k[30].y, a.w * k[7].w + k[11].x)"
	    "+ vec4(k[1].x + k[12].y, k[4].z + k[21].w, k[6].x + k[25].z, k[2].y + k[33].x);");
}

static void scalars(void)
{
	add("vec4 i = k[0].xyzw * 3.0 + a;"
	    "vec4 j = k[0].xyzw * 5.0 + b;"
	    "vec4 l = c * 7.0 + d, r = e * k[2].x + f, q = g * 9.0 + h;"
	    "ivec4 m = ivec4(a) * ivec4(b.yzwx) + ivec4(k[1]) * ivec4(c);"
	    "o = floor(i * 0.5) + j + l * r + q + vec4(m) + floor(sqrt(a * a) + exp2(vec4(1.0, 2.0, 3.0, 4.0)) + 0.5);");
}

static void scaled(void)
{
	add("vec4 i = k[0] * 3.0 + a, j = k[0] * 5.0 + b, l = c * 7.0 + d, r = e * k[2].x + f, q = g * 9.0 + h;"
	    "o = i + j * 2.0 + l + r * 3.0 + q;");
}

static void inputs(void)
{
	add("o = v0 * v1 + v2 * v3.yzwx + v4 * v5.zwxy + v1 * v5 + v3 * v3;");
}

static void registers(void)
{
	for (int i = 0; i < 12; i++)
		line("vec4 r%d = at(%d) + k[%d];", i);
	add("o = vec4(0.0);");
	for (int i = 0; i < 12; i++)
		line("o = o.wxyz + r%d * r%d.yzwx;", i);
	for (int i = 11; i >= 0; i--)
		line("o = o.yzwx + r%d.zwxy;", i);
}

static void nested(int depth)
{
	add("o = a;");
	for (int i = 0; i < depth; i++)
		line("if (at(%d).x + o.x > 1.0) { o += at(int(o.y) & 7) + at(%d);", i);
	for (int i = 0; i < depth; i++)
		add("}");
}

static void nested3(void)
{
	nested(3);
}

static void nested4(void)
{
	nested(4);
}

static void nested6(void)
{
	nested(6);
}

static void loops(void)
{
	add("o = a; for (int i = 0; i < int(b.x); i++) { o += at(i & 7);"
	    "	for (int j = 0; j < int(c.y); j++) { o += at(j & 3).yzwx; if (o.x > 200.0) break; } }");
}

static void branches(void)
{
	add("o = a; if (b.x > 12.0) { o += at(int(c.x) & 7); } else { o -= at(int(c.y) & 7); }"
	    "if (b.y > 12.0) { o += at(int(c.z) & 7) * 2.0; } o += k[3];");
}

static void chain(void)
{
	add("int i = int(gl_FragCoord.x) + 4 * int(gl_FragCoord.y);"
	    "o = vec4(texelFetch(y, texelFetch(y, texelFetch(y, i).x).x)) + a;");
}

static void texels(void)
{
	add("o = floor(texture(s, texture(s, gl_FragCoord.xy / 16.0).xy) * 16.0) + a;");
}

static void array(void)
{
	add("float q[8]; vec4 z = a;");
	for (int i = 0; i < 8; i++)
		line("q[%d] = at(%d).x;", i);
	for (int i = 0; i < 6; i++)
		line("q[int(at(%d).y) & 7] = z.x; z += vec4(q[int(at(%d).z) & 7], q[%d], z.x, z.y);", i);
	add("o = z + vec4(q[0], q[3], q[5], q[7]);");
}

static void clauses(void)
{
	add("ivec4 i = ivec4(a), j = ivec4(b), m = ivec4(c);");
	for (int n = 0; n < 60; n++)
		line("i = (i.yzwx ^ j) + m; j = j.wxyz + (i | %d); m = m ^ i;", n + 1000);
	add("o = vec4((i ^ j ^ m) & 0xffff);");
}

static void literals(void)
{
	add("ivec4 i = ivec4(a) + ivec4(1001, 1002, 1003, 1004); ivec4 j = ivec4(b) ^ ivec4(77777);"
	    "ivec4 m = (i + ivec4(2001, 2002, 2003, 2001)) ^ (j + ivec4(31337, 31337, 31337, 31338));"
	    "o = vec4(i + j + m);");
}

static void swap(void)
{
	add("for (int i = 0; i < int(c.x); i++) { float z = a.x; a.x = b.x + 1.0; b.x = z; a.yz = a.zy; b.y = a.y + a.z;"
	    "	b.w = a.w; a.w = b.y; } o = vec4(a.x, b.x, a.y + b.y, a.w + b.w);");
}

static void kills(void)
{
	add("o = a + b; if (a.x > 20.0) discard; if (b.y > 24.0) discard; if (c.z < 3.0) discard;");
}

static void previous(void)
{
	add("vec4 z = a + b; z = z.yzwx * c; z = z.zwxy + d; ivec4 m = ivec4(z) * ivec4(e); m = m.wzyx + ivec4(f);"
	    "m = m * ivec4(g.x); o = vec4(m & 0xffff) + z;");
}

/* Cases of OpenGL 3.3. */
static const struct {
	const char *name;
	void (*make)(void);
} CASES[] = {
	{ "ports", ports }, { "operands", operands }, { "constants", constants }, { "scalars", scalars },
	{ "scaled", scaled },
	{ "inputs", inputs }, { "registers", registers }, { "nested3", nested3 }, { "nested4", nested4 },
	{ "nested6", nested6 }, { "loops", loops }, { "branches", branches }, { "chain", chain },
	{ "texels", texels }, { "array", array }, { "clauses", clauses }, { "literals", literals },
	{ "swap", swap }, { "kills", kills }, { "previous", previous },
};

/* Compute shaders of OpenGL 4.3, one group of 16 threads. */
static const char COMPUTE[] =
	"#version 430\n"
	"layout(local_size_x = 16) in;"
	"layout(std430, binding = 0) buffer B { ivec4 out_[16]; };"
	"layout(std140, binding = 0) uniform U { ivec4 n[16]; };"
	"layout(std140, binding = 1) uniform W { ivec4 w; } u[4];"
	"layout(location = 0) uniform int which;"
	"shared int m[64];"
	"void main() { int i = int(gl_LocalInvocationIndex); ivec4 o = n[i];\n";

static const struct {
	const char *name, *source;
} COMPUTE_CASES[] = {
	{ "shared", "m[i] = o.x; m[i + 16] = o.y; m[i + 32] = o.z; m[i + 48] = o.w; barrier();"
		    "for (int j = 0; j < 3; j++) { o.x += m[(i + j) & 63]; o.y ^= m[(i * 3 + j) & 63];"
		    "	o.z += m[(o.x + j) & 63] + m[(o.y + 5) & 63]; }"
		    "barrier(); atomicAdd(m[o.x & 63], i); barrier(); o.w += m[i] + m[i + 32];" },
	{ "blocks", "o += u[which].w + u[(which + 1) & 3].w * 3 + u[(which + 2) & 3].w;" },
	{ "conversions", "vec4 z = vec4(o) * 1.5 + 0.25; ivec4 y = ivec4(z) + ivec4(z.yzwx * 2.0); o += y + ivec4(floor(z.zwxy));"
			 "o += bitfieldExtract(o.wxyz, 1, 5) + bitfieldInsert(o, o.yzwx, 2, 3);" },
	{ "fields", "ivec4 p = n[(i + 3) & 15], q = n[(i + 7) & 15];"
		    "o = (bitfieldExtract(o, 1, 3) ^ bitfieldExtract(p, 2, 2)) + bitfieldExtract(q, 1, 2);" },
};

static void texture(const float *texels)
{
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, TEXELS, TEXELS, 0, GL_RGBA, GL_FLOAT, texels);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static GLuint uniforms(GLuint binding, int seed)
{
	int32_t values[16][4];
	GLuint name;

	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 4; j++)
			values[i][j] = (i * (5 + j) + 3 * j + seed) & 15;
	glGenBuffers(1, &name);
	glBindBuffer(GL_UNIFORM_BUFFER, name);
	glBufferData(GL_UNIFORM_BUFFER, sizeof(values), values, GL_STATIC_DRAW);
	glBindBufferBase(GL_UNIFORM_BUFFER, binding, name);
	return name;
}

static void inputs_of_all(void)
{
	static float small[TEXELS * TEXELS][4], places[TEXELS * TEXELS][4];
	GLuint name;

	for (int i = 0; i < TEXELS * TEXELS; i++) {
		for (int j = 0; j < 4; j++) {
			small[i][j] = (i * 7 + i / 16 * 3 + j * 11) % 31;
			places[i][j] = ((i * 5 + j * 3 + i / 16) % 16 + 0.5f) / 16.0f;
		}
	}
	glActiveTexture(GL_TEXTURE3);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_BUFFER, name);
	glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32I, uniforms(0, 0));
	glActiveTexture(GL_TEXTURE1);
	texture(places[0]);
	glActiveTexture(GL_TEXTURE0);
	texture(small[0]);
}

static void target(void)
{
	GLuint fbo, name;

	glGenTextures(1, &name);
	glActiveTexture(GL_TEXTURE2);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, SIZE, SIZE, 0, GL_RGBA, GL_FLOAT, NULL);
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		die("the framebuffer is not complete");
	glViewport(0, 0, SIZE, SIZE);
}

static void triangle(void)
{
	static const float positions[] = { -1, -1, 3, -1, -1, 3 };
	GLuint vao, vbo;

	glGenVertexArrays(1, &vao);
	glBindVertexArray(vao);
	glGenBuffers(1, &vbo);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, sizeof(positions), positions, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
}

static void run(const char *name, void (*make)(void))
{
	const float nothing[] = { -1, -1, -1, -1 };
	float pixels[SIZE * SIZE][4];
	GLuint program;

	source[0] = 0;
	add(HEAD);
	make();
	add("}");
	program = link_program(compile(GL_VERTEX_SHADER, VERTEX), compile(GL_FRAGMENT_SHADER, source), NULL);
	glUseProgram(program);
	glUniform1i(glGetUniformLocation(program, "s"), 1);
	glUniform1i(glGetUniformLocation(program, "y"), 3);
	for (int i = 0; i < CONSTANTS; i++) {
		char of[16];

		snprintf(of, sizeof(of), "k[%d]", i);
		glUniform4f(glGetUniformLocation(program, of), i + 1, i % 7 + 2, i % 5 + 1, i % 3 + 4);
	}
	glClearBufferfv(GL_COLOR, 0, nothing);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_FLOAT, pixels);
	no_error(name);
	for (int i = 0; i < SIZE * SIZE; i++)
		printf("%s: pixel %d: %.9g %.9g %.9g %.9g\n", name, i, pixels[i][0], pixels[i][1], pixels[i][2],
		       pixels[i][3]);
}

static void dispatch(const char *name, const char *body)
{
	int32_t found[16][4];
	GLuint program, buffer;

	source[0] = 0;
	add(COMPUTE);
	add(body);
	add("out_[i] = o; }");
	program = link_program(compile(GL_COMPUTE_SHADER, source), 0, NULL);
	glUseProgram(program);
	glUniform1i(0, 2);
	for (int i = 0; i < 4; i++)
		uniforms(1 + i, 7 * i + 1);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof(found), NULL, GL_DYNAMIC_COPY);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glDispatchCompute(1, 1, 1);
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	glGetBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, sizeof(found), found);
	no_error(name);
	for (int i = 0; i < 16; i++)
		printf("%s: thread %d: %d %d %d %d\n", name, i, found[i][0], found[i][1], found[i][2], found[i][3]);
}

static void run_named(const char *name)
{
	for (unsigned i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		if (!strcmp(name, CASES[i].name)) {
			run(name, CASES[i].make);
			return;
		}
	}
	for (unsigned i = 0; i < sizeof(COMPUTE_CASES) / sizeof(*COMPUTE_CASES); i++) {
		if (!strcmp(name, COMPUTE_CASES[i].name)) {
			dispatch(name, COMPUTE_CASES[i].source);
			return;
		}
	}
	die("no case '%s': gl-scheduler --list names them", name);
}

static void list(void)
{
	for (unsigned i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
		puts(CASES[i].name);
	puts("");
	for (unsigned i = 0; i < sizeof(COMPUTE_CASES) / sizeof(*COMPUTE_CASES); i++)
		puts(COMPUTE_CASES[i].name);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	if (argc < 2)
		die("usage: gl-scheduler CASE... | --list");
	if (context_create_core(EGL_NO_CONTEXT, 4, 3) == EGL_NO_CONTEXT &&
	    context_create_core(EGL_NO_CONTEXT, 3, 3) == EGL_NO_CONTEXT)
		die("no OpenGL 3.3");
	fprintf(stderr, "%s\n", (const char *)glGetString(GL_RENDERER));
	triangle();
	inputs_of_all();
	target();
	for (int i = 1; i < argc; i++)
		run_named(argv[i]);
	return 0;
}
