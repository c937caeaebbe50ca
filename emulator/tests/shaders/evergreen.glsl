// SPDX-License-Identifier: MIT
// What Evergreen's and Cayman's shaders have and R7xx's do not, in the format of corpus.glsl.

#program shared_memory
#stage comp
#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
shared uint sums[64];
shared uint least;
void main()
{
	uint i = gl_LocalInvocationIndex;
	sums[i] = data[i];
	if (i == 0u)
		least = 0xffffffffu;
	barrier();
	for (uint step = 1u; step < 64u; step *= 2u) {
		uint other = i >= step ? sums[i - step] : 0u;
		barrier();
		sums[i] += other;
		barrier();
	}
	atomicMin(least, sums[i]);
	uint before = atomicExchange(sums[(i + 1u) % 64u], i);
	uint swapped = atomicCompSwap(sums[i], before, 7u);
	barrier();
	data[i] = sums[i] + least + swapped + atomicAdd(least, 1u);
}

#program storage
#stage comp
#version 430
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Data { uvec4 first; uint counter; int least; uint list[]; };
layout(rgba32f, binding = 0) uniform image2D picture;
layout(r32ui, binding = 1) uniform uimage2D bins;
uniform int offset;
void main()
{
	ivec2 at = ivec2(gl_GlobalInvocationID.xy);
	uint place = atomicAdd(counter, 1u);
	atomicMax(least, at.x - offset);
	list[place] = imageAtomicAdd(bins, at, 3u) + imageAtomicCompSwap(bins, at, 5u, 9u);
	vec4 texel = imageLoad(picture, at);
	imageStore(picture, at + offset, texel * 0.5 + vec4(first));
	memoryBarrier();
	list[place + 1u] = uint(list.length());
}

#program counters
#stage frag
#version 430
layout(binding = 0, offset = 0) uniform atomic_uint drawn;
layout(binding = 0, offset = 4) uniform atomic_uint left;
layout(location = 0) out vec4 color;
void main()
{
	uint n = atomicCounterIncrement(drawn);
	uint m = atomicCounterDecrement(left);
	color = vec4(float(n) / 256.0, float(m), float(atomicCounter(drawn)), 1.0);
}

#program gathers
#stage frag
#version 430
uniform sampler2D image;
uniform sampler2DShadow shadow;
uniform isampler2DArray layers;
uniform samplerCubeArray cubes;
uniform sampler2DMS samples;
uniform ivec2 offset;
in vec2 v_texcoord;
layout(location = 0) out vec4 color;
void main()
{
	color = textureGather(image, v_texcoord, 2);
	color += textureGatherOffset(image, v_texcoord, offset, 1);
	color += textureGather(shadow, v_texcoord, 0.5);
	color += vec4(textureGather(layers, vec3(v_texcoord, 1.0), 3));
	color += texture(cubes, vec4(v_texcoord, 0.5, 1.0));
	color += texelFetch(samples, ivec2(gl_FragCoord.xy), 2);
	color.xy += textureQueryLod(image, v_texcoord);
	color.z += float(textureQueryLevels(image)) + float(textureSize(cubes, 0).z);
}

#program indirect
#stage frag
#version 430
layout(std140) uniform Block { vec4 values[16]; } blocks[6];
uniform sampler2D images[4];
uniform int which;
in vec4 v_color;
in vec2 v_texcoord;
layout(location = 0) out vec4 color;
void main()
{
	int i = int(v_color.x * 5.0);
	color = blocks[which].values[i] + blocks[0].values[1] + blocks[1].values[2] + blocks[2].values[3];
	color += blocks[3].values[i] * blocks[4].values[5] + blocks[5].values[6];
	color += texture(images[which], v_texcoord);
}

#program bits
#stage frag
#version 430
in vec4 v_color;
layout(location = 0) out vec4 color;
void main()
{
	uint u = floatBitsToUint(v_color.x);
	int i = floatBitsToInt(v_color.y);
	uint carry, borrow, high, low;
	uint sum = uaddCarry(u, uint(i), carry) + usubBorrow(u, uint(i), borrow);
	umulExtended(u, sum, high, low);
	u = bitfieldExtract(u, 3, 7) + bitfieldInsert(sum, u, 5, 9) + bitfieldReverse(u) + high + low;
	i = bitCount(u) + findMSB(i) + findLSB(u) + findMSB(u) + bitfieldExtract(i, 2, 5);
	u += packHalf2x16(v_color.zw) + carry + borrow;
	color = vec4(float(u), float(i), fma(v_color.x, v_color.y, v_color.z), ldexp(v_color.w, 3)) +
		unpackHalf2x16(u).xyxy + unpackUnorm4x8(u);
}

#program interpolants
#stage frag
#version 430
in vec4 v_color;
in vec3 v_normal;
in vec2 v_texcoord;
layout(location = 0) out vec4 color;
void main()
{
	color = interpolateAtOffset(v_color, vec2(0.25, -0.25)) + interpolateAtSample(v_normal, 1).xyzx;
	color += interpolateAtCentroid(v_texcoord).xyxy * float(gl_SampleID) + dFdx(v_color) - dFdy(v_color);
	gl_SampleMask[0] = gl_SampleMaskIn[0] & 5;
}

#program tessellation
#stage tesc
#version 430
layout(vertices = 4) out;
in vec4 v_color[];
out vec4 tc_color[];
patch out vec4 tc_all;
void main()
{
	tc_color[gl_InvocationID] = v_color[gl_InvocationID % 3] * gl_in[0].gl_Position.x;
	gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID % 3].gl_Position;
	barrier();
	tc_all = tc_color[(gl_InvocationID + 1) % 4];
	gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelOuter[3] = 3.0;
	gl_TessLevelInner[0] = gl_TessLevelInner[1] = tc_all.x;
}
#stage tese
#version 430
layout(quads, fractional_odd_spacing) in;
in vec4 tc_color[];
patch in vec4 tc_all;
out vec4 v_color;
void main()
{
	vec4 low = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x);
	vec4 high = mix(gl_in[2].gl_Position, gl_in[3].gl_Position, gl_TessCoord.x);
	gl_Position = mix(low, high, gl_TessCoord.y);
	v_color = tc_color[int(gl_TessCoord.x * 3.0)] + tc_all + gl_TessLevelInner[0];
}

#program streams
#feedback t_color t_point gl_NextBuffer t_other
#stage geom
#version 430
layout(triangles, invocations = 2) in;
layout(points, max_vertices = 4) out;
in vec4 v_color[];
layout(stream = 0) out vec4 t_color;
layout(stream = 0) out vec2 t_point;
layout(stream = 1) out vec3 t_other;
void main()
{
	for (int i = 0; i < 2; i++) {
		t_color = v_color[i];
		t_point = gl_in[i].gl_Position.xy + float(gl_InvocationID);
		gl_Position = gl_in[i].gl_Position;
		EmitStreamVertex(0);
		EndStreamPrimitive(0);
		t_other = v_color[i].yzw;
		EmitStreamVertex(1);
		EndStreamPrimitive(1);
	}
}
#stage frag
#version 430
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0); }
