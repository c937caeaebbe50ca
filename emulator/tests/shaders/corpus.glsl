// SPDX-License-Identifier: MIT
// The corpus of shaders whose compiled form the decoder is tested with. Each
// program begins with "#program NAME", each stage with "#stage vert", "#stage
// geom" or "#stage frag"; "#feedback NAME..." lists captured outputs. Stages
// that a program leaves out are those of the program "basic".

#program basic
#stage vert
#version 330
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 2) in vec3 normal;
layout(location = 3) in vec2 texcoord;
uniform mat4 mvp;
out vec4 v_color;
out vec3 v_normal;
out vec2 v_texcoord;
void main()
{
	gl_Position = mvp * position;
	v_color = color;
	v_normal = normal;
	v_texcoord = texcoord;
}
#stage frag
#version 330
in vec4 v_color;
layout(location = 0) out vec4 color;
void main() { color = v_color; }

#program constant
#stage frag
#version 330
layout(location = 0) out vec4 color;
void main() { color = vec4(0.25, 0.5, 1.0, 1.0); }

#program phong
#stage frag
#version 330
in vec4 v_color;
in vec3 v_normal;
uniform vec3 light, eye;
uniform float shininess;
layout(location = 0) out vec4 color;
void main()
{
	vec3 n = normalize(v_normal);
	vec3 h = normalize(light + eye);
	float d = max(dot(n, light), 0.0);
	float s = pow(clamp(dot(n, h), 0.0, 1.0), shininess);
	color = vec4(v_color.rgb * d + s, v_color.a);
}

#program functions
#stage frag
#version 330
in vec4 v_color;
layout(location = 0) out vec4 color;
void main()
{
	vec4 c = v_color;
	color.x = sin(c.x) * cos(c.y) + tan(c.z);
	color.y = exp2(c.x) + log2(abs(c.y)) + exp(c.z) - log(c.w);
	color.z = sqrt(abs(c.x)) + inversesqrt(abs(c.y)) + 1.0 / c.z;
	color.w = fract(c.x) + floor(c.y) + ceil(c.z) + trunc(c.w) + roundEven(c.x);
	color += mix(c, c.wzyx, 0.3) + smoothstep(0.1, 0.9, c) + sign(c) + mod(c, 0.7);
	color += vec4(atan(c.x, c.y), asin(c.z), acos(c.w), atan(c.x));
	color = min(max(color, -c), step(c, vec4(0.5)));
}

#program integers
#stage frag
#version 330
flat in vec4 v_color;
uniform ivec4 a;
uniform uvec4 b;
layout(location = 0) out vec4 color;
void main()
{
	ivec4 i = ivec4(v_color * 100.0) + a;
	uvec4 u = uvec4(i) ^ b;
	i = (i << 3) | (i >> 2) & ~a;
	u = (u >> 5u) + u * 77u;
	i.x = i.x / a.y + i.y % a.z;
	u.x = u.x / b.y + u.y % b.z;
	bvec4 less = lessThan(i, a);
	bvec4 equal = equal(u, b);
	color = vec4(min(i, a) - max(i, -a)) + vec4(max(u, b));
	color += vec4(less) * vec4(equal) + vec4(abs(i)) + vec4(sign(i));
}
#stage vert
#version 330
layout(location = 0) in vec4 position;
layout(location = 1) in ivec4 color;
flat out vec4 v_color;
void main()
{
	gl_Position = position;
	v_color = vec4(color + gl_VertexID + gl_InstanceID);
}

#program branches
#stage frag
#version 330
in vec4 v_color;
uniform float limit;
layout(location = 0) out vec4 color;
void main()
{
	vec4 c = v_color;
	if (c.x > limit) {
		if (c.y > limit)
			c = sqrt(c);
		else
			c = c * c + sin(c);
		if (c.z < c.w)
			c.xy = c.yx;
	} else if (c.y < 0.5) {
		c = exp2(c);
	} else {
		c = normalize(c);
	}
	color = c;
}

#program loops
#stage frag
#version 330
in vec4 v_color;
uniform int count;
uniform vec4 weights[16];
layout(location = 0) out vec4 color;
void main()
{
	vec4 sum = vec4(0.0);
	for (int i = 0; i < count; i++) {
		if (weights[i & 15].x < 0.0)
			continue;
		sum += weights[i & 15] * v_color;
		for (int j = 0; j < i; j++) {
			sum = sum * 0.5 + vec4(float(j));
			if (sum.y > 100.0)
				break;
		}
		if (sum.x > 10.0)
			break;
	}
	color = sum;
}

#program discards
#stage frag
#version 330
in vec4 v_color;
in vec2 v_texcoord;
uniform sampler2D image;
layout(location = 0) out vec4 color;
void main()
{
	if (v_color.a < 0.5)
		discard;
	vec4 texel = texture(image, v_texcoord);
	if (texel.a * v_color.a == 0.0)
		discard;
	color = texel + vec4(dFdx(v_texcoord), dFdy(v_texcoord)) + fwidth(v_color);
}

#program textures
#stage frag
#version 330
in vec4 v_color;
in vec3 v_normal;
in vec2 v_texcoord;
uniform sampler2D image;
uniform sampler3D volume;
uniform samplerCube cube;
uniform sampler2DArray layers;
uniform sampler1D line;
uniform sampler2DRect rect;
layout(location = 0) out vec4 color;
void main()
{
	vec4 c = texture(image, v_texcoord);
	c += texture(volume, v_normal);
	c += texture(cube, v_normal);
	c += texture(layers, vec3(v_texcoord, v_color.x * 4.0));
	c += texture(line, v_color.y);
	c += texture(rect, v_texcoord * 64.0);
	c += textureProj(image, v_color);
	color = c;
}

#program texture_lod
#stage frag
#version 330
in vec4 v_color;
in vec3 v_normal;
in vec2 v_texcoord;
uniform sampler2D image;
uniform samplerCube cube;
uniform sampler2DArray layers;
uniform int level;
layout(location = 0) out vec4 color;
void main()
{
	vec4 c = textureLod(image, v_texcoord, v_color.x * 5.0);
	c += texture(image, v_texcoord, 1.5);
	c += textureGrad(image, v_texcoord, v_color.xy, v_color.zw);
	c += textureOffset(image, v_texcoord, ivec2(-3, 5));
	c += texelFetch(image, ivec2(v_texcoord * 16.0), level);
	c += texelFetchOffset(layers, ivec3(v_texcoord.xyx * 4.0), 0, ivec2(1, -1));
	c += textureLod(cube, v_normal, 2.0);
	c += vec4(textureSize(image, level), textureSize(cube, 0));
	color = c;
}

#program shadows
#stage frag
#version 330
in vec4 v_color;
in vec3 v_normal;
in vec2 v_texcoord;
uniform sampler2DShadow map;
uniform samplerCubeShadow cube;
uniform sampler2DArrayShadow layers;
layout(location = 0) out vec4 color;
void main()
{
	float s = texture(map, vec3(v_texcoord, v_color.x));
	s += textureLod(map, vec3(v_texcoord, v_color.y), 0.0);
	s += texture(cube, vec4(v_normal, v_color.z));
	s += texture(layers, vec4(v_texcoord, 1.0, v_color.w));
	color = vec4(s);
}

#program buffers
#stage frag
#version 330
in vec4 v_color;
uniform samplerBuffer floats;
uniform isamplerBuffer ints;
layout(std140) uniform block {
	mat4 transform;
	vec4 table[200];
	ivec4 selector;
};
layout(location = 0) out vec4 color;
void main()
{
	int i = int(v_color.x * 200.0);
	color = transform * table[i] + table[selector.y & 127];
	color += texelFetch(floats, i) + vec4(texelFetch(ints, i + 1));
}

#program arrays
#stage frag
#version 330
in vec4 v_color;
uniform int index;
layout(location = 0) out vec4 color;
void main()
{
	vec4 values[12];
	for (int i = 0; i < 12; i++)
		values[i] = v_color * float(i) + vec4(float(i & 3));
	color = values[index] + values[int(v_color.x * 8.0)];
}

#program big_array
#stage frag
#version 330
in vec4 v_color;
uniform int index;
layout(location = 0) out vec4 color;
void main()
{
	vec4 values[150];
	for (int i = 0; i < 150; i++)
		values[i] = v_color * float(i);
	values[index].xz = vec2(3.0, 4.0);
	vec4 sum = vec4(0.0);
	for (int i = 0; i < 10; i++)
		sum += values[(index * i) % 150];
	color = sum;
}

#program targets
#stage frag
#version 330
in vec4 v_color;
in vec2 v_texcoord;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out vec2 c;
void main()
{
	a = v_color;
	b = v_color.wzyx * gl_FragCoord;
	c = gl_FrontFacing ? v_texcoord : gl_PointCoord;
	gl_FragDepth = v_color.x * 0.5;
}

#program dual_source
#stage frag
#version 330
in vec4 v_color;
layout(location = 0, index = 0) out vec4 a;
layout(location = 0, index = 1) out vec4 b;
void main() { a = v_color; b = vec4(v_color.a); }

#program interpolation
#stage vert
#version 330
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
uniform mat4 planes;
flat out vec4 v_flat;
noperspective out vec4 v_linear;
centroid out vec4 v_centroid;
out vec4 v_smooth;
out float gl_ClipDistance[5];
void main()
{
	gl_Position = position;
	gl_PointSize = color.x * 8.0;
	v_flat = color;
	v_linear = color * 2.0;
	v_centroid = color.yxwz;
	v_smooth = color * color;
	for (int i = 0; i < 4; i++)
		gl_ClipDistance[i] = dot(planes[i], position);
	gl_ClipDistance[4] = position.z;
}
#stage frag
#version 330
flat in vec4 v_flat;
noperspective in vec4 v_linear;
centroid in vec4 v_centroid;
in vec4 v_smooth;
layout(location = 0) out vec4 color;
void main() { color = v_flat + v_linear * v_centroid - v_smooth; }

#program many_attributes
#stage vert
#version 330
in vec4 a0, a1, a2, a3;
in mat4 m;
in vec2 b0, b1;
in float f0;
out vec4 v_color;
void main()
{
	gl_Position = m * a0;
	v_color = a1 * a2 + a3 + vec4(b0, b1) * f0;
}

#program feedback
#feedback captured ids
#stage vert
#version 330
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
out vec4 v_color;
out vec3 captured;
flat out ivec2 ids;
void main()
{
	gl_Position = position;
	v_color = color;
	captured = position.xyz + color.www;
	ids = ivec2(gl_VertexID, gl_InstanceID);
}

#program geometry
#stage vert
#version 330
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
out vec4 g_color;
void main() { gl_Position = position; g_color = color; }
#stage geom
#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;
in vec4 g_color[];
out vec4 v_color;
uniform vec4 shift;
void main()
{
	for (int copy = 0; copy < 2; copy++) {
		for (int i = 0; i < 3; i++) {
			gl_Position = gl_in[i].gl_Position + shift * float(copy);
			v_color = g_color[i] + vec4(float(gl_PrimitiveIDIn));
			gl_Layer = copy;
			EmitVertex();
		}
		EndPrimitive();
	}
}

#program mandelbrot
#stage frag
#version 330
in vec2 v_texcoord;
layout(location = 0) out vec4 color;
void main()
{
	vec2 z = vec2(0.0);
	int n = 0;
	while (dot(z, z) < 4.0 && n < 64) {
		z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + v_texcoord;
		n++;
	}
	switch (n & 3) {
	case 0: color = vec4(1.0, 0.0, 0.0, 1.0); break;
	case 1: color = vec4(0.0, 1.0, 0.0, 1.0); break;
	case 2: color = vec4(z, z); // falls through
	default: color += vec4(float(n) / 64.0);
	}
}

#program noise
#stage frag
#version 330
in vec2 v_texcoord;
uniform float time;
layout(location = 0) out vec4 color;
float hash(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }
float noise(vec2 p)
{
	vec2 i = floor(p), f = fract(p);
	vec2 u = f * f * (3.0 - 2.0 * f);
	return mix(mix(hash(i), hash(i + vec2(1, 0)), u.x),
		   mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), u.x), u.y);
}
void main()
{
	float v = 0.0, a = 0.5;
	vec2 p = v_texcoord * 8.0 + time;
	for (int i = 0; i < 6; i++, a *= 0.5, p *= 2.0)
		v += a * noise(p);
	color = vec4(v, v * v, sqrt(v), 1.0);
}
