/* SPDX-License-Identifier: MIT */
/* Scenes of the fixed function: lists, lights, glyphs, lines and stipples. */
#include "gallery.h"

#include <math.h>
#include <string.h>

/* One tooth is a quarter each of flank, top, flank and gap. */
static void tooth_point(float outer, float depth, float angle, unsigned int quarter, float pitch,
			float *x, float *y)
{
	float r = quarter == 1 || quarter == 2 ? outer + depth / 2 : outer - depth / 2;

	*x = r * cosf(angle + quarter * pitch / 4);
	*y = r * sinf(angle + quarter * pitch / 4);
}

/* A gear about the z axis: both faces, teeth with flat shading, a smooth hole. */
static GLuint gear(float inner, float outer, float width, unsigned int teeth, float depth,
		   const float *colour)
{
	float pitch = 2 * PI / teeth, half = width / 2, x, y;
	GLuint list = glGenLists(1);

	glNewList(list, GL_COMPILE);
	glMaterialfv(GL_FRONT, GL_AMBIENT_AND_DIFFUSE, colour);
	glShadeModel(GL_FLAT);
	for (int face = 0; face < 2; face++) {
		float z = face ? -half : half;

		glNormal3f(0, 0, face ? -1 : 1);
		glFrontFace(face ? GL_CW : GL_CCW);
		glBegin(GL_TRIANGLE_STRIP);
		for (unsigned int i = 0; i <= 4 * teeth; i++) {
			float angle = i / 4 * pitch;

			tooth_point(outer, depth, angle, i % 4, pitch, &x, &y);
			glVertex3f(inner * cosf(angle + i % 4 * pitch / 4),
				   inner * sinf(angle + i % 4 * pitch / 4), z);
			glVertex3f(x, y, z);
		}
		glEnd();
	}
	glFrontFace(GL_CCW);
	glBegin(GL_QUADS);
	for (unsigned int i = 0; i < 4 * teeth; i++) {
		unsigned int next = i + 1;
		float nx, ny, l;

		tooth_point(outer, depth, i / 4 * pitch, i % 4, pitch, &x, &y);
		tooth_point(outer, depth, next / 4 * pitch, next % 4, pitch, &nx, &ny);
		l = hypotf(nx - x, ny - y);
		glNormal3f((ny - y) / l, (x - nx) / l, 0);
		glVertex3f(x, y, half);
		glVertex3f(x, y, -half);
		glVertex3f(nx, ny, -half);
		glVertex3f(nx, ny, half);
	}
	glEnd();
	glShadeModel(GL_SMOOTH);
	glBegin(GL_QUAD_STRIP);
	for (unsigned int i = 0; i <= teeth; i++) {
		float c = cosf(i * pitch), s = sinf(i * pitch);

		glNormal3f(-c, -s, 0);
		glVertex3f(inner * c, inner * s, -half);
		glVertex3f(inner * c, inner * s, half);
	}
	glEnd();
	glEndList();
	return list;
}

static bool draw_gears(void)
{
	static const float light[4] = { 5, 6, 10, 0 }, white[4] = { 1, 1, 1, 1 };
	static const float red[4] = { 0.85f, 0.15f, 0.05f, 1 }, green[4] = { 0.1f, 0.75f, 0.2f, 1 };
	static const float blue[4] = { 0.2f, 0.3f, 0.95f, 1 };
	const struct { GLuint list; float x, y, angle; } gears[3] = {
		{ gear(1.0f, 4.0f, 1.0f, 20, 0.7f, red), -3.1f, -2.0f, 10 },
		{ gear(0.5f, 2.0f, 2.0f, 10, 0.7f, green), 3.1f, -2.0f, -11 },
		{ gear(1.3f, 2.0f, 0.5f, 10, 0.7f, blue), -3.1f, 4.2f, -7 },
	};

	background(0.1f, 0.1f, 0.15f);
	glEnable(GL_DEPTH_TEST);
	glEnable(GL_CULL_FACE);
	glEnable(GL_NORMALIZE);
	glEnable(GL_LIGHTING);
	glEnable(GL_LIGHT0);
	glMatrixMode(GL_PROJECTION);
	glLoadMatrixf(perspective(0.4f, (float)WIDTH / HEIGHT, 5, 80).m);
	glMatrixMode(GL_MODELVIEW);
	glLoadIdentity();
	glLightfv(GL_LIGHT0, GL_POSITION, light);
	glMaterialfv(GL_FRONT, GL_SPECULAR, white);
	glMaterialf(GL_FRONT, GL_SHININESS, 30);
	glTranslatef(0, 0, -40);
	glRotatef(20, 1, 0, 0);
	glRotatef(30, 0, 1, 0);
	for (unsigned int i = 0; i < 3; i++) {
		glPushMatrix();
		glTranslatef(gears[i].x, gears[i].y, 0);
		glRotatef(gears[i].angle, 0, 0, 1);
		glCallList(gears[i].list);
		glPopMatrix();
	}
	return true;
}

/*
 * A font of strokes on a grid of 4x6: pairs of digits are points, a blank lifts the pen.
 */
static const struct { char c; const char *strokes; } font[] = {
	{ 'A', "00 04 26 44 40 02 42" }, { 'B', "00 06 36 45 44 33 03 33 42 41 30 00" },
	{ 'C', "45 36 16 05 01 10 30 41" }, { 'D', "00 06 26 44 42 20 00" },
	{ 'E', "46 06 00 40 03 33" }, { 'F', "46 06 00 03 33" },
	{ 'G', "45 36 16 05 01 10 30 41 43 23" }, { 'H', "00 06 03 43 46 40" },
	{ 'I', "10 30 20 26 16 36" }, { 'J', "01 10 20 31 36" }, { 'K', "00 06 02 46 13 40" },
	{ 'L', "06 00 40" }, { 'M', "00 06 23 46 40" }, { 'N', "00 06 40 46" },
	{ 'O', "01 05 16 36 45 41 30 10 01" }, { 'P', "00 06 36 45 44 33 03" },
	{ 'Q', "01 05 16 36 45 41 30 10 01 22 40" }, { 'R', "00 06 36 45 44 33 03 23 40" },
	{ 'S', "01 10 30 41 42 33 13 04 05 16 36 45" }, { 'T', "20 26 06 46" },
	{ 'U', "06 01 10 30 41 46" }, { 'V', "06 20 46" }, { 'W', "06 10 23 30 46" },
	{ 'X', "00 46 23 06 40" }, { 'Y', "20 23 06 23 46" }, { 'Z', "06 46 00 40" },
	{ '0', "01 05 16 36 45 41 30 10 01 45" }, { '1', "04 26 20 10 30" },
	{ '2', "05 16 36 45 44 00 40" }, { '3', "06 46 23 33 42 41 30 10 01" },
	{ '4', "30 36 02 42" }, { '5', "46 06 03 33 42 41 30 00" },
	{ '6', "36 16 04 01 10 30 41 42 33 03" }, { '7', "06 46 10" },
	{ '8', "13 04 05 16 36 45 44 33 13 02 01 10 30 41 42 33" },
	{ '9', "10 30 42 45 36 16 05 04 13 43" }, { '.', "20 21" }, { ',', "10 21" },
};

#define GLYPHS	(sizeof(font) / sizeof(font[0]))
#define CELL	32
#define ATLAS	256

static float distance(float px, float py, float ax, float ay, float bx, float by)
{
	float dx = bx - ax, dy = by - ay, l = dx * dx + dy * dy;
	float t = l ? ((px - ax) * dx + (py - ay) * dy) / l : 0;

	t = t < 0 ? 0 : t > 1 ? 1 : t;
	return hypotf(px - ax - t * dx, py - ay - t * dy);
}

/* Draws a glyph with soft edges into a cell of CELL x CELL texels. */
static void glyph(const char *strokes, unsigned char *texels)
{
	for (unsigned int y = 0; y < CELL; y++) {
		for (unsigned int x = 0; x < CELL; x++) {
			float nearest = CELL, cover;

			for (const char *s = strokes; strlen(s) >= 5; s += 3) {
				float d = distance(x + 0.5f, y + 0.5f, 6 + 4 * (s[0] - '0'),
						   4 + 4 * (s[1] - '0'), 6 + 4 * (s[3] - '0'),
						   4 + 4 * (s[4] - '0'));

				nearest = d < nearest ? d : nearest;
			}
			cover = 2.2f - nearest;
			cover = cover < 0 ? 0 : cover > 1 ? 1 : cover;
			texels[y * ATLAS + x] = cover * 255 + 0.5f;
		}
	}
}

static void text(float x, float y, float size, const char *line)
{
	const float step = (float)CELL / ATLAS, pixel = 2.0f * size / WIDTH;

	glBegin(GL_QUADS);
	for (; *line; line++, x += 0.72f * pixel) {
		unsigned int i = 0;
		float s, t, top = y + 2.0f * size / HEIGHT;

		while (i < GLYPHS && font[i].c != *line)
			i++;
		if (i == GLYPHS)
			continue;
		s = i % (ATLAS / CELL) * step;
		t = i / (ATLAS / CELL) * step;
		glTexCoord2f(s, t);
		glVertex2f(x, y);
		glTexCoord2f(s + step, t);
		glVertex2f(x + pixel, y);
		glTexCoord2f(s + step, t + step);
		glVertex2f(x + pixel, top);
		glTexCoord2f(s, t + step);
		glVertex2f(x, top);
	}
	glEnd();
}

static bool draw_text(void)
{
	static unsigned char atlas[ATLAS * ATLAS];

	for (unsigned int i = 0; i < GLYPHS; i++)
		glyph(font[i].strokes,
		      atlas + i / (ATLAS / CELL) * CELL * ATLAS + i % (ATLAS / CELL) * CELL);
	background(0.95f, 0.95f, 0.9f);
	texture_2d(GL_ALPHA8, ATLAS, ATLAS, GL_ALPHA, GL_UNSIGNED_BYTE, atlas, false);
	glEnable(GL_TEXTURE_2D);
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glColor4f(0.05f, 0.05f, 0.1f, 1);
	text(-0.95f, 0.68f, 32, "R700 AND MESA");
	glColor4f(0.7f, 0.1f, 0.1f, 1);
	text(-0.95f, 0.42f, 20, "SPHINX OF BLACK");
	text(-0.95f, 0.24f, 20, "QUARTZ, JUDGE MY VOW.");
	glColor4f(0.1f, 0.3f, 0.6f, 0.7f);
	text(-0.95f, 0.02f, 14, "0123456789 ABCDEFGHIJKLM");
	text(-0.95f, -0.12f, 10.5f, "NOPQRSTUVWXYZ AT FRACTIONS OF A SIZE");
	/* Rotated and in perspective. */
	glColor4f(0.1f, 0.5f, 0.2f, 1);
	glMatrixMode(GL_PROJECTION);
	glLoadMatrixf(perspective(1, 1, 0.1f, 10).m);
	glMatrixMode(GL_MODELVIEW);
	glTranslatef(0, -0.35f, -1.6f);
	glRotatef(-55, 1, 0, 0);
	glRotatef(8, 0, 0, 1);
	text(-0.95f, -0.1f, 36, "PERSPECTIVE");
	return true;
}

static void torus_lines(float radius, float tube, unsigned int around, unsigned int across)
{
	for (unsigned int i = 0; i < around; i++) {
		glBegin(GL_QUAD_STRIP);
		for (unsigned int j = 0; j <= across; j++) {
			float b = j * 2 * PI / across, r = radius + tube * cosf(b);

			for (unsigned int k = 0; k < 2; k++) {
				float a = (i + k) * 2 * PI / around;

				glVertex3f(r * cosf(a), tube * sinf(b), r * sinf(a));
			}
		}
		glEnd();
	}
}

/* Makes the current matrix map pixels to clip space: lines can run through their centres. */
static void pixel_units(void)
{
	glLoadIdentity();
	glTranslatef(-1, -1, 0);
	glScalef(2.0f / WIDTH, 2.0f / HEIGHT, 1);
}

static bool draw_wires(void)
{
	background(1, 1, 1);
	glMatrixMode(GL_PROJECTION);
	glLoadMatrixf(perspective(0.7f, (float)WIDTH / HEIGHT, 1, 20).m);
	glMatrixMode(GL_MODELVIEW);
	glEnable(GL_DEPTH_TEST);
	/* The fill is pushed back, so that it hides no edge of the same polygons. */
	glPushMatrix();
	glTranslatef(-0.4f, 0.1f, -5.5f);
	glRotatef(50, 1, 0.2f, 0);
	glEnable(GL_POLYGON_OFFSET_FILL);
	glPolygonOffset(1, 1);
	glColor3f(0.75f, 0.85f, 1);
	torus_lines(1.1f, 0.5f, 24, 12);
	glDisable(GL_POLYGON_OFFSET_FILL);
	glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
	glColor3f(0.1f, 0.1f, 0.5f);
	torus_lines(1.1f, 0.5f, 24, 12);
	glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
	glPopMatrix();

	glDisable(GL_DEPTH_TEST);
	glMatrixMode(GL_PROJECTION);
	pixel_units();
	for (unsigned int i = 0; i < 6; i++) {
		glLineWidth(1 + i);
		glColor3f(0.15f * i, 0, 0.6f);
		glBegin(GL_LINES);
		glVertex2f(245.5f, 110.5f + 12 * i);
		glVertex2f(305.5f, 114.5f + 15 * i);
		glEnd();
	}
	for (unsigned int i = 0; i < 6; i++) {
		glPointSize(1 + 2 * i);
		glColor3f(0, 0.1f * i, 0.3f);
		glBegin(GL_POINTS);
		glVertex2f(20.5f + 18 * i, 48.5f);
		glEnd();
	}
	return true;
}

/* Patterns of lines, which change between draws, and of a polygon. */
static bool draw_stipple(void)
{
	GLubyte weave[128];

	background(1, 1, 1);
	pixel_units();
	glEnable(GL_LINE_STIPPLE);
	for (unsigned int i = 0; i < 4; i++) {
		static const GLushort patterns[4] = { 0x00FF, 0x0F0F, 0x3333, 0x27FF };

		glLineStipple(1 + i / 3, patterns[i]);
		glColor3f(0.8f, 0.1f * i, 0);
		glBegin(GL_LINES);
		glVertex2f(10.5f, 150.5f + 12 * i);
		glVertex2f(309.5f, 150.5f + 12 * i);
		glEnd();
	}
	glLineStipple(2, 0x5F5F);
	glColor3f(0, 0.5f, 0);
	glBegin(GL_LINE_LOOP);
	glVertex2f(165.5f, 30.5f);
	glVertex2f(305.5f, 50.5f);
	glVertex2f(235.5f, 130.5f);
	glEnd();
	glDisable(GL_LINE_STIPPLE);
	for (unsigned int i = 0; i < 128; i++)
		weave[i] = i / 4 & 1 ? 0x55 : i / 8 & 1 ? 0xF0 : 0xAA;
	glEnable(GL_POLYGON_STIPPLE);
	glPolygonStipple(weave);
	glColor3f(0.5f, 0.2f, 0);
	glRectf(20, 20, 140, 130);
	return true;
}

const struct scene scenes_legacy[] = {
	{ "gears", draw_gears, true },
	{ "text", draw_text, true },
	{ "wires", draw_wires, true },
	{ "stipple", draw_stipple, true },
	{ 0 }
};
