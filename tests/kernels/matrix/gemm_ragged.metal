// A product in tiles through threadgroup memory; no size is a multiple of anything.
// dtypes: float32 float16 bfloat16
// input: a = T[37,27] integers(-3, 4)
// input: b = T[27,21] integers(-3, 4)
// output: y = T[37,21]
// grid: 256 3
// threadgroup: 128
// expect: y = a @ b
threadgroup T left[16 * 8], right[8 * 16];
threadgroup float result[16 * 16];
const uint rows = a_shape[0], inner = a_shape[1], columns = b_shape[1];
const uint row = 16 * threadgroup_position_in_grid.y, column = 16 * threadgroup_position_in_grid.x;
const uint lid = thread_position_in_threadgroup.x, simd = simdgroup_index_in_threadgroup;
simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
for (uint k = 0; k < inner; k += 8) {
  uint r = row + lid / 8, c = k + lid % 8;
  left[lid] = r < rows && c < inner ? a[r * inner + c] : T(0);
  r = k + lid / 16, c = column + lid % 16;
  right[lid] = r < inner && c < columns ? b[r * columns + c] : T(0);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_matrix<T, 8, 8> p, q;
  simdgroup_load(p, left + simd / 2 * 64);
  simdgroup_load(q, right + simd % 2 * 8, 16);
  simdgroup_multiply_accumulate(sum, p, q, sum);
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
simdgroup_store(sum, result + simd / 2 * 128 + simd % 2 * 8, 16);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = lid; i < 256; i += 128) {
  uint r = row + i / 16, c = column + i % 16;
  if (r < rows && c < columns) y[r * columns + c] = T(result[i]);
}
