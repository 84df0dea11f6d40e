// A row of blocks times a column of blocks: the pointers walk.
// dtypes: float32 float16
// input: a = T[8,40] integers(-3, 4)
// input: b = T[40,8] integers(-3, 4)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b
simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
const device T* left = a;
const device T* right = b;
for (int k = 0; k < a_shape[1]; k += 8, left += 8, right += 64) {
  simdgroup_matrix<T, 8, 8> p, q;
  simdgroup_load(p, left, a_shape[1]);
  simdgroup_load(q, right);
  simdgroup_multiply_accumulate(sum, p, q, sum);
}
simdgroup_store(sum, y);
