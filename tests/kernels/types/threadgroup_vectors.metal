// Threadgroup arrays of vectors, also of three components, and of packed ones.
// dtypes: float32 float16 int32 uint8 bool
// input: x = T[40, 3] random
// output: y = T[40, 3]
// grid: 40
// threadgroup: 40
// expect: y = x[(np.arange(40) * 7 + 3) % 40][:, [2, 0, 1]]
threadgroup vec<T, 3> points[40];
uint i = thread_index_in_threadgroup;
points[i] = vec<T, 3>(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
threadgroup_barrier(mem_flags::mem_threadgroup);
vec<T, 3> p = points[(i * 7 + 3) % 40].zxy;
for (int k = 0; k < 3; ++k) y[3 * i + k] = p[k];
