// thread_elements() as a reference to a vector of two, read and written, and as MLX's kernels do it.
// dtypes: float32 float16 bfloat16
// input: x = T[8,8] integers(0, 9)
// output: y = T[8,8]
// grid: 32
// threadgroup: 32
// expect: y = (x + 1) * 3
simdgroup_matrix<T, 8, 8> m, n;
simdgroup_load(m, x);
thread vec<T, 2>& mine = reinterpret_cast<thread vec<T, 2>&>(m.thread_elements());
mine += vec<T, 2>(T(1));
vec<T, 2> copy = m.thread_elements();
n.thread_elements() = copy * T(3);
simdgroup_store(n, y);
