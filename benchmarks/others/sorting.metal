// kernel: bitonic_sort
// input: x = float32[2048, 512] normal
// output: out = float32[2048, 512]
// grid: 1048576
// threadgroup: 512
threadgroup float s[512];
uint t = thread_position_in_threadgroup.x, i = thread_position_in_grid.x;
s[t] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 2; k <= 512; k <<= 1)
  for (uint j = k >> 1; j > 0; j >>= 1) {
    uint other = t ^ j;
    if (other > t) {
      bool up = (t & k) == 0;
      float a = s[t], b = s[other];
      if ((a > b) == up) {
        s[t] = b;
        s[other] = a;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
out[i] = s[t];

// kernel: bitonic_simd
// input: x = float32[524288] normal
// output: out = float32[524288]
// grid: 524288
// threadgroup: 256
uint lane = thread_index_in_simdgroup;
float v = x[thread_position_in_grid.x];
for (ushort k = 2; k <= 32; k <<= 1)
  for (ushort j = k >> 1; j > 0; j >>= 1) {
    float other = simd_shuffle_xor(v, j);
    bool low = ((lane & j) == 0) == ((lane & k) == 0);
    v = low ? metal::min(v, other) : metal::max(v, other);
  }
out[thread_position_in_grid.x] = v;

// kernel: histogram_threadgroup
// input: x = uint8[8388608] integers(0, 255)
// output: out = uint32[256]
// init: 0
// atomic_outputs: true
// grid: 2097152
// threadgroup: 256
threadgroup metal::atomic_uint bins[256];
uint t = thread_position_in_threadgroup.x;
atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
uchar4 v = ((const device uchar4*)x)[thread_position_in_grid.x];
atomic_fetch_add_explicit(&bins[v.x], 1u, memory_order_relaxed);
atomic_fetch_add_explicit(&bins[v.y], 1u, memory_order_relaxed);
atomic_fetch_add_explicit(&bins[v.z], 1u, memory_order_relaxed);
atomic_fetch_add_explicit(&bins[v.w], 1u, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&out[t], atomic_load_explicit(&bins[t], memory_order_relaxed), memory_order_relaxed);

// kernel: bincount_device
// input: x = int32[131072] integers(0, 1023)
// output: out = int32[1024]
// init: 0
// atomic_outputs: true
// grid: 131072
// threadgroup: 256
atomic_fetch_add_explicit(&out[x[thread_position_in_grid.x]], 1, memory_order_relaxed);

// kernel: compact_positive
// input: x = float32[4194304] normal
// output: out = float32[4194304]
// output: count = uint32[16384]
// init: 0
// grid: 4194304
// threadgroup: 256
threadgroup uint totals[8];
uint lane = thread_index_in_simdgroup, sg = simdgroup_index_in_threadgroup;
float v = x[thread_position_in_grid.x];
uint keep = v > 0;
uint at = simd_prefix_exclusive_sum(keep), total = simd_sum(keep);
if (lane == 0) totals[sg] = total;
threadgroup_barrier(mem_flags::mem_threadgroup);
uint base = 0;
for (uint i = 0; i < sg; ++i) base += totals[i];
if (keep) out[threadgroup_position_in_grid.x * 256 + base + at] = v;
if (lane == 0 && sg == 7) count[threadgroup_position_in_grid.x] = base + total;

// kernel: rank_by_counting
// input: x = float32[1024] normal
// output: rank = uint32[1024]
// grid: 1024
// threadgroup: 256
threadgroup float tile[256];
uint t = thread_position_in_threadgroup.x, i = thread_position_in_grid.x, r = 0;
float mine = x[i];
for (uint b = 0; b < 1024; b += 256) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[t] = x[b + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = 0; j < 256; ++j) r += tile[j] < mine || (tile[j] == mine && b + j < i);
}
rank[i] = r;

// kernel: embedding_rows
// input: table = float32[4096, 256] normal
// input: ids = int32[16384] integers(0, 4095)
// output: out = float32[16384, 256]
// grid: 64 16384
// threadgroup: 64 4
uint row = thread_position_in_grid.y, c = thread_position_in_grid.x;
((device float4*)out)[row * 64 + c] = ((const device float4*)table)[uint(ids[row]) * 64 + c];

// kernel: embedding_bag
// input: table = float32[2048, 64] normal
// input: ids = int32[16384, 8] integers(0, 2047)
// output: out = float32[16384, 64]
// grid: 64 16384
// threadgroup: 64 4
uint c = thread_position_in_grid.x, row = thread_position_in_grid.y;
float sum = 0;
for (uint k = 0; k < 8; ++k) sum += table[ids[row * 8 + k] * 64 + c];
out[row * 64 + c] = sum;

// kernel: scatter_add_rows
// input: x = float32[65536, 64] normal
// input: ids = int32[65536] integers(0, 4095)
// output: out = float32[4096, 64]
// init: 0
// atomic_outputs: true
// grid: 64 65536
// threadgroup: 64 4
uint c = thread_position_in_grid.x, row = thread_position_in_grid.y;
atomic_fetch_add_explicit(&out[ids[row] * 64 + c], x[row * 64 + c], memory_order_relaxed);

// kernel: take_along_axis
// input: x = float32[4096, 512] normal
// input: at = int32[4096, 512] integers(0, 511)
// output: out = float32[4096, 512]
// grid: 512 4096
// threadgroup: 256 1
uint c = thread_position_in_grid.x, r = thread_position_in_grid.y;
out[r * 512 + c] = x[r * 512 + at[r * 512 + c]];

// kernel: spmv_thread_row
// input: values = float32[65536] normal
// input: columns = int32[65536] integers(0, 4095)
// input: x = float32[4096] normal
// output: y = float32[4096]
// grid: 4096
// threadgroup: 128
uint row = thread_position_in_grid.x;
float sum = 0;
for (uint e = row * 16; e < row * 16 + 16; ++e) sum += values[e] * x[columns[e]];
y[row] = sum;

// kernel: spmv_simd_row
// input: starts = int32[16385] np.arange(16385) * 64
// input: values = float32[1048576] normal
// input: columns = int32[1048576] integers(0, 16383)
// input: x = float32[16384] normal
// output: y = float32[16384]
// grid: 32 16384
// threadgroup: 32 8
uint row = thread_position_in_grid.y;
float sum = 0;
for (int e = starts[row] + thread_index_in_simdgroup; e < starts[row + 1]; e += 32)
  sum += values[e] * x[columns[e]];
sum = simd_sum(sum);
if (thread_index_in_simdgroup == 0) y[row] = sum;

// kernel: nearest_centroid
// input: x = float32[262144, 8] normal
// input: centres = float32[32, 8] normal
// output: label = int32[262144]
// grid: 262144
// threadgroup: 256
uint i = thread_position_in_grid.x;
float best = INFINITY;
int at = 0;
for (int c = 0; c < 32; ++c) {
  float d = 0;
  for (int k = 0; k < 8; ++k) {
    float e = x[i * 8 + k] - centres[c * 8 + k];
    d += e * e;
  }
  if (d < best) {
    best = d;
    at = c;
  }
}
label[i] = at;

// kernel: binary_search
// input: sorted = float32[4096] np.arange(4096)
// input: x = float32[1048576] uniform(0.0, 4096.0)
// output: at = uint32[1048576]
// grid: 1048576
// threadgroup: 256
uint i = thread_position_in_grid.x;
float v = x[i];
uint low = 0, high = 4096;
while (low < high) {
  uint middle = (low + high) / 2;
  if (sorted[middle] < v) low = middle + 1; else high = middle;
}
at[i] = low;

// kernel: moe_combine
// input: y = float32[8192, 512] normal
// input: slots = int32[4096, 2] integers(0, 8191)
// input: weights = float32[4096, 2] uniform(0.0, 1.0)
// output: out = float32[4096, 512]
// grid: 128 4096
// threadgroup: 128 2
uint c = thread_position_in_grid.x, token = thread_position_in_grid.y;
float4 sum = 0;
for (uint k = 0; k < 2; ++k) {
  uint slot = slots[token * 2 + k];
  sum += weights[token * 2 + k] * ((const device float4*)(y + slot * 512))[c];
}
((device float4*)(out + token * 512))[c] = sum;

// kernel: moe_gather
// input: x = float32[4096, 512] normal
// input: order = int32[8192] integers(0, 4095)
// output: out = float32[8192, 512]
// grid: 4194304
// threadgroup: 256
uint i = thread_position_in_grid.x, row = i / 512, column = i % 512;
out[i] = x[order[row] * 512 + column];

// kernel: neighbour_list
// input: p = float32[4096, 3] uniform(0.0, 1.0)
// output: neighbours = int32[4096, 64]
// output: count = int32[4096]
// grid: 4096
// threadgroup: 64
uint i = thread_position_in_grid.x;
float3 here = float3(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
int found = 0;
for (uint j = 0; j < 4096; ++j) {
  float3 d = float3(p[3 * j], p[3 * j + 1], p[3 * j + 2]) - here;
  if (j == i || metal::dot(d, d) >= 0.01f) continue;
  if (found < 64) neighbours[i * 64 + found] = int(j);
  found++;
}
count[i] = found;
for (int k = found; k < 64; ++k) neighbours[i * 64 + k] = -1;
