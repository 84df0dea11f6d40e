// Matrices as arguments, members and results.
// input: x = float32[8,8] integers(-3, 4)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = x @ x @ x + 1
// header:
struct Pair {
  simdgroup_float8x8 left, right;
  simdgroup_float8x8 product() const { return left * right; }
};
METAL_FUNC void add_one(thread simdgroup_float8x8& m) {
  simdgroup_multiply_accumulate(m, m, simdgroup_float8x8(1.0f),
                                make_filled_simdgroup_matrix<float, 8, 8>(1.0f));
}
METAL_FUNC simdgroup_float8x8 read(const device float* p) {
  simdgroup_float8x8 m;
  simdgroup_load(m, p);
  return m;
}
// body:
Pair pair{read(x), read(x)};
pair.left = pair.product();
simdgroup_float8x8 m = pair.product();
add_one(m);
simdgroup_store(m, y);
