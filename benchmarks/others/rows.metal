// kernel: layer_norm_simd
// input: x = float32[8192, 768] normal
// input: w = float32[768] normal
// input: b = float32[768] normal
// output: out = float32[8192, 768]
// grid: 32 8192
// threadgroup: 32 8
uint row = thread_position_in_grid.y, lane = thread_index_in_simdgroup;
device const float4* in = (device const float4*)(x + row * 768);
float sum = 0, squares = 0;
for (uint i = lane; i < 192; i += 32) {
  float4 v = in[i];
  sum += v.x + v.y + v.z + v.w;
  squares += metal::dot(v, v);
}
sum = simd_sum(sum);
squares = simd_sum(squares);
float mean = sum / 768.0f, inv = metal::rsqrt(squares / 768.0f - mean * mean + 1e-5f);
for (uint i = lane; i < 192; i += 32) {
  ((device float4*)(out + row * 768))[i] =
      (in[i] - mean) * inv * ((device const float4*)w)[i] + ((device const float4*)b)[i];
}

// kernel: rms_norm_residual_half
// input: x = float16[2048, 2048] normal
// input: r = float16[2048, 2048] normal
// input: w = float16[2048] normal
// output: out = float16[2048, 2048]
// output: sum = float16[2048, 2048]
// grid: 524288
// threadgroup: 256
threadgroup float shared[8];
uint row = threadgroup_position_in_grid.x, t = thread_position_in_threadgroup.x;
float local[8], acc = 0;
for (uint k = 0; k < 8; ++k) {
  uint i = row * 2048 + k * 256 + t;
  local[k] = float(x[i]) + float(r[i]);
  sum[i] = half(local[k]);
  acc += local[k] * local[k];
}
acc = simd_sum(acc);
if (thread_index_in_simdgroup == 0) shared[simdgroup_index_in_threadgroup] = acc;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (simdgroup_index_in_threadgroup == 0) {
  float part = thread_index_in_simdgroup < 8 ? shared[thread_index_in_simdgroup] : 0;
  part = simd_sum(part);
  if (thread_index_in_simdgroup == 0) shared[0] = metal::rsqrt(part / 2048 + 1e-6f);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
float inv = shared[0];
for (uint k = 0; k < 8; ++k) {
  uint i = k * 256 + t;
  out[row * 2048 + i] = half(local[k] * inv) * w[i];
}

// kernel: softmax_online_tree
// input: x = float32[256, 8192] normal
// output: out = float32[256, 8192]
// grid: 65536
// threadgroup: 256
constexpr uint N = 8192, T = 256;
threadgroup float maxima[T], sums[T];
uint row = threadgroup_position_in_grid.x, t = thread_position_in_threadgroup.x;
float m = -INFINITY, s = 0;
for (uint i = t; i < N; i += T) {
  float v = x[row * N + i];
  if (v > m) {
    s *= metal::exp(m - v);
    m = v;
  }
  s += metal::exp(v - m);
}
maxima[t] = m;
sums[t] = s;
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint half_ = T / 2; half_ > 0; half_ >>= 1) {
  if (t < half_) {
    float other = maxima[t + half_], best = metal::max(maxima[t], other);
    sums[t] = sums[t] * metal::exp(maxima[t] - best) + sums[t + half_] * metal::exp(other - best);
    maxima[t] = best;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
float best = maxima[0], total = sums[0];
for (uint i = t; i < N; i += T) out[row * N + i] = metal::exp(x[row * N + i] - best) / total;

// kernel: cross_entropy_thread_row
// input: logits = float32[32768, 100] normal
// input: targets = int32[32768] integers(0, 99)
// output: loss = float32[32768]
// grid: 32768
// threadgroup: 64
uint row = thread_position_in_grid.x;
const device float* in = logits + row * 100;
float m = in[0];
for (int i = 1; i < 100; ++i) m = metal::max(m, in[i]);
float s = 0;
for (int i = 0; i < 100; ++i) s += metal::exp(in[i] - m);
loss[row] = metal::log(s) + m - in[targets[row]];

// kernel: argmax_simd
// input: x = float32[2048, 4096] normal
// output: best = uint32[2048]
// grid: 32 2048
// threadgroup: 32 1
uint row = thread_position_in_grid.y;
float value = -INFINITY;
uint at = 0;
for (uint i = thread_index_in_simdgroup; i < 4096; i += 32) {
  float v = x[row * 4096 + i];
  if (v > value) {
    value = v;
    at = i;
  }
}
for (ushort step = 16; step > 0; step >>= 1) {
  float v = simd_shuffle_down(value, step);
  uint j = simd_shuffle_down(at, step);
  if (v > value || (v == value && j < at)) {
    value = v;
    at = j;
  }
}
if (thread_index_in_simdgroup == 0) best[row] = at;

// kernel: topk_insertion
// input: x = float32[8192, 256] normal
// output: out = float32[8192, 8]
// grid: 8192
// threadgroup: 64
uint row = thread_position_in_grid.x;
float top[8];
for (int k = 0; k < 8; ++k) top[k] = -INFINITY;
for (int i = 0; i < 256; ++i) {
  float v = x[row * 256 + i];
  if (v <= top[7]) continue;
  int k = 7;
  while (k > 0 && top[k - 1] < v) {
    top[k] = top[k - 1];
    --k;
  }
  top[k] = v;
}
for (int k = 0; k < 8; ++k) out[row * 8 + k] = top[k];

// kernel: column_sums
// input: x = float32[8192, 512] normal
// output: out = float32[512]
// grid: 512
// threadgroup: 64
uint column = thread_position_in_grid.x;
float sum = 0;
for (uint row = 0; row < 8192; ++row) sum += x[row * 512 + column];
out[column] = sum;

// kernel: group_norm_nhwc
// input: x = float32[32, 32, 32, 64] normal
// output: out = float32[32, 32, 32, 64]
// grid: 65536
// threadgroup: 256
constexpr uint C = 64, G = 8, P = 1024, CG = C / G;
threadgroup float sums[32], squares[32];
uint group = threadgroup_position_in_grid.x % G, n = threadgroup_position_in_grid.x / G;
uint t = thread_position_in_threadgroup.x;
float s = 0, q = 0;
for (uint i = t; i < P * CG; i += 256) {
  float v = x[(n * P + i / CG) * C + group * CG + i % CG];
  s += v;
  q += v * v;
}
s = simd_sum(s);
q = simd_sum(q);
if (thread_index_in_simdgroup == 0) {
  sums[simdgroup_index_in_threadgroup] = s;
  squares[simdgroup_index_in_threadgroup] = q;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
s = simd_sum(thread_index_in_simdgroup < 8 ? sums[thread_index_in_simdgroup] : 0.0f);
q = simd_sum(thread_index_in_simdgroup < 8 ? squares[thread_index_in_simdgroup] : 0.0f);
float mean = s / (P * CG), inv = metal::rsqrt(q / (P * CG) - mean * mean + 1e-5f);
for (uint i = t; i < P * CG; i += 256) {
  uint at = (n * P + i / CG) * C + group * CG + i % CG;
  out[at] = (x[at] - mean) * inv;
}

// kernel: pairwise_distances
// input: a = float32[1024, 32] normal
// input: b = float32[1024, 32] normal
// output: out = float32[1024, 1024]
// grid: 1024 1024
// threadgroup: 16 16
uint i = thread_position_in_grid.y, j = thread_position_in_grid.x;
float sum = 0;
for (int k = 0; k < 32; ++k) {
  float d = a[i * 32 + k] - b[j * 32 + k];
  sum += d * d;
}
out[i * 1024 + j] = metal::sqrt(sum);

// kernel: cumulative_product
// input: x = float32[32768, 128] uniform(0.9, 1.1)
// output: out = float32[32768, 128]
// grid: 32768
// threadgroup: 32
uint row = thread_position_in_grid.x;
float p = 1;
for (uint i = 0; i < 128; ++i) {
  p *= x[row * 128 + i];
  out[row * 128 + i] = p;
}

// kernel: quantise_rows_int8
// input: x = float32[8192, 512] normal
// output: q = int8[8192, 512]
// output: scale = float32[8192]
// grid: 1048576
// threadgroup: 128
threadgroup float shared[4];
uint row = threadgroup_position_in_grid.x, t = thread_position_in_threadgroup.x;
float4 v = ((const device float4*)x)[row * 128 + t];
float4 a = metal::abs(v);
float m = simd_max(metal::max(metal::max(a.x, a.y), metal::max(a.z, a.w)));
if (thread_index_in_simdgroup == 0) shared[simdgroup_index_in_threadgroup] = m;
threadgroup_barrier(mem_flags::mem_threadgroup);
m = metal::max(metal::max(shared[0], shared[1]), metal::max(shared[2], shared[3]));
float s = m / 127.0f;
char4 r = char4(metal::rint(v / s));
((device char4*)q)[row * 128 + t] = r;
if (t == 0) scale[row] = s;

// kernel: layer_norm_thread_row_vjp
// input: x = float32[1024, 96] normal
// input: g = float32[1024, 96] normal
// output: dx = float32[1024, 96]
// grid: 1024
// threadgroup: 64
uint row = thread_position_in_grid.x;
const device float* in = x + row * 96;
const device float* up = g + row * 96;
float mean = 0, var = 0;
for (int i = 0; i < 96; ++i) mean += in[i];
mean /= 96;
for (int i = 0; i < 96; ++i) var += (in[i] - mean) * (in[i] - mean);
float inv = metal::rsqrt(var / 96 + 1e-5f), sum = 0, dots = 0;
for (int i = 0; i < 96; ++i) {
  sum += up[i];
  dots += up[i] * (in[i] - mean) * inv;
}
for (int i = 0; i < 96; ++i)
  dx[row * 96 + i] = inv * (up[i] - sum / 96 - (in[i] - mean) * inv * dots / 96);

// kernel: softmax_persistent_simd
// input: x = float32[8192, 1024] normal
// output: out = float32[8192, 1024]
// grid: 16384
// threadgroup: 256
const uint lane = thread_index_in_simdgroup, first = thread_position_in_grid.x / 32;
for (uint row = first; row < 8192; row += threads_per_grid.x / 32) {
  const device float4* from = (const device float4*)(x + row * 1024);
  device float4* to = (device float4*)(out + row * 1024);
  float4 v[8];
  float4 most = -INFINITY;
  for (int k = 0; k < 8; ++k) {
    v[k] = from[k * 32 + lane];
    most = metal::max(most, v[k]);
  }
  const float best = simd_max(metal::max(metal::max(most.x, most.y), metal::max(most.z, most.w)));
  float4 total = 0;
  for (int k = 0; k < 8; ++k) {
    v[k] = metal::exp(v[k] - best);
    total += v[k];
  }
  const float scale = 1 / simd_sum(total.x + total.y + total.z + total.w);
  for (int k = 0; k < 8; ++k) to[k * 32 + lane] = v[k] * scale;
}

// kernel: gelu_rms_norm_persistent
// input: x = float32[8192, 1024] normal
// input: w = float32[1024] normal
// output: out = float32[8192, 1024]
// grid: 16384
// threadgroup: 256
threadgroup float partial[8];
const uint t = thread_position_in_threadgroup.x, lane = thread_index_in_simdgroup;
for (uint row = threadgroup_position_in_grid.x; row < 8192; row += threadgroups_per_grid.x) {
  const float4 v = ((const device float4*)(x + row * 1024))[t];
  const float4 u = 0.5f * v * (1 + metal::precise::tanh(0.79788456f * (v + 0.044715f * v * v * v)));
  const float mine = simd_sum(metal::dot(u, u));
  if (lane == 0) partial[simdgroup_index_in_threadgroup] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float all = simd_sum(lane < 8 ? partial[lane] : 0);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ((device float4*)(out + row * 1024))[t] =
      u * metal::rsqrt(all / 1024 + 1e-5f) * ((const device float4*)w)[t];
}
