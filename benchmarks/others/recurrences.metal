// kernel: prefix_sum_hillis
// input: x = float32[1024, 256] normal
// output: out = float32[1024, 256]
// grid: 262144
// threadgroup: 256
threadgroup float a[256], b[256];
uint t = thread_position_in_threadgroup.x, i = thread_position_in_grid.x;
a[t] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
threadgroup float* from = a;
threadgroup float* to = b;
for (uint step = 1; step < 256; step *= 2) {
  to[t] = t >= step ? from[t] + from[t - step] : from[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* other = from;
  from = to;
  to = other;
}
out[i] = from[t];

// kernel: selective_scan
// input: u = float32[8, 128, 64] normal
// input: delta = float32[8, 128, 64] uniform(0.0, 0.1)
// input: A = float32[64, 16] uniform(-1.0, 0.0)
// input: B = float32[8, 128, 16] normal
// input: C = float32[8, 128, 16] normal
// output: y = float32[8, 128, 64]
// grid: 64 8
// threadgroup: 64 1
uint c = thread_position_in_grid.x, n = thread_position_in_grid.y;
float state[16], decay[16];
for (int s = 0; s < 16; ++s) {
  state[s] = 0;
  decay[s] = A[c * 16 + s];
}
for (int t = 0; t < 128; ++t) {
  float d = delta[(n * 128 + t) * 64 + c], v = d * u[(n * 128 + t) * 64 + c], sum = 0;
  for (int s = 0; s < 16; ++s) {
    state[s] = metal::exp(d * decay[s]) * state[s] + v * B[(n * 128 + t) * 16 + s];
    sum += state[s] * C[(n * 128 + t) * 16 + s];
  }
  y[(n * 128 + t) * 64 + c] = sum;
}

// kernel: rwkv_wkv
// input: k = float32[8, 256, 64] normal
// input: v = float32[8, 256, 64] normal
// input: w = float32[64] uniform(-1.0, -0.1)
// input: u = float32[64] normal
// output: y = float32[8, 256, 64]
// grid: 64 8
// threadgroup: 64 1
uint c = thread_position_in_grid.x, n = thread_position_in_grid.y;
float p = 0, q = 0, o = -1e38f;
for (int t = 0; t < 256; ++t) {
  uint i = (n * 256 + t) * 64 + c;
  float kk = k[i], vv = v[i];
  float no = metal::max(o, u[c] + kk), a = metal::exp(o - no), b = metal::exp(u[c] + kk - no);
  y[i] = (a * p + b * vv) / (a * q + b);
  no = metal::max(w[c] + o, kk);
  a = metal::exp(w[c] + o - no);
  b = metal::exp(kk - no);
  p = a * p + b * vv;
  q = a * q + b;
  o = no;
}

// kernel: rwkv7_state
// input: r = float32[128, 4, 64] normal
// input: w = float32[128, 4, 64] uniform(0.5, 1.0)
// input: k = float32[128, 4, 64] uniform(-0.1, 0.1)
// input: v = float32[128, 4, 64] normal
// input: a = float32[128, 4, 64] uniform(-0.1, 0.1)
// input: b = float32[128, 4, 64] uniform(-0.1, 0.1)
// output: y = float32[128, 4, 64]
// grid: 64 4
// threadgroup: 64 1
constexpr uint D = 64, H = 4;
threadgroup float rs[D], ws[D], ks[D], as[D], bs[D];
uint i = thread_position_in_threadgroup.x, h = threadgroup_position_in_grid.y;
float state[D];
for (uint j = 0; j < D; ++j) state[j] = 0;
for (uint t = 0; t < 128; ++t) {
  uint at = (t * H + h) * D + i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  rs[i] = r[at];
  ws[i] = w[at];
  ks[i] = k[at];
  as[i] = a[at];
  bs[i] = b[at];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sa = 0, vi = v[at], out = 0;
  for (uint j = 0; j < D; ++j) sa += state[j] * as[j];
  for (uint j = 0; j < D; ++j) {
    state[j] = state[j] * ws[j] + sa * bs[j] + vi * ks[j];
    out += state[j] * rs[j];
  }
  y[at] = out;
}

// kernel: gated_delta_simd
// input: q = float32[64, 4, 128] normal
// input: k = float32[64, 4, 128] uniform(-0.1, 0.1)
// input: v = float32[64, 4, 32] normal
// input: g = float32[64, 4] uniform(0.8, 1.0)
// input: beta = float32[64, 4] uniform(0.0, 1.0)
// output: y = float32[64, 4, 32]
// grid: 32 32 4
// threadgroup: 32 4 1
uint h = thread_position_in_grid.z, row = thread_position_in_grid.y, lane = thread_index_in_simdgroup;
float state[4] = {0, 0, 0, 0};
for (uint t = 0; t < 64; ++t) {
  const device float* kt = k + (t * 4 + h) * 128;
  const device float* qt = q + (t * 4 + h) * 128;
  float kv = 0, out = 0;
  for (uint i = 0; i < 4; ++i) {
    state[i] *= g[t * 4 + h];
    kv += state[i] * kt[4 * lane + i];
  }
  kv = simd_sum(kv);
  float delta = (v[(t * 4 + h) * 32 + row] - kv) * beta[t * 4 + h];
  for (uint i = 0; i < 4; ++i) {
    state[i] += kt[4 * lane + i] * delta;
    out += state[i] * qt[4 * lane + i];
  }
  out = simd_sum(out);
  if (lane == 0) y[(t * 4 + h) * 32 + row] = out;
}

// kernel: ema_columns
// input: x = float32[2048, 256] normal
// output: out = float32[2048, 256]
// grid: 256
// threadgroup: 256
uint c = thread_position_in_grid.x;
float m = x[c];
for (uint t = 0; t < 2048; ++t) {
  m = 0.95f * m + 0.05f * x[t * 256 + c];
  out[t * 256 + c] = m;
}

// kernel: gru_steps
// input: x = float32[128, 3, 32] normal
// input: w = float32[32, 3, 32] uniform(-0.3, 0.3)
// output: out = float32[128, 32]
// grid: 32
// threadgroup: 32
uint i = thread_index_in_simdgroup;
float h = 0;
for (uint t = 0; t < 128; ++t) {
  float z = x[t * 96 + i], r = x[t * 96 + 32 + i], n = 0;
  for (ushort j = 0; j < 32; ++j) {
    float hj = simd_shuffle(h, j);
    z += w[j * 96 + i] * hj;
    r += w[j * 96 + 32 + i] * hj;
    n += w[j * 96 + 64 + i] * hj;
  }
  z = 1 / (1 + metal::exp(-z));
  r = 1 / (1 + metal::exp(-r));
  n = metal::tanh(x[t * 96 + 64 + i] + r * n);
  h = (1 - z) * n + z * h;
  out[t * 32 + i] = h;
}

// kernel: dtw_rows
// input: a = float32[512, 64] normal
// input: b = float32[512, 64] normal
// output: out = float32[512]
// grid: 512
// threadgroup: 32
uint n = thread_position_in_grid.x;
float row[65];
row[0] = 0;
for (int j = 1; j <= 64; ++j) row[j] = INFINITY;
for (int i = 0; i < 64; ++i) {
  float diagonal = row[0];
  row[0] = INFINITY;
  for (int j = 1; j <= 64; ++j) {
    float cost = metal::abs(a[n * 64 + i] - b[n * 64 + j - 1]);
    float best = metal::min(metal::min(row[j], row[j - 1]), diagonal);
    diagonal = row[j];
    row[j] = best + cost;
  }
}
out[n] = row[64];

// kernel: viterbi_threadgroup
// input: emit = float32[256, 64] normal
// input: trans = float32[64, 64] normal
// output: score = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float before[64];
uint s = thread_position_in_threadgroup.x;
before[s] = emit[s];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint t = 1; t < 256; ++t) {
  float best = -INFINITY;
  for (uint p = 0; p < 64; ++p) best = metal::max(best, before[p] + trans[p * 64 + s]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  before[s] = best + emit[t * 64 + s];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
score[s] = before[s];
