// kernel: attention_decode
// input: q = float32[16, 64] normal
// input: k = float32[16, 2048, 64] normal
// input: v = float32[16, 2048, 64] normal
// output: out = float32[16, 64]
// grid: 32 16
// threadgroup: 32 1
uint h = thread_position_in_grid.y, lane = thread_index_in_simdgroup;
float2 query = ((const device float2*)(q + h * 64))[lane] * 0.125f;
float2 acc = 0;
float m = -INFINITY, s = 0;
for (uint t = 0; t < 2048; ++t) {
  float2 key = ((const device float2*)(k + (h * 2048 + t) * 64))[lane];
  float score = simd_sum(query.x * key.x + query.y * key.y);
  float best = metal::max(m, score), f = metal::exp(m - best), e = metal::exp(score - best);
  s = s * f + e;
  acc = acc * f + e * ((const device float2*)(v + (h * 2048 + t) * 64))[lane];
  m = best;
}
((device float2*)(out + h * 64))[lane] = acc / s;

// kernel: flash_thread_query
// input: q = float32[8, 512, 32] normal
// input: k = float32[8, 512, 32] normal
// input: v = float32[8, 512, 32] normal
// output: out = float32[8, 512, 32]
// grid: 512 8
// threadgroup: 64 1
constexpr int D = 32, N = 512;
uint h = thread_position_in_grid.y, i = thread_position_in_grid.x;
float query[D], acc[D];
for (int d = 0; d < D; ++d) {
  query[d] = q[(h * N + i) * D + d] * 0.17677669f;
  acc[d] = 0;
}
float m = -INFINITY, s = 0;
for (int j = 0; j < N; ++j) {
  float score = 0;
  for (int d = 0; d < D; ++d) score += query[d] * k[(h * N + j) * D + d];
  float best = metal::max(m, score), f = metal::exp(m - best), e = metal::exp(score - best);
  s = s * f + e;
  for (int d = 0; d < D; ++d) acc[d] = acc[d] * f + e * v[(h * N + j) * D + d];
  m = best;
}
for (int d = 0; d < D; ++d) out[(h * N + i) * D + d] = acc[d] / s;

// kernel: attention_causal_two_pass
// input: q = float16[8, 512, 64] normal
// input: k = float16[8, 512, 64] normal
// input: v = float16[8, 512, 64] normal
// output: out = float16[8, 512, 64]
// grid: 512 8
// threadgroup: 32 1
uint h = thread_position_in_grid.y, i = thread_position_in_grid.x;
const device half* query = q + (h * 512 + i) * 64;
float scores[512];
float best = -INFINITY, total = 0;
for (uint j = 0; j <= i; ++j) {
  float s = 0;
  for (uint d = 0; d < 64; ++d) s += float(query[d]) * float(k[(h * 512 + j) * 64 + d]);
  scores[j] = s * 0.125f;
  best = metal::max(best, scores[j]);
}
for (uint j = 0; j <= i; ++j) {
  scores[j] = metal::exp(scores[j] - best);
  total += scores[j];
}
for (uint d = 0; d < 64; ++d) {
  float acc = 0;
  for (uint j = 0; j <= i; ++j) acc += scores[j] * float(v[(h * 512 + j) * 64 + d]);
  out[(h * 512 + i) * 64 + d] = half(acc / total);
}

// kernel: attention_window
// input: q = float32[4, 2048, 32] normal
// input: k = float32[4, 2048, 32] normal
// input: v = float32[4, 2048, 32] normal
// output: out = float32[4, 2048, 32]
// grid: 32 2048 4
// threadgroup: 32 4 1
uint lane = thread_index_in_simdgroup, i = thread_position_in_grid.y, h = thread_position_in_grid.z;
int j = int(i) + int(lane) - 15;
bool inside = j >= 0 && j < 2048;
float score = -INFINITY;
if (inside) {
  score = 0;
  for (int d = 0; d < 32; ++d) score += q[(h * 2048 + i) * 32 + d] * k[(h * 2048 + j) * 32 + d];
}
float e = inside ? metal::exp(score * 0.17677f - simd_max(score * 0.17677f)) : 0.0f;
float p = e / simd_sum(e), acc = 0;
for (uint n = 0; n < 32; ++n) {
  int at = int(i) + int(n) - 15;
  float weight = simd_shuffle(p, ushort(n));
  if (at >= 0 && at < 2048) acc += weight * v[(h * 2048 + at) * 32 + lane];
}
out[(h * 2048 + i) * 32 + lane] = acc;

// kernel: flash_tiled
// input: q = float32[8, 512, 64] normal
// input: k = float32[8, 512, 64] normal
// input: v = float32[8, 512, 64] normal
// output: out = float32[8, 512, 64]
// grid: 512 8
// threadgroup: 32 1
constexpr uint D = 64, N = 512, B = 16;
threadgroup float ks[B][D], vs[B][D];
uint h = threadgroup_position_in_grid.y, t = thread_position_in_threadgroup.x;
uint i = threadgroup_position_in_grid.x * 32 + t;
float acc[D], query[D];
for (uint d = 0; d < D; ++d) {
  query[d] = q[(h * N + i) * D + d];
  acc[d] = 0;
}
float m = -INFINITY, l = 0;
for (uint block = 0; block < N / B; ++block) {
  for (uint e = t; e < B * D; e += 32) {
    ks[e / D][e % D] = k[(h * N + block * B) * D + e];
    vs[e / D][e % D] = v[(h * N + block * B) * D + e];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float s[B], best = m;
  for (uint j = 0; j < B; ++j) {
    s[j] = 0;
    for (uint d = 0; d < D; ++d) s[j] += query[d] * ks[j][d];
    s[j] *= 0.125f;
    best = metal::max(best, s[j]);
  }
  float f = metal::exp(m - best);
  l *= f;
  for (uint d = 0; d < D; ++d) acc[d] *= f;
  for (uint j = 0; j < B; ++j) {
    float p = metal::exp(s[j] - best);
    l += p;
    for (uint d = 0; d < D; ++d) acc[d] += p * vs[j][d];
  }
  m = best;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
for (uint d = 0; d < D; ++d) out[(h * N + i) * D + d] = acc[d] / l;
