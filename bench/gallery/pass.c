/* SPDX-License-Identifier: MIT */
/* Scenes of several passes, or with other stages than vertex and fragment shaders. */
#include "gallery.h"

#include <math.h>
#include <stdlib.h>

#define ASPECT ((float)WIDTH / HEIGHT)

static const char *const solid_vs =
	"in vec3 position, normal;\n"
	"uniform mat4 projection, view, model;\n"
	"out vec3 world, facing;\n"
	"void main() {\n"
	"	vec4 p = model * vec4(position, 1.0);\n"
	"	world = p.xyz;\n"
	"	facing = mat3(model) * normal;\n"
	"	gl_Position = projection * view * p;\n"
	"}\n";

static const char *const solid_fs =
	"in vec3 world, facing;\n"
	"uniform vec3 paint;\n"
	"out vec4 colour;\n"
	"void main() {\n"
	"	float d = dot(normalize(facing), vec3(0.36, 0.8, 0.48));\n"
	"	colour = vec4(paint * (0.65 + 0.35 * d), 1.0);\n"
	"}\n";

static GLuint solid(struct matrix projection, struct matrix view)
{
	GLuint p = program(solid_vs, NULL, solid_fs, NULL, 0);

	set_matrix(p, "projection", projection);
	set_matrix(p, "view", view);
	set_matrix(p, "model", identity());
	return p;
}

static GLuint renderbuffer(GLenum format, unsigned int samples)
{
	GLuint name;

	glGenRenderbuffers(1, &name);
	glBindRenderbuffer(GL_RENDERBUFFER, name);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, WIDTH, HEIGHT);
	return name;
}

/* Makes a texture to draw into, and a framebuffer of it, which it binds. */
static GLuint target(GLenum internal, GLsizei width, GLsizei height, GLuint *texture)
{
	GLuint name;

	*texture = texture_2d(internal, width, height, GL_RGBA, GL_FLOAT, NULL, false);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
	glGenFramebuffers(1, &name);
	glBindFramebuffer(GL_FRAMEBUFFER, name);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, *texture, 0);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		fail("a target of several passes is not complete");
	return name;
}

/* Makes points of @components floats attribute 0 of the next draw; @size is in bytes. */
static void use_points(const void *points, size_t size, GLint components)
{
	GLuint vao, vbo;

	glGenVertexArrays(1, &vao);
	glBindVertexArray(vao);
	glGenBuffers(1, &vbo);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, size, points, GL_STATIC_DRAW);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, components, GL_FLOAT, GL_FALSE, 0, NULL);
}

#define SPOKES 36

/* Thin spokes of two colours, drawn with 4 samples and resolved. */
static bool draw_samples(void)
{
	static float points[SPOKES * 3][2];
	static unsigned char pixels[WIDTH * HEIGHT * 4];
	unsigned int mixed = 0;
	GLuint p, fbo;
	GLint most;

	glGetIntegerv(GL_MAX_SAMPLES, &most);
	background(0, 0, 0);
	if (most < 4)
		return false;
	for (unsigned int i = 0; i < SPOKES; i++) {
		float a = i * 2 * PI / SPOKES + 0.03f, w = 0.045f;

		points[3 * i][0] = 0.08f * cosf(a) / ASPECT;
		points[3 * i][1] = 0.08f * sinf(a);
		points[3 * i + 1][0] = 0.95f * cosf(a - w) / ASPECT;
		points[3 * i + 1][1] = 0.95f * sinf(a - w);
		points[3 * i + 2][0] = 0.95f * cosf(a + w) / ASPECT;
		points[3 * i + 2][1] = 0.95f * sinf(a + w);
	}
	use_points(points, sizeof(points), 2);
	p = program("in vec2 position;\n"
		    "flat out int odd;\n"
		    "void main() {\n"
		    "	odd = gl_VertexID / 3 & 1;\n"
		    "	gl_Position = vec4(position, 0.0, 1.0);\n"
		    "}\n", NULL,
		    "flat in int odd;\n"
		    "out vec4 colour;\n"
		    "void main() { colour = odd == 1 ? vec4(1.0, 0.8, 0.0, 1.0) : vec4(0.0, 0.6, 1.0, 1.0); }\n",
		    NULL, 0);
	glUseProgram(p);
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  renderbuffer(GL_RGBA8, 4));
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		fail("a framebuffer with 4 samples is not complete");
	background(0, 0, 0);
	glDrawArrays(GL_TRIANGLES, 0, 3 * SPOKES);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, main_framebuffer());
	glBlitFramebuffer(0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, main_framebuffer());
	glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (unsigned int i = 0; i < sizeof(pixels); i += 4)
		mixed += pixels[i + 2] % 255 || (pixels[i + 1] != 0 && pixels[i + 1] != 153 &&
						 pixels[i + 1] != 204);
	count("pixels with samples of two colours", mixed, 2000);
	return true;
}

/* A shadow on a floor, drawn once by the stencil, and an outline around what casts it. */
static bool draw_stencil(void)
{
	struct matrix projection = perspective(0.8f, ASPECT, 1, 30);
	struct matrix view = look(1.5f, 3, 5, 0, 0.4f, 0);
	/* Projects onto y = 0 along the light's direction (0.4, 1, 0.3). */
	struct matrix onto_floor = { { 1, 0, 0, 0, -0.4f, 0, -0.3f, 0, 0, 0, 1, 0, 0, 0.01f, 0, 1 } };
	struct matrix pose = multiply(translate(0, 1.2f, 0), rotate(1.1f, 0.8f, 0, 0.6f));
	struct mesh floor = plane(1), ring = torus(0.9f, 0.3f, 48, 24);
	GLuint p;

	background(0.6f, 0.75f, 0.85f);
	p = solid(projection, view);
	glEnable(GL_DEPTH_TEST);
	glEnable(GL_STENCIL_TEST);
	/* The floor sets the stencil to 1. */
	glStencilFunc(GL_ALWAYS, 1, 0xFF);
	glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
	set_vec3(p, "paint", 0.55f, 0.5f, 0.4f);
	set_matrix(p, "model", scale(2.2f, 1, 2.2f));
	draw_mesh(floor, 1);
	/* The shadow, where the stencil is 1; it becomes 2, so no pixel is darkened twice. */
	glStencilFunc(GL_EQUAL, 1, 0xFF);
	glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ZERO, GL_SRC_COLOR);
	set_vec3(p, "paint", 0.6f, 0.6f, 0.7f);
	set_matrix(p, "model", multiply(onto_floor, pose));
	draw_mesh(ring, 1);
	glDisable(GL_BLEND);
	/* The ring sets the stencil to 128. */
	glStencilFunc(GL_ALWAYS, 128, 0xFF);
	glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
	set_vec3(p, "paint", 0.9f, 0.3f, 0.2f);
	set_matrix(p, "model", pose);
	draw_mesh(ring, 1);
	/* Its outline: a thicker ring where the ring itself is not. */
	glStencilFunc(GL_NOTEQUAL, 128, 0xFF);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	set_vec3(p, "paint", 0, 0, 0);
	draw_mesh(torus(0.9f, 0.34f, 48, 24), 1);
	return true;
}

#define SHADOW 512

static void shadow_objects(GLuint p)
{
	static struct mesh ring, ball, cube, floor;

	if (!ring.vao) {
		ring = torus(0.8f, 0.25f, 48, 24);
		ball = sphere(0.45f, 32, 16);
		cube = box();
		floor = plane(1);
	}
	set_vec3(p, "paint", 0.8f, 0.8f, 0.75f);
	set_matrix(p, "model", scale(5, 1, 5));
	draw_mesh(floor, 1);
	set_vec3(p, "paint", 0.9f, 0.5f, 0.1f);
	set_matrix(p, "model", multiply(translate(-1, 1.2f, 0), rotate(1.2f, 1, 0, 0)));
	draw_mesh(ring, 1);
	set_vec3(p, "paint", 0.2f, 0.5f, 0.8f);
	set_matrix(p, "model", translate(0.9f, 0.45f, 0.9f));
	draw_mesh(ball, 1);
	set_vec3(p, "paint", 0.3f, 0.7f, 0.3f);
	set_matrix(p, "model", multiply(translate(1.2f, 0.8f, -0.9f),
					multiply(rotate(0.6f, 0, 1, 0), scale(0.4f, 0.8f, 0.4f))));
	draw_mesh(cube, 1);
}

/* A depth texture from the light, compared by the sampler with bilinear weights. */
static bool draw_shadow(void)
{
	struct matrix from_light = multiply(orthographic(3.5f, 3.5f, 1, 14), look(3, 6, 3, 0, 0, 0));
	GLuint p, fbo, depth;

	depth = texture_2d(GL_DEPTH_COMPONENT24, SHADOW, SHADOW, GL_DEPTH_COMPONENT,
			   GL_UNSIGNED_INT, NULL, false);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth, 0);
	glDrawBuffer(GL_NONE);
	glViewport(0, 0, SHADOW, SHADOW);
	glEnable(GL_DEPTH_TEST);
	glClear(GL_DEPTH_BUFFER_BIT);
	glEnable(GL_POLYGON_OFFSET_FILL);
	glPolygonOffset(2, 4);
	p = solid(from_light, identity());
	shadow_objects(p);
	glDisable(GL_POLYGON_OFFSET_FILL);

	glBindFramebuffer(GL_FRAMEBUFFER, main_framebuffer());
	glViewport(0, 0, WIDTH, HEIGHT);
	background(0.7f, 0.8f, 0.95f);
	p = program(solid_vs, NULL,
		    "in vec3 world, facing;\n"
		    "uniform vec3 paint;\n"
		    "uniform mat4 from_light;\n"
		    "uniform sampler2DShadow depth;\n"
		    "out vec4 colour;\n"
		    "void main() {\n"
		    "	vec3 at = (from_light * vec4(world, 1.0)).xyz * 0.5 + 0.5;\n"
		    "	float d = max(dot(normalize(facing), vec3(0.408, 0.816, 0.408)), 0.0);\n"
		    "	float open = texture(depth, at - vec3(0.0, 0.0, 0.002));\n"
		    "	colour = vec4(paint * (0.3 + 0.7 * d * open), 1.0);\n"
		    "}\n", NULL, 0);
	set_matrix(p, "projection", perspective(0.8f, ASPECT, 1, 30));
	set_matrix(p, "view", look(-1.5f, 3.2f, 5, 0, 0.4f, 0));
	set_matrix(p, "from_light", from_light);
	shadow_objects(p);
	return true;
}

/* Additive point sprites of many sizes. */
static bool draw_particles(void)
{
	static float points[600][3];

	random_start(7);
	for (unsigned int i = 0; i < 600; i++) {
		float a = random_float() * 2 * PI, h = random_float(), r = 0.35f * h * random_float();

		points[i][0] = (r + 0.03f) * cosf(a);
		points[i][1] = 1.6f * h - 0.85f;
		points[i][2] = h;
	}
	use_points(points, sizeof(points), 3);
	program("in vec3 position;\n"
		"out float height;\n"
		"void main() {\n"
		"	height = position.z;\n"
		"	gl_PointSize = 4.0 + 20.0 * height;\n"
		"	gl_Position = vec4(position.xy, 0.0, 1.0);\n"
		"}\n", NULL,
		"in float height;\n"
		"out vec4 colour;\n"
		"void main() {\n"
		"	vec2 d = gl_PointCoord * 2.0 - 1.0;\n"
		"	float fade = max(1.0 - dot(d, d), 0.0) * (1.0 - height) * 0.5;\n"
		"	colour = vec4(1.0, 0.55 - 0.3 * height, 0.15, 1.0) * fade;\n"
		"}\n", NULL, 0);
	background(0.02f, 0.02f, 0.05f);
	glEnable(GL_PROGRAM_POINT_SIZE);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
	glDrawArrays(GL_POINTS, 0, 600);
	return true;
}

/* Each triangle moves along its normal and gets a spine: four triangles from one. */
static bool draw_geometry(void)
{
	struct mesh ball = sphere(1, 24, 12);
	GLuint p, query, made;

	p = program("in vec3 position;\n"
		    "void main() { gl_Position = vec4(position, 1.0); }\n",
		    "layout(triangles) in;\n"
		    "layout(triangle_strip, max_vertices = 12) out;\n"
		    "uniform mat4 whole;\n"
		    "out vec3 tint;\n"
		    "void one(vec3 p, vec3 c) { tint = c; gl_Position = whole * vec4(p, 1.0); EmitVertex(); }\n"
		    "void main() {\n"
		    "	vec3 a = gl_in[0].gl_Position.xyz, b = gl_in[1].gl_Position.xyz;\n"
		    "	vec3 c = gl_in[2].gl_Position.xyz, m = (a + b + c) / 3.0, n = normalize(m);\n"
		    "	vec3 away = n * (0.1 + 0.12 * float(gl_PrimitiveIDIn % 3));\n"
		    "	vec3 tip = m + n * 0.5, base = 0.5 + 0.5 * n;\n"
		    "	one(a + away, base); one(b + away, base * 0.8); one(c + away, base * 0.6);\n"
		    "	EndPrimitive();\n"
		    "	for (int i = 0; i < 3; i++) {\n"
		    "		vec3 p = gl_in[i].gl_Position.xyz, q = gl_in[(i + 1) % 3].gl_Position.xyz;\n"
		    "		one(mix(m, p, 0.25) + away, base.bgr); one(mix(m, q, 0.25) + away, base.bgr * 0.7);\n"
		    "		one(tip + away, vec3(1.0, 0.9, 0.3));\n"
		    "		EndPrimitive();\n"
		    "	}\n"
		    "}\n",
		    "in vec3 tint;\n"
		    "out vec4 colour;\n"
		    "void main() { colour = vec4(tint, 1.0); }\n", NULL, 0);
	set_matrix(p, "whole", multiply(perspective(0.8f, ASPECT, 1, 20), look(1.5f, 1.5f, 3.6f, 0, 0, 0)));
	background(0.1f, 0.12f, 0.15f);
	glEnable(GL_DEPTH_TEST);
	glGenQueries(1, &query);
	glBeginQuery(GL_PRIMITIVES_GENERATED, query);
	draw_mesh(ball, 1);
	glEndQuery(GL_PRIMITIVES_GENERATED);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &made);
	count("triangles of the geometry shader", made, 4 * ball.indices / 3);
	return true;
}

#define BODIES	400
#define STEPS	40

/* Bodies around two masses: each step's positions come from transform feedback. */
static bool draw_feedback(void)
{
	static const char *const varyings[] = { "next_position", "next_speed" };
	static float bodies[BODIES][4];
	GLuint move, show, vaos[2], buffers[2], query, written, sum = 0;

	random_start(3);
	for (unsigned int i = 0; i < BODIES; i++) {
		float a = i * 2 * PI / BODIES, r = 0.5f + 0.35f * random_float();

		bodies[i][0] = r * cosf(a);
		bodies[i][1] = r * sinf(a);
		bodies[i][2] = -sinf(a) * 0.9f;
		bodies[i][3] = cosf(a) * 0.9f;
	}
	glGenVertexArrays(2, vaos);
	glGenBuffers(2, buffers);
	for (unsigned int i = 0; i < 2; i++) {
		glBindVertexArray(vaos[i]);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glBufferData(GL_ARRAY_BUFFER, sizeof(bodies), bodies, GL_DYNAMIC_COPY);
		glEnableVertexAttribArray(0);
		glEnableVertexAttribArray(1);
		glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 16, NULL);
		glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 16, (void *)8);
	}
	show = program("in vec2 position;\n"
		       "uniform float age;\n"
		       "void main() {\n"
		       "	gl_PointSize = 1.0 + age;\n"
		       "	gl_Position = vec4(position * vec2(0.75, 1.0), 0.0, 1.0);\n"
		       "}\n", NULL,
		       "uniform float age;\n"
		       "out vec4 colour;\n"
		       "void main() { colour = vec4(mix(vec3(0.1, 0.2, 0.5), vec3(1.0, 0.9, 0.5), age), 1.0); }\n",
		       NULL, 0);
	move = program("in vec2 position, normal;\n"
		       "out vec2 next_position, next_speed;\n"
		       "vec2 pull(vec2 to) { vec2 d = to - position; return d / (pow(dot(d, d), 1.5) + 0.15); }\n"
		       "void main() {\n"
		       "	next_speed = normal + 0.008 * (pull(vec2(0.3, 0.1)) + pull(vec2(-0.25, -0.1)));\n"
		       "	next_position = position + 0.02 * next_speed;\n"
		       "	gl_Position = vec4(next_position, 0.0, 1.0);\n"
		       "}\n", NULL, NULL, varyings, 2);
	background(0, 0, 0);
	glEnable(GL_PROGRAM_POINT_SIZE);
	glGenQueries(1, &query);
	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int from = step & 1;

		glUseProgram(move);
		glBindVertexArray(vaos[from]);
		glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[!from]);
		glEnable(GL_RASTERIZER_DISCARD);
		glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
		glBeginTransformFeedback(GL_POINTS);
		glDrawArrays(GL_POINTS, 0, BODIES);
		glEndTransformFeedback();
		glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
		glDisable(GL_RASTERIZER_DISCARD);
		glGetQueryObjectuiv(query, GL_QUERY_RESULT, &written);
		sum += written;
		glUseProgram(show);
		set_float(show, "age", (float)step / (STEPS - 1));
		glBindVertexArray(vaos[!from]);
		glDrawArrays(GL_POINTS, 0, BODIES);
	}
	count("points written by transform feedback", sum, STEPS * BODIES);
	return true;
}

static const char *const blur_fs =
	"in vec2 at;\n"
	"uniform sampler2D image;\n"
	"uniform vec2 step;\n"
	"uniform float threshold;\n"
	"out vec4 colour;\n"
	"void main() {\n"
	"	vec3 sum = vec3(0.0);\n"
	"	float whole = 0.0;\n"
	"	for (int i = -6; i <= 6; i++) {\n"
	"		float w = exp(-float(i * i) / 14.0);\n"
	"		sum += w * max(texture(image, at + float(i) * step).rgb - threshold, 0.0);\n"
	"		whole += w;\n"
	"	}\n"
	"	colour = vec4(sum / whole, 1.0);\n"
	"}\n";

/* Lights far brighter than 1 in a half-float target, a blur of the bright parts, tone mapping. */
static bool draw_bright(void)
{
	static const float lights[5][4] = {
		{ -1.2f, 0.6f, 12, 0 }, { -0.5f, -0.5f, 4, 1 }, { 0.2f, 0.5f, 1.5f, 2 },
		{ 0.7f, -0.4f, 25, 3 }, { 1.3f, 0.4f, 0.7f, 4 }
	};
	struct mesh ball = sphere(0.18f, 32, 16), ring = torus(1.3f, 0.05f, 64, 12);
	GLuint p, half[2], scene_texture, half_texture[2];
	float seen[4];

	target(GL_RGBA16F, WIDTH, HEIGHT, &scene_texture);
	glClearColor(0.02f, 0.02f, 0.03f, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	p = solid(perspective(0.8f, ASPECT, 1, 20), look(0, 0.3f, 3.2f, 0, 0, 0));
	set_vec3(p, "paint", 0.3f, 0.3f, 0.35f);
	set_matrix(p, "model", rotate(1.2f, 1, 0, 0));
	draw_mesh(ring, 1);
	/* Lights that overlap add up. */
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
	for (unsigned int i = 0; i < 5; i++) {
		float power = lights[i][2], hue = lights[i][3];

		set_vec3(p, "paint", power * (1 - 0.18f * hue), power * 0.5f, power * 0.22f * hue);
		set_matrix(p, "model", translate(lights[i][0], lights[i][1], 0));
		draw_mesh(ball, 1);
	}
	glDisable(GL_BLEND);
	glReadPixels(WIDTH / 2 + 54, HEIGHT / 2 - 48, 1, 1, GL_RGBA, GL_FLOAT, seen);
	count("255ths of blue in a light, before tone mapping", seen[2] * 255, 510);

	half[0] = target(GL_RGBA16F, WIDTH / 2, HEIGHT / 2, &half_texture[0]);
	half[1] = target(GL_RGBA16F, WIDTH / 2, HEIGHT / 2, &half_texture[1]);
	p = program(cover_vs, NULL, blur_fs, NULL, 0);
	glViewport(0, 0, WIDTH / 2, HEIGHT / 2);
	for (unsigned int i = 0; i < 2; i++) {
		glBindFramebuffer(GL_FRAMEBUFFER, half[i]);
		glBindTexture(GL_TEXTURE_2D, i ? half_texture[0] : scene_texture);
		glUniform2f(glGetUniformLocation(p, "step"), i ? 0 : 2.0f / WIDTH,
			    i ? 2.0f / HEIGHT : 0);
		set_float(p, "threshold", i ? 0 : 1);
		cover();
	}
	glBindFramebuffer(GL_FRAMEBUFFER, main_framebuffer());
	glViewport(0, 0, WIDTH, HEIGHT);
	background(1, 0, 1);
	p = program(cover_vs, NULL,
		    "in vec2 at;\n"
		    "uniform sampler2D image, glow;\n"
		    "out vec4 colour;\n"
		    "void main() {\n"
		    "	vec3 c = texture(image, at).rgb + 0.6 * texture(glow, at).rgb;\n"
		    "	c = c * (1.0 + c / 36.0) / (1.0 + c);\n"
		    "	colour = vec4(pow(c, vec3(1.0 / 2.2)), 1.0);\n"
		    "}\n", NULL, 0);
	set_int(p, "glow", 1);
	glActiveTexture(GL_TEXTURE1);
	glBindTexture(GL_TEXTURE_2D, half_texture[1]);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(GL_TEXTURE_2D, scene_texture);
	cover();
	return true;
}

const struct scene scenes_pass[] = {
	{ "samples", draw_samples, false },
	{ "stencil", draw_stencil, false },
	{ "shadow", draw_shadow, false },
	{ "particles", draw_particles, false },
	{ "geometry", draw_geometry, false },
	{ "feedback", draw_feedback, false },
	{ "bright", draw_bright, false },
	{ 0 }
};
