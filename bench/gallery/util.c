/* SPDX-License-Identifier: MIT */
/* Matrices, shaders and meshes for the scenes. */
#include "gallery.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix identity(void)
{
	return scale(1, 1, 1);
}

struct matrix multiply(struct matrix a, struct matrix b)
{
	struct matrix r = { { 0 } };

	for (int column = 0; column < 4; column++)
		for (int row = 0; row < 4; row++)
			for (int i = 0; i < 4; i++)
				r.m[4 * column + row] += a.m[4 * i + row] * b.m[4 * column + i];
	return r;
}

struct matrix translate(float x, float y, float z)
{
	return (struct matrix){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1 } };
}

struct matrix scale(float x, float y, float z)
{
	return (struct matrix){ { x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1 } };
}

struct matrix rotate(float angle, float x, float y, float z)
{
	float c = cosf(angle), s = sinf(angle), n = 1 - c;

	return (struct matrix){ {
		x * x * n + c, x * y * n + z * s, x * z * n - y * s, 0,
		x * y * n - z * s, y * y * n + c, y * z * n + x * s, 0,
		x * z * n + y * s, y * z * n - x * s, z * z * n + c, 0,
		0, 0, 0, 1
	} };
}

struct matrix perspective(float angle, float aspect, float near, float far)
{
	float f = 1 / tanf(angle / 2);

	return (struct matrix){ {
		f / aspect, 0, 0, 0, 0, f, 0, 0,
		0, 0, (far + near) / (near - far), -1,
		0, 0, 2 * far * near / (near - far), 0
	} };
}

struct matrix orthographic(float half_width, float half_height, float near, float far)
{
	return (struct matrix){ {
		1 / half_width, 0, 0, 0, 0, 1 / half_height, 0, 0,
		0, 0, -2 / (far - near), 0, 0, 0, -(far + near) / (far - near), 1
	} };
}

struct matrix look(float ex, float ey, float ez, float ax, float ay, float az)
{
	float z[3] = { ex - ax, ey - ay, ez - az }, x[3], y[3], l;
	struct matrix r;

	l = sqrtf(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
	for (int i = 0; i < 3; i++)
		z[i] /= l;
	l = sqrtf(z[2] * z[2] + z[0] * z[0]);
	x[0] = z[2] / l;
	x[1] = 0;
	x[2] = -z[0] / l;
	y[0] = z[1] * x[2] - z[2] * x[1];
	y[1] = z[2] * x[0] - z[0] * x[2];
	y[2] = z[0] * x[1] - z[1] * x[0];
	r = (struct matrix){ {
		x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, 0, 0, 0, 1
	} };
	return multiply(r, translate(-ex, -ey, -ez));
}

static void compile(GLuint program, GLenum stage, const char *source)
{
	const char *parts[2] = { "#version 330 core\n", source };
	GLuint shader = glCreateShader(stage);
	char log[1024] = "";
	GLint ok;

	glShaderSource(shader, 2, parts, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	if (!ok) {
		glGetShaderInfoLog(shader, sizeof(log), NULL, log);
		fail("a shader does not compile: %s", log);
	}
	glAttachShader(program, shader);
	glDeleteShader(shader);
}

GLuint program(const char *vs, const char *gs, const char *fs,
	       const char *const *varyings, int varying_count)
{
	GLuint name = glCreateProgram();
	char log[1024] = "";
	GLint ok;

	compile(name, GL_VERTEX_SHADER, vs);
	if (gs)
		compile(name, GL_GEOMETRY_SHADER, gs);
	if (fs)
		compile(name, GL_FRAGMENT_SHADER, fs);
	glBindAttribLocation(name, 0, "position");
	glBindAttribLocation(name, 1, "normal");
	glBindAttribLocation(name, 2, "uv");
	if (varyings)
		glTransformFeedbackVaryings(name, varying_count, varyings,
					    GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(name);
	glGetProgramiv(name, GL_LINK_STATUS, &ok);
	if (!ok) {
		glGetProgramInfoLog(name, sizeof(log), NULL, log);
		fail("a program does not link: %s", log);
	}
	glUseProgram(name);
	return name;
}

void set_matrix(GLuint program, const char *name, struct matrix value)
{
	glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, value.m);
}

void set_int(GLuint program, const char *name, int value)
{
	glUniform1i(glGetUniformLocation(program, name), value);
}

void set_float(GLuint program, const char *name, float value)
{
	glUniform1f(glGetUniformLocation(program, name), value);
}

void set_vec3(GLuint program, const char *name, float x, float y, float z)
{
	glUniform3f(glGetUniformLocation(program, name), x, y, z);
}

struct vertex {
	float position[3], normal[3], uv[2];
};

static struct mesh make_mesh(const struct vertex *vertices, unsigned int vertex_count,
			     const uint16_t *indices, unsigned int index_count)
{
	struct mesh mesh = { .indices = index_count };
	GLuint buffers[2];

	glGenVertexArrays(1, &mesh.vao);
	glBindVertexArray(mesh.vao);
	glGenBuffers(2, buffers);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
	glBufferData(GL_ARRAY_BUFFER, vertex_count * sizeof(*vertices), vertices, GL_STATIC_DRAW);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, index_count * sizeof(*indices), indices,
		     GL_STATIC_DRAW);
	for (unsigned int i = 0; i < 3; i++)
		glEnableVertexAttribArray(i);
	glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(*vertices),
			      (void *)offsetof(struct vertex, position));
	glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof(*vertices),
			      (void *)offsetof(struct vertex, normal));
	glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, sizeof(*vertices),
			      (void *)offsetof(struct vertex, uv));
	return mesh;
}

/* A surface of (across + 1) x (down + 1) vertices that @at places. */
static struct mesh grid(unsigned int across, unsigned int down,
			void (*at)(float u, float v, const float *how, struct vertex *vertex),
			const float *how)
{
	unsigned int vertex_count = (across + 1) * (down + 1), index_count = 6 * across * down;
	struct vertex *vertices = calloc(vertex_count, sizeof(*vertices));
	uint16_t *indices = calloc(index_count, sizeof(*indices));
	struct mesh mesh;
	unsigned int i = 0;

	if (!vertices || !indices || vertex_count > UINT16_MAX)
		fail("no memory for a mesh");
	for (unsigned int y = 0; y <= down; y++)
		for (unsigned int x = 0; x <= across; x++)
			at((float)x / across, (float)y / down, how,
			   &vertices[y * (across + 1) + x]);
	for (unsigned int y = 0; y < down; y++) {
		for (unsigned int x = 0; x < across; x++) {
			unsigned int a = y * (across + 1) + x, b = a + across + 1;
			const uint16_t quad[6] = { a, b, a + 1, a + 1, b, b + 1 };

			for (unsigned int k = 0; k < 6; k++)
				indices[i++] = quad[k];
		}
	}
	mesh = make_mesh(vertices, vertex_count, indices, index_count);
	free(vertices);
	free(indices);
	return mesh;
}

static void torus_at(float u, float v, const float *how, struct vertex *vertex)
{
	float a = u * 2 * PI, b = v * 2 * PI, r = how[0] + how[1] * cosf(b);

	*vertex = (struct vertex){
		{ r * cosf(a), how[1] * sinf(b), r * sinf(a) },
		{ cosf(b) * cosf(a), sinf(b), cosf(b) * sinf(a) },
		{ u, v }
	};
}

struct mesh torus(float radius, float tube, unsigned int around, unsigned int across)
{
	return grid(around, across, torus_at, (float[]){ radius, tube });
}

static void sphere_at(float u, float v, const float *how, struct vertex *vertex)
{
	float a = u * 2 * PI, b = (0.5f - v) * PI;
	float n[3] = { cosf(b) * cosf(a), sinf(b), -cosf(b) * sinf(a) };

	*vertex = (struct vertex){
		{ how[0] * n[0], how[0] * n[1], how[0] * n[2] }, { n[0], n[1], n[2] }, { u, v }
	};
}

struct mesh sphere(float radius, unsigned int around, unsigned int down)
{
	return grid(around, down, sphere_at, &radius);
}

static void plane_at(float u, float v, const float *how, struct vertex *vertex)
{
	*vertex = (struct vertex){
		{ 2 * u - 1, 0, 2 * v - 1 }, { 0, 1, 0 }, { u * how[0], v * how[0] }
	};
}

struct mesh plane(float repeat)
{
	return grid(1, 1, plane_at, &repeat);
}

struct mesh box(void)
{
	struct vertex vertices[24];
	uint16_t indices[36];

	for (unsigned int face = 0; face < 6; face++) {
		unsigned int axis = face / 2, a = (axis + 1) % 3, b = (axis + 2) % 3;
		float side = face & 1 ? 1 : -1;
		static const uint16_t quad[6] = { 0, 1, 2, 2, 1, 3 };

		for (unsigned int i = 0; i < 4; i++) {
			struct vertex *v = &vertices[4 * face + i];

			*v = (struct vertex){ .uv = { i & 1, i >> 1 } };
			v->position[axis] = v->normal[axis] = side;
			v->position[a] = (i & 1 ? 1 : -1) * side;
			v->position[b] = i & 2 ? 1 : -1;
		}
		for (unsigned int i = 0; i < 6; i++)
			indices[6 * face + i] = 4 * face + quad[i];
	}
	return make_mesh(vertices, 24, indices, 36);
}

void draw_mesh(struct mesh mesh, GLsizei instances)
{
	glBindVertexArray(mesh.vao);
	glDrawElementsInstanced(GL_TRIANGLES, mesh.indices, GL_UNSIGNED_SHORT, NULL, instances);
}

const char *const cover_vs =
	"out vec2 at;\n"
	"void main() {\n"
	"	at = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
	"	gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);\n"
	"}\n";

void cover(void)
{
	GLuint empty;

	/* A vertex array belongs to its context, so make one each time. */
	glGenVertexArrays(1, &empty);
	glBindVertexArray(empty);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

GLuint texture_2d(GLenum internal, GLsizei width, GLsizei height, GLenum format, GLenum type,
		  const void *data, bool mipmaps)
{
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexImage2D(GL_TEXTURE_2D, 0, internal, width, height, 0, format, type, data);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
			mipmaps ? GL_LINEAR_MIPMAP_LINEAR : GL_LINEAR);
	if (mipmaps)
		glGenerateMipmap(GL_TEXTURE_2D);
	return name;
}

static uint32_t state;

void random_start(unsigned int seed)
{
	state = seed;
}

/* The constants of Numerical Recipes' "quick and dirty" generator. */
float random_float(void)
{
	state = state * 1664525u + 1013904223u;
	return (float)(state >> 8) / (1 << 24);
}
