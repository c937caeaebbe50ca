/* SPDX-License-Identifier: MIT */
/* Shaders in SPIR-V, whose operations need not be those that GLSL is compiled to. */

#include "evergreen.h"

#include <stdlib.h>
#include <string.h>

#ifndef GL_SHADER_BINARY_FORMAT_SPIR_V_ARB
#define GL_SHADER_BINARY_FORMAT_SPIR_V_ARB 0x9551
#endif

#define THREADS 6

/* The first word of an instruction, whose words are @operands and itself. */
#define OP(code, operands) ((operands) + 1u) << 16 | (code)

/*
 * Each of THREADS threads stores what OpAtomicIDecrement returns of the first of an array of
 * counters, which begins at byte 4 of binding 0. COUNTERS is the word with their number.
 */
#define COUNTERS 80
static const uint32_t decrement[] = {
	0x07230203, 0x10000, 0, 24, 0,
	OP(17, 1), 1,					/* OpCapability Shader */
	OP(17, 1), 21,					/* OpCapability AtomicStorage */
	OP(14, 2), 0, 1,				/* OpMemoryModel Logical GLSL450 */
	OP(15, 5), 5, 1, 0x6e69616d, 0, 2,		/* OpEntryPoint GLCompute %1 "main" %2 */
	OP(16, 5), 1, 17, THREADS, 1, 1,		/* OpExecutionMode %1 LocalSize */
	OP(71, 3), 2, 11, 29,				/* OpDecorate %2 BuiltIn LocalInvocationIndex */
	OP(71, 3), 3, 35, 4,				/* OpDecorate %3 Offset 4 */
	OP(71, 3), 3, 33, 0,				/* OpDecorate %3 Binding 0 */
	OP(71, 3), 3, 34, 0,				/* OpDecorate %3 DescriptorSet 0 */
	OP(71, 3), 20, 6, 4,				/* OpDecorate %20 ArrayStride 4 */
	OP(71, 3), 4, 6, 4,				/* OpDecorate %4 ArrayStride 4 */
	OP(72, 4), 5, 0, 35, 0,				/* OpMemberDecorate %5 0 Offset 0 */
	OP(71, 2), 5, 3,				/* OpDecorate %5 BufferBlock */
	OP(71, 3), 6, 33, 0,				/* OpDecorate %6 Binding 0 */
	OP(71, 3), 6, 34, 0,				/* OpDecorate %6 DescriptorSet 0 */
	OP(19, 1), 7,					/* %7 = OpTypeVoid */
	OP(33, 2), 8, 7,				/* %8 = OpTypeFunction %7 */
	OP(21, 3), 9, 32, 0,				/* %9 = OpTypeInt 32 0 */
	OP(32, 3), 10, 1, 9,				/* %10 = OpTypePointer Input %9 */
	OP(43, 3), 9, 21, 0,				/* %21 = OpConstant %9 COUNTERS */
	OP(28, 3), 20, 9, 21,				/* %20 = OpTypeArray %9 %21 */
	OP(32, 3), 11, 10, 20,				/* %11 = OpTypePointer AtomicCounter %20 */
	OP(32, 3), 22, 10, 9,				/* %22 = OpTypePointer AtomicCounter %9 */
	OP(29, 2), 4, 9,				/* %4 = OpTypeRuntimeArray %9 */
	OP(30, 2), 5, 4,				/* %5 = OpTypeStruct %4 */
	OP(32, 3), 12, 2, 5,				/* %12 = OpTypePointer Uniform %5 */
	OP(32, 3), 13, 2, 9,				/* %13 = OpTypePointer Uniform %9 */
	OP(43, 3), 9, 14, 0,				/* %14 = OpConstant %9 0 */
	OP(43, 3), 9, 15, 1,				/* %15 = OpConstant %9 1 */
	OP(59, 3), 10, 2, 1,				/* %2 = OpVariable Input */
	OP(59, 3), 11, 3, 10,				/* %3 = OpVariable AtomicCounter */
	OP(59, 3), 12, 6, 2,				/* %6 = OpVariable Uniform */
	OP(54, 4), 7, 1, 0, 8,				/* %1 = OpFunction %7 None %8 */
	OP(248, 1), 16,					/* %16 = OpLabel */
	OP(65, 4), 22, 23, 3, 14,			/* %23 = OpAccessChain %22 %3 %14 */
	OP(233, 5), 9, 17, 23, 15, 14,			/* %17 = OpAtomicIDecrement %9 %23 %15 %14 */
	OP(61, 3), 9, 18, 2,				/* %18 = OpLoad %9 %2 */
	OP(65, 5), 13, 19, 6, 14, 18,			/* %19 = OpAccessChain %13 %6 %14 %18 */
	OP(62, 2), 19, 17,				/* OpStore %19 %17 */
	OP(253, 0),					/* OpReturn */
	OP(56, 0),					/* OpFunctionEnd */
};

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* decrementing() - uses the program of decrement[] with an array of @counters; 0 if there is none */
static GLuint decrementing(unsigned counters)
{
	GLuint shader = glCreateShader(GL_COMPUTE_SHADER), program = glCreateProgram();
	uint32_t words[sizeof(decrement) / sizeof(*decrement)];
	GLint ok;

	memcpy(words, decrement, sizeof(words));
	words[COUNTERS] = counters;
	glShaderBinary(1, &shader, GL_SHADER_BINARY_FORMAT_SPIR_V_ARB, words, sizeof(words));
	if (glGetError()) {
		wrong("no GL_ARB_gl_spirv");
		return 0;
	}
	glSpecializeShaderARB(shader, "main", 0, NULL, NULL);
	glAttachShader(program, shader);
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &ok);
	if (!ok) {
		wrong("the program does not link");
		return 0;
	}
	glUseProgram(program);
	return program;
}

/* OpAtomicIDecrement returns the value before; GLSL's atomicCounterDecrement() the one after. */
static void spirv_decrement(void)
{
	static const uint32_t begin[2] = { 77, 100 }, end[2] = { 77, 100 - THREADS };
	uint32_t found[THREADS], expected[THREADS], counters[2];
	GLuint buffer, to;

	if (!decrementing(1))
		return;
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
	glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof(begin), begin, GL_DYNAMIC_COPY);
	to = storage(0, NULL, sizeof(found));
	glDispatchCompute(1, 1, 1);
	buffer_read(buffer, counters, sizeof(counters));
	equal("the counters", counters, end, 2);
	buffer_read(to, found, sizeof(found));
	/* Each value once, in any order. */
	qsort(found, THREADS, sizeof(*found), by_number);
	for (unsigned i = 0; i < THREADS; i++)
		expected[i] = 100 - THREADS + 1 + i;
	equal("the values before", found, expected, THREADS);
}

/* The linker counts the counters of GLSL, and not these: r600 has eight. The dispatch may be lost, but no other. */
static void spirv_counters(void)
{
	GLuint buffer;

	if (!decrementing(30))
		return;
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
	glBufferData(GL_ATOMIC_COUNTER_BUFFER, 128, NULL, GL_DYNAMIC_COPY);
	storage(0, NULL, THREADS * 4);
	glDispatchCompute(1, 1, 1);
	glFinish();
	glGetError();
	spirv_decrement();
}

const struct test spirv_tests[] = {
	{ "spirv-decrement", spirv_decrement },
	{ "spirv-counters", spirv_counters },
	{ NULL, NULL },
};
