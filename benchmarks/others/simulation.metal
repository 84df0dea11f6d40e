// kernel: nbody_tiles
// input: p = float32[2048, 4] normal
// output: acc = float32[2048, 4]
// grid: 2048
// threadgroup: 128
threadgroup float4 tile[128];
uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
float4 mine = ((const device float4*)p)[i];
float3 sum = 0;
for (uint b = 0; b < 2048; b += 128) {
  tile[t] = ((const device float4*)p)[b + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = 0; j < 128; ++j) {
    float3 d = tile[j].xyz - mine.xyz;
    float inv = metal::rsqrt(metal::dot(d, d) + 0.01f);
    sum += d * (tile[j].w * inv * inv * inv);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
((device float4*)acc)[i] = float4(sum, 0);

// kernel: march_spheres
// input: centres = float32[8, 3] uniform(-2.0, 2.0)
// output: depth = float32[96, 96]
// grid: 96 96
// threadgroup: 32 4
float2 uv = (float2(thread_position_in_grid.xy) + 0.5f) / 48.0f - 1.0f;
float3 direction = metal::normalize(float3(uv, 1.5f)), origin = float3(0, 0, -4);
float t = 0;
for (int step = 0; step < 48; ++step) {
  float3 p = origin + t * direction;
  float d = 1e9f;
  for (int s = 0; s < 8; ++s)
    d = metal::min(d, metal::length(p - float3(centres[3 * s], centres[3 * s + 1], centres[3 * s + 2])) - 0.5f);
  if (d < 0.001f || t > 20) break;
  t += d;
}
depth[thread_position_in_grid.y * 96 + thread_position_in_grid.x] = t;

// kernel: monte_carlo_xorshift
// input: seed = uint32 9
// output: out = float32[8192]
// grid: 8192
// threadgroup: 256
uint i = thread_position_in_grid.x, s = (i + 1) * 2654435761u ^ seed;
uint inside = 0;
for (uint n = 0; n < 64; ++n) {
  s ^= s << 13; s ^= s >> 17; s ^= s << 5;
  float x = float(s >> 8) * (1.0f / 16777216.0f);
  s ^= s << 13; s ^= s >> 17; s ^= s << 5;
  float y = float(s >> 8) * (1.0f / 16777216.0f);
  inside += x * x + y * y < 1;
}
out[i] = float(inside) / 16.0f;

// kernel: perlin_2d
// input: perm = uint8[512] integers(0, 255)
// output: out = float32[256, 256]
// header:
float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
float slope(uint h, float x, float y) {
  float u = h & 1 ? -x : x, v = h & 2 ? -y : y;
  return u + v;
}
// body:
// grid: 256 256
// threadgroup: 32 8
float2 p = float2(thread_position_in_grid.xy) * 0.07f;
uint x = uint(p.x) & 255, y = uint(p.y) & 255;
float fx = metal::fract(p.x), fy = metal::fract(p.y), u = fade(fx), v = fade(fy);
uint a = perm[x] + y, b = perm[(x + 1) & 255] + y;
float low = metal::mix(slope(perm[a], fx, fy), slope(perm[b], fx - 1, fy), u);
float high = metal::mix(slope(perm[a + 1], fx, fy - 1), slope(perm[b + 1], fx - 1, fy - 1), u);
out[thread_position_in_grid.y * 256 + thread_position_in_grid.x] = metal::mix(low, high, v);

// kernel: fnv_hash_strings
// input: text = uint8[32768, 32] integers(32, 126)
// output: out = uint32[32768]
// grid: 32768
// threadgroup: 128
uint i = thread_position_in_grid.x, h = 2166136261u;
for (uint k = 0; k < 32; ++k) h = (h ^ text[i * 32 + k]) * 16777619u;
out[i] = h;

// kernel: fft_256_threadgroup
// input: x = float32[4096, 256, 2] normal
// output: y = float32[4096, 256, 2]
// grid: 524288
// threadgroup: 128
threadgroup float2 a[256], b[256];
uint t = thread_position_in_threadgroup.x, n = threadgroup_position_in_grid.x;
const device float2* in = (const device float2*)x + n * 256;
a[t] = in[t];
a[t + 128] = in[t + 128];
threadgroup_barrier(mem_flags::mem_threadgroup);
threadgroup float2* from = a;
threadgroup float2* to = b;
for (uint s = 1; s < 256; s *= 2) {
  uint k = t % s;
  float angle = -3.14159265f * float(k) / float(s);
  float2 w = float2(metal::cos(angle), metal::sin(angle)), p = from[t], q = from[t + 128];
  q = float2(q.x * w.x - q.y * w.y, q.x * w.y + q.y * w.x);
  uint to_at = (t - k) * 2 + k;
  to[to_at] = p + q;
  to[to_at + s] = p - q;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float2* other = from;
  from = to;
  to = other;
}
((device float2*)y)[n * 256 + t] = from[t];
((device float2*)y)[n * 256 + t + 128] = from[t + 128];

// kernel: boids
// input: p = float32[2048, 2] uniform(0.0, 1.0)
// input: v = float32[2048, 2] normal
// output: out = float32[2048, 2]
// grid: 2048
// threadgroup: 64
uint i = thread_position_in_grid.x;
float2 here = float2(p[2 * i], p[2 * i + 1]), centre = 0, apart = 0, along = 0;
float near = 0;
for (uint j = 0; j < 2048; ++j) {
  float2 d = float2(p[2 * j], p[2 * j + 1]) - here;
  float r = metal::dot(d, d);
  if (j != i && r < 0.04f) {
    centre += d;
    along += float2(v[2 * j], v[2 * j + 1]);
    if (r < 0.0025f) apart -= d;
    near += 1;
  }
}
float2 next = float2(v[2 * i], v[2 * i + 1]) + apart;
if (near > 0) next += (0.1f * along + centre) / near;
out[2 * i] = next.x;
out[2 * i + 1] = next.y;

// kernel: lattice_boltzmann
// input: f = float32[9, 256, 256] uniform(0.1, 0.2)
// output: out = float32[9, 256, 256]
// header:
constant int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant float ww[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
// body:
// grid: 256 256
// threadgroup: 32 8
int x = thread_position_in_grid.x, y = thread_position_in_grid.y;
float in[9], rho = 0, ux = 0, uy = 0;
for (int k = 0; k < 9; ++k) {
  in[k] = f[(k * 256 + ((y - cy[k]) & 255)) * 256 + ((x - cx[k]) & 255)];
  rho += in[k];
  ux += in[k] * cx[k];
  uy += in[k] * cy[k];
}
ux /= rho;
uy /= rho;
for (int k = 0; k < 9; ++k) {
  float cu = 3 * (cx[k] * ux + cy[k] * uy);
  float eq = ww[k] * rho * (1 + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
  out[(k * 256 + y) * 256 + x] = in[k] + 0.6f * (eq - in[k]);
}

// kernel: trilinear_lookup
// input: volume = float32[32, 32, 32] normal
// input: at = float32[32768, 3] uniform(0.0, 30.9)
// output: out = float32[32768]
// grid: 32768
// threadgroup: 256
uint i = thread_position_in_grid.x;
float3 p = float3(at[3 * i], at[3 * i + 1], at[3 * i + 2]);
uint3 c = uint3(p);
float3 f = p - float3(c);
float sum = 0;
for (uint k = 0; k < 8; ++k) {
  uint dx = k & 1, dy = (k >> 1) & 1, dz = k >> 2;
  float w = (dx ? f.x : 1 - f.x) * (dy ? f.y : 1 - f.y) * (dz ? f.z : 1 - f.z);
  sum += w * volume[((c.z + dz) * 32 + c.y + dy) * 32 + c.x + dx];
}
out[i] = sum;

// kernel: grid_sample_backward_image
// input: x = float32[64, 64, 16] normal
// input: grid = float32[4096, 2] uniform(-1.0, 1.0)
// input: cotangent = float32[4096, 16] normal
// output: dx = float32[64, 64, 16]
// init: 0
// atomic_outputs: true
// grid: 16 4096
// threadgroup: 16 16
uint c = thread_position_in_grid.x, n = thread_position_in_grid.y;
float ix = (grid[2 * n] + 1) * 32 - 0.5f, iy = (grid[2 * n + 1] + 1) * 32 - 0.5f;
int x0 = metal::floor(ix), y0 = metal::floor(iy);
float fx = ix - x0, fy = iy - y0, g = cotangent[n * 16 + c];
for (int k = 0; k < 4; ++k) {
  int px = x0 + (k & 1), py = y0 + (k >> 1);
  float w = (k & 1 ? fx : 1 - fx) * (k >> 1 ? fy : 1 - fy);
  if (px >= 0 && px < 64 && py >= 0 && py < 64)
    atomic_fetch_add_explicit(&dx[(py * 64 + px) * 16 + c], w * g, memory_order_relaxed);
}
