// An activation on the accumulator, element by element in a loop.
// input: a = float32[8,8] integers(-3, 4)
// input: b = float32[8,8] integers(-3, 4)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = np.maximum(a @ b, 0)
simdgroup_float8x8 p, q;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_float8x8 r = p * q;
for (int i = 0; i < 2; i++) r.thread_elements()[i] = max(r.thread_elements()[i], 0.0f);
simdgroup_store(r, y);
