// kernel: matmul_16x16_tiles
// input: a = float32[512, 512] normal
// input: b = float32[512, 512] normal
// output: c = float32[512, 512]
// grid: 512 512
// threadgroup: 16 16
threadgroup float as[16][16], bs[16][16];
uint2 t = thread_position_in_threadgroup.xy, p = thread_position_in_grid.xy;
uint n = a_shape[1];
float sum = 0;
for (uint k = 0; k < n; k += 16) {
  as[t.y][t.x] = a[p.y * n + k + t.x];
  bs[t.y][t.x] = b[(k + t.y) * n + p.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < 16; ++i) sum += as[t.y][i] * bs[i][t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
c[p.y * n + p.x] = sum;

// kernel: matmul_bounds_checked
// input: a = float32[150, 130] normal
// input: b = float32[130, 170] normal
// output: c = float32[150, 170]
// grid: 192 160
// threadgroup: 32 8
const uint M = a_shape[0], K = a_shape[1], N = b_shape[1];
uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;
if (row >= M || column >= N) return;
float sum = 0;
for (uint k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + column];
c[row * N + column] = sum;

// kernel: matmul_4x4_registers
// input: a = float32[256, 256] normal
// input: b = float32[256, 256] normal
// output: c = float32[256, 256]
// grid: 64 64
// threadgroup: 32 2
constexpr uint N = 256;
uint x = thread_position_in_grid.x * 4, y = thread_position_in_grid.y * 4;
float acc[4][4] = {};
for (uint k = 0; k < N; ++k) {
  float4 row = *(const device float4*)(b + k * N + x);
  for (uint i = 0; i < 4; ++i) {
    float left = a[(y + i) * N + k];
    for (uint j = 0; j < 4; ++j) acc[i][j] += left * row[j];
  }
}
for (uint i = 0; i < 4; ++i)
  for (uint j = 0; j < 4; ++j) c[(y + i) * N + x + j] = acc[i][j];

// kernel: matmul_simdgroup_direct
// input: a = float32[256, 256] normal
// input: b = float32[256, 256] normal
// output: c = float32[256, 256]
// grid: 1024 32
// threadgroup: 32 1
uint x = threadgroup_position_in_grid.x * 8, y = threadgroup_position_in_grid.y * 8;
simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f), left, right;
for (uint k = 0; k < 256; k += 8) {
  simdgroup_load(left, a + y * 256 + k, 256);
  simdgroup_load(right, b + k * 256 + x, 256);
  simdgroup_multiply_accumulate(sum, left, right, sum);
}
simdgroup_store(sum, c + y * 256 + x, 256);

// kernel: matvec_float4
// input: a = float32[2048, 512] normal
// input: x = float32[512] normal
// output: y = float32[2048]
// grid: 2048
// threadgroup: 64
uint row = thread_position_in_grid.x;
float4 sum = 0;
for (uint k = 0; k < 128; ++k)
  sum += ((const device float4*)a)[row * 128 + k] * ((const device float4*)x)[k];
y[row] = sum.x + sum.y + sum.z + sum.w;

// kernel: matvec_simd_row_half
// input: a = float16[4096, 1024] normal
// input: x = float16[1024] normal
// output: y = float16[4096]
// grid: 32 4096
// threadgroup: 32 8
uint row = thread_position_in_grid.y;
float sum = 0;
for (uint k = thread_index_in_simdgroup; k < 256; k += 32) {
  half4 w = ((const device half4*)a)[row * 256 + k], v = ((const device half4*)x)[k];
  sum += metal::dot(float4(w), float4(v));
}
sum = simd_sum(sum);
if (thread_index_in_simdgroup == 0) y[row] = half(sum);

// kernel: inverse_4x4
// input: m = float32[131072, 4, 4] normal
// output: out = float32[131072, 4, 4]
// grid: 131072
// threadgroup: 128
uint n = thread_position_in_grid.x;
float a[4][4], r[4][4];
for (int i = 0; i < 4; ++i)
  for (int j = 0; j < 4; ++j) {
    a[i][j] = m[n * 16 + i * 4 + j] + (i == j ? 4.0f : 0.0f);
    r[i][j] = i == j;
  }
for (int p = 0; p < 4; ++p) {
  float inv = 1 / a[p][p];
  for (int j = 0; j < 4; ++j) {
    a[p][j] *= inv;
    r[p][j] *= inv;
  }
  for (int i = 0; i < 4; ++i) {
    if (i == p) continue;
    float f = a[i][p];
    for (int j = 0; j < 4; ++j) {
      a[i][j] -= f * a[p][j];
      r[i][j] -= f * r[p][j];
    }
  }
}
for (int i = 0; i < 4; ++i)
  for (int j = 0; j < 4; ++j) out[n * 16 + i * 4 + j] = r[i][j];

// kernel: lu_thread_8x8
// input: m = float32[4096, 8, 8] normal
// output: out = float32[4096, 8, 8]
// grid: 4096
// threadgroup: 64
uint n = thread_position_in_grid.x;
float a[64];
for (int i = 0; i < 64; ++i) a[i] = m[n * 64 + i] + (i % 9 == 0 ? 8.0f : 0.0f);
for (int k = 0; k < 8; ++k)
  for (int i = k + 1; i < 8; ++i) {
    a[i * 8 + k] /= a[k * 8 + k];
    for (int j = k + 1; j < 8; ++j) a[i * 8 + j] -= a[i * 8 + k] * a[k * 8 + j];
  }
for (int i = 0; i < 64; ++i) out[n * 64 + i] = a[i];

// kernel: triangular_solve_simd
// input: l = float32[512, 32, 32] normal
// input: b = float32[512, 32] normal
// output: x = float32[512, 32]
// grid: 32 512
// threadgroup: 32 1
uint n = thread_position_in_grid.y, i = thread_index_in_simdgroup;
const device float* row = l + (n * 32 + i) * 32;
float v = b[n * 32 + i];
for (uint j = 0; j < 32; ++j) {
  float solved = simd_shuffle(v / (row[i] + 8.0f), ushort(j));
  if (i > j) v -= row[j] * solved;
}
x[n * 32 + i] = v / (row[i] + 8.0f);

// kernel: householder_simd
// input: m = float32[512, 32, 8] normal
// output: r = float32[512, 32, 8]
// grid: 32 512
// threadgroup: 32 1
uint n = thread_position_in_grid.y, i = thread_index_in_simdgroup;
float a[8];
for (uint j = 0; j < 8; ++j) a[j] = m[(n * 32 + i) * 8 + j];
for (uint k = 0; k < 8; ++k) {
  float v = i >= k ? a[k] : 0.0f;
  float norm = metal::sqrt(simd_sum(v * v)), head = simd_broadcast(v, ushort(k));
  if (i == k) v += head >= 0 ? norm : -norm;
  float scale = 2 / simd_sum(v * v);
  for (uint j = k; j < 8; ++j) a[j] -= scale * v * simd_sum(v * a[j]);
}
for (uint j = 0; j < 8; ++j) r[(n * 32 + i) * 8 + j] = a[j];

// kernel: cholesky_threadgroup
// input: m = float32[32, 16, 16] uniform(0.0, 1.0)
// output: l = float32[32, 16, 16]
// grid: 512
// threadgroup: 16
threadgroup float a[16][17];
uint n = threadgroup_position_in_grid.x, i = thread_position_in_threadgroup.x;
for (uint j = 0; j < 16; ++j) a[i][j] = m[(n * 16 + metal::max(i, j)) * 16 + metal::min(i, j)] + (i == j ? 16 : 0);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 0; k < 16; ++k) {
  if (i == k) a[k][k] = metal::sqrt(a[k][k]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i > k) a[i][k] /= a[k][k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = k + 1; j <= i; ++j) a[i][j] -= a[i][k] * a[j][k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
for (uint j = 0; j < 16; ++j) l[(n * 16 + i) * 16 + j] = j <= i ? a[i][j] : 0.0f;

// kernel: cholesky_one_thread
// input: A = float32[96, 96] np.eye(96) * 50 + 1
// output: L = float32[96, 96]
// init: 0
// grid: 1
// threadgroup: 1
uint n = A_shape[0];
for (uint j = 0; j < n; j++) {
  float d = A[j * n + j];
  for (uint k = 0; k < j; k++) d -= L[j * n + k] * L[j * n + k];
  d = metal::sqrt(metal::max(d, 1e-10f));
  L[j * n + j] = d;
  for (uint i = j + 1; i < n; i++) {
    float s = A[i * n + j];
    for (uint k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
    L[i * n + j] = s / d;
  }
}

// kernel: project_columns
// input: Q = float32[16384, 96] normal
// input: v = float32[16384] normal
// input: shape = uint32[2] [16384, 96]
// output: out = float32[96]
// grid: 128
// threadgroup: 64
uint gid = thread_position_in_grid.x, m = shape[0], k = shape[1];
if (gid >= k) return;
float acc = 0;
for (uint i = 0; i < m; ++i) acc += Q[i * k + gid] * v[i];
out[gid] = acc;

// kernel: transpose_tile
// input: x = float32[2048, 2048] normal
// output: y = float32[2048, 2048]
// grid: 2048 512
// threadgroup: 32 8
threadgroup float tile[32][33];
uint2 t = thread_position_in_threadgroup.xy, g = threadgroup_position_in_grid.xy * 32;
for (uint j = t.y; j < 32; j += 8) tile[j][t.x] = x[(g.y + j) * 2048 + g.x + t.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint j = t.y; j < 32; j += 8) y[(g.x + j) * 2048 + g.y + t.x] = tile[t.x][j];

// kernel: permute_0213
// input: x = float32[64, 64, 8, 64] normal
// output: y = float32[64, 8, 64, 64]
// grid: 2097152
// threadgroup: 256
uint i = thread_position_in_grid.x;
uint d = i % 64, t = (i / 64) % 64, h = (i / 4096) % 8, n = i / 32768;
y[i] = x[((n * 64 + t) * 8 + h) * 64 + d];

// kernel: gram_matrix
// input: x = float32[1024, 64] normal
// output: g = float32[64, 64]
// grid: 64 64
// threadgroup: 64 4
uint i = thread_position_in_grid.y, j = thread_position_in_grid.x;
float sum = 0;
for (uint n = 0; n < 1024; ++n) sum += x[n * 64 + i] * x[n * 64 + j];
g[i * 64 + j] = sum;

// kernel: floyd_warshall_block
// input: d = float32[16, 32, 32] uniform(0.0, 10.0)
// output: out = float32[16, 32, 32]
// grid: 32 512
// threadgroup: 32 32
threadgroup float s[32][32];
uint2 t = thread_position_in_threadgroup.xy;
s[t.y][t.x] = d[threadgroup_position_in_grid.y * 1024 + t.y * 32 + t.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 0; k < 32; ++k) {
  float through = s[t.y][k] + s[k][t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t.y][t.x] = metal::min(s[t.y][t.x], through);
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
out[threadgroup_position_in_grid.y * 1024 + t.y * 32 + t.x] = s[t.y][t.x];

// kernel: qmv_4bit
// input: w = uint32[8192, 128] random
// input: scales = float32[8192, 16] normal
// input: biases = float32[8192, 16] normal
// input: x = float32[1024] normal
// output: y = float32[8192]
// grid: 32 8192
// threadgroup: 32 2
uint row = thread_position_in_grid.y, lane = thread_index_in_simdgroup;
float sum = 0;
for (uint c = lane; c < 128; c += 32) {
  uint word = w[row * 128 + c];
  float s = scales[row * 16 + c / 8], b = biases[row * 16 + c / 8], dots = 0, total = 0;
  for (uint k = 0; k < 8; ++k) {
    float v = x[c * 8 + k];
    dots += v * float((word >> (4 * k)) & 15);
    total += v;
  }
  sum += s * dots + b * total;
}
sum = simd_sum(sum);
if (lane == 0) y[row] = sum;

// kernel: dequantise_4bit
// input: w = uint32[65536] random
// input: scales = float16[16384] normal
// output: out = float16[524288]
// grid: 65536
// threadgroup: 256
uint i = thread_position_in_grid.x, word = w[i];
half s = scales[i / 4];
for (uint k = 0; k < 8; ++k) out[i * 8 + k] = half(int((word >> (4 * k)) & 15) - 8) * s;

// kernel: dequantise_nf4_table
// input: w = uint8[131072] integers(0, 255)
// input: absmax = float32[4096] uniform(0.5, 2.0)
// input: code = float32[16] normal
// output: out = float32[262144]
// grid: 131072
// threadgroup: 256
uint i = thread_position_in_grid.x;
float scale = absmax[i / 32];
out[2 * i] = code[w[i] >> 4] * scale;
out[2 * i + 1] = code[w[i] & 15] * scale;

// kernel: bitnet_matvec
// input: w = uint8[2048, 256] integers(0, 255)
// input: x = int8[1024] integers(-127, 127)
// output: y = int32[2048]
// grid: 32 2048
// threadgroup: 32 8
uint row = thread_position_in_grid.y, lane = thread_index_in_simdgroup;
int sum = 0;
for (uint c = lane; c < 256; c += 32) {
  uint packed = w[row * 256 + c];
  for (uint k = 0; k < 4; ++k) sum += (int((packed >> (2 * k)) & 3) - 1) * int(x[c * 4 + k]);
}
sum = simd_sum(sum);
if (lane == 0) y[row] = sum;

// kernel: qmm_int8
// input: a = int8[512, 256] integers(-127, 127)
// input: b = int8[256, 512] integers(-127, 127)
// input: scale = float32[512] normal
// output: c = float32[512, 512]
// grid: 512 512
// threadgroup: 32 8
uint j = thread_position_in_grid.x, i = thread_position_in_grid.y;
int sum = 0;
for (uint k = 0; k < 256; ++k) sum += int(a[i * 256 + k]) * int(b[k * 512 + j]);
c[i * 512 + j] = float(sum) * scale[j];
