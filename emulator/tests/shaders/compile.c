// SPDX-License-Identifier: MIT
/*
 * Compiles and runs the programs of corpus files without a window, so that Mesa lists their
 * shaders (R600_DEBUG). corpus.py has the rest.
 *
 * usage: compile MAJOR MINOR FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include "bench-egl.h"

#define MAX_STAGES 8
#define MAX_FEEDBACK 8

struct stage {
	GLenum kind;
	char *text;
};

struct program {
	char name[64];
	struct stage stages[MAX_STAGES];
	unsigned int count;
	char *feedback[MAX_FEEDBACK];
	unsigned int feedback_count;
};

static const struct {
	const char *name;
	GLenum kind;
} kinds[] = {
	{ "vert", GL_VERTEX_SHADER },	      { "tesc", GL_TESS_CONTROL_SHADER },
	{ "tese", GL_TESS_EVALUATION_SHADER }, { "geom", GL_GEOMETRY_SHADER },
	{ "frag", GL_FRAGMENT_SHADER },	      { "comp", GL_COMPUTE_SHADER },
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "compile: %s: %s\n", what, why);
	exit(1);
}

static const struct stage *find(const struct program *p, GLenum kind)
{
	unsigned int i;

	for (i = 0; i < p->count; i++)
		if (p->stages[i].kind == kind)
			return &p->stages[i];
	return NULL;
}

static void attach(GLuint id, const struct stage *stage, const char *name)
{
	GLuint shader = glCreateShader(stage->kind);
	const char *text = stage->text;
	char log[4096];
	GLint ok;

	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	if (!ok) {
		glGetShaderInfoLog(shader, sizeof(log), NULL, log);
		die(name, log);
	}
	glAttachShader(id, shader);
	glDeleteShader(shader);
}

/* Links a program and uses it once. Vertex and fragment shaders that it lacks are those of @basic. */
static void run(const struct program *p, const struct program *basic)
{
	const GLenum fixed[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER };
	GLuint id = glCreateProgram();
	char log[4096];
	unsigned int i;
	GLint ok;

	fprintf(stderr, "#program %s\n", p->name);
	for (i = 0; i < p->count; i++)
		attach(id, &p->stages[i], p->name);
	for (i = 0; i < 2 && !find(p, GL_COMPUTE_SHADER); i++)
		if (!find(p, fixed[i]) && find(basic, fixed[i]))
			attach(id, find(basic, fixed[i]), p->name);
	if (p->feedback_count)
		glTransformFeedbackVaryings(id, p->feedback_count, (const char **)p->feedback,
					    GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(id);
	glGetProgramiv(id, GL_LINK_STATUS, &ok);
	if (!ok) {
		glGetProgramInfoLog(id, sizeof(log), NULL, log);
		die(p->name, log);
	}
	glUseProgram(id);
	if (find(p, GL_COMPUTE_SHADER)) {
		glDispatchCompute(1, 1, 1);
	} else if (find(p, GL_TESS_EVALUATION_SHADER)) {
		glPatchParameteri(GL_PATCH_VERTICES, 3);
		glDrawArrays(GL_PATCHES, 0, 3);
	} else {
		glDrawArrays(find(p, GL_GEOMETRY_SHADER) ? GL_TRIANGLES : GL_POINTS, 0, 3);
	}
	glFinish();
	glUseProgram(0);
	glDeleteProgram(id);
}

static void append(char **text, const char *line)
{
	size_t before = *text ? strlen(*text) : 0, more = strlen(line);

	*text = realloc(*text, before + more + 1);
	if (!*text)
		die("memory", "there is none");
	memcpy(*text + before, line, more + 1);
}

static void add_stage(struct program *p, const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(name, kinds[i].name) || p->count == MAX_STAGES)
			continue;
		p->stages[p->count++].kind = kinds[i].kind;
		return;
	}
	die(p->name, "unknown stage, or too many");
}

static void run_file(const char *path, struct program *basic)
{
	struct program p = {};
	FILE *file = fopen(path, "r");
	char line[512], word[64];
	char *name;

	if (!file)
		die(path, "cannot be opened");
	for (;;) {
		const char *read = fgets(line, sizeof(line), file);

		if (!read || sscanf(line, "#program %63s", word) == 1) {
			if (p.count)
				run(&p, basic);
			if (p.count && !strcmp(p.name, "basic"))
				*basic = p;
			if (!read)
				break;
			p = (struct program){};
			strcpy(p.name, word);
		} else if (sscanf(line, "#stage %63s", word) == 1) {
			add_stage(&p, word);
		} else if (!strncmp(line, "#feedback ", 10)) {
			for (name = strtok(line + 10, " \n");
			     name && p.feedback_count < MAX_FEEDBACK; name = strtok(NULL, " \n"))
				p.feedback[p.feedback_count++] = strdup(name);
		} else if (p.count) {
			append(&p.stages[p.count - 1].text, line);
		}
	}
	fclose(file);
}

/* What the compute shaders and atomic counters of the programs access: r600 needs it to be there. */
static void bind_storage(void)
{
	const GLenum formats[] = { GL_RGBA32F, GL_R32UI };
	GLuint buffers[2], textures[2];
	unsigned int i;

	glGenBuffers(2, buffers);
	for (i = 0; i < 2; i++) {
		glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffers[i]);
		glBufferData(GL_SHADER_STORAGE_BUFFER, 65536, NULL, GL_DYNAMIC_COPY);
	}
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffers[0]);
	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffers[1]);
	glGenTextures(2, textures);
	for (i = 0; i < 2; i++) {
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		glTexStorage2D(GL_TEXTURE_2D, 1, formats[i], 64, 64);
		glBindImageTexture(i, textures[i], 0, GL_FALSE, 0, GL_READ_WRITE, formats[i]);
	}
	glBindTexture(GL_TEXTURE_2D, 0);
}

int main(int argc, char **argv)
{
	struct program basic = {};
	struct bench_egl egl;
	EGLContext context;
	GLuint name;
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: compile MAJOR MINOR FILE...\n");
		return 2;
	}
	const EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, atoi(argv[1]),
		EGL_CONTEXT_MINOR_VERSION, atoi(argv[2]),
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE,
	};

	if (!bench_egl_start(&egl))
		return 1;
	context = bench_egl_context(&egl, attributes);
	if (context == EGL_NO_CONTEXT)
		die("context", "the driver has not this version");
	eglMakeCurrent(egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);

	glGenVertexArrays(1, &name);
	glBindVertexArray(name);
	glGenRenderbuffers(1, &name);
	glBindRenderbuffer(GL_RENDERBUFFER, name);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
	glGenFramebuffers(1, &name);
	glBindFramebuffer(GL_FRAMEBUFFER, name);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  name);
	if (atoi(argv[1]) >= 4)
		bind_storage();
	for (i = 3; i < argc; i++)
		run_file(argv[i], &basic);
	return 0;
}
