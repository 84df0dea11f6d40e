// A product as GPU kernels do it: padded tiles, loaded four elements at a time by all threads.
// dtypes: float32 float16 bfloat16
// input: a = T[128,96] integers(-3, 4)
// input: b = T[96,192] integers(-3, 4)
// output: y = float32[128,192]
// grid: 384 2
// threadgroup: 128
// expect: y = a @ b
constexpr uint DEPTH = 32, LEFT = DEPTH + 4, RIGHT = 64 + 4;
threadgroup T left[64 * LEFT], right[DEPTH * RIGHT];
const uint inner = a_shape[1], columns = b_shape[1], group = simdgroup_index_in_threadgroup;
const uint row = 64 * threadgroup_position_in_grid.y, column = 64 * threadgroup_position_in_grid.x;
const uint below = group / 2 * 32, beside = group % 2 * 32;
simdgroup_float8x8 sums[4][4];
#pragma unroll
for (uint i = 0; i < 16; ++i) sums[i / 4][i % 4] = simdgroup_float8x8(0);
for (uint k = 0; k < inner; k += DEPTH) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = thread_index_in_threadgroup; i < 64 * DEPTH / 4; i += 128) {
    uint r = i / (DEPTH / 4), c = i % (DEPTH / 4) * 4;
    *(threadgroup vec<T, 4>*)(left + r * LEFT + c) =
        *(const device vec<T, 4>*)(a + (row + r) * inner + k + c);
  }
  for (uint i = thread_index_in_threadgroup; i < 64 * DEPTH / 4; i += 128) {
    uint r = i / 16, c = i % 16 * 4;
    *(threadgroup vec<T, 4>*)(right + r * RIGHT + c) =
        *(const device vec<T, 4>*)(b + (k + r) * columns + column + c);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  #pragma unroll
  for (uint kk = 0; kk < DEPTH; kk += 8) {
    simdgroup_matrix<T, 8, 8> p[4], q[4];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      simdgroup_load(p[i], left + (below + 8 * i) * LEFT + kk, LEFT);
      simdgroup_load(q[i], right + kk * RIGHT + beside + 8 * i, RIGHT);
    }
    #pragma unroll
    for (uint i = 0; i < 16; ++i) {
      thread auto& sum = sums[i / 4][i % 4];
      simdgroup_multiply_accumulate(sum, p[i / 4], q[i % 4], sum);
    }
  }
}
#pragma unroll
for (uint i = 0; i < 16; ++i) {
  simdgroup_store(sums[i / 4][i % 4], y, columns,
                  ulong2(column + beside + i % 4 * 8, row + below + i / 4 * 8));
}
