/* SPDX-License-Identifier: MIT */
/* Scenes of one pass: textures of all kinds, and shaders that use them. */
#include "gallery.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const mesh_vs =
	"in vec3 position, normal;\n"
	"in vec2 uv;\n"
	"uniform mat4 view, model, projection;\n"
	"out vec3 world, facing;\n"
	"out vec2 at;\n"
	"void main() {\n"
	"	vec4 p = model * vec4(position, 1.0);\n"
	"	world = p.xyz;\n"
	"	facing = mat3(model) * normal;\n"
	"	at = uv;\n"
	"	gl_Position = projection * view * p;\n"
	"}\n";

static void camera(GLuint p, float ex, float ey, float ez, float ax, float ay, float az)
{
	set_matrix(p, "projection", perspective(0.8f, (float)WIDTH / HEIGHT, 0.5f, 60));
	set_matrix(p, "view", look(ex, ey, ez, ax, ay, az));
	set_matrix(p, "model", identity());
	set_vec3(p, "eye", ex, ey, ez);
}

/* A floor to the horizon: trilinear on the left, anisotropic on the right. */
static bool draw_floor(void)
{
	static unsigned char texels[128 * 128 * 3];
	struct mesh floor = plane(24);
	GLuint p;

	for (unsigned int y = 0; y < 128; y++) {
		for (unsigned int x = 0; x < 128; x++) {
			unsigned char *t = texels + 3 * (128 * y + x);
			bool joint = x % 64 < 4 || y % 64 < 4, odd = (x / 64 ^ y / 64) & 1;

			t[0] = joint ? 40 : odd ? 220 : 150;
			t[1] = joint ? 40 : odd ? 200 : 70 + (x & 31);
			t[2] = joint ? 50 : odd ? 160 + (y & 31) : 50;
		}
	}
	p = program(mesh_vs, NULL,
		    "in vec2 at;\n"
		    "uniform sampler2D image;\n"
		    "out vec4 colour;\n"
		    "void main() { colour = texture(image, at); }\n", NULL, 0);
	background(0.5f, 0.7f, 0.9f);
	glEnable(GL_DEPTH_TEST);
	texture_2d(GL_RGB8, 128, 128, GL_RGB, GL_UNSIGNED_BYTE, texels, true);
	camera(p, 0, 1, 0, 0.2f, 0.7f, -2);
	set_matrix(p, "model", scale(24, 1, 24));
	glEnable(GL_SCISSOR_TEST);
	glScissor(0, 0, WIDTH / 2, HEIGHT);
	draw_mesh(floor, 1);
	glScissor(WIDTH / 2, 0, WIDTH / 2, HEIGHT);
	glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_ANISOTROPY_EXT, 8);
	draw_mesh(floor, 1);
	return true;
}

/* Two lights per pixel, with highlights. */
static bool draw_phong(void)
{
	struct mesh ring = torus(1.2f, 0.5f, 64, 32), ball = sphere(0.7f, 48, 24);
	GLuint p;

	p = program(mesh_vs, NULL,
		    "in vec3 world, facing;\n"
		    "uniform vec3 eye, paint;\n"
		    "out vec4 colour;\n"
		    "vec3 lit(vec3 from, vec3 light, vec3 n, vec3 v) {\n"
		    "	vec3 l = normalize(from - world);\n"
		    "	float d = max(dot(n, l), 0.0);\n"
		    "	float s = pow(max(dot(reflect(-l, n), v), 0.0), 24.0);\n"
		    "	return light * (d * paint + s);\n"
		    "}\n"
		    "void main() {\n"
		    "	vec3 n = normalize(facing), v = normalize(eye - world);\n"
		    "	vec3 c = 0.12 * paint;\n"
		    "	c += lit(vec3(4.0, 5.0, 4.0), vec3(0.9, 0.85, 0.7), n, v);\n"
		    "	c += lit(vec3(-5.0, 1.0, 2.0), vec3(0.15, 0.25, 0.5), n, v);\n"
		    "	colour = vec4(c, 1.0);\n"
		    "}\n", NULL, 0);
	background(0.05f, 0.05f, 0.08f);
	glEnable(GL_DEPTH_TEST);
	glEnable(GL_CULL_FACE);
	camera(p, 0, 2.2f, 4.2f, 0, 0, 0);
	set_vec3(p, "paint", 0.8f, 0.35f, 0.1f);
	set_matrix(p, "model", rotate(0.5f, 0, 0, 1));
	draw_mesh(ring, 1);
	set_vec3(p, "paint", 0.2f, 0.6f, 0.5f);
	set_matrix(p, "model", translate(0, 0.1f, 0));
	draw_mesh(ball, 1);
	return true;
}

static void direction(unsigned int face, float s, float t, float *d)
{
	const float table[6][3] = {
		{ 1, -t, -s }, { -1, -t, s }, { s, 1, t }, { s, -1, -t }, { s, -t, 1 }, { -s, -t, -1 }
	};
	float l = sqrtf(1 + s * s + t * t);

	for (unsigned int i = 0; i < 3; i++)
		d[i] = table[face][i] / l;
}

#define CUBE 64

static void cube_texture(void)
{
	static unsigned char texels[CUBE * CUBE * 3];
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_CUBE_MAP, name);
	for (unsigned int face = 0; face < 6; face++) {
		for (unsigned int i = 0; i < CUBE * CUBE; i++) {
			float d[3], bars;

			direction(face, 2 * (i % CUBE + 0.5f) / CUBE - 1,
				  2 * (i / CUBE + 0.5f) / CUBE - 1, d);
			bars = 0.5f + 0.5f * sinf(atan2f(d[2], d[0]) * 12) * sinf(d[1] * 9);
			texels[3 * i] = 255 * (d[1] > 0 ? 0.3f + 0.3f * bars : 0.5f * bars);
			texels[3 * i + 1] = 255 * (0.4f + 0.3f * d[1] + 0.2f * bars);
			texels[3 * i + 2] = 255 * (0.5f + 0.45f * d[1]);
		}
		glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGB8, CUBE, CUBE, 0,
			     GL_RGB, GL_UNSIGNED_BYTE, texels);
	}
	glGenerateMipmap(GL_TEXTURE_CUBE_MAP);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
	glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
}

/* A mirror ball and a mirror ring in a sky box. */
static bool draw_mirror(void)
{
	struct mesh ball = sphere(1, 64, 32), ring = torus(1.6f, 0.25f, 64, 24), sky = box();
	GLuint p;

	background(1, 0, 1);
	cube_texture();
	p = program(mesh_vs, NULL,
		    "in vec3 world, facing;\n"
		    "uniform vec3 eye;\n"
		    "uniform float mirror;\n"
		    "uniform samplerCube around;\n"
		    "out vec4 colour;\n"
		    "void main() {\n"
		    "	vec3 to = world - eye;\n"
		    "	vec3 back = reflect(to, normalize(facing));\n"
		    "	colour = texture(around, mix(to, back, mirror));\n"
		    "	colour.rgb *= 1.0 - 0.15 * mirror;\n"
		    "}\n", NULL, 0);
	camera(p, 1.2f, 1.0f, 4, 0, 0, 0);
	set_matrix(p, "model", multiply(translate(1.2f, 1.0f, 4), scale(20, 20, 20)));
	draw_mesh(sky, 1);
	glEnable(GL_DEPTH_TEST);
	set_float(p, "mirror", 1);
	set_matrix(p, "model", identity());
	draw_mesh(ball, 1);
	set_matrix(p, "model", rotate(0.4f, 1, 0, 0));
	draw_mesh(ring, 1);
	return true;
}

/* Encodes a block of one channel in 8 bytes, in the mode of eight values (RGTC1, DXT5 alpha). */
static void channel_block(const unsigned char *values, unsigned int stride, unsigned char *out)
{
	unsigned int high = 0, low = 255;
	uint64_t bits = 0;

	for (unsigned int i = 0; i < 16; i++) {
		unsigned int v = values[i * stride];

		high = v > high ? v : high;
		low = v < low ? v : low;
	}
	out[0] = high;
	out[1] = low;
	for (unsigned int i = 0; i < 16 && high > low; i++) {
		unsigned int v = values[i * stride];
		/* Sevenths of the way down from the higher value. */
		unsigned int step = ((high - v) * 14 + high - low) / (2 * (high - low));
		uint64_t code = step == 0 ? 0 : step == 7 ? 1 : step + 1;

		bits |= code << 3 * i;
	}
	for (unsigned int i = 0; i < 6; i++)
		out[2 + i] = bits >> 8 * i;
}

static unsigned int to_565(const unsigned char *c)
{
	return (c[0] * 31 + 127) / 255 << 11 | (c[1] * 63 + 127) / 255 << 5 | (c[2] * 31 + 127) / 255;
}

/* Encodes a block of colours in 8 bytes (DXT1); ends are the darkest and the brightest texel. */
static void colour_block(const unsigned char *rgba, unsigned char *out)
{
	unsigned int low = 0, high = 0, ends[2], bits = 0;
	int palette[4][3];

#define BRIGHT(i) (2 * rgba[4 * (i)] + 4 * rgba[4 * (i) + 1] + rgba[4 * (i) + 2])
	for (unsigned int i = 1; i < 16; i++) {
		low = BRIGHT(i) < BRIGHT(low) ? i : low;
		high = BRIGHT(i) > BRIGHT(high) ? i : high;
	}
#undef BRIGHT
	ends[0] = to_565(rgba + 4 * high);
	ends[1] = to_565(rgba + 4 * low);
	if (ends[0] < ends[1]) {
		unsigned int other = ends[0];

		ends[0] = ends[1];
		ends[1] = other;
	}
	for (unsigned int i = 0; i < 2; i++) {
		palette[i][0] = (ends[i] >> 11) * 255 / 31;
		palette[i][1] = (ends[i] >> 5 & 63) * 255 / 63;
		palette[i][2] = (ends[i] & 31) * 255 / 31;
		out[2 * i] = ends[i];
		out[2 * i + 1] = ends[i] >> 8;
	}
	for (unsigned int c = 0; c < 3; c++) {
		palette[2][c] = (2 * palette[0][c] + palette[1][c]) / 3;
		palette[3][c] = (palette[0][c] + 2 * palette[1][c]) / 3;
	}
	for (unsigned int i = 0; i < 16 && ends[0] > ends[1]; i++) {
		int best = 1 << 30, code = 0;

		for (int k = 0; k < 4; k++) {
			int d = 0;

			for (unsigned int c = 0; c < 3; c++) {
				int e = palette[k][c] - rgba[4 * i + c];

				d += e * e;
			}
			if (d < best) {
				best = d;
				code = k;
			}
		}
		bits |= (unsigned int)code << 2 * i;
	}
	for (unsigned int i = 0; i < 4; i++)
		out[4 + i] = bits >> 8 * i;
}

#define SIDE 64

/* Uploads SIDE x SIDE texels in one of four block formats. */
static void compressed(GLenum format, const unsigned char *rgba)
{
	static unsigned char blocks[SIDE * SIDE];
	unsigned char *out = blocks, block[64];
	GLuint name;

	for (unsigned int y = 0; y < SIDE; y += 4) {
		for (unsigned int x = 0; x < SIDE; x += 4) {
			for (unsigned int i = 0; i < 16; i++)
				memcpy(block + 4 * i, rgba + 4 * (SIDE * (y + i / 4) + x + i % 4), 4);
			switch (format) {
			case GL_COMPRESSED_RGB_S3TC_DXT1_EXT:
				colour_block(block, out);
				break;
			case GL_COMPRESSED_RGBA_S3TC_DXT5_EXT:
				channel_block(block + 3, 4, out);
				colour_block(block, out += 8);
				break;
			case GL_COMPRESSED_RED_RGTC1:
				channel_block(block, 4, out);
				break;
			default:
				channel_block(block, 4, out);
				channel_block(block + 1, 4, out += 8);
			}
			out += 8;
		}
	}
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glCompressedTexImage2D(GL_TEXTURE_2D, 0, format, SIDE, SIDE, 0, out - blocks, blocks);
}

/* DXT1, DXT5 over a chequer, RGTC1 as grey, RGTC2 as a normal map. */
static bool draw_compressed(void)
{
	static const GLenum formats[4] = {
		GL_COMPRESSED_RGB_S3TC_DXT1_EXT, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT,
		GL_COMPRESSED_RED_RGTC1, GL_COMPRESSED_RG_RGTC2
	};
	static unsigned char texels[SIDE * SIDE * 4];
	GLuint p;

	for (unsigned int i = 0; i < SIDE * SIDE; i++) {
		float x = 2 * (i % SIDE + 0.5f) / SIDE - 1, y = 2 * (i / SIDE + 0.5f) / SIDE - 1;
		float r = hypotf(x, y), a = atan2f(y, x), bump = cosf(r * 12);

		texels[4 * i] = 127.5f + 110 * (x / (r + 0.1f)) * bump;
		texels[4 * i + 1] = 127.5f + 110 * (y / (r + 0.1f)) * bump;
		texels[4 * i + 2] = 127.5f + 120 * sinf(a * 3 + r * 4);
		texels[4 * i + 3] = r < 0.5f ? 255 : r > 1 ? 0 : 510 * (1 - r);
	}
	p = program(cover_vs, NULL,
		    "in vec2 at;\n"
		    "uniform sampler2D image;\n"
		    "uniform int kind;\n"
		    "out vec4 colour;\n"
		    "void main() {\n"
		    "	vec4 t = texture(image, at);\n"
		    "	if (kind == 3) {\n"
		    "		vec2 n = t.rg * 2.0 - 1.0;\n"
		    "		float z = sqrt(max(1.0 - dot(n, n), 0.0));\n"
		    "		t = vec4(vec3(max(dot(vec3(n, z), vec3(0.48, 0.6, 0.64)), 0.0)), 1.0);\n"
		    "	}\n"
		    "	vec2 c = floor(gl_FragCoord.xy / 10.0);\n"
		    "	float chequer = 0.4 + 0.3 * mod(c.x + c.y, 2.0);\n"
		    "	colour = vec4(mix(vec3(chequer), t.rgb, t.a), 1.0);\n"
		    "}\n", NULL, 0);
	background(1, 1, 1);
	for (unsigned int i = 0; i < 4; i++) {
		glViewport(i % 2 * WIDTH / 2 + 4, (1 - i / 2) * HEIGHT / 2 + 4, WIDTH / 2 - 8,
			   HEIGHT / 2 - 8);
		set_int(p, "kind", i);
		compressed(formats[i], texels);
		if (formats[i] == GL_COMPRESSED_RED_RGTC1) {
			glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_G, GL_RED);
			glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_B, GL_RED);
		}
		cover();
	}
	return true;
}

#define LAYERS 8

/* One draw of 15 x 15 boxes, each with a layer of an array texture. */
static bool draw_instances(void)
{
	static unsigned char texels[LAYERS][32 * 32][3];
	struct mesh cube = box();
	GLuint p, name;

	for (unsigned int layer = 0; layer < LAYERS; layer++) {
		for (unsigned int i = 0; i < 32 * 32; i++) {
			unsigned int x = i % 32, y = i / 32;
			bool on = layer & 1 ? (x + y) / (2 + layer) & 1
					    : x % (4 + layer) < 2 || y % (4 + layer) < 2;

			texels[layer][i][0] = on ? 250 : 60 + 25 * layer;
			texels[layer][i][1] = on ? 240 : 230 - 25 * layer;
			texels[layer][i][2] = on ? 200 : 90 + (layer * 53 & 127);
		}
	}
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D_ARRAY, name);
	glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_RGB8, 32, 32, LAYERS, 0, GL_RGB,
		     GL_UNSIGNED_BYTE, texels);
	glGenerateMipmap(GL_TEXTURE_2D_ARRAY);
	p = program("in vec3 position, normal;\n"
		    "in vec2 uv;\n"
		    "uniform mat4 projection, view;\n"
		    "out vec3 at;\n"
		    "flat out float light;\n"
		    "void main() {\n"
		    "	int x = gl_InstanceID % 15 - 7, z = gl_InstanceID / 15 - 7;\n"
		    "	float h = 0.3 + 1.2 * exp(-0.08 * float(x * x + z * z));\n"
		    "	vec3 p = vec3(position.x * 0.4 + float(x), (position.y + 1.0) * h,\n"
		    "		      position.z * 0.4 + float(z));\n"
		    "	at = vec3(uv, float((gl_InstanceID * 5) % 8));\n"
		    "	light = 0.45 + 0.3 * normal.y + 0.25 * normal.x;\n"
		    "	gl_Position = projection * view * vec4(p, 1.0);\n"
		    "}\n", NULL,
		    "in vec3 at;\n"
		    "flat in float light;\n"
		    "uniform sampler2DArray image;\n"
		    "out vec4 colour;\n"
		    "void main() { colour = vec4(texture(image, at).rgb * light, 1.0); }\n", NULL, 0);
	background(0.2f, 0.25f, 0.3f);
	glEnable(GL_DEPTH_TEST);
	camera(p, 7, 7, 10, 0, 0, 0);
	draw_mesh(cube, 15 * 15);
	return true;
}

/* Six octaves of gradient noise from an integer hash: integers, loops, no texture. */
static bool draw_noise(void)
{
	program(cover_vs, NULL,
		"in vec2 at;\n"
		"out vec4 colour;\n"
		"uint hash(uvec2 v) {\n"
		"	uint h = v.x * 0x9E3779B1u ^ v.y * 0x85EBCA77u;\n"
		"	h ^= h >> 15;\n"
		"	h *= 0x2C1B3C6Du;\n"
		"	return h ^ h >> 13;\n"
		"}\n"
		"float corner(ivec2 c, vec2 d) {\n"
		"	uint h = hash(uvec2(c));\n"
		"	vec2 g = vec2(float(h & 255u), float(h >> 8 & 255u)) / 127.5 - 1.0;\n"
		"	return dot(g, d);\n"
		"}\n"
		"float noise(vec2 p) {\n"
		"	vec2 c = floor(p), f = p - c, w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);\n"
		"	ivec2 i = ivec2(c);\n"
		"	float low = mix(corner(i, f), corner(i + ivec2(1, 0), f - vec2(1, 0)), w.x);\n"
		"	float high = mix(corner(i + ivec2(0, 1), f - vec2(0, 1)),\n"
		"			 corner(i + ivec2(1, 1), f - vec2(1, 1)), w.x);\n"
		"	return mix(low, high, w.y);\n"
		"}\n"
		"void main() {\n"
		"	vec2 p = at * vec2(4.0, 3.0) + 7.3;\n"
		"	float sum = 0.0, size = 0.6;\n"
		"	for (int i = 0; i < 6; i++) {\n"
		"		sum += size * noise(p);\n"
		"		p = p * 2.03 + 1.7;\n"
		"		size *= 0.5;\n"
		"	}\n"
		"	float veins = 0.5 + 0.5 * sin(14.0 * (at.x + sum));\n"
		"	colour = vec4(mix(vec3(0.15, 0.1, 0.25), vec3(0.95, 0.85, 0.7), veins), 1.0);\n"
		"	colour.rgb *= 0.75 + 0.5 * sum;\n"
		"}\n", NULL, 0);
	background(1, 0, 1);
	cover();
	return true;
}

#define VOLUME 32

/* Rays through a 3D texture: a loop whose length differs from pixel to pixel. */
static bool draw_volume(void)
{
	static unsigned char texels[VOLUME * VOLUME * VOLUME];
	GLuint name;

	for (unsigned int i = 0; i < sizeof(texels); i++) {
		float x = (i % VOLUME + 0.5f) / VOLUME * 2 - 1;
		float y = (i / VOLUME % VOLUME + 0.5f) / VOLUME * 2 - 1;
		float z = (float)(i / VOLUME / VOLUME + 0.5f) / VOLUME * 2 - 1;
		float ring = hypotf(hypotf(x, z) - 0.6f, y), d = 1.2f - 4 * ring;

		d += 0.25f * sinf(9 * x) * sinf(9 * y) * sinf(9 * z);
		texels[i] = d < 0 ? 0 : d > 1 ? 255 : 255 * d;
	}
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_3D, name);
	glTexImage3D(GL_TEXTURE_3D, 0, GL_R8, VOLUME, VOLUME, VOLUME, 0, GL_RED,
		     GL_UNSIGNED_BYTE, texels);
	glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
	glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
	glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, GL_CLAMP_TO_BORDER);
	program(cover_vs, NULL,
		"in vec2 at;\n"
		"uniform sampler3D cloud;\n"
		"out vec4 colour;\n"
		"void main() {\n"
		"	vec3 from = vec3(0.0, 1.6, -2.2);\n"
		"	vec3 ahead = normalize(-from), right = vec3(1.0, 0.0, 0.0);\n"
		"	vec3 up = cross(ahead, right);\n"
		"	vec2 s = (at - 0.5) * vec2(1.33, 1.0);\n"
		"	vec3 ray = normalize(ahead + s.x * right + s.y * up);\n"
		"	vec3 p = from + ray * 1.4;\n"
		"	float left = 1.0;\n"
		"	vec3 sum = vec3(0.0);\n"
		"	for (int i = 0; i < 64; i++) {\n"
		"		float d = textureLod(cloud, p * 0.5 + 0.5, 0.0).r;\n"
		"		float a = d * 0.16;\n"
		"		sum += left * a * mix(vec3(1.0, 0.35, 0.1), vec3(0.7, 0.9, 1.0), p.y + 0.5);\n"
		"		left *= 1.0 - a;\n"
		"		if (left < 0.02)\n"
		"			break;\n"
		"		p += ray * 0.045;\n"
		"	}\n"
		"	colour = vec4(sum + left * vec3(20.0, 20.0, 40.0) / 255.0, 1.0);\n"
		"}\n", NULL, 0);
	background(20 / 255.0f, 20 / 255.0f, 40 / 255.0f);
	cover();
	return true;
}

const struct scene scenes_surface[] = {
	{ "floor", draw_floor, false },
	{ "phong", draw_phong, false },
	{ "mirror", draw_mirror, false },
	{ "compressed", draw_compressed, false },
	{ "instances", draw_instances, false },
	{ "noise", draw_noise, false },
	{ "volume", draw_volume, false },
	{ 0 }
};
