// kernel: swiglu
// input: gate = float32[4194304] normal
// input: up = float32[4194304] normal
// output: out = float32[4194304]
// grid: 1048576
// threadgroup: 256
uint i = thread_position_in_grid.x;
float4 g = ((device const float4*)gate)[i];
float4 u = ((device const float4*)up)[i];
((device float4*)out)[i] = g / (1.0f + metal::exp(-g)) * u;

// kernel: bias_gelu_half
// input: x = float16[4096, 1024] normal
// input: bias = float16[1024] normal
// output: out = float16[4096, 1024]
// grid: 4194304
// threadgroup: 256
uint i = thread_position_in_grid.x;
float v = float(x[i]) + float(bias[i % 1024]);
float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
out[i] = half(0.5f * v * (1.0f + metal::precise::tanh(inner)));

// kernel: adamw_step
// input: p = float32[2097152] normal
// input: g = float32[2097152] normal
// input: m = float32[2097152] normal
// input: v = float32[2097152] uniform(0.0, 1.0)
// input: lr = float32 0.001
// output: p_out = float32[2097152]
// output: m_out = float32[2097152]
// output: v_out = float32[2097152]
// grid: 2097152
// threadgroup: 256
uint i = thread_position_in_grid.x;
if (i >= (uint)p_shape[0]) return;
float grad = g[i];
float mi = 0.9f * m[i] + 0.1f * grad;
float vi = 0.999f * v[i] + 0.001f * grad * grad;
float old = p[i];
p_out[i] = old - lr * (mi / (metal::sqrt(vi) + 1e-8f) + 0.01f * old);
m_out[i] = mi;
v_out[i] = vi;

// kernel: rope_pairs
// input: x = float32[32, 1024, 64] normal
// input: offset = int32 17
// output: out = float32[32, 1024, 64]
// grid: 32 1024 32
// threadgroup: 32 8 1
uint3 pos = thread_position_in_grid;
float angle = float(pos.y + offset) * metal::exp2(-float(pos.x) * 0.4152410118609203f);
float c = metal::cos(angle), s = metal::sin(angle);
uint base = (pos.z * 1024 + pos.y) * 64 + 2 * pos.x;
float a = x[base], b = x[base + 1];
out[base] = a * c - b * s;
out[base + 1] = a * s + b * c;

// kernel: rope_halves_table
// input: x = float16[32, 1024, 128] normal
// input: cosines = float32[1024, 64] uniform(-1.0, 1.0)
// input: sines = float32[1024, 64] uniform(-1.0, 1.0)
// output: out = float16[32, 1024, 128]
// grid: 2097152
// threadgroup: 256
uint i = thread_position_in_grid.x;
uint d = i % 64, t = (i / 64) % 1024, h = i / (64 * 1024);
uint base = (h * 1024 + t) * 128 + d;
float c = cosines[t * 64 + d], s = sines[t * 64 + d];
float a = x[base], b = x[base + 64];
out[base] = half(a * c - b * s);
out[base + 64] = half(b * c + a * s);

// kernel: dropout_pcg
// input: x = float32[262144] normal
// input: seed = uint32 7
// output: out = float32[262144]
// grid: 262144
// threadgroup: 256
uint i = thread_position_in_grid.x;
uint s = (i ^ seed) * 747796405u + 2891336453u;
uint w = ((s >> ((s >> 28u) + 4u)) ^ s) * 277803737u;
w = (w >> 22u) ^ w;
float u = float(w >> 8) * (1.0f / 16777216.0f);
out[i] = u < 0.1f ? 0.0f : x[i] * (1.0f / 0.9f);

// kernel: add_broadcast_4d
// input: a = float32[64, 1, 64, 64] normal
// input: b = float32[1, 16, 1, 64] normal
// output: out = float32[64, 16, 64, 64]
// grid: 4194304
// threadgroup: 512
uint i = thread_position_in_grid.x;
uint d = i % 64, c = (i / 64) % 64, h = (i / 4096) % 16, n = i / 65536;
out[i] = a[(n * 64 + c) * 64 + d] + b[h * 64 + d];

// kernel: julia
// input: size = int32 256
// output: out = float32[256, 256]
// grid: 256 256
// threadgroup: 16 16
uint2 p = thread_position_in_grid.xy;
float2 z = float2(p) / float(size) * 3.0f - 1.5f;
int n = 0;
while (n < 100 && metal::dot(z, z) < 4.0f) {
  z = float2(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + float2(-0.8f, 0.156f);
  n++;
}
out[p.y * size + p.x] = float(n) / 100.0f;

// kernel: lookup_interpolated
// input: x = float32[262144] uniform(0.0, 1.0)
// input: table = float32[257] normal
// output: out = float32[262144]
// grid: 262144
// threadgroup: 256
uint i = thread_position_in_grid.x;
float at = metal::clamp(x[i], 0.0f, 0.99999f) * 256.0f;
uint k = uint(at);
out[i] = metal::mix(table[k], table[k + 1], at - float(k));

// kernel: complex_multiply
// input: a = float32[131072, 2] normal
// input: b = float32[131072, 2] normal
// output: out = float32[131072, 2]
// grid: 131072
// threadgroup: 256
uint i = thread_position_in_grid.x;
float2 p = ((const device float2*)a)[i], q = ((const device float2*)b)[i];
((device float2*)out)[i] = float2(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);

// kernel: quaternions_rotate
// input: q = float32[32768, 4] normal
// input: v = float32[32768, 3] normal
// output: out = float32[32768, 3]
// grid: 32768
// threadgroup: 256
uint i = thread_position_in_grid.x;
float w = q[4 * i], x = q[4 * i + 1], y = q[4 * i + 2], z = q[4 * i + 3];
float s = metal::rsqrt(w * w + x * x + y * y + z * z);
float3 u = float3(x, y, z) * s;
float3 p = float3(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
float3 t = 2.0f * metal::cross(u, p);
float3 r = p + w * s * t + metal::cross(u, t);
out[3 * i] = r.x;
out[3 * i + 1] = r.y;
out[3 * i + 2] = r.z;
